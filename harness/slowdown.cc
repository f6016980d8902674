#include "harness/slowdown.h"

#include <algorithm>

namespace wago::harness {

namespace {

constexpr double kMillion = 1e6;
// About 0.1 ms: reading the clock is under 1 % of it.
constexpr uint64_t kCalibrationRounds = 300'000;
constexpr int kFirstCalibrations = 15;

// A chain of dependent steps, each as long as the one before, that leaves memory and caches alone. Never
// inlined: copies of it, aligned differently, differ by a factor of two.
[[gnu::noinline]] void spin(uint64_t rounds) {
  for (uint64_t i = 0; i < rounds; ++i) asm volatile("" : "+r"(i));
}

}  // namespace

void LatestMedian::add(uint64_t ns) {
  latest_[added_++ % kKept] = ns;
}

uint64_t LatestMedian::ns() const {
  const auto count = static_cast<ptrdiff_t>(std::min(added_, kKept));
  if (count == 0) return 0;
  std::array<uint64_t, kKept> sorted = latest_;
  std::nth_element(sorted.begin(), sorted.begin() + count / 2, sorted.begin() + count);
  return sorted[static_cast<size_t>(count) / 2];
}

Slowdown::Slowdown(uint64_t ppm, base::Clock& clock) : ppm_(ppm), clock_(clock) {
  for (int i = 0; ppm_ > 0 && i < kFirstCalibrations; ++i) calibrate();
}

void Slowdown::calibrate() {
  const uint64_t before_ns = clock_.thread_cpu_ns();
  spin(kCalibrationRounds);
  calibration_.add(clock_.thread_cpu_ns() - before_ns);
}

void Slowdown::spend(uint64_t iterations) const {
  if (ppm_ == 0) return;
  const double iteration_ns = static_cast<double>(iteration_.ns()) / kMillion;
  const double extra_ns =
      iteration_ns * static_cast<double>(iterations) * static_cast<double>(ppm_) / kMillion;
  const double round_ns = static_cast<double>(std::max<uint64_t>(calibration_.ns(), 1)) / kCalibrationRounds;
  spin(static_cast<uint64_t>(extra_ns / round_ns));
}

void Slowdown::learn(uint64_t turn_ns, uint64_t iterations) {
  if (ppm_ == 0) return;
  const double together_ns = static_cast<double>(turn_ns) / static_cast<double>(iterations);
  iteration_.add(static_cast<uint64_t>(together_ns * kMillion / (1 + static_cast<double>(ppm_) / kMillion)));
  calibrate();
}

}  // namespace wago::harness
