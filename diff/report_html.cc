// The report as one HTML document: no other file, no network, no library.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/text.h"
#include "diff/flame_graph.h"
#include "diff/instruction_gate.h"
#include "diff/quantity.h"
#include "diff/report.h"
#include "diff/report_markup.h"

namespace wago::diff {

namespace {

using base::as_markup;

std::string number(double value, const char* format = "%.6g") {
  char text[40];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

// A scale that all plots of a page share, symmetric around no change.
class Scale {
 public:
  Scale(double reach, double width) : reach_(reach), width_(width) {}
  double x(double change) const {
    return width_ / 2 + (width_ / 2 - kDot) * std::clamp(change / reach_, -1.0, 1.0);
  }
  double reach() const { return reach_; }
  double width() const { return width_; }

 private:
  static constexpr double kDot = 4;  // of the room of a dot at either end
  double reach_, width_;
};

// Wide enough for nine in ten of the intervals, so that one workload does not flatten the others.
double reach_of(const Report& report) {
  std::vector<double> ends;
  for (const ReportedWorkload& workload : report.workloads) {
    if (!workload.found.interval) continue;
    ends.push_back(std::max(std::abs(workload.found.interval->low), std::abs(workload.found.interval->high)));
  }
  const double least = 2 * report.findings.settings.margin;
  if (ends.empty()) return least;
  std::sort(ends.begin(), ends.end());
  return std::max(least, ends[ends.size() * 9 / 10]);
}

std::string interval_plot(const WorkloadFinding& found, const VerdictSettings& settings, const Scale& scale) {
  const double middle = scale.x(0);
  std::string svg = "<svg width=\"" + number(scale.width()) + "\" height=\"18\" role=\"img\" aria-label=\"" +
                    as_markup(change_text(found)) + "\"><rect class=\"band\" x=\"" +
                    number(scale.x(-settings.margin)) + "\" y=\"0\" width=\"" +
                    number(scale.x(settings.margin) - scale.x(-settings.margin)) +
                    "\" height=\"18\"/><line class=\"zero\" x1=\"" + number(middle) + "\" x2=\"" +
                    number(middle) + "\" y1=\"0\" y2=\"18\"/>";
  if (found.interval) {
    const char* colour = tone_of(found.finding);
    svg += "<g class=\"" + std::string(colour) +
           "\" stroke=\"currentColor\" fill=\"currentColor\"><line stroke-width=\"2\" x1=\"" +
           number(scale.x(found.interval->low)) + "\" x2=\"" + number(scale.x(found.interval->high)) +
           "\" y1=\"9\" y2=\"9\"/><circle cx=\"" + number(scale.x(found.change)) +
           "\" cy=\"9\" r=\"3.5\"/></g>";
  }
  return svg + "</svg>";
}

// The greatest 1, 2 or 5 times a power of ten that is not above `most`.
double round_step(double most) {
  const double power = std::pow(10, std::floor(std::log10(most)));
  for (const double digit : {5.0, 2.0}) {
    if (digit * power <= most) return digit * power;
  }
  return power;
}

// Every pair as a dot, in the order measured, coloured by code offset, over a scale that is as wide as they
// are.
std::string pairs_plot(const ReportedWorkload& workload, const VerdictSettings& settings) {
  constexpr double kWidth = 640, kHeight = 150, kLeft = 64, kLeastReach = 1e-6;
  double reach = std::max(2 * settings.margin, kLeastReach);
  for (double change : workload.changes) reach = std::max(reach, std::abs(change) * 1.1);
  auto y = [&](double change) { return kHeight / 2 * (1 - change / reach); };
  std::string svg =
      "<svg viewBox=\"0 0 " + number(kWidth) + " " + number(kHeight) +
      "\" style=\"max-width:" + number(kWidth) +
      "px;width:100%\" role=\"img\" aria-label=\"change of each pair\"><rect class=\"band\" x=\"" +
      number(kLeft) + "\" width=\"" + number(kWidth - kLeft) + "\" y=\"" + number(y(settings.margin)) +
      "\" height=\"" + number(y(-settings.margin) - y(settings.margin)) + "\"/>";
  // No line where its label would be cut off.
  const double step = round_step(reach / 2);
  for (int i = -5; i <= 5; ++i) {
    const double line = i * step;
    if (std::abs(line) > 0.92 * reach) continue;
    svg += "<line class=\"" + std::string(i == 0 ? "zero" : "axis") + "\" x1=\"" + number(kLeft) +
           "\" x2=\"" + number(kWidth) + "\" y1=\"" + number(y(line)) + "\" y2=\"" + number(y(line)) +
           "\"/><text x=\"0\" y=\"" + number(y(line) + 4) + "\">" +
           number(100 * line, i == 0 ? "%g" : "%+.6g") + " %</text>";
  }
  const auto count = static_cast<double>(workload.changes.size());
  for (size_t i = 0; i < workload.changes.size(); ++i) {
    const double x = kLeft + (kWidth - kLeft) * (static_cast<double>(i) + 0.5) / count;
    svg += "<circle class=\"o" + std::to_string(workload.code_offsets[i]) + "\" cx=\"" + number(x) +
           "\" cy=\"" + number(y(workload.changes[i])) + "\" r=\"4\"><title>pair " + std::to_string(i + 1) +
           ", code offset " + std::to_string(workload.code_offsets[i]) + ": " +
           as_markup(format_change(workload.changes[i])) + "</title></circle>";
  }
  return svg + "</svg>";
}

std::string heads(std::initializer_list<std::pair<const char*, bool>> names) {
  std::string row = "<thead><tr>";
  for (const auto& [name, is_number] : names) {
    row += std::string("<th") + (is_number ? " class=\"n\"" : "") + "><button>" + name + "</button></th>";
  }
  return row + "</tr></thead>";
}

std::string key_cell(double key, const std::string& content) {
  return "<td class=\"n\" data-key=\"" + number(key, "%.12g") + "\">" + content + "</td>";
}

// A control is held by itself: where it moves, nothing is claimed of any workload.
std::string finding_of(const Report& report, const ReportedWorkload& workload) {
  const bool control = report.experiment.workloads[workload.workload].control;
  return control ? std::string(spelling(workload.found.finding)) : finding_text(workload.found);
}

std::string anchor(const ReportedWorkload& workload) {
  return "w" + std::to_string(workload.workload);
}

std::string table(const Report& report, const std::vector<ReportedWorkload>& workloads, const Scale& scale) {
  std::string text = "<div class=\"wide\"><table class=\"sortable\">" +
                     heads({{"finding", false},
                            {"workload", false},
                            {"change", true},
                            {"interval", false},
                            {"pairs", true},
                            {"p", true},
                            {"instructions", true},
                            {"code", false},
                            {"baseline", true},
                            {"candidate", true}}) +
                     "<tbody>";
  for (const ReportedWorkload& workload : workloads) {
    const WorkloadFinding& found = workload.found;
    text += "<tr><td class=\"" + std::string(tone_of(found.finding)) + "\">" + finding_of(report, workload) +
            "</td><td><a href=\"#" + anchor(workload) + "\">" +
            as_markup(base::printable(report.experiment.workloads[workload.workload].id)) + "</a></td>";
    text += key_cell(found.change, found.pairs ? as_markup(format_change(found.change)) : "-");
    text += "<td data-key=\"" + number(found.change) + "\">" +
            interval_plot(found, report.findings.settings, scale) + "</td>";
    text += key_cell(static_cast<double>(found.pairs), std::to_string(found.pairs));
    text += key_cell(found.p_value, found.pairs ? as_markup(format_p(found.p_value)) : "-");
    text += key_cell(
        workload.code && workload.code->instructions ? workload.code->instructions->machine_change() : 0,
        as_markup(instructions_text(workload)));
    text += "<td>" + as_markup(code_text(workload)) + "</td>";
    text += key_cell(found.baseline_ns, found.pairs ? format_ns(found.baseline_ns) : "-");
    text += key_cell(found.candidate_ns, found.pairs ? format_ns(found.candidate_ns) : "-") + "</tr>\n";
  }
  return text + "</tbody></table></div>\n";
}

std::string history_of(const HistorySeries& series) {
  std::string text = "<h2>History, against " +
                     as_markup(base::printable(series.points[series.anchor].version)) + "</h2>" +
                     history_svg(series);
  for (const HistoryChange& change : series.changes) {
    text += "<p>" + as_markup(format_change(change.change)) + " from " +
            as_markup(base::printable(series.points[change.point].version)) + " on, " +
            std::string(spelling(change.state)) + "</p>\n";
  }
  return text;
}

// A document of its own within this one: its style and script are not of the page, and its names cannot reach
// it.
std::string framed(const FlameGraph& flames) {
  return "<iframe title=\"" + as_markup(flames.title) +
         "\" sandbox=\"allow-scripts\" loading=\"lazy\" style=\"height:" +
         std::to_string(svg_height(flames)) + "px\" src=\"" + data_url("image/svg+xml", to_svg(flames)) +
         "\"></iframe>";
}

std::string flames_of(const Report& report, const ReportedWorkload& workload) {
  if (workload.flames) {
    return "<h2>Where the time went</h2>" + framed(*workload.flames) +
           "<p class=\"quiet\">From samples of both sides, which were not taken together: they decide "
           "nothing.</p>\n";
  }
  return "<p class=\"quiet\">Where the time went was not sampled. This does it, and the next report shows "
         "it: "
         "<code>" +
         as_markup(recording_command(report, workload)) + "</code></p>\n";
}

std::string section(const Report& report, const ReportedWorkload& workload) {
  const capture::ExperimentWorkload& of = report.experiment.workloads[workload.workload];
  const WorkloadFinding& found = workload.found;
  const auto failure = instruction_failure(report, workload);
  std::string text = "<details" + std::string(failure || needs_eyes(found.finding) ? " open" : "") +
                     " id=\"" + anchor(workload) + "\"><summary><span class=\"" + tone_of(found.finding) +
                     "\">" + finding_of(report, workload) + "</span> " + as_markup(base::printable(of.id)) +
                     " " + as_markup(change_text(found)) + "</summary>\n<p>" +
                     as_markup(base::printable(found.reason)) + "</p>\n";
  if (failure) text += "<p class=\"bad\">" + as_markup(*failure) + "</p>\n";
  if (!workload.changes.empty()) {
    text += pairs_plot(workload, report.findings.settings) +
            "<p class=\"quiet\">Each dot is a pair, in the order measured, its colour the code offset; the "
            "band is "
            "the margin.</p>\n";
  }
  if (!found.offsets.empty()) {
    text +=
        "<table><thead><tr><th>code offset</th><th class=\"n\">pairs</th><th "
        "class=\"n\">change</th></tr></thead><tbody>";
    for (const OffsetChange& offset : found.offsets) {
      text += "<tr><td>" + std::to_string(offset.code_offset) + "</td><td class=\"n\">" +
              std::to_string(offset.pairs) + "</td><td class=\"n\">" +
              as_markup(format_change(offset.change)) + "</td></tr>";
    }
    text += "</tbody></table>\n";
  }
  if (!of.control) text += flames_of(report, workload);
  if (workload.history) text += history_of(*workload.history);
  if (workload.code && !workload.code->differences.empty()) {
    text += "<h2>Functions that differ</h2><div class=\"wide\"><table><tbody>";
    for (const FunctionDifference& function : workload.code->differences) {
      text += "<tr><td>" + std::string(to_string(function.fate)) + "</td><td>" +
              as_markup(base::function_label(function.name)) + "</td><td class=\"n\">" +
              std::to_string(function.baseline_bytes) + " &rarr; " +
              std::to_string(function.candidate_bytes) + " bytes</td></tr>";
    }
    text += "</tbody></table></div>\n";
  }
  // A control has nothing to explain: both its sides are one program.
  const std::string command = command_for(report, workload);
  if (!of.control && command != recording_command(report, workload))
    text += "<p class=\"quiet\">Look closer: <code>" + as_markup(command) + "</code></p>\n";
  return text + "</details>\n";
}

std::string side_row(const char* title, const capture::SideRecord& side) {
  std::string text = side.program + " " + side.program_version + ", revision " + side.revision;
  if (side.dirty == base::Dirty::Dirty) text += " (dirty)";
  if (!side.setting.empty()) text += ", " + side.setting;
  if (side.slowdown_ppm)
    text += ", slowed down by " + number(static_cast<double>(side.slowdown_ppm) / 1e4) + " % as a self-test";
  return "<tr><td>" + std::string(title) + "</td><td>" + as_markup(base::printable(text)) + "</td></tr>";
}

std::string method(const Report& report) {
  const capture::Experiment& experiment = report.experiment;
  const VerdictSettings& settings = report.findings.settings;
  std::string text = "<h2>Machine and method</h2><div class=\"wide\"><table><tbody>" +
                     side_row("baseline", experiment.sides[0]) + side_row("candidate", experiment.sides[1]);
  auto row = [&](const char* name, const std::string& value) {
    text += "<tr><td>" + std::string(name) + "</td><td>" + as_markup(base::printable(value)) + "</td></tr>";
  };
  row("machine", experiment.cpu_model + ", " + experiment.os_version + ", " +
                     format_plural(experiment.logical_cpus, "logical core"));
  row("pairs", std::to_string(report.pairs) + ", seed " + std::to_string(experiment.seed));
  row("intervals", "hold at " + format_setting(settings.confidence) + " over all looks; margin " +
                       format_setting(settings.margin));
  row("floor", to_text(report.floor));
  row("p", std::string(kHowP));
  text +=
      "</tbody></table></div>\n<p class=\"quiet\">Both sides of a pair run as fresh processes on one CPU and "
      "take turns. A pair's "
      "change is the median over its turns of the ratio of CPU times; a workload's is the Hodges-Lehmann "
      "estimate over its "
      "pairs. Findings with a question mark are not held over all workloads by Holm's procedure.</p>\n";
  return text;
}

}  // namespace

const char* tone_of(Finding finding) {
  switch (paint_of(finding)) {
    case base::Paint::Bad:
      return "bad";
    case base::Paint::Doubtful:
      return "doubt";
    case base::Paint::Good:
      break;
  }
  return "good";
}

std::string to_html(const Report& report) {
  const Scale scale(reach_of(report), 220);
  const std::string releases = releases_text(report.release, report.baseline_release);
  std::string text = "<h1>" + as_markup(headline(report)) + "</h1>\n<p class=\"quiet\">" +
                     as_markup(base::printable((releases.empty() ? "" : releases + ": ") + report.path)) +
                     "</p>\n";
  for (const std::string& sentence : report.findings.invalid) {
    text += "<p class=\"note bad\">" + as_markup(base::printable(sentence)) + "</p>\n";
  }
  if (report.findings.suspect)
    text += "<p class=\"note doubt\">" + as_markup(*report.findings.suspect) + "</p>\n";
  for (const std::string& sentence : report.remarks) {
    text += "<p class=\"note\">" + as_markup(base::printable(sentence)) + "</p>\n";
  }
  const SuiteChange& suite = report.findings.suite;
  if (suite.workloads > 0) {
    text += "<p>Geometric mean of " + format_plural(suite.workloads, "workload") + ": <b>" +
            as_markup(format_change(suite.change)) + "</b>";
    if (suite.interval) {
      text += " [" + as_markup(format_change(suite.interval->low)) + ", " +
              as_markup(format_change(suite.interval->high)) + "]";
    }
    text += "</p>\n";
  }
  text += table(report, report.workloads, scale);
  text += "<p class=\"quiet\">Intervals are drawn from -" + number(100 * scale.reach(), "%.3g") + " % to +" +
          number(100 * scale.reach(), "%.3g") + " %; the band is the margin.</p>\n";
  if (!report.controls.empty()) {
    text += "<h2>Controls: the baseline on both sides</h2>" + table(report, report.controls, scale);
  }
  text += "<h2>Workloads</h2>\n";
  for (const ReportedWorkload& workload : report.workloads) text += section(report, workload);
  for (const ReportedWorkload& control : report.controls) text += section(report, control);
  return report_page("Regression report" + (releases.empty() ? "" : " of " + base::printable(releases)) +
                         ": " + headline(report),
                     text + method(report));
}

}  // namespace wago::diff
