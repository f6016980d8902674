#include "diff/report_flames.h"

#include <memory>
#include <optional>
#include <utility>

#include "base/text.h"
#include "diff/elapsed.h"
#include "diff/explanation.h"
#include "diff/report.h"

namespace wago::diff {

namespace {

using capture::ExperimentSide;
using capture::ExplainPart;

FlameSide side_of(const Evidence& evidence, const CallTree& tree) {
  return {&tree, work_behind_samples(evidence.manifest), elapsed_of(evidence).unit,
          base::printable(base::base_name(evidence.path))};
}

// Nothing: not both sides were sampled.
base::Result<std::optional<FlameGraph>> flames_of(const Report& report,
                                                  const capture::ExperimentWorkload& workload,
                                                  base::Files& files) {
  std::array<std::string, 2> paths;
  for (ExperimentSide side : capture::kExperimentSides) {
    const std::string name = capture::explain_capture(workload.id, side, ExplainPart::Sampled);
    std::string& path = paths[capture::index_of(side)];
    path = base::join_path(base::join_path(report.path, capture::kExplainDirectory), name);
    if (!files.exists(path)) return std::optional<FlameGraph>();
  }
  BothSides both;
  for (size_t i = 0; i < 2; ++i) {
    auto evidence = load(paths[i], files);
    if (!evidence) return evidence.error();
    if (auto sampled = expect_samples(*evidence); !sampled) return sampled.error();
    both[i] = std::move(*evidence);
  }
  if (auto own = check_captures(both, report.experiment, workload); !own) return own.error();
  return std::optional(flame_difference(both[0], both[1], base::printable(workload.id) + ", what changed"));
}

}  // namespace

FlameGraph flame_difference(const Evidence& baseline, const Evidence& candidate, std::string title) {
  const CallTree before = call_tree(baseline), after = call_tree(candidate);
  return differential_flame_graph(side_of(baseline, before), side_of(candidate, after), std::move(title));
}

void add_flame_graphs(Report& report, base::Files& files) {
  for (ReportedWorkload& workload : report.workloads) {
    const capture::ExperimentWorkload& of = report.experiment.workloads[workload.workload];
    auto flames = flames_of(report, of, files);
    if (!flames) {
      workload.explainable = false;
      report.remarks.push_back("where the time of " + base::printable(of.id) +
                               " went is not shown: " + flames.error().to_string());
    } else if (*flames) {
      workload.flames = std::make_shared<const FlameGraph>(std::move(**flames));
    }
  }
}

}  // namespace wago::diff
