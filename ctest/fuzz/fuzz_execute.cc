// Fuzzes what compiled code does: a generated module must do the same in every configuration. See observe.h
// for what is compared.
//
// Run for hours with ASAN_OPTIONS=malloc_context_size=2: the sanitizer keeps every stack that it has seen an
// allocation at, and each module's code gives it new ones (25 kB a run without).

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "base/check.h"
#include "ctest/fuzz/generate_module.h"
#include "ctest/fuzz/observe.h"

namespace {

using namespace wago;

constexpr size_t kMaxChoices = 3000;

std::array<Engine, 5> open_engines() {
  auto open = [](Bounds bounds, bool plain, bool interruptible = false) {
    return Engine::open({.bounds = bounds,
                         .level = plain ? 0 : 1,
                         .interruptible = interruptible,
                         .spill_everything = plain})
        .value();
  };
  return {open(Bounds::Explicit, true), open(Bounds::Signals, true), open(Bounds::Explicit, false),
          open(Bounds::Signals, false), open(Bounds::Signals, false, true)};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::array<Engine, 5> engines = open_engines();
  const std::vector<uint8_t> module = fuzz::generate_module({data, std::min(size, kMaxChoices)});
  const fuzz::Observation first = fuzz::observe(engines[0], module);
  for (size_t i = 1; i < engines.size(); ++i) {
    const fuzz::Observation other = fuzz::observe(engines[i], module);
    if (first.exhausted || other.exhausted || first.text == other.text) continue;
    std::fprintf(stderr, "level 0, explicit, everything spilled:\n%s\nconfiguration %zu:\n%s",
                 first.text.c_str(), i, other.text.c_str());
    WAGO_UNREACHABLE("two configurations disagree");
  }
  return 0;
}
