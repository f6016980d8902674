#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/text.h"
#include "diff/history.h"
#include "diff/quantity.h"
#include "diff/report.h"

namespace wago::diff {

namespace {

using base::Align;
using capture::HistoryExperiment;
using capture::HistoryResult;
using Row = std::vector<std::string>;

std::string date_text(uint64_t unix_ns) {
  return base::utc_text(unix_ns, "%Y-%m-%d %H:%M UTC");
}

std::string bounds_text(const Interval& interval) {
  return " [" + format_change(interval.low) + ", " + format_change(interval.high) + "]";
}

std::string change_text(const HistoryResult& result) {
  if (result.pairs == 0) return "-";
  std::string text = format_change(std::expm1(result.log_ratio));
  if (result.log_low && result.log_high)
    text += bounds_text({std::expm1(*result.log_low), std::expm1(*result.log_high)});
  return text;
}

std::string level_text(const HistorySeries& series, size_t point) {
  if (point == series.anchor) return "anchor";
  const auto& level = series.points[point].level;
  if (!level) return "not connected";
  return format_change(level->change) + bounds_text(level->interval);
}

// "1 regressed, 3 same"
std::string findings_text(const HistoryExperiment& experiment) {
  std::map<std::string, size_t> counts;
  for (const HistoryResult& result : experiment.results) {
    if (!result.control) ++counts[result.finding];
  }
  std::string text;
  for (const auto& [finding, count] : counts)
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + base::printable(finding);
  return text.empty() ? "no workloads" : text;
}

std::string name_of(const HistorySeries& series) {
  return base::display(series.catalog + "/" + series.workload);
}

std::string machine_text(const HistorySeries& series) {
  return base::printable(series.cpu_model) + ", " + base::printable(series.target);
}

base::Paint paint_of(ChangeState state) {
  return state == ChangeState::Confirmed ? base::Paint::Bad
         : state == ChangeState::Refuted ? base::Paint::Good
                                         : base::Paint::Doubtful;
}

// A line each.
std::string remarks_text(const History& history) {
  std::string text;
  for (const std::string& sentence : history.remarks) text += "note: " + base::printable(sentence) + "\n";
  return text;
}

}  // namespace

std::string list_text(const History& history) {
  std::set<std::pair<std::string, std::string>> workloads;
  for (const HistorySeries& series : history.series) workloads.insert({series.catalog, series.workload});
  std::string text = base::display(history.path) + ": " +
                     format_plural(history.experiments.size(), "experiment") + ", " +
                     format_plural(history.versions.size(), "version") + ", " +
                     format_plural(workloads.size(), "workload") + "\n";
  std::vector<Row> rows = {{"begun", "baseline", "candidate", "findings", "machine", "experiment"}};
  for (const HistoryExperiment& experiment : history.experiments) {
    rows.push_back({date_text(experiment.start_unix_ns), base::display(experiment.sides[0].version),
                    base::display(experiment.sides[1].version), findings_text(experiment),
                    base::printable(experiment.cpu_model), base::display(experiment.name)});
  }
  text += remarks_text(history);
  return rows.size() > 1 ? text + "\n" + base::columns(rows) : text;
}

std::string series_text(const History& history, const HistorySeries& series, bool colour) {
  std::vector<Row> head = {{"workload", name_of(series)}};
  if (!series.labels.empty()) {
    const std::vector<std::string_view> labels(series.labels.begin(), series.labels.end());
    head.push_back({"labels", base::printable(base::join_some(labels))});
  }
  head.push_back({"machine", machine_text(series)});
  head.push_back({"contract", series.contract_sha256.substr(0, 12)});
  std::vector<Row> rows = {{"version", "CPU time against the anchor", "first measured", ""}};
  for (size_t i = 0; i < series.points.size(); ++i) {
    std::string note;
    for (const HistoryChange& change : series.changes) {
      if (change.point != i) continue;
      note = base::painted(
          format_change(change.change) + " from here on, " + std::string(spelling(change.state)),
          paint_of(change.state), colour);
    }
    rows.push_back({base::display(series.points[i].version), level_text(series, i),
                    date_text(series.points[i].first_unix_ns), note});
  }
  std::vector<Row> links = {
      {"baseline", "candidate", "CPU time per iteration", "finding", "pairs", "experiment"}};
  for (const HistoryLink& link : series.links) {
    const HistoryExperiment& experiment = history.experiments[link.experiment];
    const HistoryResult& result = experiment.results[link.result];
    links.push_back({base::display(series.points[link.baseline].version),
                     base::display(series.points[link.candidate].version), change_text(result),
                     base::printable(result.finding), std::to_string(result.pairs),
                     base::display(experiment.name)});
  }
  return base::columns(head) + remarks_text(history) + "\n" + base::columns(rows) + "\nmeasured together:\n" +
         base::columns(links, {Align::Left, Align::Left, Align::Left, Align::Left, Align::Right});
}

std::string changes_text(const History& history, const ConfirmationPaths& paths, bool colour) {
  std::map<ChangeState, size_t> counts;
  std::string list;
  for (const HistorySeries& series : history.series) {
    for (const HistoryChange& change : series.changes) {
      ++counts[change.state];
      list += "\n" + base::painted(std::string(spelling(change.state)), paint_of(change.state), colour) +
              "  " + name_of(series) + "  " + format_change(change.change) + " from " +
              base::display(series.points[change.point].version) + " on, after " +
              base::display(series.points[change.before].version) + "  (p " + format_p(change.p_value) +
              "; " + machine_text(series) + ")\n";
      if (change.link) {
        const HistoryLink& link = series.links[*change.link];
        const HistoryExperiment& experiment = history.experiments[link.experiment];
        const HistoryResult& result = experiment.results[link.result];
        list += "  measured together: " + base::printable(result.finding) + ", " + change_text(result) +
                ", in " + base::display(experiment.name) + "\n";
      } else {
        list += "  to confirm it: " + confirmation_command(history, series, change, paths) + "\n";
      }
    }
  }
  std::string headline;
  for (const auto& [state, count] : counts)
    headline += (headline.empty() ? "" : ", ") + std::to_string(count) + " " + std::string(spelling(state));
  if (headline.empty()) headline = "no changes in " + std::to_string(history.series.size()) + " series";
  return headline + "; a change has three versions or more on each side\n" + remarks_text(history) + list;
}

}  // namespace wago::diff
