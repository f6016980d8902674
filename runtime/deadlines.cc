#include "runtime/deadlines.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <system_error>

#include "base/clock.h"

namespace wago::runtime {

namespace {
Deadlines* current = nullptr;  // replaced in the child of a fork
// Looked at again after at most so long, so that moments centuries away do not overflow.
constexpr uint64_t kLongestWaitNs = 3'600'000'000'000;
}  // namespace

Deadlines& Deadlines::of_process(Expire expire) {
  static std::once_flag once;
  std::call_once(once, [expire] {
    current = new Deadlines(expire);
    pthread_atfork([] { current->mutex_.lock(); }, [] { current->mutex_.unlock(); },
                   [] {
                     // Nobody waits on the condition variable that was copied, but it thinks so.
                     Deadlines* parents = current;
                     current = new Deadlines(parents->expire_);
                     current->waiting_ = std::move(parents->waiting_);
                     if (current->waiting_.empty() || current->start().ok()) return;
                     for (const Deadline& unkept : current->waiting_) {
                       current->expire_(unkept.list, unkept.scope);
                     }
                     current->waiting_.clear();
                   });
  });
  return *current;
}

base::Result<void> Deadlines::ready() {
  std::lock_guard lock(mutex_);
  return start();
}

base::Result<void> Deadlines::add(const Deadline& deadline) {
  std::lock_guard lock(mutex_);
  if (auto started = start(); !started) return started;
  waiting_.insert(deadline);
  if (waiting_.begin()->scope == deadline.scope) earlier_.notify_one();
  return {};
}

void Deadlines::remove(const Deadline& deadline) {
  std::lock_guard lock(mutex_);
  waiting_.erase(deadline);
}

base::Result<void> Deadlines::start() {
  if (started_) return {};
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  auto body = [](void* deadlines) -> void* { static_cast<Deadlines*>(deadlines)->run(); };
  const int refused = pthread_create(&thread, nullptr, body, this);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (refused != 0) {
    return base::unmeasurable(
        "the system gives no thread to keep deadlines with: " + std::generic_category().message(refused) +
        "; allow the process one more thread, or set no deadline");
  }
  pthread_detach(thread);
  started_ = true;
  return {};
}

void Deadlines::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (waiting_.empty()) {
      earlier_.wait(lock);
      continue;
    }
    const Deadline next = *waiting_.begin();
    const uint64_t now = base::monotonic_ns();
    if (now < next.at_ns) {
      earlier_.wait_for(lock, std::chrono::nanoseconds(std::min(next.at_ns - now, kLongestWaitNs)));
      continue;
    }
    waiting_.erase(waiting_.begin());
    lock.unlock();
    expire_(next.list, next.scope);
    lock.lock();
  }
}

}  // namespace wago::runtime
