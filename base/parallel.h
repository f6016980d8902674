// One loop over independent items on several threads. What the items compute must not depend on who computes
// them.
#pragma once

#include <cstddef>
#include <functional>

namespace wago::base {

// Calls `chunk(worker, begin, end)` until [0, count) is covered: in increasing order of begin, each call at
// most `chunk_size` items, from the calling thread (worker 0) and up to workers - 1 others. Returns when all
// calls have. If the system refuses a thread, the others do its work. If `chunk` throws, no further chunks
// are begun, and when the others have ended the calling thread gets the first exception. `kind`: see
// ThreadObserver.
void parallel_for(unsigned workers, size_t count, size_t chunk_size,
                  const std::function<void(unsigned worker, size_t begin, size_t end)>& chunk,
                  const char* kind = "worker");

// Somebody who wants to be on the threads that work: a profiler. Ordinary programs have none.
class ThreadObserver {
 public:
  virtual ~ThreadObserver() = default;
  // On the new thread, whose whole life `work` is; calls it once. `kind`: "compile worker".
  virtual void run(const char* kind, unsigned worker, const std::function<void()>& work) = 0;
};

// Null: none. Must outlive the workers that run; to be changed while there are none.
void observe_threads(ThreadObserver* observer);

// What a thread that helps with something does, all of it.
void run_worker(const char* kind, unsigned worker, const std::function<void()>& work);

}  // namespace wago::base
