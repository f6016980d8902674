// When iterations were timed: between the batches of a measured phase lie their preparation and the checks of
// what they gave, which are nobody's cost.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "capture/iterations.h"

namespace wago::harness {

class TimedWindows {
 public:
  // All times.
  TimedWindows() = default;
  // Of a phase that began at `start_monotonic_ns`; batches in order.
  TimedWindows(std::span<const capture::IterationBatch> batches, uint64_t start_monotonic_ns);
  bool contains(uint64_t monotonic_ns) const;
  // How much of the `length_ns` before `end_monotonic_ns` lies in windows.
  uint64_t share_of(uint64_t length_ns, uint64_t end_monotonic_ns) const;

 private:
  bool all_ = true;
  uint64_t start_ns_ = 0;
  std::vector<capture::IterationBatch> batches_;
};

}  // namespace wago::harness
