#include "cli/sequential_looks.h"

#include <algorithm>

namespace wago::cli::profile {

namespace {

// Who runs the same code on both sides waits for the others: less than the change of any of them.
double start_of(const capture::ExperimentWorkload& workload) {
  return workload.code_sha256[0] == workload.code_sha256[1] ? -1 : 0;
}

// The first look that is not behind `pairs`; 0: all are.
size_t look_from(uint64_t pairs) {
  auto look = std::lower_bound(diff::kLooks.begin(), diff::kLooks.end(), pairs);
  return look == diff::kLooks.end() ? 0 : *look;
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
    demands[i].urgency = start_of(experiment.workloads[i]);
    any_at_look |= demands[i].pairs == counts[i];
  }
  if (!any_at_look) return demands;
  // Whoever reads it so is told where that cannot be; here it is no reason to stop.
  const auto by = diff::read_by(settings_, experiment.target, experiment.cpu_model);
  const diff::ExperimentFindings found =
      diff::find(experiment, pairs, by ? by->verdicts : settings_.verdicts, diff::known_code(experiment));
  for (const auto* findings : {&found.workloads, &found.controls}) {
    for (const diff::WorkloadFinding& finding : *findings) {
      harness::Demand& demand = demands[finding.workload];
      demand.urgency += finding.change;
      if (demand.pairs != counts[finding.workload]) continue;
      demand.pairs = diff::next_look(finding).value_or(0);
    }
  }
  return demands;
}

}  // namespace wago::cli::profile
