// What the runtime knows of a thread: its stack, its activations, and where its traps are recorded.
//
// A thread is prepared on its first entry into guest code: stack bounds are asked for once (that costs 67 us
// on the main thread), the signal handlers are installed, and an alternate signal stack is set up unless the
// thread has one that is large enough. All of it is given back when the thread ends.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/abi.h"

namespace wago::runtime {

class Store;

struct ThreadState {
  Activation* activation = nullptr;  // innermost, null outside guest code
  // The stack this thread runs on: [stack_low, stack_low + stack_bytes). 0 bytes: not prepared.
  uint64_t stack_low = 0;
  uint64_t stack_bytes = 0;
  struct TrapRecord* trap = nullptr;
  // Stores whose last handle went away while their code may have been on this thread's stack.
  struct Graveyard* graveyard = nullptr;
};

extern constinit thread_local ThreadState thread_state __attribute__((tls_model("initial-exec")));

// Makes the thread ready to enter guest code at stack pointer `sp`: the first time, and whenever `sp` is
// outside the stack known so far (a host that switches stacks).
void prepare_thread(uint64_t sp);

// Whether an outermost entry at stack pointer `sp` needs prepare_thread() first.
inline bool needs_preparation(const ThreadState& thread, uint64_t sp) {
  return sp - thread.stack_low >= thread.stack_bytes;
}

// Sets the limit for an outermost entry at stack pointer `sp`. An entry from inside a host function keeps the
// limit of the outermost one. On a stack smaller than the reserve the limit lies above `sp`, and every
// function that checks its stack traps. The value left behind afterwards is read by nobody.
inline void set_stack_limit(const ThreadState& thread, uint64_t sp) {
  guest_stack_limit = std::max(sp - kGuestStackBytes, thread.stack_low + kStackReserve);
}

}  // namespace wago::runtime
