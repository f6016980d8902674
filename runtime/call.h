// Calls from C++ into guest code, and into host functions, which take the same way. The path of a call that
// does not trap allocates nothing, takes no lock and looks nothing up; it is inline, and keeps what it needs
// after the guest returns down to where the result goes.
#pragma once

#include <span>

#include <wago/wago.h>

#include "base/check.h"
#include "runtime/abi.h"
#include "runtime/stack.h"

namespace wago::runtime {

// The parts of call_function() that are not for every call: calls from inside a host function, a thread's
// first call; and what is left to do after a call that trapped or dropped a store.
CallResult call_specially(const FuncRef& callee, std::span<const Slot> args, std::span<Slot> results);
CallResult finish_call(uint64_t status);

// Preconditions (checked): slot counts are those of the signature; the reference has adapters, as those of
// exported functions and of host functions do. The store of `callee` is alive at the call; what happens to it
// during the call is of no concern.
inline CallResult call_function(const FuncRef& callee, std::span<const Slot> args, std::span<Slot> results) {
  const Adapters& adapters = *callee.adapters;
  WAGO_CHECK_MSG(args.size() == adapters.param_slots, "argument slots do not match the function's type");
  WAGO_CHECK_MSG(results.size() == adapters.result_slots, "result slots do not match the function's type");
  ThreadState& thread = thread_state;
  const uint64_t sp = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  // Nothing here comes back from its slow path: whatever were live across it would have to be saved by every
  // call.
  if (__builtin_expect(thread.activation || needs_preparation(thread, sp), 0)) {
    return call_specially(callee, args, results);
  }
  set_stack_limit(thread, sp);
  Activation activation;
  activation.callee = &callee;
  activation.outer = nullptr;
  thread.activation = &activation;
  const uint64_t status = adapters.enter(&callee, args.data(), results.data(), &activation);
  // A constant, where restoring a loaded value would make calls in a row wait for each other's stores.
  thread.activation = nullptr;
  if (__builtin_expect((status | reinterpret_cast<uint64_t>(thread.graveyard)) != 0, 0))
    return finish_call(status);
  return {};
}

}  // namespace wago::runtime
