#include <wago/wago.h>

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "base/check.h"
#include "base/clock.h"
#include "harness/bench/figures.h"

namespace wago::harness::bench {

namespace {

// (module (memory 1)
//   (func (export "trap") (unreachable))
//   (func (export "load") (drop (i32.load (i32.const -4)))))
constexpr std::string_view kTrapModule(
    "\0asm\1\0\0\0\1\4\1\x60\0\0\3\3\2\0\0\5\3\1\0\1\7\xf\2\4trap\0\0\4load\0\1"
    "\xa\xe\2\3\0\0\xb\x8\0\x41\x7c\x28\2\0\x1a\xb",
    57);

// Functions that fault as the guest's do, and the place after the fault where a handler lets them go on: what
// a signal round trip cannot do without.
extern "C" {
void wago_bench_fault_undefined(const void* unused);
void wago_bench_fault_load(const void* address);
extern const char wago_bench_after_undefined[], wago_bench_after_load[];
}
asm(R"(
  .text
  .globl wago_bench_fault_undefined, wago_bench_fault_load, wago_bench_after_undefined, wago_bench_after_load
  .type wago_bench_fault_undefined, @function
  .type wago_bench_fault_load, @function
wago_bench_fault_undefined:
  ud2
wago_bench_after_undefined:
  retq
wago_bench_fault_load:
  movl (%rdi), %eax
wago_bench_after_load:
  retq
)");

const char* volatile resume_at = nullptr;

void resume(int, siginfo_t*, void* context) {
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP] = reinterpret_cast<greg_t>(resume_at);
}

constexpr uint64_t kTraps = 20'000;

// Nanoseconds a fault with a handler that does nothing but go on after it, in place of the engine's.
double bare_round_trip(int signal, void (*fault)(const void*), const char* after, const void* address) {
  struct sigaction bare {
  }, engines{};
  bare.sa_sigaction = resume;
  bare.sa_flags = SA_SIGINFO | SA_ONSTACK;
  WAGO_CHECK(sigaction(signal, &bare, &engines) == 0);
  resume_at = after;
  const uint64_t before = base::thread_cpu_ns();
  for (uint64_t i = 0; i < kTraps; ++i) fault(address);
  const uint64_t took = base::thread_cpu_ns() - before;
  WAGO_CHECK(sigaction(signal, &engines, nullptr) == 0);
  return static_cast<double>(took) / kTraps;
}

// Nanoseconds a call that traps: with the trap's stack decoded, and freed.
double guest_round_trip(const wago::Function& function, TrapCode code) {
  const uint64_t before = base::thread_cpu_ns();
  for (uint64_t i = 0; i < kTraps; ++i) {
    wago::CallResult outcome = function.call({}, {});
    WAGO_CHECK(!outcome.ok() && outcome.trap().code == code && outcome.trap().frames.size() == 1);
  }
  return static_cast<double>(base::thread_cpu_ns() - before) / kTraps;
}

}  // namespace

base::Result<std::vector<Figure>> trap_figures(const FigureOptions& options) {
  auto engine = Engine::open();
  if (!engine) return engine.error();
  auto module = engine->compile({kTrapModule.begin(), kTrapModule.end()});
  if (!module) return module.error();
  const auto instance = Linker(*engine).instantiate(*module);
  if (!instance) return instance.failure().error;
  auto trap = instance.value().function("trap"), load = instance.value().function("load");
  if (!trap) return trap.error();
  if (!load) return load.error();
  constexpr size_t kPageBytes = 4096;
  void* guard = mmap(nullptr, kPageBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (guard == MAP_FAILED) return base::failed("no memory for a guard page");

  // The engine's handlers have to be there before they are put aside.
  WAGO_CHECK(!trap->call({}, {}).ok());
  struct Kind {
    const char* name;
    int signal;
    const wago::Function& function;
    TrapCode code;
    void (*fault)(const void*);
    const char* after;
  };
  const Kind kinds[] = {{"unreachable", SIGILL, *trap, TrapCode::Unreachable, wago_bench_fault_undefined,
                         wago_bench_after_undefined},
                        {"load out of bounds", SIGSEGV, *load, TrapCode::MemoryOutOfBounds,
                         wago_bench_fault_load, wago_bench_after_load}};
  std::vector<Figure> figures;
  for (const Kind& kind : kinds) {
    const Paired pairs = measure_pairs(
        options.quick ? 4 : 40, 2, [&] { return guest_round_trip(kind.function, kind.code); },
        [&] { return bare_round_trip(kind.signal, kind.fault, kind.after, guard); });
    const std::string name = std::string("trap, ") + kind.name;
    figures.push_back({name + ": call, trap, caught, ns", to_string(pairs.a), ""});
    figures.push_back({name + ": bare signal, ns", to_string(pairs.b), ""});
    figures.push_back({name + " / bare signal", to_string(pairs.ratio), "<= 1.5", pairs.ratio.median <= 1.5});
  }
  munmap(guard, kPageBytes);
  return figures;
}

}  // namespace wago::harness::bench
