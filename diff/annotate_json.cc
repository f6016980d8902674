// Annotation for programs. docs/reading.md lists the members.
#include "base/json.h"
#include "diff/annotate.h"

namespace wago::diff {

namespace {

using base::Json;

Json number_or_null(uint32_t number) {
  return number == capture::kNone ? Json() : Json(number);
}

Json json_of(const SourceLine& place) {
  return Json::object({{"function", place.function}, {"file", place.file}, {"line", place.line}});
}

}  // namespace

Json to_json(const AnnotatedRow& row, const Annotation& a) {
  Json places = Json::array();
  for (const WasmPlace& place : row.places) {
    places.push(Json::object({{"function", place.function}, {"wasm_pc", number_or_null(place.wasm_pc)}}));
  }
  Json source = Json::array();
  for (const SourceLine& place : row.source) source.push(json_of(place));
  Json json = Json::object({{"offset", row.offset}, {"size", row.size}});
  if (a.has_code) {
    json.set("assembly", row.assembly);
    if (!row.target.empty()) json.set("target", row.target);
  }
  if (!a.unit.empty()) json.set("self", row.self).set("samples", row.samples);
  if (a.counted) json.set("executed", Json(row.executed));
  json.set("places", std::move(places))
      .set("wasm", row.wasm)
      .set("source", std::move(source))
      .set("source_text", Json(row.source_text))
      .set("site", row.site ? Json(capture::spelling(*row.site)) : Json());
  Json decided = Json::array();
  for (const uint32_t number : row.decided) decided.push(spelling(a.decided.instructions[number].kind));
  json.set("decided", std::move(decided));
  return json;
}

Json to_json(const Annotation& a) {
  Json statistics = Json::object();
  for (const capture::StatisticField& field : capture::statistic_fields()) {
    statistics.set(std::string(field.name), a.statistics.*field.member);
  }
  Json built;
  if (const auto& origin = a.decided.origin) {
    built = Json::object({{"own", origin->built_instructions}, {"inlined", origin->placed_instructions}});
  }
  Json inlined = Json::array();
  for (const InlinedCall& call : a.inlined) {
    inlined.push(Json::object({{"site", call.site},
                               {"parent", number_or_null(call.parent)},
                               {"callee", call.callee},
                               {"name", call.name},
                               {"call_pc", call.call_pc}}));
  }
  Json into = Json::array();
  for (const std::string& name : a.inlined_into) into.push(name);
  Json missing = Json::array();
  for (const std::string& file : a.missing_sources) missing.push(file);
  Json found = Json::array();
  for (const FoundSource& source : a.found_sources)
    found.push(Json::object({{"file", source.file}, {"path", source.path}}));
  Json counts;
  if (a.counted) {
    counts = Json::object({{"machine_instructions", a.counts.machine_instructions},
                           {"wasm_instructions", a.counts.wasm_instructions},
                           {"entered", a.counts.entered}});
  }
  Json rows = Json::array();
  for (const AnnotatedRow& row : a.rows) rows.push(to_json(row, a));
  Json json = Json::object({{"capture", a.capture},
                            {"workload", a.workload},
                            {"module_name", a.module_name},
                            {"index", a.index},
                            {"name", a.name},
                            {"signature", a.signature},
                            {"begin", a.begin},
                            {"bytes", a.bytes},
                            {"wasm_bytes", a.wasm_bytes},
                            {"statistics", std::move(statistics)},
                            {"built", std::move(built)},
                            {"decisions", to_json(a.decided)},
                            {"samples", Json()},
                            {"inlined", std::move(inlined)},
                            {"inlined_into", std::move(into)},
                            {"has_code", a.has_code},
                            {"counted", a.counted},
                            {"counts", std::move(counts)},
                            {"found_sources", std::move(found)},
                            {"missing_sources", std::move(missing)}});
  if (!a.unit.empty()) {
    json.set("samples", Json::object({{"unit", a.unit},
                                      {"completed_work", Json(a.work)},
                                      {"weight", a.all_weight},
                                      {"self", a.self},
                                      {"count", a.samples},
                                      {"total", a.total},
                                      {"self_elsewhere", a.elsewhere}}));
  }
  json.set("rows", std::move(rows));
  return json;
}

}  // namespace wago::diff
