// Hardware faults of guest code become traps here, and nowhere else.
//
// One handler a process for SIGSEGV, SIGBUS, SIGFPE and SIGILL. It acts only if the kernel raised the signal
// for an instruction that is exactly a listed trap site of a live image: it writes the thread's
// TrapRecord and returns from the innermost activation to the C++ code that entered it, with the registers
// its entry adapter saved. Everything else goes to the handler that was there before, as the kernel would
// have called it, or to the default action: a fault of ours, or of the host, crashes as one.
//
// Async-signal safety: it reads initial-exec thread locals, the lock-free registry of code_map.h, immutable
// images whose code is on the interrupted stack, and that stack between its pointer and the activation's
// entry. It takes no lock and allocates nothing.
#pragma once

namespace wago::runtime {

class InterruptScope;
struct ThreadState;

// Idempotent; cheap after the first call. Unblocks the four signals on the calling thread: a fault whose
// signal is blocked ends the process, whatever handler there is.
void catch_faults();

// What the handler records, of a call that is not entered: it is to stop already, or its deadline is not
// kept.
void record_refused_entry(ThreadState& thread, const InterruptScope& scope);

}  // namespace wago::runtime
