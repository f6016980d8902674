// A known slowdown, for experiments on experiments: a loop of this program whose length in CPU time is known,
// appended to what is measured.
#pragma once

#include <cstdint>

#include "base/clock.h"

namespace wago::harness {

class Slowdown {
 public:
  // `ppm` millionths of the work are to be added.
  Slowdown(uint64_t ppm, base::Clock& clock) : ppm_(ppm), clock_(clock) {}

  // Untimed, between turns: how fast this loop is at the moment. On a shared core that changes by tens of
  // percent from one moment to the next. Takes 0.1 ms.
  void calibrate();
  // Timed: takes `ppm` of `work_ns` of CPU time.
  void spend(uint64_t work_ns) const;
  // What the work itself took, of what it took together with the slowdown.
  uint64_t without(uint64_t together_ns) const;

 private:
  uint64_t ppm_;
  base::Clock& clock_;
  double rounds_per_ns_ = 0;
};

}  // namespace wago::harness
