#include "diff/report.h"

#include <algorithm>
#include <cmath>

#include "base/shell.h"
#include "base/text.h"
#include "diff/evidence.h"
#include "diff/executions.h"
#include "diff/explanation.h"
#include "diff/quantity.h"

namespace wago::diff {

namespace {

// See capture/experiment.h.
constexpr uint64_t kFirstSealedVersion = 2;

// Nothing: a side completed none.
std::optional<InstructionLane> instruction_lane(const Evidence& baseline, const Evidence& candidate) {
  InstructionLane lane;
  for (size_t side = 0; side < 2; ++side) {
    const Evidence& evidence = side == 0 ? baseline : candidate;
    const Executions executed = executions_of(evidence);
    if (evidence.manifest.completed_iterations == 0) return std::nullopt;
    const auto iterations = static_cast<double>(evidence.manifest.completed_iterations);
    lane.machine[side] = static_cast<double>(executed.machine_instructions) / iterations;
    lane.wasm[side] = static_cast<double>(executed.wasm_instructions) / iterations;
  }
  return lane;
}

// Of captures of both sides: the same that `explain` makes of them.
base::Result<CodeLane> lane_of(const std::array<std::string, 2>& paths, const capture::Experiment& experiment,
                               const capture::ExperimentWorkload& workload, base::Files& files) {
  BothSides sides;
  for (size_t i = 0; i < sides.size(); ++i) {
    auto evidence = load(paths[i], files);
    if (!evidence) return evidence.error();
    sides[i] = std::move(*evidence);
  }
  if (auto good = check_captures(sides, experiment, workload); !good) return good.error();
  CodeComparison code = compare_code(sides[0], sides[1]);
  // What runs in another phase is the engine's own code.
  const bool executes = sides[0].manifest.capture_phase == base::Phase::Execute;
  CodeLane lane = {executes && code.same(), code.functions_same, std::move(code.differences), {}};
  if (sides[0].counts && sides[1].counts) lane.instructions = instruction_lane(sides[0], sides[1]);
  return lane;
}

// What `explain` has recorded of both sides; nothing: it has not.
std::optional<std::array<std::string, 2>> recorded_again(const std::string& path,
                                                         const capture::ExperimentWorkload& workload,
                                                         base::Files& files) {
  std::array<std::string, 2> recorded;
  for (capture::ExperimentSide side : capture::kExperimentSides) {
    std::string& capture = recorded[capture::index_of(side)];
    capture = base::join_path(base::join_path(path, capture::kExplainDirectory),
                              capture::explain_capture(workload.id, side, capture::ExplainPart::Exact));
    if (!files.exists(capture)) return std::nullopt;
  }
  return recorded;
}

// Of a workload whose captures are in the experiment. Where they cannot be read, `explain` may have recorded
// both sides again.
base::Result<std::optional<CodeLane>> code_lane(const std::string& path,
                                                const capture::Experiment& experiment,
                                                const capture::ExperimentWorkload& workload,
                                                base::Files& files) {
  std::array<std::string, 2> own;
  for (size_t i = 0; i < own.size(); ++i) {
    if (workload.captures[i].empty()) return std::optional<CodeLane>();
    own[i] = base::join_path(path, workload.captures[i]);
  }
  auto lane = lane_of(own, experiment, workload, files);
  if (const auto again = recorded_again(path, workload, files); !lane && again) {
    if (auto of_recorded = lane_of(*again, experiment, workload, files)) lane = std::move(of_recorded);
  }
  if (!lane) return lane.error();
  return std::optional(std::move(*lane));
}

// Those that need eyes first.
int rank(Finding finding) {
  switch (finding) {
    case Finding::Failed:
      return 0;
    case Finding::Regressed:
      return 1;
    case Finding::LayoutSensitive:
      return 2;
    case Finding::Inconclusive:
      return 3;
    case Finding::Improved:
      return 4;
    case Finding::Same:
      return 5;
    case Finding::SameCode:
      return 6;
  }
  return 7;
}

void order(const capture::Experiment& experiment, std::vector<ReportedWorkload>& workloads) {
  std::stable_sort(workloads.begin(), workloads.end(), [&](const auto& a, const auto& b) {
    const int rank_a = rank(a.found.finding), rank_b = rank(b.found.finding);
    if (rank_a != rank_b) return rank_a < rank_b;
    if (a.found.benjamini_hochberg != b.found.benjamini_hochberg) {
      return a.found.benjamini_hochberg < b.found.benjamini_hochberg;
    }
    return experiment.workloads[a.workload].id < experiment.workloads[b.workload].id;
  });
}

}  // namespace

base::Result<Report> report_on(const std::string& path, const ReadSettings& settings, base::Files& files) {
  auto contents = capture::read_experiment(path, files);
  if (!contents) return contents.error();
  auto by = read_by(settings, contents->experiment.target, contents->experiment.cpu_model);
  if (!by) return base::usage_error(by.error().message, {.file = path});
  Report report;
  report.path = path;
  report.experiment = std::move(contents->experiment);
  report.floor = by->floor;
  report.pairs = contents->pairs.size();
  if (!report.experiment.complete)
    report.remarks.push_back("the experiment is not finished: the command that began it continues it");
  const std::vector<capture::ExperimentWorkload>& workloads = report.experiment.workloads;
  std::vector<ReportedWorkload> all(workloads.size());
  std::vector<std::optional<CodeLane>> lanes;
  const std::vector<CodeKnowledge> known = known_code(report.experiment);
  std::vector<CodeKnowledge> code;
  // A self-test's slowdown is not in the code.
  const bool injected = report.experiment.sides[0].slowdown_ppm != report.experiment.sides[1].slowdown_ppm;
  for (const capture::ExperimentWorkload& workload : workloads) {
    std::optional<CodeLane> lane;
    if (auto read = code_lane(path, report.experiment, workload, files)) {
      lane = *std::move(read);
      all[lanes.size()].explainable = lane || recorded_again(path, workload, files);
    } else {
      report.remarks.push_back("what ran of " + base::printable(workload.id) +
                               " is not known: " + read.error().to_string());
    }
    // Where captures cannot be read, that both sides have the same code is known all the same. Without
    // captures time alone was asked for.
    if (!lane && known[lanes.size()].same_code && !workload.captures[0].empty()) {
      lane.emplace().same_code = true;
    }
    code.push_back({.same_code = !injected && lane && lane->same_code});
    lanes.push_back(std::move(lane));
  }
  report.findings = find(report.experiment, contents->pairs, by->verdicts, code);
  size_t cold = 0;
  for (const auto* found : {&report.findings.workloads, &report.findings.controls}) {
    for (const WorkloadFinding& one : *found) cold += one.cold_pairs;
  }
  if (cold > 0) {
    report.remarks.push_back(format_plural(cold, "pair") +
                             " left out, in which one side alone was still warming up");
  }
  for (const std::string& sentence : report.experiment.diagnostics) report.remarks.push_back(sentence);
  if (report.experiment.version < kFirstSealedVersion) {
    report.remarks.push_back(
        "experiments of version 1 are not sealed: that nothing was changed since it was measured is not "
        "known");
  }
  for (const capture::Pair& pair : contents->pairs) {
    const auto ratio = log_ratio(pair);
    if (!ratio || is_cold(pair)) continue;
    all[pair.workload].changes.push_back(std::expm1(*ratio));
    all[pair.workload].code_offsets.push_back(pair.code_offset);
  }
  auto take = [&](const std::vector<WorkloadFinding>& found, std::vector<ReportedWorkload>& into) {
    for (const WorkloadFinding& one : found) {
      ReportedWorkload& workload = all[one.workload];
      workload.workload = one.workload;
      workload.found = one;
      workload.code = std::move(lanes[one.workload]);
      into.push_back(std::move(workload));
    }
  };
  take(report.findings.workloads, report.workloads);
  take(report.findings.controls, report.controls);
  order(report.experiment, report.workloads);
  return report;
}

std::string releases_text(const std::string& release, const std::string& baseline_release) {
  if (release.empty() && baseline_release.empty()) return {};
  return (release.empty() ? "candidate" : "release " + release) +
         (baseline_release.empty() ? "" : " against " + baseline_release);
}

void add_history(Report& report, std::shared_ptr<const History> history) {
  for (ReportedWorkload& workload : report.workloads) {
    const capture::ExperimentWorkload& of = report.experiment.workloads[workload.workload];
    for (const HistorySeries& series : history->series) {
      if (series.catalog == of.catalog && series.workload == of.id &&
          series.contract_sha256 == of.contract_sha256 && series.target == report.experiment.target &&
          series.cpu_model == report.experiment.cpu_model) {
        workload.history = &series;
      }
    }
  }
  report.history = std::move(history);
}

std::string finding_text(const WorkloadFinding& found) {
  const bool moved = found.finding == Finding::Regressed || found.finding == Finding::Improved;
  return std::string(spelling(found.finding)) + (moved && !found.gated ? "?" : "");
}

base::Paint paint_of(Finding finding) {
  switch (finding) {
    case Finding::Failed:
    case Finding::Regressed:
      return base::Paint::Bad;
    case Finding::LayoutSensitive:
    case Finding::Inconclusive:
      return base::Paint::Doubtful;
    default:
      return base::Paint::Good;
  }
}

bool needs_eyes(Finding finding) {
  return finding != Finding::Same && finding != Finding::SameCode;
}

std::string change_text(const WorkloadFinding& found) {
  if (found.pairs == 0) return "-";
  std::string text = format_change(found.change);
  if (found.interval) {
    text += " [" + format_change(found.interval->low) + ", " + format_change(found.interval->high) + "]";
  }
  return text;
}

std::string instructions_text(const ReportedWorkload& workload) {
  if (!workload.code || !workload.code->instructions) return "-";
  const InstructionLane& lane = *workload.code->instructions;
  if (lane.machine[0] == lane.machine[1]) return "equal";
  return format_exact_change(lane.machine_change());
}

std::string findings_text(std::span<const Report* const> reports) {
  std::string text;
  for (Finding finding : {Finding::Failed, Finding::Regressed, Finding::Improved, Finding::LayoutSensitive,
                          Finding::Inconclusive, Finding::Same, Finding::SameCode}) {
    size_t count = 0, held = 0;
    for (const Report* report : reports) {
      if (!report->findings.invalid.empty()) continue;
      for (const ReportedWorkload& workload : report->workloads) {
        if (workload.found.finding != finding) continue;
        ++count;
        held += workload.found.gated;
      }
    }
    if (count == 0) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + std::string(spelling(finding));
    const bool moved = finding == Finding::Regressed || finding == Finding::Improved;
    if (moved && held != count) text += " (" + std::to_string(held) + " held over all)";
  }
  return text;
}

std::string headline(const Report& report) {
  if (!report.findings.invalid.empty()) return "environment invalid: nothing is claimed";
  const std::array<const Report*, 1> one = {&report};
  const std::string text = findings_text(one);
  return text.empty() ? "no workloads" : text;
}

namespace {

// `flags` begin with a space where there are any. A name that would be taken for a flag stands behind "--".
std::string explain_command(const Report& report, const std::string& workload, const std::string& flags) {
  const std::string operands = " " + base::shell_path(report.path) + " " + base::shell_word(workload);
  return "wago-profile profile explain" +
         (workload.starts_with('-') ? flags + " --" + operands : operands + flags);
}

}  // namespace

std::string command_for(const Report& report, const ReportedWorkload& workload) {
  if (!workload.explainable && !workload.flames) return recording_command(report, workload);
  return explain_command(report, report.experiment.workloads[workload.workload].id, "");
}

std::string recording_command(const Report& report, const ReportedWorkload& workload) {
  const capture::ExperimentWorkload& of = report.experiment.workloads[workload.workload];
  return explain_command(
      report, of.id,
      std::string(" --catalog FILE --baseline PROGRAM --candidate PROGRAM") +
          (of.module_sha256[0] == of.module_sha256[1] ? ""
                                                      : " --baseline-modules DIR --candidate-modules DIR"));
}

}  // namespace wago::diff
