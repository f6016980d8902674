// Explanations for programs. docs/reports.md lists the members.
#include "base/json.h"
#include "diff/explanation.h"

namespace wago::diff {

namespace {

using base::Json;

Json strings_json(const auto& strings) {
  Json json = Json::array();
  for (const std::string& text : strings) json.push(text);
  return json;
}

Json captures_json(const std::array<std::string, 2>& paths) {
  return paths[0].empty() ? Json() : strings_json(paths);
}

Json instructions_json(const SideBySide& both, bool whole) {
  if (whole) return to_json(both);
  const auto side = [](const Annotation& annotation, const std::optional<uint32_t>& row) {
    return row ? to_json(annotation.rows[*row], annotation) : Json();
  };
  Json rows = Json::array();
  for (const AlignedRow& row : differing_rows(both)) {
    rows.push(Json::object({{"baseline", side(both.baseline, row.baseline)},
                            {"candidate", side(both.candidate, row.candidate)}}));
  }
  return Json::object({{"kept", both.kept}, {"differing", std::move(rows)}});
}

Json function_json(const ExplainedFunction& function, const ExplanationShown& shown) {
  Json counts, cost;
  if (function.counts) {
    const CountPair& machine = function.counts->machine;
    counts = Json::object({{"baseline", machine.baseline}, {"candidate", machine.candidate}});
  }
  if (function.cost) {
    cost = Json::object(
        {{"baseline", function.cost->baseline.self}, {"candidate", function.cost->candidate.self}});
  }
  return Json::object(
      {{"name", function.name},
       {"signature", function.signature},
       {"part", function.part},
       {"code", function.code ? Json(to_string(function.code->fate)) : Json()},
       {"machine_instructions", std::move(counts)},
       {"self", std::move(cost)},
       {"instructions",
        function.instructions ? instructions_json(*function.instructions, shown.assembly) : Json()}});
}

}  // namespace

Json to_json(const Explanation& explanation, const ExplanationShown& shown) {
  Json functions = Json::array();
  for (const ExplainedFunction& function : explanation.functions) {
    functions.push(function_json(function, shown));
  }
  return Json::object({{"experiment", explanation.report.path},
                       {"workload", explanation.workload().id},
                       {"finding", to_json(explanation.report, explanation.reported)},
                       {"invalid", strings_json(explanation.report.findings.invalid)},
                       {"baseline", to_json(explanation.report.experiment.sides[0])},
                       {"candidate", to_json(explanation.report.experiment.sides[1])},
                       {"exact", captures_json(explanation.exact)},
                       {"sampled", captures_json(explanation.sampled)},
                       {"code", explanation.code ? to_json(*explanation.code) : Json()},
                       {"counts", explanation.counts ? to_json(*explanation.counts) : Json()},
                       {"costs", explanation.costs ? to_json(*explanation.costs) : Json()},
                       {"functions", std::move(functions)},
                       {"remarks", strings_json(explanation.remarks)}});
}

}  // namespace wago::diff
