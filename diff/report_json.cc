// Reports for programs. docs/reports.md lists the members.
#include "base/json.h"
#include "diff/instruction_gate.h"
#include "diff/report.h"

namespace wago::diff {

namespace {

using base::Json;

Json json_of(const std::optional<Interval>& interval) {
  if (!interval) return {};
  return Json::array({interval->low, interval->high});
}

Json json_of(const std::optional<CodeLane>& code) {
  if (!code) return {};
  Json differences = Json::array();
  for (const FunctionDifference& function : code->differences) {
    differences.push(Json::object({{"fate", to_string(function.fate)},
                                   {"name", function.name},
                                   {"signature", function.signature},
                                   {"baseline_bytes", function.baseline_bytes},
                                   {"candidate_bytes", function.candidate_bytes}}));
  }
  Json instructions;
  if (code->instructions) {
    instructions = Json::object({{"baseline_machine", code->instructions->machine[0]},
                                 {"candidate_machine", code->instructions->machine[1]},
                                 {"baseline_wasm", code->instructions->wasm[0]},
                                 {"candidate_wasm", code->instructions->wasm[1]}});
  }
  return Json::object({{"same_code", code->same_code},
                       {"instructions", std::move(instructions)},
                       {"functions_same", code->functions_same},
                       {"differences", std::move(differences)}});
}

Json json_of(const std::vector<std::string>& strings) {
  return Json::array(std::vector<Json>(strings.begin(), strings.end()));
}

}  // namespace

Json to_json(const capture::SideRecord& side) {
  return Json::object({{"program", side.program},
                       {"program_version", side.program_version},
                       {"revision", side.revision},
                       {"runner_id", side.runner_id},
                       {"setting", side.setting},
                       {"slowdown_ppm", side.slowdown_ppm}});
}

Json to_json(const Report& report, const ReportedWorkload& workload) {
  const capture::ExperimentWorkload& of = report.experiment.workloads[workload.workload];
  const WorkloadFinding& found = workload.found;
  Json offsets = Json::array();
  for (const OffsetChange& offset : found.offsets) {
    offsets.push(Json::object(
        {{"code_offset", offset.code_offset}, {"pairs", offset.pairs}, {"change", offset.change}}));
  }
  std::vector<Json> changes(workload.changes.begin(), workload.changes.end());
  return Json::object(
      {{"workload", of.id},
       {"catalog", of.catalog},
       {"finding", spelling(found.finding)},
       {"gated", found.gated},
       {"reason", found.reason},
       {"instruction_failure", instruction_failure(report, workload)},
       {"explain", of.control ? Json() : Json(command_for(report, workload))},
       {"change", found.pairs ? Json(found.change) : Json()},
       {"interval", json_of(found.interval)},
       {"interval_rule", spelling(found.interval_rule)},
       {"p_value", found.p_value},
       {"p_rule", spelling(found.p_rule)},
       {"holm", found.holm},
       {"benjamini_hochberg", found.benjamini_hochberg},
       {"pairs", found.pairs},
       {"cold_pairs", found.cold_pairs},
       {"pairs_to_settle", found.pairs_to_settle},
       {"layout_sensitive", found.layout_sensitive},
       {"offsets", std::move(offsets)},
       {"baseline_cpu_ns", found.baseline_ns},
       {"candidate_cpu_ns", found.candidate_ns},
       {"pair_changes", Json::array(std::move(changes))},
       {"code", json_of(workload.code)},
       {"history", workload.history ? series_json(*report.history, *workload.history) : Json()}});
}

Json to_json(const Report& report) {
  Json workloads = Json::array(), controls = Json::array();
  for (const ReportedWorkload& workload : report.workloads) workloads.push(to_json(report, workload));
  for (const ReportedWorkload& control : report.controls) controls.push(to_json(report, control));
  const ExperimentFindings& findings = report.findings;
  return Json::object({{"version", 1},
                       {"experiment", report.path},
                       {"release", report.release},
                       {"baseline_release", report.baseline_release},
                       {"complete", report.experiment.complete},
                       {"headline", headline(report)},
                       {"invalid", json_of(findings.invalid)},
                       {"suspect", findings.suspect},
                       {"remarks", json_of(report.remarks)},
                       {"settings", Json::object({{"confidence", findings.settings.confidence},
                                                  {"floor", findings.settings.floor},
                                                  {"margin", findings.settings.margin},
                                                  {"gate_level", findings.settings.gate_level}})},
                       {"floor", to_json(report.floor)},
                       {"suite", Json::object({{"workloads", findings.suite.workloads},
                                               {"change", findings.suite.change},
                                               {"interval", json_of(findings.suite.interval)}})},
                       {"baseline", to_json(report.experiment.sides[0])},
                       {"candidate", to_json(report.experiment.sides[1])},
                       {"cpu_model", report.experiment.cpu_model},
                       {"os_version", report.experiment.os_version},
                       {"logical_cpus", report.experiment.logical_cpus},
                       {"pairs", report.pairs},
                       {"workloads", std::move(workloads)},
                       {"controls", std::move(controls)}});
}

}  // namespace wago::diff
