#include "runtime/call.h"

#include "runtime/store.h"
#include "runtime/trap.h"

namespace wago::runtime {

namespace {

// A call from inside a host function: the outermost call has set the limit, and clears up.
CallResult call_nested(const FuncRef& callee, std::span<const Slot> args, std::span<Slot> results) {
  ThreadState& thread = thread_state;
  Activation activation;
  activation.callee = &callee;
  activation.outer = thread.activation;
  thread.activation = &activation;
  const uint64_t status = callee.adapters->enter(&callee, args.data(), results.data(), &activation);
  thread.activation = activation.outer;
  if (status != 0) return CallResult(decode_trap(*thread.trap));
  return {};
}

}  // namespace

CallResult call_specially(const FuncRef& callee, std::span<const Slot> args, std::span<Slot> results) {
  if (thread_state.activation) return call_nested(callee, args, results);
  prepare_thread(reinterpret_cast<uint64_t>(__builtin_frame_address(0)));
  return call_function(callee, args, results);
}

CallResult finish_call(uint64_t status) {
  CallResult result = status == 0 ? CallResult() : CallResult(decode_trap(*thread_state.trap));
  bury_dead_stores();
  return result;
}

}  // namespace wago::runtime
