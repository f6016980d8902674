// Locks of process-wide state, held across fork(), so that a child never inherits one from a thread that it
// does not have.
#pragma once

#include <pthread.h>

#include <mutex>

namespace wago::runtime {

// The one of `Tag`. Never destroyed: handles with static storage may outlive any destructor of ours. None is
// taken while another is held.
template <class Tag>
std::mutex& fork_lock() {
  static std::mutex& lock = [&]() -> std::mutex& {
    auto unlock = [] { fork_lock<Tag>().unlock(); };
    pthread_atfork([] { fork_lock<Tag>().lock(); }, unlock, unlock);
    return *new std::mutex;
  }();
  return lock;
}

}  // namespace wago::runtime
