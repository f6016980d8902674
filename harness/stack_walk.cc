#include "harness/stack_walk.h"

#include "runtime/code_map.h"
#include "runtime/unwind.h"

namespace wago::harness {

namespace {

bool step_guest(const runtime::MappedCode& code, FrameRegisters& frame, const StackMemory& stack) {
  runtime::FrameRegisters registers{frame.pc, frame.sp, frame.fp};
  const auto offset = static_cast<uint32_t>(frame.at() - reinterpret_cast<uint64_t>(code.base()));
  if (!runtime::unwind(code.image(), offset, stack.low, stack.high, registers)) return false;
  frame = {registers.pc, registers.rsp, registers.rbp, false};
  return true;
}

}  // namespace

StackWalk walk_stack(FrameRegisters frame, uint64_t root_end, const StackMemory& stack,
                     const NativeUnwinder& native, std::span<uint64_t> addresses) {
  StackWalk walk;
  const runtime::MappedCode* code = nullptr;
  while (walk.frames < addresses.size()) {
    const uint64_t at = frame.at();
    addresses[walk.frames++] = at;
    if (!code || !code->contains(at)) code = runtime::find_code(at);
    if (code) {
      if (!step_guest(*code, frame, stack)) break;
      continue;
    }
    if (!native.step(frame, stack)) break;
    // Beyond a signal's frame the stack may be another one.
    if (frame.sp >= root_end && !frame.interrupted) {
      walk.complete = frame.sp == root_end;
      break;
    }
  }
  return walk;
}

}  // namespace wago::harness
