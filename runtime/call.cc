#include "runtime/call.h"

#include "base/check.h"
#include "runtime/host.h"
#include "runtime/stack.h"
#include "runtime/trap.h"

namespace wago::runtime {

namespace {

__attribute__((noinline, cold)) CallResult call_host(const FuncRef& callee, std::span<const Slot> args,
                                                     std::span<Slot> results) {
  const std::shared_ptr<Store> alive = store_of(callee);  // the body may drop the last handle to itself
  std::fill(results.begin(), results.end(), 0);
  const auto* host = static_cast<const HostFunctionData*>(static_cast<const HostFunction*>(callee.context));
  std::optional<Trap> trap = host->invoke(args, results);
  if (!trap) return {};
  return CallResult(*std::move(trap));
}

__attribute__((noinline, cold)) CallResult trapped(TrapRecord& record, bool outermost) {
  CallResult result(decode_trap(record));
  if (outermost) bury_dead_stores();
  return result;
}

}  // namespace

CallResult call_function(const FuncRef& callee, std::span<const Slot> args, std::span<Slot> results) {
  const Adapters& adapters = *callee.adapters;
  WAGO_CHECK_MSG(args.size() == adapters.param_slots, "argument slots do not match the function's type");
  WAGO_CHECK_MSG(results.size() == adapters.result_slots, "result slots do not match the function's type");
  if (__builtin_expect(callee.function == kHostFunctionIndex, 0)) return call_host(callee, args, results);

  ThreadState& thread = thread_state;
  const bool outermost = thread.activation == nullptr;
  if (outermost) set_stack_limit(thread, reinterpret_cast<uint64_t>(__builtin_frame_address(0)));
  Activation activation;
  activation.landing_pad = adapters.landing_pad;
  activation.outer = thread.activation;
  activation.trap = thread.trap;
  activation.callee = &callee;
  thread.activation = &activation;
  const uint64_t status = adapters.enter(&callee, args.data(), results.data(), &activation);
  thread.activation = activation.outer;
  if (__builtin_expect(status != 0, 0)) return trapped(*activation.trap, outermost);
  if (__builtin_expect(outermost && thread.graveyard != nullptr, 0)) bury_dead_stores();
  return {};
}

}  // namespace wago::runtime
