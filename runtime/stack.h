// What the runtime knows of a thread: its stack, its activations, and where its traps are recorded.
//
// A thread is prepared on its first entry into guest code: stack bounds are asked for once (that costs 67 us
// on the main thread), the signal handlers are installed and their signals unblocked, and an alternate signal
// stack is set up unless the thread has one that is large enough. All of it is given back when the thread
// ends.
#pragma once

#include <cstdint>

#include "runtime/abi.h"

namespace wago::runtime {

// Adapters::prepare. An outermost entry gets its limit, and the thread its resources, the first time and
// whenever the activation is outside the stack known so far (a host that switches stacks). An entry from
// inside a host function keeps the outermost one's limit and becomes the innermost activation.
//
// On a stack smaller than the reserve the limit lies above the activation, and every function that checks its
// stack traps.
void prepare_entry(Activation* activation);

// Adapters::enter of engines whose guest stack is not of the default size: the limit that the thread
// remembers for its stack pointer would be another engine's.
EntryResult enter_with_own_limit(const FuncRef* callee, const uint64_t* args, uint64_t* results);

// The thread's, which gets its resources if it has none yet.
TrapRecord& trap_record(ThreadState& thread);

// The innermost activation while guest code runs.
inline Activation* innermost(const ThreadState& thread) {
  return thread.nested ? thread.nested : thread.entry;
}

// The activation around this one; null around the outermost.
inline Activation* around(const ThreadState& thread, const Activation* activation) {
  if (activation == thread.entry) return nullptr;
  return activation->outer ? activation->outer : thread.entry;
}

}  // namespace wago::runtime
