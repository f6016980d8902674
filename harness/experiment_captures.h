// Ordinary captures of both sides, for what is exact: code, and block counts where the side's program has
// them. Recorded by the side's own program, so that it says how.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/pair_runner.h"
#include "harness/signal_watch.h"

namespace wago::harness {

// Of `profile record`: one iteration with its code, counted where `backends` (of the side's program) can.
std::vector<std::string> lane_flags(std::span<const std::string> backends);

// How long that may take: one iteration, but one that counts may be some times slower.
uint64_t capture_timeout_ns(uint64_t answer_timeout_ns, uint64_t iteration_ns);

// Why there is no capture, in a sentence.
struct NoCapture {
  std::string sentence;
  bool unmeasurable = false;  // on this machine
};

// Records the side's workload into `out`, which must not exist, as `flags` of `profile record` say. Nothing:
// done. Ends early when a signal came.
std::optional<NoCapture> record_capture(const PairSide& side, const std::string& catalog,
                                        std::span<const std::string> flags, const std::string& out,
                                        uint64_t timeout_ns, SignalWatch& signals);

}  // namespace wago::harness
