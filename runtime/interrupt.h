// Stopping guest code from another thread, without signals.
//
// A thread stops when its stack limit is raised above any stack: the next prologue, host adapter or loop
// check of interruptible code goes to its stub for an exhausted stack, and the handler there (signals.cc)
// finds that it was asked to stop. Who asks has to know which thread's limit that is, so calls that can be
// stopped are entered through enter_guarded(), which opens an InterruptScope: it lies on the thread's stack,
// is listed for those who ask, and, innermost first, for the thread itself. Functions of instances without an
// InterruptControl are entered directly and cost nothing.
//
//   who asks   marks the scope, then raises the limit, both under the lock of the scope's list
//   a scope    leaves the list under the same lock, so that nobody raises a limit of a thread that has left;
//              if it was marked, the limit goes back to what the stack allows
//   a thread   that sets its limit looks at its scopes' marks afterwards and raises it again if one is set
//              (prepare_entry(), or an inner scope's end). Marks and limits are sequentially consistent, so
//              that either it sees the mark, or the raised limit comes after its own.
//
// A cancel that no call has reported stays with the control and stops the next call at its entry. An expired
// deadline belongs to one call and goes with it.
//
// Deadlines are kept by one thread a process, started with the first that is set. After fork() the child has
// the scopes of the thread that forked, and a thread for their deadlines. A call whose deadline nobody can
// keep does not begin.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "base/result.h"
#include "runtime/abi.h"

namespace wago::runtime {

enum class InterruptRequest : uint8_t { None, Cancelled, DeadlineExceeded };

// What an InterruptHandle holds. Any thread, any time; not in signal handlers.
class InterruptControl {
 public:
  InterruptControl();
  InterruptControl(const InterruptControl&) = delete;
  InterruptControl& operator=(const InterruptControl&) = delete;

  // Every call under this control, or the next.
  void cancel();
  // A cancel that no call has reported.
  void withdraw();
  // Of every call that is entered from now on; 0: none; negative: over before the call begins. Errors
  // (Unmeasurable): there is no thread to keep it with; what was set before holds.
  base::Result<void> set_deadline_ns(int64_t per_call_ns);

 private:
  friend class InterruptScope;
  const uint32_t list_;   // which list its scopes are in
  bool pending_ = false;  // under that list's lock
  std::atomic<int64_t> deadline_ns_{0};
};

// One guarded call, from before its entry until after its return, on the thread that makes it.
class InterruptScope {
 public:
  // The control outlives it.
  InterruptScope(InterruptControl& control, ThreadState& thread);
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

  InterruptRequest request() const { return request_.load(); }
  uint64_t id() const { return id_; }                    // of no other scope of the process
  uint64_t deadline_ns() const { return deadline_ns_; }  // 0: there is none, or it was over at once
  const std::optional<base::Error>& unkept() const { return unkept_; }  // why nobody keeps its deadline
  const InterruptScope* outer() const { return outer_; }                // of the same thread
  // The call has ended by what was asked.
  void report() { reported_ = true; }

 private:
  friend class InterruptControl;
  friend struct InterruptList;
  void ask(InterruptRequest request);

  InterruptControl& control_;
  ThreadState& thread_;
  InterruptScope* const outer_;
  InterruptScope *previous_ = nullptr, *next_ = nullptr;  // in the list
  const uint64_t id_;
  uint64_t deadline_ns_ = 0;
  uint64_t expires_ns_ = 0;  // monotonic
  std::optional<base::Error> unkept_;
  std::atomic<InterruptRequest> request_{InterruptRequest::None};
  bool reported_ = false;
};

// The innermost scope of the thread that was asked to stop, or nullptr. Safe in a signal handler.
const InterruptScope* requested_scope(const ThreadState& thread);

// Sets the limit the thread's stack allows, unless the thread is to stop.
void set_stack_limit(ThreadState& thread, uint64_t limit);

// Adapters::enter of functions whose instance has a control.
EntryResult enter_guarded(const FuncRef* callee, const uint64_t* args, uint64_t* results);

}  // namespace wago::runtime
