#include "base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <thread>
#include <vector>

namespace wago::base {
namespace {

TEST(ParallelFor, CoversEveryItemOnceWhateverTheWorkers) {
  for (unsigned workers : {0u, 1u, 3u, 64u}) {
    for (size_t count : {size_t{0}, size_t{1}, size_t{7}, size_t{1000}}) {
      std::vector<std::atomic<int>> seen(count);
      parallel_for(workers, count, 7, [&](unsigned, size_t begin, size_t end) {
        EXPECT_LE(end - begin, 7u);
        for (size_t i = begin; i < end; ++i) ++seen[i];
      });
      for (auto& times : seen) EXPECT_EQ(times, 1);
    }
  }
}

TEST(ParallelFor, WorkerNumbersAreBelowTheWorkers) {
  std::atomic<unsigned> highest = 0;
  parallel_for(3, 1000, 1, [&](unsigned worker, size_t, size_t) {
    unsigned seen = highest;
    while (worker > seen && !highest.compare_exchange_weak(seen, worker)) {
    }
  });
  EXPECT_LT(highest, 3u);
}

TEST(ParallelFor, OneWorkerGoesInOrderOnTheCallingThread) {
  std::vector<size_t> begins;
  parallel_for(1, 10, 4, [&](unsigned worker, size_t begin, size_t) {
    EXPECT_EQ(worker, 0u);
    begins.push_back(begin);
  });
  EXPECT_EQ(begins, (std::vector<size_t>{0, 4, 8}));
}

TEST(ParallelFor, AnExceptionReachesTheCallerWhenTheOthersHaveEnded) {
  for (unsigned workers : {1u, 4u}) {
    std::atomic<int> running = 0;
    std::atomic<size_t> begun = 0;
    auto chunk = [&](unsigned, size_t begin, size_t) {
      ++running;
      ++begun;
      if (begin == 3) {
        --running;
        throw std::bad_alloc();
      }
      std::this_thread::yield();
      --running;
    };
    EXPECT_THROW(parallel_for(workers, 1'000'000, 1, chunk), std::bad_alloc);
    EXPECT_EQ(running, 0);
    EXPECT_LT(begun, 1'000'000u) << "no further chunks are begun";
  }
}

TEST(ThreadObserver, IsOnEveryThreadThatHelpsAndOnNoOther) {
  struct Observer : ThreadObserver {
    void run(const char* kind, unsigned worker, const std::function<void()>& work) override {
      EXPECT_STREQ(kind, "worker");
      EXPECT_GE(worker, 1u);
      EXPECT_NE(std::this_thread::get_id(), caller);
      ++begun;
      work();
      ++ended;
    }
    std::thread::id caller = std::this_thread::get_id();
    std::atomic<unsigned> begun = 0, ended = 0;
  } observer;
  std::atomic<size_t> done = 0;
  auto add = [&](unsigned, size_t begin, size_t end) { done += end - begin; };
  observe_threads(&observer);
  parallel_for(3, 30, 1, add);
  observe_threads(nullptr);
  parallel_for(3, 30, 1, add);
  EXPECT_EQ(done, 60u);
  EXPECT_EQ(observer.begun, 2u);
  EXPECT_EQ(observer.ended, 2u);
}

}  // namespace
}  // namespace wago::base
