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
  // The part of the stack guest code may use: [guest_low, guest_low + guest_bytes). 0 bytes: not prepared.
  uint64_t guest_low = 0;
  uint64_t guest_bytes = 0;
  struct TrapRecord* trap = nullptr;
  // Stores whose last handle went away while their code may have been on this thread's stack.
  struct Graveyard* graveyard = nullptr;
};

extern constinit thread_local ThreadState thread_state __attribute__((tls_model("initial-exec")));

// Makes the thread ready to enter guest code at stack pointer `sp`: the first time, and whenever `sp` is
// outside the stack known so far (a host that switches stacks).
void prepare_thread(uint64_t sp);

// Sets the limit for an outermost entry at stack pointer `sp`. An entry from inside a host function keeps the
// limit of the outermost one. The value left behind afterwards is read by nobody.
inline void set_stack_limit(ThreadState& thread, uint64_t sp) {
  if (__builtin_expect(sp - thread.guest_low >= thread.guest_bytes, 0)) prepare_thread(sp);
  guest_stack_limit = std::max(sp - kGuestStackBytes, thread.guest_low);
}

}  // namespace wago::runtime
