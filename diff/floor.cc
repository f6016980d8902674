#include "diff/floor.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/json.h"
#include "base/text.h"
#include "diff/quantity.h"
#include "diff/statistics.h"

namespace wago::diff {

namespace {

std::string_view spelling(FloorFrom from) {
  constexpr std::array<std::string_view, 3> kWords = {"default", "given", "history"};
  return kWords[static_cast<size_t>(from)];
}

}  // namespace

PastControls past_controls(std::span<const capture::HistoryExperiment> experiments, std::string_view target,
                           std::string_view cpu_model) {
  std::vector<double> moved;
  for (const capture::HistoryExperiment& experiment : experiments) {
    if (experiment.target != target || experiment.cpu_model != cpu_model) continue;
    for (const capture::HistoryResult& result : experiment.results) {
      if (result.control && result.pairs >= kControlPairs)
        moved.push_back(std::abs(std::expm1(result.log_ratio)));
    }
  }
  PastControls past{.controls = moved.size()};
  if (moved.size() < kControlsToLearn) return past;
  std::sort(moved.begin(), moved.end());
  past.moved = quantile(moved, kControlQuantile);
  return past;
}

std::string to_text(const Floor& floor) {
  const std::string value = format_setting(floor.value);
  if (floor.from == FloorFrom::Given) return value + ", as given";
  if (floor.history.empty()) return value + ", the default";
  const std::string of = format_plural(floor.past.controls, "control") + " of " +
                         std::to_string(kControlPairs) + " pairs or more on this kind of processor in " +
                         base::display(floor.history);
  if (!floor.past.moved) {
    return value + ", the default: " + of + ", and " + std::to_string(kControlsToLearn) + " teach a floor";
  }
  const std::string quantile = format_setting(kControlQuantile) + " of " + of;
  if (floor.from == FloorFrom::History) return value + ", learned: " + quantile + " moved by no more";
  return value + ", the default: " + quantile + " moved by no more than " + format_setting(*floor.past.moved);
}

base::Json to_json(const Floor& floor) {
  return base::Json::object({{"value", floor.value},
                             {"from", spelling(floor.from)},
                             {"history", floor.history.empty() ? base::Json() : base::Json(floor.history)},
                             {"controls", floor.past.controls},
                             {"controls_moved", floor.past.moved}});
}

base::Result<ReadBy> read_by(const ReadSettings& settings, std::string_view target,
                             std::string_view cpu_model) {
  ReadBy by{.verdicts = settings.verdicts, .floor = {.value = settings.verdicts.floor}};
  by.floor.history = settings.history;
  if (settings.past) by.floor.past = past_controls(*settings.past, target, cpu_model);
  if (settings.floor_given) {
    by.floor.from = FloorFrom::Given;
  } else if (by.floor.past.moved && *by.floor.past.moved > by.floor.value) {
    by.floor.value = *by.floor.past.moved;
    by.floor.from = FloorFrom::History;
  }
  by.verdicts.floor = by.floor.value;
  if (by.verdicts.margin >= by.floor.value) return by;
  if (settings.margin_given) {
    return base::usage_error("--margin: " + format_setting(by.verdicts.margin) + " is below the floor of " +
                             to_text(by.floor) + "; raise --margin or lower --floor");
  }
  by.verdicts.margin = by.floor.value;
  return by;
}

}  // namespace wago::diff
