#include "runtime/signals.h"

#include <signal.h>
#include <ucontext.h>

#include <array>
#include <cerrno>
#include <mutex>

#include "base/check.h"
#include "runtime/abi.h"
#include "runtime/code_map.h"
#include "runtime/counting.h"
#include "runtime/stack.h"
#include "runtime/trap.h"

namespace wago::runtime {

namespace {

constexpr std::array<int, 4> kSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
// What was installed before us; written once, before our handlers are.
std::array<struct sigaction, kSignals.size()> previous_actions;

// Collects frames along the frame pointer chains, innermost activation first.
class Walk {
 public:
  explicit Walk(TrapRecord& record) : record_(record) {
    record_.frame_count = 0;
    record_.truncated = false;
  }

  void add(uint64_t pc, const HostFunction* host, uint64_t saved_context = 0) {
    if (record_.frame_count == kMaxTrapFrames) {
      record_.truncated = true;
      return;
    }
    record_.frames[record_.frame_count++] = RawFrame{pc, host, saved_context};
  }

  // Adds the callers of the guest frame at `fp`, which lies in [low, &activation), up to the entry
  // adapter. Reads nothing outside that range, whatever the frames hold. These words are the guest's; the
  // sanitizer's idea of them dates from C++ frames that are gone.
  __attribute__((no_sanitize("address"))) void add_callers(uint64_t fp, uint64_t low,
                                                           const Activation& activation) {
    const auto high = reinterpret_cast<uint64_t>(&activation);
    while (low <= fp && fp + 16 <= high && fp % 8 == 0 && !record_.truncated) {
      const auto* words = reinterpret_cast<const uint64_t*>(fp);
      const uint64_t caller = words[0];
      if (caller <= fp || caller >= high) return;  // called by the entry adapter, whose frame is above
      add(words[1], nullptr, reinterpret_cast<const uint64_t*>(caller)[-1]);
      fp = caller;
    }
  }

  // `activation` and those around it, each of which is in a host function.
  __attribute__((no_sanitize("address"))) void add_exited(const ThreadState& thread,
                                                          const Activation* activation) {
    for (; activation && !record_.truncated; activation = around(thread, activation)) {
      // The C++ function that runs the host function was called by the host adapter, which was called by
      // guest code.
      const auto* exit = static_cast<const uint64_t*>(activation->exit_frame);
      add(0, activation->exit_host);
      const uint64_t adapter_frame = exit[0];
      add_callers(adapter_frame, reinterpret_cast<uint64_t>(exit), *activation);
    }
  }

