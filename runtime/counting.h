// Exact counts where control leaves code in the middle of a block: see CountedExit.
#pragma once

#include <cstdint>

#include "runtime/abi.h"

namespace wago::runtime {

// A trap at `pc` ends `activation`, whose innermost frame is at `fp` and whose stack reaches down to `low`.
// Every frame of code that counts is counted as left where it stands. Safe in a signal handler.
void leave_frames(uint64_t pc, uint64_t fp, uint64_t low, const Activation& activation);

}  // namespace wago::runtime
