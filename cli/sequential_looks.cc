#include "cli/sequential_looks.h"

#include <algorithm>

namespace wago::cli::profile {

namespace {

// The first look that is not behind `pairs`; 0: all are.
size_t look_from(uint64_t pairs) {
  auto look = std::lower_bound(diff::kLooks.begin(), diff::kLooks.end(), pairs);
  return look == diff::kLooks.end() ? 0 : *look;
}

// The same program runs the same code: there is nothing to find, and its pairs measure the machine.
std::vector<diff::CodeKnowledge> known_code(const capture::Experiment& experiment) {
  const auto& [baseline, candidate] = experiment.sides;
  const bool same_program =
      baseline.runner_id == candidate.runner_id && baseline.slowdown_ppm == candidate.slowdown_ppm;
  std::vector<diff::CodeKnowledge> code;
  for (const capture::ExperimentWorkload& workload : experiment.workloads) {
    code.push_back({.same_code = same_program && workload.module_sha256[0] == workload.module_sha256[1] &&
                                 workload.code_sha256[0] == workload.code_sha256[1]});
  }
  return code;
}

}  // namespace

std::vector<harness::Demand> SequentialLooks::demands(const capture::Experiment& experiment,
                                                      std::span<const capture::Pair> pairs) {
  std::vector<harness::Demand> demands(experiment.workloads.size());
  std::vector<uint64_t> counts(demands.size());
  for (const capture::Pair& pair : pairs) ++counts[pair.workload];
  bool any_at_look = false;
  for (size_t i = 0; i < demands.size(); ++i) {
    demands[i].pairs = look_from(counts[i]);
    any_at_look |= demands[i].pairs == counts[i];
  }
  if (!any_at_look) return demands;
  const diff::ExperimentFindings found = diff::find(experiment, pairs, settings_, known_code(experiment));
  for (const auto* findings : {&found.workloads, &found.controls}) {
    for (const diff::WorkloadFinding& finding : *findings) {
      harness::Demand& demand = demands[finding.workload];
      demand.urgency = finding.change;
      if (demand.pairs != counts[finding.workload]) continue;
      demand.pairs = diff::next_look(finding).value_or(0);
    }
  }
  return demands;
}

}  // namespace wago::cli::profile
