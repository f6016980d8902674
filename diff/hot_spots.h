// Samples added up: what each function, line, kind of time or emitted site cost, alone and with all that it
// called. A function that is on a stack more than once counts once.
//
// Linear in samples, stacks and the depth of inlining, however deep the stacks are.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diff/evidence.h"
#include "diff/labels.h"

namespace wago::diff {

inline constexpr size_t kSides = 5;

struct HotSpot {
  Label label;
  uint64_t self = 0;     // weight
  uint64_t total = 0;    // with what it called
  uint64_t samples = 0;  // of self
};

// All weights in `unit`.
struct HotSpots {
  Grouping grouping = Grouping::Function;
  std::string unit;
  uint64_t period_ns = 0;
  uint64_t samples = 0;
  uint64_t weight = 0;
  uint64_t truncated_stacks = 0;
  std::array<uint64_t, kSides> by_side{};          // self, by capture::Side
  std::array<uint64_t, kSides> samples_by_side{};  // the same
  std::vector<HotSpot> rows;  // largest self first, then total, then by name; without those never sampled

  uint64_t of(capture::Side side) const { return by_side[static_cast<size_t>(side)]; }
};

// Precondition: evidence.samples.
HotSpots hot_spots(const Evidence& evidence, Grouping grouping);

// What is said of a capture whose collector took no sample: what it would have seen is not known.
inline constexpr const char* kNotOneSample =
    "not one sample was taken, which does not mean that there was no cost: record for longer or at a higher "
    "rate";

// "the stacks of 3 samples do not reach their root".
std::string truncated_stacks_sentence(uint64_t samples);

// Usage error where the capture has no sample, naming what would record some.
base::Result<void> expect_samples(const Evidence& evidence);

// Units of work that the weights are spread over; nothing where they cannot be: the collector saw more than
// the measured phase, or nothing was completed.
std::optional<uint64_t> work_behind_samples(const capture::Manifest& manifest);

// Part of a whole that may be zero.
inline double share_of(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace wago::diff
