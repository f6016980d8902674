// Releases for people, for pull requests, for browsers and for programs.
#include "base/json.h"
#include "base/text.h"
#include "diff/instruction_gate.h"
#include "diff/quantity.h"
#include "diff/releases.h"
#include "diff/report_markup.h"

namespace wago::diff {

namespace {

using base::as_markup;
using base::Json;
using Row = std::vector<std::string>;

std::string steps_text(const ReleaseColumn& column) {
  return base::printable(column.baseline) + " to " + base::printable(column.candidate);
}

std::string interval_text(double change, const std::optional<Interval>& interval) {
  std::string text = format_change(change);
  if (interval) text += " [" + format_change(interval->low) + ", " + format_change(interval->high) + "]";
  return text;
}

// "regressed +2.10 %"
std::string cell_text(const ReportedWorkload* cell) {
  if (!cell) return "-";
  return finding_text(cell->found) + (cell->found.pairs ? " " + format_change(cell->found.change) : "");
}

std::string suite_text(const SuiteChange& suite) {
  return suite.workloads > 0 ? format_change(suite.change) : "-";
}

// Of the last version against the first, where the series has both.
const HistoryPoint* last_point(const Releases& releases, const HistorySeries& series) {
  const std::vector<std::string>& versions = releases.history->versions;
  const HistoryPoint& last = series.points.back();
  const bool whole =
      series.points[series.anchor].version == versions.front() && last.version == versions.back();
  return whole && last.level && &last != &series.points[series.anchor] ? &last : nullptr;
}

const HistoryPoint* last_point(const Releases& releases, const ReleaseRow& row) {
  // Of another contract or processor there is another level.
  return row.series.size() == 1 ? last_point(releases, *row.series.front()) : nullptr;
}

std::string level_text(const HistoryPoint* last) {
  return last ? interval_text(last->level->change, last->level->interval) : "-";
}

std::string suite_title(const Releases& releases) {
  return "geometric mean of " + format_plural(releases.suite_workloads, "workload");
}

// "r0" and "r6" of "r6 against r0"
std::string over_all(const Releases& releases) {
  const auto& versions = releases.history->versions;
  if (versions.empty()) return "over all";
  return base::printable(versions.back()) + " against " + base::printable(versions.front());
}

// Head, workloads and the mean, as text: what all tables show.
std::vector<Row> table_of(const Releases& releases) {
  Row head = {"workload"};
  for (const ReleaseColumn& column : releases.columns) head.push_back(steps_text(column));
  head.push_back(over_all(releases));
  std::vector<Row> rows = {std::move(head)};
  for (const ReleaseRow& row : releases.rows) {
    Row cells = {base::printable(row.workload)};
    for (const ReportedWorkload* cell : row.cells) cells.push_back(cell_text(cell));
    cells.push_back(level_text(last_point(releases, row)));
    rows.push_back(std::move(cells));
  }
  Row mean = {"geometric mean"};
  for (const ReleaseColumn& column : releases.columns)
    mean.push_back(suite_text(column.report->findings.suite));
  mean.push_back(level_text(releases.suite ? last_point(releases, *releases.suite) : nullptr));
  rows.push_back(std::move(mean));
  return rows;
}

std::string method_text(const ReleaseColumn& column) {
  const VerdictSettings& settings = column.report->findings.settings;
  return format_plural(column.report->pairs, "pair") + "; intervals hold at " +
         format_setting(settings.confidence) + "; margin " + format_setting(settings.margin) + "; floor " +
         to_text(column.report->floor);
}

constexpr const char* kWhatLevelsAre =
    "The last column puts the experiments together: a level is the CPU time of the last version against the "
    "first, by way of every experiment that connects them.";

std::string key_cell(double key, std::string_view tone, const std::string& text) {
  return "<td class=\"n " + std::string(tone) + "\" data-key=\"" + Json(key).dump() + "\">" +
         as_markup(text) + "</td>";
}

std::string html_table(const Releases& releases, std::string_view extension) {
  const std::vector<Row> rows = table_of(releases);
  std::string text =
      "<div class=\"wide\"><table class=\"sortable\"><thead><tr><th><button>workload</button></th>";
  for (size_t i = 1; i < rows[0].size(); ++i)
    text += "<th class=\"n\"><button>" + as_markup(rows[0][i]) + "</button></th>";
  text += "</tr></thead><tbody>\n";
  for (size_t r = 0; r < releases.rows.size(); ++r) {
    const ReleaseRow& row = releases.rows[r];
    text += "<tr><td><a href=\"#w" + std::to_string(r) + "\">" + as_markup(rows[r + 1][0]) + "</a></td>";
    for (size_t i = 0; i < row.cells.size(); ++i) {
      const ReportedWorkload* cell = row.cells[i];
      text += key_cell(cell ? cell->found.change : 0, cell ? tone_of(cell->found.finding) : "quiet",
                       rows[r + 1][i + 1]);
    }
    const HistoryPoint* last = last_point(releases, row);
    text += key_cell(last ? last->level->change : 0, "", rows[r + 1].back()) + "</tr>\n";
  }
  text += "</tbody><tfoot><tr>";
  for (size_t i = 0; i < rows.back().size(); ++i)
    text += (i == 0 ? "<th>" : "<th class=\"n\">") + as_markup(rows.back()[i]) + "</th>";
  text += "</tr>";
  if (!extension.empty()) {
    text += "<tr><td class=\"quiet\">whole report</td>";
    for (const ReleaseColumn& column : releases.columns) {
      text += "<td class=\"n\"><a href=\"" + file_link(column.name + std::string(extension)) + "\">" +
              as_markup(base::printable(column.name)) + "</a></td>";
    }
    text += "<td></td></tr>";
  }
  return text + "</tfoot></table></div>\n<p class=\"quiet\">" + kWhatLevelsAre + "</p>\n";
}

std::string section(const Releases& releases, size_t number) {
  const ReleaseRow& row = releases.rows[number];
  std::string text = "<details id=\"w" + std::to_string(number) + "\"><summary>" +
                     as_markup(base::printable(row.workload)) + " " +
                     as_markup(level_text(last_point(releases, row))) + "</summary>\n";
  for (const HistorySeries* series : row.series) {
    text += "<p class=\"quiet\">Against " +
            as_markup(base::printable(series->points[series->anchor].version)) + ", on " +
            as_markup(base::printable(series->cpu_model)) + "</p>" + history_svg(*series);
  }
  text += "<div class=\"wide\"><table><tbody>";
  for (size_t i = 0; i < row.cells.size(); ++i) {
    const ReportedWorkload* cell = row.cells[i];
    if (!cell) continue;
    text += "<tr><td>" + as_markup(steps_text(releases.columns[i])) + "</td><td class=\"" +
            tone_of(cell->found.finding) + "\">" + finding_text(cell->found) + "</td><td class=\"n\">" +
            as_markup(change_text(cell->found)) + "</td><td>" + format_plural(cell->found.pairs, "pair") +
            "</td><td><code>" + as_markup(command_for(*releases.columns[i].report, *cell)) +
            "</code></td></tr>";
  }
  return text + "</tbody></table></div></details>\n";
}

// What must be known before any of it is believed.
std::vector<std::string> warnings_of(const Releases& releases) {
  std::vector<std::string> sentences;
  for (const ReleaseColumn& column : releases.columns) {
    for (const std::string& sentence : column.report->findings.invalid)
      sentences.push_back(steps_text(column) + ": nothing is claimed: " + base::printable(sentence));
    if (column.report->findings.suspect)
      sentences.push_back(steps_text(column) + ": " + *column.report->findings.suspect);
    if (!column.report->instruction_floor) continue;
    const GatedInstructions gated = gate_instructions(*column.report);
    for (const auto* list : {&gated.failures, &gated.unknown}) {
      for (const std::string& sentence : *list) sentences.push_back(steps_text(column) + ": " + sentence);
    }
  }
  for (const std::string& remark : releases.remarks) sentences.push_back(base::printable(remark));
  return sentences;
}

}  // namespace

std::string to_text(const Releases& releases, bool colour) {
  std::string text = headline(releases) + "\n";
  for (const std::string& sentence : warnings_of(releases))
    text += base::painted(sentence, base::Paint::Doubtful, colour) + "\n";
  std::vector<base::Align> align(releases.columns.size() + 2, base::Align::Left);
  text += "\n" + base::columns(table_of(releases), align) + "\n";
  for (const ReleaseColumn& column : releases.columns) {
    text += steps_text(column) + ": " + headline(*column.report) + "; " + method_text(column) + "; " +
            base::display(column.report->path) + "\n";
  }
  return text + kWhatLevelsAre + "\n";
}

std::string to_markdown(const Releases& releases, std::string_view extension) {
  std::string text = "## " + markdown_cell(headline(releases)) + "\n\n";
  for (const std::string& sentence : warnings_of(releases)) text += "> " + markdown_cell(sentence) + "\n\n";
  const std::vector<Row> rows = table_of(releases);
  for (size_t i = 0; i < rows.size(); ++i) {
    text += "|";
    for (const std::string& cell : rows[i]) text += " " + markdown_cell(cell) + " |";
    text += "\n";
    if (i > 0) continue;
    text += "|---|";
    for (size_t column = 1; column < rows[0].size(); ++column) text += "---|";
    text += "\n";
  }
  text += "\n" + std::string(kWhatLevelsAre) + "\n\n";
  for (const ReleaseColumn& column : releases.columns) {
    const std::string title = markdown_cell(steps_text(column));
    text += "* " +
            (extension.empty() ? title
                               : "[" + title + "](" + file_link(column.name + std::string(extension)) + ")") +
            ": " + markdown_cell(headline(*column.report)) + "; " + markdown_cell(method_text(column)) + "\n";
  }
  return text;
}

std::string to_html(const Releases& releases, std::string_view extension) {
  std::string text = "<h1>" + as_markup(headline(releases)) + "</h1>\n";
  for (const std::string& sentence : warnings_of(releases))
    text += "<p class=\"note doubt\">" + as_markup(sentence) + "</p>\n";
  if (releases.suite) {
    text += "<h2>CPU time against " +
            as_markup(base::printable(releases.suite->points[releases.suite->anchor].version)) + ", " +
            suite_title(releases) + "</h2>" + history_svg(*releases.suite);
  }
  text += "<h2>Workloads by releases</h2>\n" + html_table(releases, extension);
  for (size_t i = 0; i < releases.rows.size(); ++i) text += section(releases, i);
  text += "<h2>Experiments</h2><div class=\"wide\"><table><tbody>";
  for (const ReleaseColumn& column : releases.columns) {
    const capture::Experiment& experiment = column.report->experiment;
    text += "<tr><td>" + as_markup(steps_text(column)) + "</td><td>" + as_markup(headline(*column.report)) +
            "</td><td>" + as_markup(base::printable(experiment.cpu_model + ", " + experiment.os_version)) +
            "</td><td>" + as_markup(method_text(column)) + "</td></tr>";
  }
  return report_page("Regression report: " + headline(releases), text + "</tbody></table></div>\n");
}

Json to_json(const Releases& releases) {
  Json experiments = Json::array(), workloads = Json::array();
  for (const ReleaseColumn& column : releases.columns) {
    const SuiteChange& suite = column.report->findings.suite;
    experiments.push(Json::object({{"experiment", column.report->path},
                                   {"baseline", column.baseline},
                                   {"candidate", column.candidate},
                                   {"headline", headline(*column.report)},
                                   {"floor", to_json(column.report->floor)},
                                   {"change", suite.workloads > 0 ? Json(suite.change) : Json()}}));
  }
  for (const ReleaseRow& row : releases.rows) {
    Json results = Json::array(), history = Json::array();
    for (size_t i = 0; i < row.cells.size(); ++i)
      results.push(row.cells[i] ? to_json(*releases.columns[i].report, *row.cells[i]) : Json());
    for (const HistorySeries* series : row.series) history.push(series_json(*releases.history, *series));
    workloads.push(Json::object({{"workload", row.workload},
                                 {"catalog", row.catalog},
                                 {"results", std::move(results)},
                                 {"history", std::move(history)}}));
  }
  const std::vector<std::string> sentences = warnings_of(releases);
  return Json::object({{"version", 1},
                       {"headline", headline(releases)},
                       {"warnings", Json::array(std::vector<Json>(sentences.begin(), sentences.end()))},
                       {"experiments", std::move(experiments)},
                       {"workloads", std::move(workloads)},
                       {"suite", releases.suite ? series_json(*releases.history, *releases.suite) : Json()}});
}

}  // namespace wago::diff
