#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <system_error>
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
                  const std::function<void(unsigned, size_t, size_t)>& chunk) {
  WAGO_CHECK(chunk_size > 0);
  std::atomic<size_t> next = 0;
  auto work = [&](unsigned worker) {
    for (size_t begin; (begin = next.fetch_add(chunk_size)) < count;) {
      chunk(worker, begin, begin + std::min(chunk_size, count - begin));
    }
  };
  const size_t chunks = count / chunk_size + (count % chunk_size != 0);
  std::vector<std::jthread> others;
  for (unsigned worker = 1; worker < workers && worker < chunks; ++worker) {
    try {
      others.emplace_back([&work, worker] { run_worker("worker", worker, [&] { work(worker); }); });
    } catch (const std::system_error&) {
      break;
    }
  }
  work(0);
}

}  // namespace wago::base
