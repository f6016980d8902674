#include "harness/timed_windows.h"

#include <algorithm>

namespace wago::harness {

TimedWindows::TimedWindows(std::span<const capture::IterationBatch> batches, uint64_t start_monotonic_ns)
    : all_(false), start_ns_(start_monotonic_ns), batches_(batches.begin(), batches.end()) {}

bool TimedWindows::contains(uint64_t monotonic_ns) const {
  if (all_) return true;
  if (monotonic_ns < start_ns_) return false;
  const uint64_t at = monotonic_ns - start_ns_;
  auto after = std::upper_bound(batches_.begin(), batches_.end(), at,
                                [](uint64_t time, const auto& batch) { return time < batch.start_ns; });
  return after != batches_.begin() && at <= (after - 1)->start_ns + (after - 1)->wall_ns;
}

uint64_t TimedWindows::share_of(uint64_t length_ns, uint64_t end_monotonic_ns) const {
  if (all_) return length_ns;
  const uint64_t end = std::max(end_monotonic_ns, start_ns_) - start_ns_;
  const uint64_t begin = end - std::min(length_ns, end);
  uint64_t share = 0;
  auto after = std::upper_bound(batches_.begin(), batches_.end(), end,
                                [](uint64_t time, const auto& batch) { return time < batch.start_ns; });
  while (after != batches_.begin()) {
    const capture::IterationBatch& batch = *--after;
    const uint64_t from = std::max(begin, batch.start_ns), to = std::min(end, batch.start_ns + batch.wall_ns);
    if (batch.start_ns + batch.wall_ns < begin) break;
    share += to > from ? to - from : 0;
  }
  return share;
}

}  // namespace wago::harness
