#include <wago/wago.h>

#include <cstdio>

#include "base/clock.h"
#include "harness/bench/figures.h"
#include "harness/invoker.h"
#include "harness/phases.h"
#include "harness/subject.h"
#include "runtime/abi.h"

namespace wago::harness::bench {

namespace {

// (module (func (export "add") (param i32 i32) (result i32) (i32.add (local.get 0) (local.get 1))))
constexpr std::string_view kAddModule(
    "\0asm\1\0\0\0\1\7\1\x60\2\x7f\x7f\1\x7f\3\2\1\0\7\7\1\3add\0\0\xa\x9\1\7\0\x20\0\x20\1\x6a\xb", 41);

// What calling guest code from C++ cannot do without, traps not provided for: save what the C++ side owns,
// load the callee's context and its two arguments, call, store the result, restore. Arguments: rdi code, rsi
// context, rdx args, rcx results.
extern "C" void wago_bench_minimal_adapter(const void* code, void* context, const uint64_t* args,
                                           uint64_t* results);
asm(R"(
  .text
  .p2align 6
  .globl wago_bench_minimal_adapter
  .type wago_bench_minimal_adapter, @function
wago_bench_minimal_adapter:
  pushq %rbp
  movq %rsp, %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  pushq %rcx
  movq %rdi, %rax
  movq %rsi, %r15
  movq (%rdx), %rdi
  movq 8(%rdx), %rsi
  callq *%rax
  popq %rcx
  movq %rax, (%rcx)
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  retq
  .size wago_bench_minimal_adapter, .-wago_bench_minimal_adapter
)");

constexpr uint64_t kCalls = 2'000'000;

base::Result<std::unique_ptr<Subject>> load_add(uint64_t iterations) {
  base::MemoryFiles files;
  files.put("add.wasm", kAddModule);
  capture::Workload workload;
  workload.id = "add";
  workload.module_path = "add.wasm";
  workload.calls = {{"add", {40, 2}, {42}, {}}};
  workload.mode = base::Mode::Prepared;
  workload.iterations = iterations;
  return Subject::load(workload, {}, files);
}

base::Result<wago::Instance> instance_of(const Subject& subject) {
  auto made = subject.instantiate(subject.reference());
  if (auto* failure = std::get_if<RunFailure>(&made)) return failure->error;
  return std::get<wago::Instance>(made);
}

// Nanoseconds a call. The sum keeps the results alive and checks them.
template <class Call>
double time_calls(Call call) {
  uint64_t args[2] = {40, 2}, result = 0, sum = 0;
  uint64_t before = base::thread_cpu_ns();
  for (uint64_t i = 0; i < kCalls; ++i) {
    args[1] = i & 1;
    call(args, &result);
    sum += result;
  }
  uint64_t after = base::thread_cpu_ns();
  WAGO_CHECK(sum == kCalls * 40 + kCalls / 2);
  return static_cast<double>(after - before) / kCalls;
}

double bare_call(const wago::Function& function) {
  return time_calls([&](uint64_t* args, uint64_t* result) {
    wago::CallResult outcome = function.call({args, 2}, {result, 1});
    WAGO_CHECK(outcome.ok());
  });
}

}  // namespace

base::Result<std::vector<Figure>> call_figures(const FigureOptions& options) {
  auto subject = load_add(1);
  if (!subject) return subject.error();
  auto instance = instance_of(**subject);
  if (!instance) return instance.error();
  auto function = instance->function("add");
  if (!function) return function.error();
  const runtime::FuncRef& ref = *function->ref();
  auto adapter = [&](uint64_t* args, uint64_t* result) {
    wago_bench_minimal_adapter(ref.code, ref.context, args, result);
  };
  Paired pairs = measure_pairs(
      options.quick ? 6 : 60, 3, [&] { return bare_call(*function); }, [&] { return time_calls(adapter); });
  // The 10 ns hold where the adapter takes 6; elsewhere they scale with it.
  double allowed_ns = 10.0 * pairs.b.median / 6.0;
  return std::vector<Figure>{
      {"prepared call of add(i32,i32), ns", to_string(pairs.a),
       "<= 10 where the adapter takes 6: " + std::to_string(allowed_ns).substr(0, 4),
       pairs.a.median <= allowed_ns},
      {"minimal adapter by hand, ns", to_string(pairs.b), ""},
      {"prepared call / minimal adapter", to_string(pairs.ratio), "<= 1.2", pairs.ratio.median <= 1.2},
  };
}

base::Result<std::vector<Figure>> recorder_figures(const FigureOptions& options) {
  auto subject = load_add(kCalls);
  if (!subject) return subject.error();
  auto instance = instance_of(**subject);
  if (!instance) return instance.error();
  auto function = instance->function("add");
  if (!function) return function.error();
  // All of a recording's measured phase: clocks, batches, records and checks, over its iterations.
  auto recording = [&] {
    Recorded recorded;
    ProgressPage page;
    uint64_t before = base::thread_cpu_ns();
    RunStatus status = record_phases(**subject, base::system_clock(), page, recorded);
    WAGO_CHECK(!status && recorded.loop.iterations == kCalls);
    return static_cast<double>(base::thread_cpu_ns() - before) / kCalls;
  };
  Paired pairs = measure_pairs(options.quick ? 4 : 40, 2, recording, [&] { return bare_call(*function); });
  double own = pairs.a.median - pairs.b.median;
  char text[96];
  std::snprintf(text, sizeof text, "%.3g (%s recorded, %s bare)", own, to_string(pairs.a, "%.3g").c_str(),
                to_string(pairs.b, "%.3g").c_str());
  return std::vector<Figure>{{"recorder's own cost an iteration, ns", text, "<= 60", own <= 60}};
}

}  // namespace wago::harness::bench
