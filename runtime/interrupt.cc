#include "runtime/interrupt.h"

#include <pthread.h>

#include <array>
#include <mutex>
#include <utility>

#include "base/clock.h"
#include "runtime/deadlines.h"
#include "runtime/instance.h"
#include "runtime/signals.h"
#include "runtime/stack.h"
#include "runtime/trap.h"

namespace wago::runtime {

// Controls share lists, so that the lists can be locked around fork(). Which list a scope is in says its
// control; a list is short, it holds the calls that run at this moment.
struct InterruptList {
  std::mutex mutex;
  InterruptScope* first = nullptr;

  void add(InterruptScope& scope) {
    scope.next_ = first;
    if (first) first->previous_ = &scope;
    first = &scope;
  }
  void remove(InterruptScope& scope) {
    (scope.previous_ ? scope.previous_->next_ : first) = scope.next_;
    if (scope.next_) scope.next_->previous_ = scope.previous_;
  }
  template <class Wanted>
  bool ask(InterruptRequest request, Wanted wanted) {
    bool found = false;
    for (InterruptScope* scope = first; scope; scope = scope->next_) {
      if (!wanted(*scope)) continue;
      scope->ask(request);
      found = true;
    }
    return found;
  }
  // In the child of a fork: the other threads are gone, and their stacks may be used again.
  void keep_own(const ThreadState& thread) {
    for (InterruptScope* scope = first; scope;) {
      InterruptScope* next = scope->next_;
      if (&scope->thread_ != &thread) remove(*scope);
      scope = next;
    }
  }
};

namespace {

constexpr uint32_t kLists = 64;

class InterruptLists {
 public:
  static InterruptLists& instance() {
    static InterruptLists& lists =
        *new InterruptLists;  // never destroyed: static destructors may call guests
    return lists;
  }
  InterruptList& operator[](uint32_t list) { return lists_[list]; }
  uint32_t assign() { return next_.fetch_add(1, std::memory_order_relaxed) % kLists; }

 private:
  InterruptLists() {
    pthread_atfork(
        [] {
          for (InterruptList& list : instance().lists_) list.mutex.lock();
        },
        [] {
          for (InterruptList& list : instance().lists_) list.mutex.unlock();
        },
        [] {
          for (InterruptList& list : instance().lists_) {
            list.keep_own(thread_state);
            list.mutex.unlock();
          }
        });
  }

  std::array<InterruptList, kLists> lists_;
  std::atomic<uint32_t> next_{0};
};

InterruptList& list_of(uint32_t list) {
  return InterruptLists::instance()[list];
}

uint64_t next_scope_id() {
  static std::atomic<uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

void expire(uint32_t list, uint64_t scope_id) {
  InterruptList& scopes = list_of(list);
  std::lock_guard lock(scopes.mutex);
  scopes.ask(InterruptRequest::DeadlineExceeded,
             [&](const InterruptScope& scope) { return scope.id() == scope_id; });
}

}  // namespace

InterruptControl::InterruptControl() : list_(InterruptLists::instance().assign()) {}

void InterruptControl::cancel() {
  InterruptList& scopes = list_of(list_);
  std::lock_guard lock(scopes.mutex);
  const bool found = scopes.ask(InterruptRequest::Cancelled,
                                [&](const InterruptScope& scope) { return &scope.control_ == this; });
  if (!found) pending_ = true;
}

void InterruptControl::withdraw() {
  InterruptList& scopes = list_of(list_);
  std::lock_guard lock(scopes.mutex);
  pending_ = false;
}

base::Result<void> InterruptControl::set_deadline_ns(int64_t per_call_ns) {
  if (per_call_ns > 0) {
    if (auto ready = Deadlines::of_process(expire).ready(); !ready) return ready;
  }
  deadline_ns_.store(per_call_ns, std::memory_order_relaxed);
  return {};
}

InterruptScope::InterruptScope(InterruptControl& control, ThreadState& thread)
    : control_(control), thread_(thread), outer_(thread.interrupts), id_(next_scope_id()) {
  const int64_t deadline_ns = control.deadline_ns_.load(std::memory_order_relaxed);
  thread.interrupts = this;
  InterruptList& scopes = list_of(control.list_);
  {
    std::lock_guard lock(scopes.mutex);
    scopes.add(*this);
    if (std::exchange(control.pending_, false)) ask(InterruptRequest::Cancelled);
    if (deadline_ns < 0) ask(InterruptRequest::DeadlineExceeded);
  }
  if (deadline_ns <= 0) return;
  deadline_ns_ = static_cast<uint64_t>(deadline_ns);
  expires_ns_ = base::monotonic_ns() + deadline_ns_;
  if (auto kept = Deadlines::of_process(expire).add({expires_ns_, id_, control.list_}); !kept) {
    unkept_ = kept.error();
  }
}

InterruptScope::~InterruptScope() {
  if (deadline_ns_ != 0) Deadlines::of_process(expire).remove({expires_ns_, id_, control_.list_});
  InterruptList& scopes = list_of(control_.list_);
  InterruptRequest request;
  {
    std::lock_guard lock(scopes.mutex);
    scopes.remove(*this);
    request = this->request();
    if (request == InterruptRequest::Cancelled && !reported_) control_.pending_ = true;
  }
  thread_.interrupts = outer_;
  if (request != InterruptRequest::None) set_stack_limit(thread_, thread_.real_stack_limit);
}

// Under the list's lock.
void InterruptScope::ask(InterruptRequest request) {
  if (request == InterruptRequest::Cancelled || this->request() == InterruptRequest::None) {
    request_.store(request);
  }
  std::atomic_ref(thread_.stack_limit).store(kInterruptStackLimit);
}

const InterruptScope* requested_scope(const ThreadState& thread) {
  const InterruptScope* scope = thread.interrupts;
  while (scope && scope->request() == InterruptRequest::None) scope = scope->outer();
  return scope;
}

void set_stack_limit(ThreadState& thread, uint64_t limit) {
  thread.real_stack_limit = limit;
  std::atomic_ref cell(thread.stack_limit);
  cell.store(limit);
  if (requested_scope(thread)) cell.store(kInterruptStackLimit);
}

EntryResult enter_guarded(const FuncRef* callee, const uint64_t* args, uint64_t* results) {
  ThreadState& thread = thread_state;
  // Held here: a host function may drop the instance, and the store may go with the call.
  const std::shared_ptr<InterruptControl> control =
      static_cast<const InstanceContext*>(callee->context)->instance->interrupts();
  InterruptScope scope(*control, thread);
  EntryResult result;
  if (scope.request() != InterruptRequest::None || scope.unkept()) {
    record_refused_entry(thread, scope);
    result = {thread.status | kEntryTrapped, 0};
  } else {
    result = callee->adapters->unguarded(callee, args, results);
  }
  if ((result.status & kEntryTrapped) && thread.trap->interruption != InterruptRequest::None) scope.report();
  return result;
}

}  // namespace wago::runtime

namespace wago {

InterruptHandle::InterruptHandle() : control_(std::make_shared<runtime::InterruptControl>()) {}

void InterruptHandle::cancel() const {
  control()->cancel();
}

void InterruptHandle::withdraw() const {
  control()->withdraw();
}

Result<void> InterruptHandle::set_deadline(std::chrono::nanoseconds per_call) const {
  return control()->set_deadline_ns(per_call.count());
}

}  // namespace wago
