// What compiling costs as modules grow in one dimension, stage by stage.
//
//   wago_scale [--level N] [--bounds signals|explicit] [--spill-everything] [SHAPE...]
//
// For every shape of shapes.h, at n, 2n and 4n: milliseconds of CPU time of each stage, and by what factor
// the last doubling multiplied it; 2 is linear, 4 quadratic. Then decoding 100 MB of functions. Times under a
// millisecond have no factor.

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/clock.h"
#include "codegen/allocate/allocate.h"
#include "codegen/build/build.h"
#include "codegen/emit/emit.h"
#include "codegen/passes/passes.h"
#include "codegen/select/select.h"
#include "ctest/scale/shapes.h"

namespace wago::scale {
namespace {

enum Stage { kDecode, kBuild, kPasses, kSelect, kAllocate, kEmit, kStages };
constexpr const char* kStageNames[] = {"decode", "build", "passes", "select", "allocate", "emit"};

struct Cost {
  std::array<uint64_t, kStages> stage_ns{};
  size_t module_bytes = 0, code_bytes = 0;
  std::string refusal;

  uint64_t total_ns() const {
    uint64_t sum = 0;
    for (uint64_t ns : stage_ns) sum += ns;
    return sum;
  }
};

class StageClock {
 public:
  explicit StageClock(Cost& cost) : cost_(cost), begin_(base::thread_cpu_ns()) {}
  void ends(Stage stage) {
    const uint64_t now = base::thread_cpu_ns();
    cost_.stage_ns[stage] += now - begin_;
    begin_ = now;
  }

 private:
  Cost& cost_;
  uint64_t begin_;
};

Cost compile(std::vector<uint8_t> bytes, const runtime::CompileSettings& settings) {
  Cost cost;
  cost.module_bytes = bytes.size();
  StageClock clock(cost);
  auto module = runtime::decode_module(std::move(bytes));
  clock.ends(kDecode);
  if (!module) return cost.refusal = module.error().to_string(), cost;
  codegen::IrBuilder builder;
  codegen::PassPipeline passes;
  codegen::Selector selector;
  codegen::Allocator allocator;
  codegen::Emitter emitter;
  codegen::IrFunction ir;
  codegen::MachFunction mach;
  codegen::FunctionCode code;
  for (uint32_t body = 0; body < (*module)->bodies.size(); ++body) {
    auto built = builder.build(**module, body, settings, ir);
    clock.ends(kBuild);
    if (!built) return cost.refusal = built.error().to_string(), cost;
    passes.run(**module, settings, ir);
    clock.ends(kPasses);
    selector.select(**module, settings, ir, mach);
    clock.ends(kSelect);
    settings.spill_everything ? allocator.spill_everything(mach) : allocator.allocate(mach);
    clock.ends(kAllocate);
    emitter.emit(mach, codegen::FrameStyle::Standard, false, code);
    clock.ends(kEmit);
    cost.code_bytes += code.bytes.size();
  }
  return cost;
}

long peak_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

double ms(uint64_t ns) {
  return static_cast<double>(ns) / 1e6;
}

void print_factor(uint64_t before_ns, uint64_t now_ns) {
  constexpr uint64_t kTooShortNs = 1'000'000;
  if (before_ns < kTooShortNs) {
    std::printf("        ");
  } else {
    std::printf(" (x%4.1f)", static_cast<double>(now_ns) / static_cast<double>(before_ns));
  }
}

void measure(const Shape& shape, const runtime::CompileSettings& settings) {
  std::printf("%s: %s\n", shape.name, shape.what_n);
  Cost before;
  for (uint32_t n : {shape.bench_n, 2 * shape.bench_n, 4 * shape.bench_n}) {
    const Cost now = compile(shape.build(n), settings);
    std::printf("  n %7u %8zu bytes", n, now.module_bytes);
    if (!now.refusal.empty()) {
      std::printf("  refused after %.1f ms: %s\n", ms(now.total_ns()), now.refusal.c_str());
      continue;
    }
    for (int stage = 0; stage < kStages; ++stage) {
      std::printf("  %s %8.1f", kStageNames[stage], ms(now.stage_ns[stage]));
      print_factor(before.stage_ns[stage], now.stage_ns[stage]);
    }
    std::printf("  all %8.1f", ms(now.total_ns()));
    print_factor(before.total_ns(), now.total_ns());
    std::printf("  code %zu bytes, peak %ld MB\n", now.code_bytes, peak_mb());
    std::fflush(stdout);
    before = now;
  }
}

void measure_decoding() {
  std::vector<uint8_t> bytes = large_module(50'000, 2000);
  const double mb = static_cast<double>(bytes.size()) / 1e6;
  const uint64_t begin = base::thread_cpu_ns();
  auto module = runtime::decode_module(std::move(bytes));
  const double spent_ms = ms(base::thread_cpu_ns() - begin);
  std::printf("decoding and validating %.0f MB: %.0f ms, %.0f MB/s%s, peak %ld MB\n", mb, spent_ms,
              1000 * mb / spent_ms, module.ok() ? "" : " (refused)", peak_mb());
}

int run(int argc, char** argv) {
  runtime::CompileSettings settings;
  std::vector<std::string> wanted;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--spill-everything") {
      settings.spill_everything = true;
    } else if (flag == "--level" && i + 1 < argc) {
      settings.level = std::atoi(argv[++i]);
    } else if (flag == "--bounds" && i + 1 < argc && base::parse<base::Bounds>(argv[i + 1])) {
      settings.bounds = *base::parse<base::Bounds>(argv[++i]);
    } else if (flag.starts_with("--")) {
      std::fprintf(
          stderr,
          "usage: wago_scale [--level N] [--bounds signals|explicit] [--spill-everything] [SHAPE...]\n");
      return 2;
    } else {
      wanted.push_back(flag);
    }
  }
  for (const Shape& shape : shapes()) {
    if (wanted.empty() || std::find(wanted.begin(), wanted.end(), shape.name) != wanted.end()) {
      measure(shape, settings);
    }
  }
  if (wanted.empty()) measure_decoding();
  return 0;
}

}  // namespace
}  // namespace wago::scale

int main(int argc, char** argv) {
  return wago::scale::run(argc, argv);
}
