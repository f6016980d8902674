// What functions cost on two sides, by samples: per unit of work, joined by name and signature, guest,
// helper, host, kernel and unknown apart.
//
// Nothing here is a verdict. A change within its sampling error says nothing at all, and one beyond it still
// may be the machine's: the sides did not run together.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "diff/evidence.h"
#include "diff/hot_spots.h"

namespace wago::base {
class Json;
}

namespace wago::diff {

// One side of a row; zeros where no sample found the function, which may have run all the same.
struct SideCost {
  double self = 0;  // see CostComparison::per_work
  double total = 0;
  uint64_t samples = 0;  // of self
  bool present = false;
};

struct FunctionCost {
  capture::Side side = capture::Side::Unknown;
  std::string name;    // raw
  std::string detail;  // signature, or binary
  SideCost baseline;
  SideCost candidate;
  // The change of self is more than three standard errors of the samples behind it.
  bool beyond_sampling = false;

  double change() const { return candidate.self - baseline.self; }
};

struct CostComparison {
  std::string unit;       // of weights
  std::string work_unit;  // "invocation"
  bool per_work = true;   // costs are weights per unit of work; else parts of all weight of their side
  uint64_t baseline_samples = 0;
  uint64_t candidate_samples = 0;
  uint64_t baseline_truncated_stacks = 0;  // of the samples
  uint64_t candidate_truncated_stacks = 0;
  std::array<SideCost, kSides> baseline_by_side{};  // self only
  std::array<SideCost, kSides> candidate_by_side{};
  std::array<bool, kSides> side_beyond_sampling{};
  std::vector<FunctionCost> functions;  // greatest change of self first
};

// A cost by sampling, and what a sample of its side stands for on average.
struct SampledCost {
  double cost = 0;
  uint64_t samples = 0;
  double one_sample = 0;
};
// Whether they differ by more than three standard errors of the samples behind them.
bool beyond_sampling(const SampledCost& before, const SampledCost& after);

// Captures of one workload. Nothing: not all of them have samples, or not of one unit; not one was taken on a
// side.
std::optional<CostComparison> compare_costs(std::span<const Evidence* const> baseline,
                                            std::span<const Evidence* const> candidate);

// Why samples that were asked for on both sides compare nothing; empty where they do, or were not asked for.
std::string why_no_costs(std::span<const Evidence* const> baseline,
                         std::span<const Evidence* const> candidate);

std::string to_text(const CostComparison& costs, bool colour);
base::Json to_json(const CostComparison& costs);

}  // namespace wago::diff
