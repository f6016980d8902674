// The measuring loop: complete iterations in timed batches.
//
// A batch is long enough that reading the clocks is under 1 % of it (reading thread-CPU time is a system call
// of most of a microsecond on virtual machines) and short enough that a duration is kept and that outliers
// stay visible. Its size follows the iterations' own speed. What has to be made ready for an iteration, or
// looked at after it, happens outside the timed windows.
#pragma once

#include <wago/wago.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "capture/iterations.h"
#include "harness/collector.h"
#include "harness/progress.h"

namespace wago::harness {

// Why work stopped. `error` is for the user's eyes and may show results; `stored` is what a capture may keep.
struct RunFailure {
  base::Error error;
  std::string stored;
  std::optional<wago::Trap> trap = {};  // of the guest, when that is why
  uint64_t iteration = 0;               // how many of its batch were complete
};
using RunStatus = std::optional<RunFailure>;  // nothing: all as wanted

// What one phase does, `count` iterations at a time.
class Work {
 public:
  virtual ~Work() = default;
  // Untimed. `verify`: also run the workload's calls and compare, where the phase itself does not.
  virtual RunStatus prepare(uint64_t count, bool verify) = 0;
  // Timed.
  virtual RunStatus run(uint64_t count) = 0;
  // Untimed. `verify` as above, on what run() made.
  virtual RunStatus finish(uint64_t count, bool verify) = 0;
  // Warm-up is over; what was added up during it is forgotten.
  virtual void begin_measured() {}
  // Iterations whose products can be alive together.
  virtual uint64_t max_batch() const { return UINT64_MAX; }
};

// A timed window is meant to take this long: about 0.3 % of it is the clocks'.
inline constexpr uint64_t kBatchNs = 300'000;
// Of a shorter window the thread-CPU time is not kept: most of it would be that of reading the clock.
inline constexpr uint64_t kMinCpuWindowNs = 30'000;
// After each such number of batches their length doubles, so that a long recording stays within the readers'
// limits.
inline constexpr uint64_t kBatchesBeforeDoubling = 1'000'000;

struct LoopLimits {
  uint64_t iterations = 0;   // 0: by duration
  uint64_t duration_ns = 0;  // elapsed, tested between batches of complete iterations; at least one is run
};

struct LoopResult {
  std::vector<capture::IterationBatch> batches;
  uint64_t iterations = 0;
  uint64_t wall_ns = 0;  // sum of the timed windows
  uint64_t cpu_ns = 0;
  uint64_t start_unix_ns = 0;
  uint64_t start_monotonic_ns = 0;
  uint64_t end_unix_ns = 0;
  uint64_t elapsed_ns = 0;  // first to last moment, all included
};

class Measurement {
 public:
  // `collector`, if there is one, is on during run() and no longer.
  Measurement(Work& work, base::Clock& clock, ProgressPage& progress, Collector* collector = nullptr)
      : work_(work), clock_(clock), progress_(progress), collector_(collector) {}

  // Complete, verified, single iterations. Also learns how long one takes.
  RunStatus warm_up(uint64_t iterations);
  RunStatus run(const LoopLimits& limits, LoopResult& result);

 private:
  RunStatus loop(const LoopLimits& limits, LoopResult& result);
  uint64_t next_batch(const LoopLimits& limits, const LoopResult& result) const;

  Work& work_;
  base::Clock& clock_;
  ProgressPage& progress_;
  Collector* collector_;
  uint64_t iteration_ns_ = 0;  // latest estimate, 0: none yet
  uint64_t last_batch_ = 1;
};

}  // namespace wago::harness
