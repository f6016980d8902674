// A known slowdown, for experiments on experiments: a loop of this program whose length in CPU time is known,
// appended to what is measured.
//
// Both how fast the loop is and how long the work takes are medians of the latest times: on a virtual machine
// CPU time that was stolen is taken off late, so that a single reading can be next to nothing, and a slowdown
// that trusted it would grow on itself.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/clock.h"

namespace wago::harness {

// The median of the latest few of many times.
class LatestMedian {
 public:
  void add(uint64_t ns);
  // 0: nothing was added.
  uint64_t ns() const;

 private:
  static constexpr size_t kKept = 15;
  std::array<uint64_t, kKept> latest_{};
  size_t added_ = 0;
};

class Slowdown {
 public:
  // `ppm` millionths of the work are to be added. Calibrates, unless that is nothing.
  Slowdown(uint64_t ppm, base::Clock& clock);

  // Timed: takes `ppm` of what `iterations` take.
  void spend(uint64_t iterations) const;
  // Untimed, after each turn: what it took, slowdown included. Looks how fast the loop is at the moment,
  // which on a shared core changes by tens of percent; takes 0.1 ms.
  void learn(uint64_t turn_ns, uint64_t iterations);

 private:
  void calibrate();

  uint64_t ppm_;
  base::Clock& clock_;
  LatestMedian calibration_;
  LatestMedian iteration_;  // in millionths of a nanosecond, without the slowdown
};

}  // namespace wago::harness