 private:
  TrapRecord& record_;
};

// Does what the entry adapter does when the guest returns, and reports a trap.
__attribute__((no_sanitize("address"))) void return_from(ThreadState& thread, const Activation& activation,
                                                         gregset_t& registers) {
  if (&activation != thread.entry) thread.nested = activation.outer;
  auto set = [&](int which, uint64_t value) { registers[which] = static_cast<greg_t>(value); };
  set(REG_RBX, activation.rbx);
  set(REG_RBP, activation.rbp);
  set(REG_R12, activation.r12);
  set(REG_R13, activation.r13);
  set(REG_R14, activation.r14);
  set(REG_R15, activation.r15);
  set(REG_RSP, reinterpret_cast<uint64_t>(&activation + 1));
  set(REG_RIP, activation.return_address);
  set(REG_RAX, thread.status | kEntryTrapped);
}

void interrupt(TrapRecord& record, const InterruptScope& scope) {
  record.interruption = scope.request();
  record.deadline_ns = scope.deadline_ns();
}

// Turns the fault into a trap if it is one.
bool return_to_entry(const siginfo_t* info, ucontext_t* context) {
  // Signals sent by kill() and the like arrive at arbitrary instructions, a trap site among them.
  if (info->si_code <= 0) return false;
  ThreadState& thread = thread_state;
  Activation* activation = innermost(thread);
  if (!activation) return false;
  auto& registers = context->uc_mcontext.gregs;
  const auto pc = static_cast<uint64_t>(registers[REG_RIP]);
  const auto sp = static_cast<uint64_t>(registers[REG_RSP]);
  const MappedCode* code = find_code(pc);
  const TrapSite* site = code ? code->trap_site(pc) : nullptr;
  if (!site || sp > reinterpret_cast<uint64_t>(activation)) return false;

  TrapRecord& record = *thread.trap;
  record.code = site->code;
  record.interruption = InterruptRequest::None;
  // These two sites are where a raised limit shows: by the comparison, and after a host function.
  if (site->code == base::TrapCode::StackExhausted || site->code == base::TrapCode::Host) {
    if (const InterruptScope* scope = requested_scope(thread)) interrupt(record, *scope);
  }
  Walk walk(record);
  // In a host adapter r15 is the host function, and the frame shown is its, not the adapter's.
  record.context = nullptr;
  if (code->module()) {
    record.context = reinterpret_cast<const InstanceContext*>(static_cast<uint64_t>(registers[REG_R15]));
    walk.add(pc, nullptr);
  } else {
    walk.add(0, reinterpret_cast<const HostFunction*>(static_cast<uint64_t>(registers[REG_R15])));
  }
  walk.add_callers(static_cast<uint64_t>(registers[REG_RBP]), sp, *activation);
  walk.add_exited(thread, around(thread, activation));
  leave_frames(pc, static_cast<uint64_t>(registers[REG_RBP]), sp, *activation);
  return_from(thread, *activation, registers);
  return true;
}

// Does what the kernel would have done with the signal had we not been installed.
void chain(int signal, siginfo_t* info, void* context, const struct sigaction& previous) {
  const bool is_function =
      (previous.sa_flags & SA_SIGINFO) || (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN);
  const bool was_sent = info->si_code <= 0;
  if (!is_function) {
    if (previous.sa_handler == SIG_IGN && was_sent) return;
    // Back to the default action; a faulting instruction faults again on return, a sent signal is sent again.
    ::signal(signal, SIG_DFL);
    if (was_sent) ::raise(signal);
    return;
  }
  if (previous.sa_flags & SA_RESETHAND) ::signal(signal, SIG_DFL);
  sigset_t mask = previous.sa_mask;
  sigset_t before;
  if (previous.sa_flags & SA_NODEFER) {
    sigset_t own;
    sigemptyset(&own);
    sigaddset(&own, signal);
    pthread_sigmask(SIG_UNBLOCK, &own, &before);
    sigset_t unused;
    pthread_sigmask(SIG_BLOCK, &mask, &unused);
  } else {
    pthread_sigmask(SIG_BLOCK, &mask, &before);
  }
  if (previous.sa_flags & SA_SIGINFO) {
    previous.sa_sigaction(signal, info, context);
  } else {
    previous.sa_handler(signal);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void handle(int signal, siginfo_t* info, void* context) {
  if (return_to_entry(info, static_cast<ucontext_t*>(context))) return;
  const int saved_errno = errno;
  for (size_t i = 0; i < kSignals.size(); ++i) {
    if (kSignals[i] == signal) chain(signal, info, context, previous_actions[i]);
  }
  errno = saved_errno;
}

}  // namespace

void record_refused_entry(ThreadState& thread, const InterruptScope& scope) {
  TrapRecord& record = trap_record(thread);
  interrupt(record, scope);
  if (scope.request() == InterruptRequest::None) {
    record.pending = std::make_unique<Trap>(make_trap(base::TrapCode::Host));
    record.pending->message = scope.unkept()->message;
  }
  Walk(record).add_exited(thread, thread.exited);
}

void catch_faults() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < kSignals.size(); ++i) {
      // Read before it is replaced: a fault on another thread may need it as soon as we are installed.
      WAGO_CHECK(sigaction(kSignals[i], nullptr, &previous_actions[i]) == 0);
      WAGO_CHECK(sigaction(kSignals[i], &action, nullptr) == 0);
    }
  });
  sigset_t faults;
  sigemptyset(&faults);
  for (int signal : kSignals) sigaddset(&faults, signal);
  WAGO_CHECK(pthread_sigmask(SIG_UNBLOCK, &faults, nullptr) == 0);
}

}  // namespace wago::runtime
