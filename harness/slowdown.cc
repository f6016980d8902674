#include "harness/slowdown.h"

#include <algorithm>

namespace wago::harness {

namespace {

constexpr double kMillion = 1e6;
// About 0.1 ms: reading the clock is under 1 % of it.
constexpr uint64_t kCalibrationRounds = 300'000;
// The share of the newest in the average.
constexpr double kNewest = 0.125;

// A chain of dependent steps, each as long as the one before, that leaves memory and caches alone.
void spin(uint64_t rounds) {
  for (uint64_t i = 0; i < rounds; ++i) asm volatile("" : "+r"(i));
}

}  // namespace

void Slowdown::calibrate() {
  if (ppm_ == 0) return;
  const uint64_t before_ns = clock_.thread_cpu_ns();
  spin(kCalibrationRounds);
  const uint64_t took_ns = std::max<uint64_t>(clock_.thread_cpu_ns() - before_ns, 1);
  const double now = static_cast<double>(kCalibrationRounds) / static_cast<double>(took_ns);
  rounds_per_ns_ = rounds_per_ns_ > 0 ? rounds_per_ns_ + kNewest * (now - rounds_per_ns_) : now;
}

void Slowdown::spend(uint64_t work_ns) const {
  if (ppm_ == 0) return;
  const double extra_ns = static_cast<double>(work_ns) * static_cast<double>(ppm_) / kMillion;
  spin(static_cast<uint64_t>(extra_ns * rounds_per_ns_));
}

uint64_t Slowdown::without(uint64_t together_ns) const {
  return static_cast<uint64_t>(static_cast<double>(together_ns) / (1 + static_cast<double>(ppm_) / kMillion));
}

}  // namespace wago::harness
