// Engine::open: where the compiler is handed to the runtime.

#include <cpuid.h>

#include "codegen/compile.h"
#include "runtime/engine_data.h"
#include "wago/wago.h"

namespace wago {

namespace {

// CPUID's extended leaf; the compilers' look-up by name does not know this one everywhere.
bool has_lzcnt() {
  constexpr unsigned kExtendedFeatures = 0x80000001, kLzcntInEcx = 1u << 5;
  unsigned eax, ebx, ecx, edx;
  return __get_cpuid(kExtendedFeatures, &eax, &ebx, &ecx, &edx) && (ecx & kLzcntInEcx);
}

// The first x86-64-v3 feature this processor lacks, or nullptr.
const char* missing_feature() {
#define WAGO_NEED(name) \
  if (!__builtin_cpu_supports(name)) return name;
  WAGO_NEED("sse4.2")
  WAGO_NEED("popcnt")
  WAGO_NEED("avx2")
  WAGO_NEED("fma")
  WAGO_NEED("bmi")
  WAGO_NEED("bmi2")
#undef WAGO_NEED
  if (!has_lzcnt()) return "lzcnt";
  return nullptr;
}

}  // namespace

Result<Engine> Engine::open(const EngineSettings& settings) {
  if (settings.level < 0 || settings.level > 1) {
    return base::usage_error("level " + std::to_string(settings.level) +
                             " does not exist: 0 runs no optimisation passes, 1 runs all");
  }
  if (settings.bounds != base::Bounds::Signals && settings.bounds != base::Bounds::Explicit) {
    return base::usage_error("bounds " + std::to_string(static_cast<unsigned>(settings.bounds)) +
                             " do not exist: there are Bounds::Signals and Bounds::Explicit");
  }
  if (settings.workers > kMaxWorkers) {
    return base::usage_error(std::to_string(settings.workers) + " workers are too many: at most " +
                             std::to_string(kMaxWorkers) + ", and 0 is one a core");
  }
  if (settings.code_offset % 16 != 0 || settings.code_offset >= 64) {
    return base::usage_error(
        "code offset " + std::to_string(settings.code_offset) +
        " does not exist: code moves by 0, 16, 32 or 48 bytes inside its first cache line");
  }
  if (const char* feature = missing_feature()) {
    return base::unmeasurable(std::string("this processor has no ") + feature +
                              ": WagoProfile needs x86-64-v3 (AVX2, BMI2, LZCNT, FMA)");
  }
  return Engine(std::make_shared<runtime::EngineData>(settings, codegen::make_compiler()));
}

}  // namespace wago
