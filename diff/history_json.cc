// Histories for programs. docs/history.md lists the members.
#include <cmath>

#include "base/json.h"
#include "diff/history.h"

namespace wago::diff {

namespace {

using base::Json;
using capture::HistoryExperiment;
using capture::HistoryResult;

Json ratio_json(const std::optional<double>& log_ratio) {
  if (!log_ratio) return {};
  return std::expm1(*log_ratio);
}

Json interval_json(const HistoryResult& result) {
  if (!result.log_low || !result.log_high) return {};
  return Json::array({ratio_json(result.log_low), ratio_json(result.log_high)});
}

Json list_of(const std::vector<std::string>& texts) {
  return Json::array(std::vector<Json>(texts.begin(), texts.end()));
}

Json result_json(const HistoryResult& result) {
  return Json::object({{"catalog", result.catalog},
                       {"workload", result.workload},
                       {"labels", list_of(result.labels)},
                       {"contract_sha256", result.contract_sha256},
                       {"control", result.control},
                       {"finding", result.finding},
                       {"gated", result.gated},
                       {"change", result.pairs ? ratio_json(result.log_ratio) : Json()},
                       {"interval", interval_json(result)},
                       {"pairs", result.pairs},
                       {"cold_pairs", result.cold_pairs},
                       {"p_value", result.p_value},
                       {"holm", result.holm},
                       {"layout_sensitive", result.layout_sensitive},
                       {"same_code", result.same_code},
                       {"baseline_instructions", result.baseline_instructions},
                       {"candidate_instructions", result.candidate_instructions}});
}

Json side_json(const capture::HistorySide& side) {
  return Json::object({{"version", side.version},
                       {"revision", side.revision},
                       {"program", side.program},
                       {"runner_id", side.runner_id}});
}

Json named(const HistorySeries& series) {
  return Json::object({{"catalog", series.catalog},
                       {"workload", series.workload},
                       {"labels", list_of(series.labels)},
                       {"contract_sha256", series.contract_sha256},
                       {"target", series.target},
                       {"cpu_model", series.cpu_model}});
}

Json change_json(const History& history, const HistorySeries& series, const HistoryChange& change) {
  Json json = Json::object({{"before", series.points[change.before].version},
                            {"version", series.points[change.point].version},
                            {"change", change.change},
                            {"p_value", change.p_value},
                            {"state", spelling(change.state)},
                            {"experiment", nullptr}});
  if (change.link) json.set("experiment", history.experiments[series.links[*change.link].experiment].name);
  return json;
}

}  // namespace

Json list_json(const History& history) {
  Json experiments = Json::array(), versions = Json::array();
  for (const std::string& version : history.versions) versions.push(version);
  for (const HistoryExperiment& experiment : history.experiments) {
    Json results = Json::array();
    for (const HistoryResult& result : experiment.results) results.push(result_json(result));
    experiments.push(Json::object({{"experiment", experiment.name},
                                   {"start_unix_ns", experiment.start_unix_ns},
                                   {"baseline", side_json(experiment.sides[0])},
                                   {"candidate", side_json(experiment.sides[1])},
                                   {"target", experiment.target},
                                   {"cpu_model", experiment.cpu_model},
                                   {"os_version", experiment.os_version},
                                   {"logical_cpus", experiment.logical_cpus},
                                   {"confidence", experiment.confidence},
                                   {"floor", experiment.floor},
                                   {"margin", experiment.margin},
                                   {"results", std::move(results)}}));
  }
  return Json::object({{"version", 1},
                       {"history", history.path},
                       {"versions", std::move(versions)},
                       {"remarks", list_of(history.remarks)},
                       {"experiments", std::move(experiments)}});
}

Json series_json(const History& history, const HistorySeries& series) {
  Json points = Json::array(), links = Json::array(), changes = Json::array();
  for (const HistoryPoint& point : series.points) {
    Json interval;
    if (point.level) interval = Json::array({point.level->interval.low, point.level->interval.high});
    points.push(Json::object({{"version", point.version},
                              {"first_unix_ns", point.first_unix_ns},
                              {"change", point.level ? Json(point.level->change) : Json()},
                              {"interval", std::move(interval)}}));
  }
  for (const HistoryLink& link : series.links) {
    const HistoryExperiment& experiment = history.experiments[link.experiment];
    const HistoryResult& result = experiment.results[link.result];
    links.push(Json::object({{"experiment", experiment.name},
                             {"baseline", series.points[link.baseline].version},
                             {"candidate", series.points[link.candidate].version},
                             {"finding", result.finding},
                             {"change", result.pairs ? ratio_json(result.log_ratio) : Json()},
                             {"interval", interval_json(result)},
                             {"pairs", result.pairs}}));
  }
  for (const HistoryChange& change : series.changes) changes.push(change_json(history, series, change));
  return named(series)
      .set("anchor", series.points[series.anchor].version)
      .set("floor", series.floor)
      .set("points", std::move(points))
      .set("links", std::move(links))
      .set("changes", std::move(changes));
}

Json changes_json(const History& history, const ConfirmationPaths& paths) {
  Json list = Json::array();
  for (const HistorySeries& series : history.series) {
    for (const HistoryChange& change : series.changes) {
      Json json = named(series);
      const Json found = change_json(history, series, change);
      for (const auto& [key, value] : found.members()) json.set(key, value);
      json.set("command", change.link ? Json() : Json(confirmation_command(history, series, change, paths)));
      list.push(std::move(json));
    }
  }
  return Json::object({{"version", 1},
                       {"history", history.path},
                       {"remarks", list_of(history.remarks)},
                       {"changes", std::move(list)}});
}

}  // namespace wago::diff
