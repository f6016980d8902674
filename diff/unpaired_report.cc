// Results of other tools, in the formats of reports.
#include "base/json.h"
#include "base/text.h"
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

std::string median_text(const Summary& summary) {
  return summary.n == 0 ? "-" : format_ns(summary.median);
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

// The cells that all tables have, behind the benchmark's name.
Row cells_of(const UnpairedBenchmark& benchmark) {
  const Summary &left = benchmark.baseline.wall_ns, &right = benchmark.candidate.wall_ns;
  return {median_text(left),
          certainty_text(left),
          median_text(right),
          certainty_text(right),
          change_text(benchmark.wall_change),
          change_text(benchmark.cpu_change)};
}

constexpr std::array kHeads = {"baseline", "", "candidate", "", "change, unpaired", "of CPU time"};

// "baseline a.json, b.json; candidate c.json; Google Benchmark"
std::string sources_text(const UnpairedReport& report) {
  std::string text;
  for (const auto& [title, files] :
       {std::pair("baseline ", &report.baseline), std::pair("; candidate ", &report.candidate)}) {
    text += title;
    for (size_t i = 0; i < files->size(); ++i) text += (i == 0 ? "" : ", ") + base::display((*files)[i]);
  }
  return text + "; " + std::string(name_of(report.tool));
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
    text += ": " + median_text(benchmark.baseline.wall_ns) + " before, " +
            median_text(benchmark.candidate.wall_ns) + " after, " + change_text(benchmark.wall_change);
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

std::string titled(const UnpairedReport& report) {
  const std::string releases = releases_text(report.release, report.baseline_release);
  return (releases.empty() ? "" : base::printable(releases) + ": ") + headline(report);
}

}  // namespace

std::string headline(const UnpairedReport& report) {
  return std::to_string(report.benchmarks.size()) + " " + to_string(Verdict::Inconclusive);
}

std::string to_text(const UnpairedReport& report, bool colour) {
  std::string text = titled(report) + "\n" + sources_text(report) + "\n\n";
  std::vector<Row> rows = {{"benchmark"}};
  rows[0].insert(rows[0].end(), kHeads.begin(), kHeads.end());
  for (const UnpairedBenchmark& benchmark : report.benchmarks) {
    rows.push_back({base::display(benchmark.name)});
    const Row cells = cells_of(benchmark);
    rows.back().insert(rows.back().end(), cells.begin(), cells.end());
  }
  using enum base::Align;
  text += base::columns(rows, {Left, Right, Left, Right, Left, Right, Right}) + "\n";
  for (const UnpairedBenchmark& benchmark : report.benchmarks) {
    for (const std::string& reason : benchmark.reasons)
      text += base::display(benchmark.name) + ": " + base::printable(reason) + "\n";
  }
  for (const std::string& sentence : unmatched(report)) text += sentence + "\n";
  return text + "verdict    " +
         base::painted(to_string(Verdict::Inconclusive), base::Paint::Doubtful, colour) + "\n           " +
         kWhyUnpaired + "\n";
}

Json to_json(const UnpairedReport& report) {
  Json benchmarks = Json::array();
  for (const UnpairedBenchmark& benchmark : report.benchmarks) {
    benchmarks.push(Json::object({{"benchmark", benchmark.name},
                                  {"verdict", to_string(benchmark.verdict)},
                                  {"reasons", list_of(benchmark.reasons)},
                                  {"wall_change", benchmark.wall_change},
                                  {"cpu_change", benchmark.cpu_change},
                                  {"baseline", json_of(benchmark.baseline)},
                                  {"candidate", json_of(benchmark.candidate)}}));
  }
  return Json::object({{"version", 1},
                       {"conclusive", false},
                       {"tool", name_of(report.tool)},
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
  std::string text = "## " + markdown_cell(titled(report)) +
                     "\n\n| benchmark | baseline | | candidate | | change, unpaired | of CPU time "
                     "|\n|---|---:|---|---:|---|---:|---:|\n";
  for (const UnpairedBenchmark& benchmark : report.benchmarks) {
    text += "| " + markdown_cell(benchmark.name) + " |";
    for (const std::string& cell : cells_of(benchmark)) text += " " + markdown_cell(cell) + " |";
    text += "\n";
  }
  text += "\n";
  for (const UnpairedBenchmark& benchmark : report.benchmarks) {
    for (const std::string& reason : benchmark.reasons)
      text += "* **" + markdown_cell(benchmark.name) + "**: " + markdown_cell(reason) + "\n";
  }
  for (const std::string& sentence : unmatched(report)) text += "* " + markdown_cell(sentence) + "\n";
  return text + "\nNothing is decided: " + kWhyUnpaired + ".\n\n" + markdown_cell(sources_text(report)) +
         ".\n";
}

std::string to_junit(const UnpairedReport& report) {
  std::string cases;
  for (const UnpairedBenchmark& benchmark : report.benchmarks) {
    cases += "  <testcase classname=\"" + std::string(name_of(report.tool)) + "\" name=\"" +
             as_markup(benchmark.name) + "\" time=\"0\">\n    <skipped message=\"" +
             as_markup(summary_text(benchmark)) + "\"/>\n  </testcase>\n";
  }
  const std::string count = std::to_string(report.benchmarks.size());
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"" +
         as_markup(report.candidate.front()) + "\" tests=\"" + count +
         "\" failures=\"0\" errors=\"0\" skipped=\"" + count + "\">\n" + cases + "</testsuite>\n";
}

std::string to_annotations(const UnpairedReport& report) {
  return workflow_command("notice", headline(report), kWhyUnpaired);
}

std::string to_html(const UnpairedReport& report) {
  std::string text =
      "<h1>" + as_markup(titled(report)) + "</h1>\n<p class=\"quiet\">" + as_markup(sources_text(report)) +
      "</p>\n<p class=\"note doubt\">Nothing is decided: " + as_markup(kWhyUnpaired) +
      ".</p>\n<div class=\"wide\"><table class=\"sortable\"><thead><tr><th><button>benchmark</button></th>";
  for (const char* head : kHeads) {
    text += *head ? "<th class=\"n\"><button>" + std::string(head) + "</button></th>" : "<th></th>";
  }
  text += "</tr></thead><tbody>\n";
  for (const UnpairedBenchmark& benchmark : report.benchmarks) {
    text += "<tr><td>" + as_markup(base::printable(benchmark.name)) + "</td>";
    const Row cells = cells_of(benchmark);
    const std::array<std::optional<double>, 6> keys = {benchmark.baseline.wall_ns.median,
                                                       std::nullopt,
                                                       benchmark.candidate.wall_ns.median,
                                                       std::nullopt,
                                                       benchmark.wall_change,
                                                       benchmark.cpu_change};
    for (size_t i = 0; i < cells.size(); ++i) {
      text += keys[i] ? "<td class=\"n\" data-key=\"" + Json(*keys[i]).dump() + "\">" : std::string("<td>");
      text += as_markup(cells[i]) + "</td>";
    }
    text += "</tr>\n";
  }
  text += "</tbody></table></div>\n";
  for (const UnpairedBenchmark& benchmark : report.benchmarks) {
    for (const std::string& reason : benchmark.reasons)
      text += "<p>" + as_markup(base::printable(benchmark.name + ": " + reason)) + "</p>\n";
  }
  for (const std::string& sentence : unmatched(report)) text += "<p>" + as_markup(sentence) + "</p>\n";
  return report_page("Regression report: " + titled(report), text);
}

}  // namespace wago::diff
