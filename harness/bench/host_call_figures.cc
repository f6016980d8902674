#include <wago/wago.h>

#include <optional>

#include "base/clock.h"
#include "harness/bench/figures.h"
#include "harness/timeline.h"
#include "runtime/abi.h"
#include "runtime/engine_data.h"

namespace wago::harness::bench {

namespace {

// (module
//   (import "env" "f" (func (param i32) (result i32)))
//   (func (export "loop") (param i32) (result i32) (local i32)
//     (loop
//       (local.set 1 (call 0 (local.get 1)))
//       (br_if 0 (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))
//     (local.get 1)))
constexpr std::string_view kLoopModule(
    "\0asm\1\0\0\0\1\6\1\x60\1\x7f\1\x7f\2\x9\1\3env\1f\0\0\3\2\1\0\7\x8\1\4loop\0\1\xa\x1a\1\x18\1\1\x7f"
    "\3\x40\x20\1\x10\0\x21\1\x20\0\x41\1\x6b\x22\0\xd\0\xb\x20\1\xb",
    69);

constexpr int32_t kCalls = 2'000'000;

// What generated code's adapter calls when nothing is provided for: no trap, no caller, no nested call.
uint64_t bare_host(runtime::HostFunction*, uint64_t* slots) {
  slots[0] = static_cast<uint32_t>(slots[0] + 3);
  return 0;
}

class Loop {
 public:
  static base::Result<Loop> around(const wago::Engine& engine, wago::Function host) {
    auto module = engine.compile(std::vector<uint8_t>(kLoopModule.begin(), kLoopModule.end()));
    if (!module) return module.error();
    wago::Linker linker(engine);
    linker.define("env", "f", std::move(host));
    wago::InstantiateResult instance = linker.instantiate(*module);
    if (!instance.ok()) return instance.failure().error;
    auto loop = instance.value().function("loop");
    if (!loop) return loop.error();
    auto typed = loop->typed<int32_t(int32_t)>();
    if (!typed) return typed.error();
    return Loop(*typed);
  }

  // Nanoseconds a round of the loop, the call in it included. The result counts the calls.
  double ns_per_call(int32_t calls = kCalls) const {
    const uint64_t before = base::thread_cpu_ns();
    const int32_t result = loop_(calls).value();
    const uint64_t after = base::thread_cpu_ns();
    WAGO_CHECK(result == 3 * calls);
    return static_cast<double>(after - before) / calls;
  }

 private:
  explicit Loop(wago::TypedFunction<int32_t(int32_t)> loop) : loop_(std::move(loop)) {}
  wago::TypedFunction<int32_t(int32_t)> loop_;
};

// A call is two crossings, there and back.
constexpr int32_t kObservedCalls = 200'000;

base::Result<Figure> timeline_figure(const FigureOptions& options, const Loop& plain) {
  // What it names is asked by nobody, so that others may take its place.
  std::optional<Timeline> timeline(std::in_place, 1);
  auto engine = wago::Engine::open();
  if (!engine) return engine.error();
  engine->data()->set_boundary_hooks(&Timeline::hooks());
  auto host = wago::Function::host(*engine, [](int32_t x) { return x + 3; });
  if (!host) return host.error();
  auto observed = Loop::around(*engine, *host);
  if (!observed) return observed.error();
  timeline.reset();
  auto beyond = [&] {
    timeline.emplace(kObservedCalls + 1);  // of the loop, too
    timeline->begin_window();
    const double with_ns = observed->ns_per_call(kObservedCalls);
    timeline.reset();
    return (with_ns - plain.ns_per_call(kObservedCalls)) / 2;
  };
  const Paired pairs =
      measure_pairs(options.quick ? 6 : 60, 3, beyond, [&] { return plain.ns_per_call(kObservedCalls); });
  return Figure{"a crossing to or from the host with a timeline, beyond one without, ns", to_string(pairs.a),
                "<= 50", pairs.a.median <= 50};
}

}  // namespace

base::Result<std::vector<Figure>> host_call_figures(const FigureOptions& options) {
  auto engine = wago::Engine::open();
  if (!engine) return engine.error();
  auto host = [](int32_t x) { return x + 3; };
  auto typed_host = wago::Function::host(*engine, host), replaced_host = wago::Function::host(*engine, host);
  if (!typed_host) return typed_host.error();
  if (!replaced_host) return replaced_host.error();
  static_cast<runtime::HostFunction*>(replaced_host->ref()->context)->call = bare_host;
  auto typed = Loop::around(*engine, *typed_host), bare = Loop::around(*engine, *replaced_host);
  if (!typed) return typed.error();
  if (!bare) return bare.error();
  const Paired pairs = measure_pairs(
      options.quick ? 6 : 60, 3, [&] { return typed->ns_per_call(); }, [&] { return bare->ns_per_call(); });
  auto crossing = timeline_figure(options, *typed);
  if (!crossing) return crossing.error();
  return std::vector<Figure>{
      {"typed host call (i32)->(i32) and back, ns", to_string(pairs.a), "<= 8", pairs.a.median <= 8},
      {"the same adapter calling a bare function, ns", to_string(pairs.b), ""},
      {"typed host call / bare function", to_string(pairs.ratio), ""},
      *std::move(crossing),
  };
}

}  // namespace wago::harness::bench
