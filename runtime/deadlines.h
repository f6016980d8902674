// When calls expire: a sorted list of moments, and the one thread a process that waits for the next.
//
// The thread is started with the first deadline and blocks all signals, so that it never runs a host's
// handler. It runs until the process ends. After fork() the child gets a thread of its own if there is a
// deadline to wait for. The system may refuse a thread: then a deadline is not taken, and in the child of a
// fork those that were are over at once.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <set>
#include <tuple>

#include "base/result.h"

namespace wago::runtime {

struct Deadline {
  uint64_t at_ns = 0;  // monotonic
  uint64_t scope = 0;  // InterruptScope::id()
  uint32_t list = 0;
  bool operator<(const Deadline& other) const {
    return std::tie(at_ns, scope) < std::tie(other.at_ns, other.scope);
  }
};

// Never destroyed: its thread uses it until the process ends.
class Deadlines {
 public:
  // Called on the waiting thread, with nothing locked.
  using Expire = void (*)(uint32_t list, uint64_t scope);
  explicit Deadlines(Expire expire) : expire_(expire) {}

  // The process's, made by the first call.
  static Deadlines& of_process(Expire expire);

  // That the thread runs. Errors (Unmeasurable): the system gives none.
  base::Result<void> ready();
  // Errors as of ready(): then the deadline is not kept.
  base::Result<void> add(const Deadline& deadline);
  void remove(const Deadline& deadline);

 private:
  base::Result<void> start();  // under the lock
  [[noreturn]] void run();

  const Expire expire_;
  std::mutex mutex_;
  std::condition_variable earlier_;  // a deadline before the one that is waited for
  std::set<Deadline> waiting_;
  bool started_ = false;
};

}  // namespace wago::runtime
