#include "diff/releases.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.h"
#include "diff/quantity.h"

namespace wago::diff {

namespace {

std::optional<std::string> named(const std::string& name) {
  return name.empty() ? std::nullopt : std::optional(name);
}

// As far as it is known without a history.
std::string side_name(const std::string& name, const capture::SideRecord& side) {
  if (!name.empty()) return name;
  return side.revision.empty() ? "unknown" : side.revision.substr(0, 12);
}

std::vector<ReleaseColumn> columns_of(std::span<const ReleaseReport> reports) {
  std::vector<ReleaseColumn> columns;
  for (const ReleaseReport& one : reports) {
    const auto& sides = one.report->experiment.sides;
    columns.push_back({one.name, side_name(one.report->baseline_release, sides[0]),
                       side_name(one.report->release, sides[1]), one.report});
  }
  std::stable_sort(columns.begin(), columns.end(), [](const auto& a, const auto& b) {
    return a.report->experiment.start_unix_ns < b.report->experiment.start_unix_ns;
  });
  return columns;
}

std::vector<ReleaseRow> rows_of(const std::vector<ReleaseColumn>& columns) {
  std::map<std::pair<std::string, std::string>, ReleaseRow> rows;
  for (size_t i = 0; i < columns.size(); ++i) {
    for (const ReportedWorkload& workload : columns[i].report->workloads) {
      const auto& of = columns[i].report->experiment.workloads[workload.workload];
      ReleaseRow& row = rows[{of.catalog, of.id}];
      row.catalog = of.catalog;
      row.workload = of.id;
      row.cells.resize(columns.size());
      row.cells[i] = &workload;
    }
  }
  std::vector<ReleaseRow> list;
  for (auto& [key, row] : rows) list.push_back(std::move(row));
  return list;
}

// The history of these experiments; those that have no place in one become remarks.
std::shared_ptr<const History> put_together(std::vector<ReleaseColumn>& columns,
                                            std::vector<std::string>& remarks) {
  std::vector<capture::HistoryExperiment> experiments;
  for (ReleaseColumn& column : columns) {
    const Report& report = *column.report;
    auto entry = history_entry(report, {named(report.baseline_release), named(report.release)},
                               {"--baseline-release", "--release"});
    if (!entry) {
      remarks.push_back("not in the picture: " + entry.error().to_string());
      continue;
    }
    column.baseline = entry->sides[0].version;
    column.candidate = entry->sides[1].version;
    experiments.push_back(std::move(*entry));
  }
  auto history = history_of("", std::move(experiments));
  if (!history) return nullptr;
  remarks.insert(remarks.end(), history->remarks.begin(), history->remarks.end());
  return std::make_shared<const History>(std::move(*history));
}

bool is_whole(const HistorySeries& series, size_t versions) {
  return series.points.size() == versions &&
         std::all_of(series.points.begin(), series.points.end(),
                     [](const HistoryPoint& point) { return point.level.has_value(); });
}

// Errors of workloads are taken as independent of one another.
void sum_up(Releases& releases) {
  const History& history = *releases.history;
  std::vector<const HistorySeries*> whole;
  for (const HistorySeries& series : history.series) {
    if (series.cpu_model != history.series.front().cpu_model) return;
    if (is_whole(series, history.versions.size())) whole.push_back(&series);
  }
  if (whole.empty()) return;
  HistorySeries suite = *whole.front();
  suite.links.clear();
  suite.changes.clear();
  const auto count = static_cast<double>(whole.size());
  for (size_t i = 0; i < suite.points.size(); ++i) {
    double sum = 0, squares = 0;
    for (const HistorySeries* series : whole) {
      const HistoryLevel& level = *series->points[i].level;
      const double reach = (std::log1p(level.interval.high) - std::log1p(level.interval.low)) / 2;
      sum += std::log1p(level.change);
      squares += reach * reach;
    }
    const double mean = sum / count, reach = std::sqrt(squares) / count;
    suite.points[i].level =
        HistoryLevel{std::expm1(mean), {std::expm1(mean - reach), std::expm1(mean + reach)}};
  }
  releases.suite = std::move(suite);
  releases.suite_workloads = whole.size();
}

}  // namespace

Releases releases_of(std::span<const ReleaseReport> reports) {
  Releases releases;
  releases.columns = columns_of(reports);
  releases.rows = rows_of(releases.columns);
  releases.history = put_together(releases.columns, releases.remarks);
  if (!releases.history || releases.history->series.empty()) return releases;
  for (ReleaseRow& row : releases.rows) {
    for (const HistorySeries& series : releases.history->series) {
      if (series.catalog == row.catalog && series.workload == row.workload) row.series.push_back(&series);
    }
  }
  sum_up(releases);
  return releases;
}

std::string headline(const Releases& releases) {
  std::vector<const Report*> reports;
  size_t invalid = 0;
  for (const ReleaseColumn& column : releases.columns) {
    reports.push_back(column.report);
    invalid += !column.report->findings.invalid.empty();
  }
  std::string text = format_plural(releases.columns.size(), "experiment") + " of " +
                     format_plural(releases.rows.size(), "workload");
  if (const std::string found = findings_text(reports); !found.empty()) text += ": " + found;
  if (invalid > 0) text += "; " + format_plural(invalid, "experiment") + " invalid";
  return text;
}

}  // namespace wago::diff
