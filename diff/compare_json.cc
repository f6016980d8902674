// Comparison for programs. docs/command-line.md lists the members.
#include "base/json.h"
#include "diff/compare.h"
#include "diff/summary_json.h"

namespace wago::diff {

namespace {

using base::Json;

Json json_of(const ComparedSide& side) {
  Json captures = Json::array();
  for (const CaptureSummary& capture : side.captures) {
    captures.push(Json::object({{"path", capture.path},
                                {"revision", capture.revision},
                                {"dirty", capture.dirty},
                                {"elapsed", to_json(capture.elapsed)}}));
  }
  return Json::object({{"module_name", side.module_name},
                       {"module_sha256", side.module_sha256},
                       {"code_sha256", side.code_sha256},
                       {"elapsed_ns", to_json(side.elapsed_ns)},
                       {"wall_ns", to_json(side.wall_ns)},
                       {"cpu_ns", to_json(side.cpu_ns)},
                       {"captures", std::move(captures)}});
}

Json list_of(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push(text);
  return list;
}

Json json_of(const WorkloadComparison& workload) {
  return Json::object({{"workload", workload.workload},
                       {"phase", workload.phase},
                       {"unit", workload.unit},
                       {"verdict", to_string(workload.verdict)},
                       {"reasons", list_of(workload.reasons)},
                       {"elapsed_change", workload.elapsed_change},
                       {"wall_change", workload.wall_change},
                       {"cpu_change", workload.cpu_change},
                       {"code", to_json(workload.code)},
                       {"counts", workload.counts ? to_json(*workload.counts) : Json()},
                       {"costs", workload.costs ? to_json(*workload.costs) : Json()},
                       {"why_no_costs", workload.why_no_costs.empty() ? Json() : Json(workload.why_no_costs)},
                       {"baseline", json_of(workload.baseline)},
                       {"candidate", json_of(workload.candidate)}});
}

}  // namespace

Json to_json(const CodeComparison& code) {
  Json differences = Json::array();
  for (const FunctionDifference& function : code.differences) {
    differences.push(Json::object({{"fate", to_string(function.fate)},
                                   {"name", function.name},
                                   {"signature", function.signature},
                                   {"ran", code.knows_what_ran ? Json(function.ran) : Json()},
                                   {"inlined_into", list_of(function.inlined_into)},
                                   {"baseline_bytes", function.baseline_bytes},
                                   {"candidate_bytes", function.candidate_bytes},
                                   {"baseline_instructions", function.baseline_instructions},
                                   {"candidate_instructions", function.candidate_instructions}}));
  }
  return Json::object({{"same", code.same()},
                       {"modules_equal", code.modules_equal},
                       {"functions_same", code.functions_same},
                       {"functions_changed", code.count(FunctionFate::Changed)},
                       {"functions_new", code.count(FunctionFate::New)},
                       {"functions_vanished", code.count(FunctionFate::Vanished)},
                       {"adapters_same", code.adapters_same},
                       {"adapters_different", code.adapters_different},
                       {"helpers", to_string(code.helpers)},
                       {"differences", std::move(differences)}});
}

Json to_json(std::span<const ContractDifference> differences) {
  Json list = Json::array();
  for (const ContractDifference& entry : differences) {
    list.push(Json::object({{"field", entry.field},
                            {"value", entry.value},
                            {"capture", entry.capture},
                            {"other_value", entry.other_value},
                            {"other_capture", entry.other_capture},
                            {"workload", entry.workload},
                            {"other_workload", entry.other_workload}}));
  }
  return list;
}

Json to_json(const Comparison& comparison) {
  Json workloads = Json::array();
  for (const WorkloadComparison& workload : comparison.workloads) workloads.push(json_of(workload));
  return Json::object({{"conclusive", comparison.conclusive()},
                       {"workloads", std::move(workloads)},
                       {"baseline_only", list_of(comparison.baseline_only)},
                       {"candidate_only", list_of(comparison.candidate_only)}});
}

}  // namespace wago::diff
