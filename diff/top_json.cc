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
                       {"samples", Json::object({{"available", false}, {"sentence", top.samples}})},
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
