// When calls expire: a sorted list of moments, and the one thread a process that waits for the next.
//
// The thread is started with the first deadline and blocks all signals, so that it never runs a host's
// handler. It runs until the process ends. After fork() the child gets a thread of its own if there is a
// deadline to wait for.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <set>
#include <tuple>

namespace wago::runtime {

struct Deadline {
  uint64_t at_ns = 0;  // monotonic
  uint64_t scope = 0;  // InterruptScope::id()
  uint32_t list = 0;
  bool operator<(const Deadline& other) const {
    return std::tie(at_ns, scope) < std::tie(other.at_ns, other.scope);
  }
};

class Deadlines {
 public:
  static Deadlines& instance();

  // `expire` is called on the waiting thread, holding nothing. There is one such function.
  void add(const Deadline& deadline, void (*expire)(uint32_t list, uint64_t scope));
  void remove(const Deadline& deadline);

 private:
  Deadlines() = default;
  void start();
  [[noreturn]] void run();

  std::mutex mutex_;
  std::condition_variable earlier_;  // a deadline before the one that is waited for
  std::set<Deadline> waiting_;
  void (*expire_)(uint32_t, uint64_t) = nullptr;
  bool started_ = false;
};

}  // namespace wago::runtime
