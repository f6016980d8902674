// From a place in a thread to the frames around it: guest functions, adapters, the runtime, the host, nested
// in one another as they called each other.
//
// Guest frames and adapters are left by their frame pointers, and where a function is being entered or left
// by what its prologue and epilogue have done so far; native frames by the unwind tables of their objects.
// Both are exact: a walk reaches its root or says that it did not, and never guesses.
//
// May be called in a signal handler: no locks, no allocation, and no memory is read outside `stack`, the
// mapped code that frames are in, and the tables of loaded objects.
#pragma once

#include <cstdint>
#include <span>

#include "harness/native_unwind.h"

namespace wago::harness {

struct StackWalk {
  uint32_t frames = 0;    // written
  bool complete = false;  // the last one is the root
};

// Writes an address inside each frame's current instruction, innermost first. The root is the frame that ends
// at `root_end` (rsp as it was before the root's function was called).
StackWalk walk_stack(FrameRegisters from, uint64_t root_end, const StackMemory& stack,
                     const NativeUnwinder& native, std::span<uint64_t> addresses);

}  // namespace wago::harness
