// Elapsed time per completed unit of work: what the clock says of a capture, and how sure it is of itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "diff/evidence.h"
#include "diff/statistics.h"

namespace wago::diff {

// All times in nanoseconds per unit of work; a unit is what the measured phase counts ("invocations").
struct Elapsed {
  std::string unit;             // singular: "invocation"
  uint64_t completed_work = 0;  // units
  uint64_t iterations = 0;      // complete ones
  double total_ns = 0;  // the measured work's wall time over completed_work; 0 if nothing was completed
  // Over the timed batches, each divided by its work. n is the number of batches: the clock is read once a
  // batch.
  Summary wall_ns;
  std::optional<Summary> cpu_ns;  // nothing: thread-CPU time was not read
};

Elapsed elapsed_of(const Evidence& evidence);

}  // namespace wago::diff
