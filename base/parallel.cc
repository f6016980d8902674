#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

#include "base/check.h"

namespace wago::base {

namespace {
std::atomic<ThreadObserver*> thread_observer{nullptr};
}

void observe_threads(ThreadObserver* observer) {
  thread_observer.store(observer);
}

void run_worker(const char* kind, unsigned worker, const std::function<void()>& work) {
  if (ThreadObserver* observer = thread_observer.load()) return observer->run(kind, worker, work);
  work();
}

void parallel_for(unsigned workers, size_t count, size_t chunk_size,
                  const std::function<void(unsigned, size_t, size_t)>& chunk, const char* kind) {
  WAGO_CHECK(chunk_size > 0);
  std::atomic<size_t> next = 0;
  std::atomic<bool> failed = false;
  std::exception_ptr failure;  // of who set `failed`
  auto work = [&](unsigned worker) {
    try {
      for (size_t begin; !failed && (begin = next.fetch_add(chunk_size)) < count;) {
        chunk(worker, begin, begin + std::min(chunk_size, count - begin));
      }
    } catch (...) {
      if (!failed.exchange(true)) failure = std::current_exception();
    }
  };
  const size_t chunks = count / chunk_size + (count % chunk_size != 0);
  std::vector<std::thread> others;
  for (unsigned worker = 1; worker < workers && worker < chunks; ++worker) {
    try {
      others.emplace_back([&work, worker, kind] { run_worker(kind, worker, [&] { work(worker); }); });
    } catch (const std::exception&) {  // no thread, or no memory for one
      break;
    }
  }
  work(0);
  for (std::thread& other : others) other.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace wago::base
