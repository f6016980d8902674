// Top for programs. docs/command-line.md lists the members.
#include "base/json.h"
#include "diff/summary_json.h"
#include "diff/top.h"

namespace wago::diff {

namespace {

using base::Json;

Json json_of(const StaticFunction& function) {
  Json object = Json::object({{"index", function.index},
                              {"name", function.name},
                              {"signature", function.signature},
                              {"bytes", function.bytes},
                              {"wasm_bytes", function.wasm_bytes}});
  for (const capture::StatisticField& field : capture::statistic_fields()) {
    object.set(std::string(field.name), function.statistics.*field.member);
  }
  return object;
}

Json samples_json(const Top& top) {
  Json json = Json::object({{"available", top.hot_spots.has_value()}, {"sentence", top.samples}});
  if (!top.hot_spots) return json;
  const HotSpots& spots = *top.hot_spots;
  Json kinds = Json::object();
  for (size_t side = 0; side < kSides; ++side) {
    kinds.set(std::string(capture::spelling(static_cast<capture::Side>(side))),
              Json::object({{"self", spots.by_side[side]}, {"samples", spots.samples_by_side[side]}}));
  }
  Json entries = Json::array();
  for (const HotSpot& spot : spots.rows) {
    entries.push(Json::object(
        {{"kind", capture::spelling(spot.label.side)},
         {"name", spot.label.name},
         {"detail", spot.label.detail},
         {"function", spot.label.function == capture::kNoFunction ? Json() : Json(spot.label.function)},
         {"self", spot.self},
         {"total", spot.total},
         {"samples", spot.samples}}));
  }
  json.set("unit", spots.unit)
      .set("count", spots.samples)
      .set("weight", spots.weight)
      .set("period_ns", spots.period_ns)
      .set("truncated_stacks", spots.truncated_stacks)
      .set("completed_work", Json(top.work_behind_samples))
      .set("kinds", std::move(kinds))
      .set("by", grouping_words()[static_cast<size_t>(spots.grouping)])
      .set("entry_count", top.hot_spot_count)
      .set("entries", std::move(entries));
  return json;
}

Json counts_json(const Top& top) {
  if (!top.executed) return {};
  const Executed& all = *top.executed;
  Json entries = Json::array();
  for (const ExecutedRow& row : all.rows) {
    Json entry = Json::object(
        {{"name", row.label.name},
         {"detail", row.label.detail},
         {"function", row.label.function == capture::kNoFunction ? Json() : Json(row.label.function)},
         {"machine_instructions", row.machine}});
    if (all.grouping == Grouping::Function) {
      entry.set("wasm_instructions", row.wasm).set("entered", row.entered);
    }
    entries.push(std::move(entry));
  }
  return Json::object({{"completed_work", Json(top.work)},
                       {"machine_instructions", all.machine},
                       {"wasm_instructions", all.wasm},
                       {"by", grouping_words()[static_cast<size_t>(all.grouping)]},
                       {"entry_count", top.executed_count},
                       {"entries", std::move(entries)}});
}

}  // namespace

Json to_json(const Top& top) {
  Json phases = Json::array();
  for (const PhaseTime& phase : top.phases) {
    phases.push(Json::object({{"phase", phase.phase},
                              {"measured", phase.measured},
                              {"elapsed_ns", phase.elapsed_ns},
                              {"timed_ns", phase.timed_ns},
                              {"completed_work", phase.completed_work},
                              {"work_unit", phase.work_unit}}));
  }
  Json functions = Json::array();
  for (const StaticFunction& function : top.functions) functions.push(json_of(function));
  Json notes = Json::array();
  for (const std::string& note : top.notes) notes.push(note);
  return Json::object({{"capture", top.capture},
                       {"workload", top.workload},
                       {"module_name", top.module_name},
                       {"revision", top.revision},
                       {"dirty", top.dirty},
                       {"backend", top.backend},
                       {"mode", top.mode},
                       {"measured_phase", top.measured_phase},
                       {"machine", top.machine},
                       {"settings", top.settings},
                       {"notes", std::move(notes)},
                       {"samples", samples_json(top)},
                       {"counts", counts_json(top)},
                       {"phases", std::move(phases)},
                       {"warmup_iterations", top.warmup_iterations},
                       {"elapsed", to_json(top.elapsed)},
                       {"items_per_second", top.items_per_second},
                       {"bytes_per_second", top.bytes_per_second},
                       {"static_compiler_data", Json::object({{"hot_spots", false},
                                                              {"function_count", top.function_count},
                                                              {"code_bytes", top.code_bytes},
                                                              {"functions", std::move(functions)}})}});
}

}  // namespace wago::diff
