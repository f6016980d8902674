// Ordinary captures of both sides, for what is exact: code, and block counts where the side's program has
// them. Recorded by the side's own program, so that it says how.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "harness/pair_runner.h"
#include "harness/signal_watch.h"

namespace wago::harness {

// Records one iteration of the side's workload into `out`, which must not exist. Nothing: done; otherwise why
// not, in a sentence. `backends` are those of the side's program. Ends early when a signal came.
std::optional<std::string> record_capture(const PairSide& side, const std::string& catalog,
                                          std::span<const std::string> backends, const std::string& out,
                                          uint64_t timeout_ns, SignalWatch& signals);

}  // namespace wago::harness
