// The stopping rule of experiments: diff's verdicts, asked between rounds. Here harness, which measures, and
// diff, which judges, meet.
#pragma once

#include <utility>

#include "diff/floor.h"
#include "harness/experiment.h"

namespace wago::cli::profile {

// Every workload gets the pairs up to its next look, and more after it only if it is not settled then.
// Looking costs error, so nothing is judged between looks, whenever the experiment was interrupted. The most
// slowed down are the most urgent, and those last whose code is the same on both sides.
class SequentialLooks : public harness::StoppingRule {
 public:
  explicit SequentialLooks(diff::ReadSettings settings) : settings_(std::move(settings)) {}
  std::vector<harness::Demand> demands(const capture::Experiment& experiment,
                                       std::span<const capture::Pair> pairs) override;

 private:
  diff::ReadSettings settings_;
};

}  // namespace wago::cli::profile
