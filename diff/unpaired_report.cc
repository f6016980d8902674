// Results of other tools, and captures, in the formats of reports.
#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "diff/instruction_gate.h"
#include "diff/quantity.h"
#include "diff/report.h"
#include "diff/report_markup.h"
#include "diff/summary_json.h"
#include "diff/unpaired.h"

namespace wago::diff {

namespace {

using base::as_markup;
using base::Json;
using Row = std::vector<std::string>;

std::string median_text(const Summary& summary, const std::string& unit) {
  if (summary.n == 0) return "-";
  return format_ns(summary.median) + (unit.empty() ? "" : " per " + base::printable(unit));
}

// How sure the median is of itself.
std::string certainty_text(const Summary& summary) {
  if (summary.n == 0) return "";
  const std::string n = "n " + format_count(summary.n);
  return summary.n == 1 ? n : n + ", spread " + format_share(summary.relative_spread());
}

std::string change_text(const std::optional<double>& change) {
  return change ? format_change(*change) : "-";
}

std::string code_text(const ExactLanes& exact) {
  if (exact.code.same()) return "same";
  return exact.code.differences.empty() ? "differs"
                                        : format_plural(exact.code.differences.size(), "function");
}

std::string instructions_text(const UnpairedBenchmark& benchmark) {
  const auto change = instruction_change(benchmark);
  if (!change) return "-";
  const CountComparison& counts = *benchmark.exact->counts;
  return counts.differs(counts.machine) ? format_exact_change(*change) : "equal";
}

// The cells that all tables have, behind the benchmark's name.
Row cells_of(const UnpairedBenchmark& benchmark) {
  const Summary &left = benchmark.baseline.wall_ns, &right = benchmark.candidate.wall_ns;
  Row cells;
  if (benchmark.exact)
    cells = {to_string(benchmark.verdict), code_text(*benchmark.exact), instructions_text(benchmark)};
  for (std::string& cell :
       Row{median_text(left, benchmark.unit), certainty_text(left), median_text(right, benchmark.unit),
           certainty_text(right), change_text(benchmark.wall_change), change_text(benchmark.cpu_change)})
    cells.push_back(std::move(cell));
  return cells;
}

// What cells_of() has, and whether it is text or a number.
struct Head {
  const char* name;
  bool number;
};
std::vector<Head> heads_of(const UnpairedReport& report) {
  std::vector<Head> heads;
  if (!report.tool) heads = {{"verdict", false}, {"code", false}, {"instructions", true}};
  for (const Head& head : {Head{"baseline", true}, Head{"", false}, Head{"candidate", true}, Head{"", false},
                           Head{"change, unpaired", true}, Head{"of CPU time", true}})
    heads.push_back(head);
  return heads;
}

// By which cells are sorted; nothing: by their text.
std::vector<std::optional<double>> keys_of(const UnpairedBenchmark& benchmark) {
  std::vector<std::optional<double>> keys;
  if (benchmark.exact) keys = {std::nullopt, std::nullopt, instruction_change(benchmark)};
  for (const std::optional<double>& key :
       {std::optional(benchmark.baseline.wall_ns.median), std::optional<double>(),
        std::optional(benchmark.candidate.wall_ns.median), std::optional<double>(), benchmark.wall_change,
        benchmark.cpu_change})
    keys.push_back(key);
  return keys;
}

std::string tool_name(const UnpairedReport& report) {
  return report.tool ? std::string(name_of(*report.tool)) : "captures";
}

// What is exact, whole: differing functions, counts.
std::string details_text(const UnpairedBenchmark& benchmark) {
  if (!benchmark.exact) return {};
  return to_text(benchmark.exact->code) +
         (benchmark.exact->counts ? "\n" + to_text(*benchmark.exact->counts) : "");
}

// What is to be said of one benchmark, a sentence each.
std::vector<std::string> reasons_of(const UnpairedReport& report, const UnpairedBenchmark& benchmark) {
  std::vector<std::string> reasons;
  if (auto failure = instruction_failure(report, benchmark)) reasons.push_back(std::move(*failure));
  reasons.insert(reasons.end(), benchmark.reasons.begin(), benchmark.reasons.end());
  return reasons;
}

// "baseline a.json, b.json; candidate c.json; Google Benchmark"
std::string sources_text(const UnpairedReport& report) {
  std::string text;
  for (const auto& [title, files] :
       {std::pair("baseline ", &report.baseline), std::pair("; candidate ", &report.candidate)}) {
    text += title;
    for (size_t i = 0; i < files->size(); ++i) text += (i == 0 ? "" : ", ") + base::display((*files)[i]);
  }
  return text + "; " + tool_name(report);
}

// What only one side has, a sentence each.
std::vector<std::string> unmatched(const UnpairedReport& report) {
  std::vector<std::string> sentences;
  for (const auto& [side, names] :
       {std::pair("baseline", &report.baseline_only), std::pair("candidate", &report.candidate_only)}) {
    for (const std::string& name : *names)
      sentences.push_back(base::printable(name) + ": only in the " + side + ", not compared");
  }
  return sentences;
}

// "median of 3 runs 1.2 ms, before 1 ms: +20.00 %": of one benchmark, in a sentence.
std::string summary_text(const UnpairedBenchmark& benchmark) {
  std::string text = to_string(benchmark.verdict);
  if (benchmark.wall_change) {
    text += ": " + median_text(benchmark.baseline.wall_ns, benchmark.unit) + " before, " +
            median_text(benchmark.candidate.wall_ns, benchmark.unit) + " after, " +
            change_text(benchmark.wall_change);
  }
  for (const std::string& reason : benchmark.reasons) text += "; " + base::printable(reason);
  return text;
}

Json json_of(const UnpairedSide& side) {
  return Json::object({{"wall_ns", to_json(side.wall_ns)},
                       {"cpu_ns", to_json(side.cpu_ns)},
                       {"between_files", side.between_files},
                       {"failure", side.failure}});
}

Json list_of(const std::vector<std::string>& texts) {
  return Json::array(std::vector<Json>(texts.begin(), texts.end()));
}

std::string first_head(const UnpairedReport& report) {
  return report.tool ? "benchmark" : "workload";
}

std::string nothing_decided(const UnpairedReport& report) {
  return report.tool ? "Nothing is decided: " : "Code and counts are exact; of time nothing is decided: ";
}

std::string titled(const UnpairedReport& report) {
  const std::string releases = releases_text(report.release, report.baseline_release);
  return (releases.empty() ? "" : base::printable(releases) + ": ") + headline(report);
}

}  // namespace

std::string headline(const UnpairedReport& report) {
  std::string text;
  for (const Verdict verdict : {Verdict::SameCode, Verdict::Inconclusive}) {
    const auto count = std::count_if(report.benchmarks.begin(), report.benchmarks.end(),
                                     [&](const auto& one) { return one.verdict == verdict; });
    if (count > 0) text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + to_string(verdict);
  }
  return text;
}

std::string to_text(const UnpairedReport& report, bool colour) {
  std::string text = titled(report) + "\n" + sources_text(report) + "\n\n";
  std::vector<Row> rows = {{first_head(report)}};
  std::vector<base::Align> align = {base::Align::Left};
  for (const Head& head : heads_of(report)) {
    rows[0].push_back(head.name);
    align.push_back(head.number ? base::Align::Right : base::Align::Left);
  }
  for (const UnpairedBenchmark& benchmark : report.benchmarks) {
    rows.push_back({base::display(benchmark.name)});
    const Row cells = cells_of(benchmark);
    rows.back().insert(rows.back().end(), cells.begin(), cells.end());
  }
  text += base::columns(rows, align) + "\n";
  for (const UnpairedBenchmark& benchmark : report.benchmarks) {
    for (const std::string& reason : reasons_of(report, benchmark))
      text += base::display(benchmark.name) + ": " + base::printable(reason) + "\n";
  }
  for (const std::string& sentence : unmatched(report)) text += sentence + "\n";
  for (const UnpairedBenchmark& benchmark : report.benchmarks) {
    if (benchmark.exact) text += "\n" + base::display(benchmark.name) + "\n" + details_text(benchmark);
  }
  if (!report.tool) text += "\n";
  const base::Paint paint = is_conclusive(report) ? base::Paint::Good : base::Paint::Doubtful;
  return text + "verdict    " +
         base::painted(report.tool ? to_string(Verdict::Inconclusive) : headline(report), paint, colour) +
         "\n           " + kWhyUnpaired + "\n";
}

Json to_json(const UnpairedReport& report) {
  Json benchmarks = Json::array();
  for (const UnpairedBenchmark& benchmark : report.benchmarks) {
    benchmarks.push(Json::object(
        {{"benchmark", benchmark.name},
         {"verdict", to_string(benchmark.verdict)},
         {"reasons", list_of(benchmark.reasons)},
         {"instruction_failure", instruction_failure(report, benchmark)},
         {"wall_change", benchmark.wall_change},
         {"cpu_change", benchmark.cpu_change},
         {"unit", benchmark.unit},
         {"code", benchmark.exact ? to_json(benchmark.exact->code) : Json()},
         {"counts", benchmark.exact && benchmark.exact->counts ? to_json(*benchmark.exact->counts) : Json()},
         {"baseline", json_of(benchmark.baseline)},
         {"candidate", json_of(benchmark.candidate)}}));
  }
  return Json::object({{"version", 1},
                       {"conclusive", is_conclusive(report)},
                       {"tool", report.tool ? Json(name_of(*report.tool)) : Json()},
                       {"headline", headline(report)},
                       {"reason", kWhyUnpaired},
                       {"release", report.release},
                       {"baseline_release", report.baseline_release},
                       {"baseline", list_of(report.baseline)},
                       {"candidate", list_of(report.candidate)},
                       {"benchmarks", std::move(benchmarks)},
                       {"baseline_only", list_of(report.baseline_only)},
                       {"candidate_only", list_of(report.candidate_only)}});
}

std::string to_markdown(const UnpairedReport& report) {
  std::string text = "## " + markdown_cell(titled(report)) + "\n\n| " + first_head(report) + " |";
  std::string line = "\n|---|";
  for (const Head& head : heads_of(report)) {
    text += (*head.name ? " " + std::string(head.name) : "") + " |";
    line += head.number ? "---:|" : "---|";
  }
  text += line + "\n";
  for (const UnpairedBenchmark& benchmark : report.benchmarks) {
    text += "| " + markdown_cell(benchmark.name) + " |";
    for (const std::string& cell : cells_of(benchmark)) text += " " + markdown_cell(cell) + " |";
    text += "\n";
  }
  text += "\n";
  for (const UnpairedBenchmark& benchmark : report.benchmarks) {
    for (const std::string& reason : reasons_of(report, benchmark))
      text += "* **" + markdown_cell(benchmark.name) + "**: " + markdown_cell(reason) + "\n";
  }
  for (const std::string& sentence : unmatched(report)) text += "* " + markdown_cell(sentence) + "\n";
  return text + "\n" + nothing_decided(report) + kWhyUnpaired + ".\n\n" +
         markdown_cell(sources_text(report)) + ".\n";
}

std::string to_junit(const UnpairedReport& report, const std::string& name) {
  std::vector<JunitCase> cases;
  for (const UnpairedBenchmark& benchmark : report.benchmarks) {
    JunitCase test{.group = tool_name(report), .name = benchmark.name, .message = summary_text(benchmark)};
    if (const auto failure = instruction_failure(report, benchmark)) {
      test.outcome = JunitOutcome::Failed;
      test.message = *failure;
    } else if (benchmark.verdict != Verdict::SameCode) {
      test.outcome = JunitOutcome::Skipped;
    }
    cases.push_back(std::move(test));
  }
  std::vector<std::pair<std::string, std::string>> properties;
  for (const std::string& path : report.baseline) properties.push_back({"baseline", path});
  for (const std::string& path : report.candidate) properties.push_back({"candidate", path});
  return junit_suite(name, properties, cases);
}

std::string to_annotations(const UnpairedReport& report) {
  std::string text = workflow_command("notice", headline(report), kWhyUnpaired);
  // Of what was executed any difference is real.
  for (const UnpairedBenchmark& benchmark : report.benchmarks) {
    if (!benchmark.exact || !benchmark.exact->counts || benchmark.exact->counts->same()) continue;
    if (const auto failure = instruction_failure(report, benchmark)) {
      text += workflow_command("error", benchmark.name + " instructions", *failure);
      continue;
    }
    text += workflow_command("notice", benchmark.name + " executes other instructions",
                             "machine instructions " + instructions_text(benchmark) + ", exact; " +
                                 format_plural(benchmark.exact->counts->functions.size(), "function"));
  }
  return text;
}

std::string to_html(const UnpairedReport& report) {
  std::string text = "<h1>" + as_markup(titled(report)) + "</h1>\n<p class=\"quiet\">" +
                     as_markup(sources_text(report)) + "</p>\n<p class=\"note doubt\">" +
                     nothing_decided(report) + as_markup(kWhyUnpaired) +
                     ".</p>\n<div class=\"wide\"><table class=\"sortable\"><thead><tr><th><button>" +
                     first_head(report) + "</button></th>";
  for (const Head& head : heads_of(report)) {
    text += std::string("<th") + (head.number ? " class=\"n\">" : ">") +
            (*head.name ? "<button>" + std::string(head.name) + "</button>" : "") + "</th>";
  }
  text += "</tr></thead><tbody>\n";
  for (const UnpairedBenchmark& benchmark : report.benchmarks) {
    text += "<tr><td>" + as_markup(base::printable(benchmark.name)) + "</td>";
    const Row cells = cells_of(benchmark);
    const std::vector<std::optional<double>> keys = keys_of(benchmark);
    for (size_t i = 0; i < cells.size(); ++i) {
      text += keys[i] ? "<td class=\"n\" data-key=\"" + Json(*keys[i]).dump() + "\">" : std::string("<td>");
      text += as_markup(cells[i]) + "</td>";
    }
    text += "</tr>\n";
  }
  text += "</tbody></table></div>\n";
  for (const UnpairedBenchmark& benchmark : report.benchmarks) {
    for (const std::string& reason : reasons_of(report, benchmark))
      text += "<p>" + as_markup(base::printable(benchmark.name + ": " + reason)) + "</p>\n";
  }
  for (const std::string& sentence : unmatched(report)) text += "<p>" + as_markup(sentence) + "</p>\n";
  for (const UnpairedBenchmark& benchmark : report.benchmarks) {
    if (!benchmark.exact) continue;
    text += "<details><summary>" + as_markup(base::printable(benchmark.name)) + ": " +
            to_string(benchmark.verdict) + "</summary><div class=\"wide\"><pre>" +
            as_markup(details_text(benchmark)) + "</pre></div></details>\n";
  }
  return report_page("Regression report: " + titled(report), text);
}

}  // namespace wago::diff
