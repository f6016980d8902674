// Reports for people and for pull requests.

#include <algorithm>

#include "base/text.h"
#include "diff/instruction_gate.h"
#include "diff/quantity.h"
#include "diff/report.h"
#include "diff/report_markup.h"

namespace wago::diff {

namespace {

using Row = std::vector<std::string>;
using base::Paint;

constexpr size_t kFunctionsNamed = 5;

std::string p_text(const WorkloadFinding& found) {
  return found.pairs == 0 ? "-" : format_p(found.p_value);
}

std::string name_of(const Report& report, const ReportedWorkload& workload) {
  return report.experiment.workloads[workload.workload].id;
}

// The functions that differ, the first few.
std::string functions_text(const CodeLane& code) {
  std::vector<std::string> names;
  for (const FunctionDifference& function : code.differences) {
    names.push_back(base::function_label(function.name) + " (" + to_string(function.fate) + ")");
  }
  const size_t more = names.size() - std::min(names.size(), kFunctionsNamed);
  names.resize(names.size() - more);
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return more == 0 ? text : text + " and " + std::to_string(more) + " more";
}

std::string suite_text(const Report& report) {
  const SuiteChange& suite = report.findings.suite;
  if (suite.workloads == 0) return {};
  std::string text =
      "geometric mean of " + format_plural(suite.workloads, "workload") + ": " + format_change(suite.change);
  if (suite.interval) {
    text += " [" + format_change(suite.interval->low) + ", " + format_change(suite.interval->high) + "]";
  }
  return text;
}

}  // namespace

std::string code_text(const ReportedWorkload& workload) {
  if (!workload.code) return "not known";
  if (workload.code->same_code) return "same";
  if (workload.code->differences.empty()) return "helpers may differ";
  return format_plural(workload.code->differences.size(), "function");
}

std::string side_text(const capture::SideRecord& side) {
  std::string text = side.program + " " + side.program_version + ", revision " + side.revision.substr(0, 12);
  if (side.dirty == base::Dirty::Dirty) text += " (dirty)";
  if (side.dirty == base::Dirty::Unknown) text += " (unknown whether dirty)";
  if (!side.setting.empty()) text += ", " + side.setting;
  if (side.slowdown_ppm != 0)
    text +=
        ", slowed down by " + format_share(static_cast<double>(side.slowdown_ppm) / 1e6) + " as a self-test";
  return base::printable(text);
}

std::string to_text(const Report& report, bool colour) {
  const capture::Experiment& experiment = report.experiment;
  std::string text;
  if (const std::string releases = releases_text(report.release, report.baseline_release); !releases.empty())
    text += base::printable(releases) + "\n";
  text += base::columns({{"experiment", base::display(report.path)},
                         {"baseline", side_text(experiment.sides[0])},
                         {"candidate", side_text(experiment.sides[1])},
                         {"machine", base::printable(experiment.cpu_model + ", " + experiment.os_version) +
                                         ", " + format_plural(experiment.logical_cpus, "logical core")}});
  text += "\n" + headline(report) + "\n";
  if (const std::string suite = suite_text(report); !suite.empty()) text += suite + "\n";
  for (const std::string& sentence : report.findings.invalid)
    text += base::painted(sentence, Paint::Bad, colour) + "\n";
  if (report.findings.suspect)
    text += base::painted(*report.findings.suspect, Paint::Doubtful, colour) + "\n";
  for (const std::string& sentence : report.remarks) text += "note: " + base::printable(sentence) + "\n";
  std::vector<Row> rows = {{"", "workload", "CPU time per iteration", "pairs", "p", "instructions", "code",
                            "baseline", "candidate"}};
  for (const ReportedWorkload& workload : report.workloads) {
    const WorkloadFinding& found = workload.found;
    rows.push_back({finding_text(found), base::display(name_of(report, workload)), change_text(found),
                    std::to_string(found.pairs), p_text(found), instructions_text(workload),
                    code_text(workload), found.pairs ? format_ns(found.baseline_ns) : "-",
                    found.pairs ? format_ns(found.candidate_ns) : "-"});
  }
  if (rows.size() > 1) {
    text += "\n" + base::columns(rows, {base::Align::Left, base::Align::Left, base::Align::Left,
                                        base::Align::Right, base::Align::Right, base::Align::Right,
                                        base::Align::Left, base::Align::Right, base::Align::Right});
  }
  for (const ReportedWorkload& workload : report.workloads) {
    if (const auto failure = instruction_failure(report, workload))
      text += "\n" + base::painted(base::display(name_of(report, workload)), Paint::Bad, colour) + ": " +
              *failure + "\n";
    if (!needs_eyes(workload.found.finding)) continue;
    text +=
        "\n" +
        base::painted(base::display(name_of(report, workload)), paint_of(workload.found.finding), colour) +
        ": " + base::printable(workload.found.reason) + "\n";
    for (const OffsetChange& offset : workload.found.offsets) {
      if (!workload.found.layout_sensitive) break;
      text += "  code offset " + std::to_string(offset.code_offset) + ": " + format_change(offset.change) +
              " (" + format_plural(offset.pairs, "pair") + ")\n";
    }
    if (workload.code && !workload.code->differences.empty()) {
      text += "  code differs in " + functions_text(*workload.code) + "\n";
    }
    text += "  " + command_for(report, workload) + "\n";
  }
  const VerdictSettings& settings = report.findings.settings;
  text += "\n" + format_plural(report.pairs, "pair") + "; intervals hold at " +
          format_setting(settings.confidence) + " over all looks; margin " + format_setting(settings.margin) +
          "; \"?\": not held over all workloads\n";
  return text + "p: " + std::string(kHowP) + "\nfloor: " + to_text(report.floor) + "\n";
}

std::string to_markdown(const Report& report) {
  const capture::Experiment& experiment = report.experiment;
  const std::string releases = releases_text(report.release, report.baseline_release);
  std::string text = "## " + (releases.empty() ? "" : markdown_cell(releases) + ": ") +
                     markdown_cell(headline(report)) + "\n\n";
  for (const std::string& sentence : report.findings.invalid)
    text += "> **Invalid:** " + markdown_cell(sentence) + "\n\n";
  if (report.findings.suspect) text += "> **Suspect:** " + markdown_cell(*report.findings.suspect) + "\n\n";
  for (const std::string& sentence : report.remarks) text += "> " + markdown_cell(sentence) + "\n\n";
  auto stands_out = [&](const ReportedWorkload& workload) {
    return needs_eyes(workload.found.finding) || instruction_failure(report, workload);
  };
  auto table = [&](bool standing_out) {
    std::string rows;
    for (const ReportedWorkload& workload : report.workloads) {
      if (stands_out(workload) != standing_out) continue;
      const WorkloadFinding& found = workload.found;
      rows += "| " + markdown_cell(finding_text(found)) + " | " + markdown_cell(name_of(report, workload)) +
              " | " + markdown_cell(change_text(found)) + " | " + std::to_string(found.pairs) + " | " +
              p_text(found) + " | " + markdown_cell(instructions_text(workload)) + " | " +
              markdown_cell(code_text(workload)) + " |\n";
    }
    if (rows.empty()) return rows;
    return "| | workload | CPU time per iteration | pairs | p | instructions | code "
           "|\n|---|---|---|---:|---:|---:|---|\n" +
           rows + "\n";
  };
  text += table(true);
  for (const ReportedWorkload& workload : report.workloads) {
    if (const auto failure = instruction_failure(report, workload))
      text += "* **" + markdown_cell(name_of(report, workload)) + "**: " + markdown_cell(*failure) + "\n";
    if (!needs_eyes(workload.found.finding)) continue;
    text += "* **" + markdown_cell(name_of(report, workload)) + "**: " + markdown_cell(workload.found.reason);
    if (workload.code && !workload.code->differences.empty()) {
      text += "; code differs in " + markdown_cell(functions_text(*workload.code));
    }
    text += "; why: " + markdown_cell(command_for(report, workload)) + "\n";
  }
  const std::string rest = table(false);
  if (!rest.empty()) {
    text += "\n<details><summary>" +
            format_plural(
                static_cast<uint64_t>(report.workloads.size() - static_cast<size_t>(std::ranges::count_if(
                                                                    report.workloads, stands_out))),
                "workload") +
            " unchanged</summary>\n\n" + rest + "</details>\n";
  }
  if (const std::string suite = suite_text(report); !suite.empty())
    text += "\n" + markdown_cell(suite) + "\n";
  text += "\nBaseline " + markdown_cell(side_text(experiment.sides[0])) + "; candidate " +
          markdown_cell(side_text(experiment.sides[1])) + "; " + markdown_cell(experiment.cpu_model) + ", " +
          markdown_cell(experiment.os_version) + ", " +
          format_plural(experiment.logical_cpus, "logical core") + "; " +
          format_plural(report.pairs, "pair") + "; floor " + markdown_cell(to_text(report.floor)) +
          "; \"?\": not held over all workloads; p: " + markdown_cell(kHowP) + ".\n";
  return text;
}

std::string to_annotations(const Report& report) {
  std::string text;
  auto add = [&](const char* level, const std::string& title, const std::string& message) {
    text += workflow_command(level, title, message);
  };
  for (const std::string& sentence : report.findings.invalid) add("error", "environment invalid", sentence);
  if (report.findings.suspect) add("warning", "suspect environment", *report.findings.suspect);
  for (const ReportedWorkload& workload : report.workloads) {
    const WorkloadFinding& found = workload.found;
    if (const auto failure = instruction_failure(report, workload)) {
      add("error", name_of(report, workload) + " instructions",
          *failure + "; why: " + command_for(report, workload));
    }
    if (!needs_eyes(found.finding) || found.finding == Finding::Improved) continue;
    const bool error =
        found.finding == Finding::Failed || (found.finding == Finding::Regressed && found.gated);
    add(error ? "error" : "warning", name_of(report, workload) + " " + finding_text(found),
        (found.pairs ? change_text(found) + ": " : "") + found.reason +
            "; why: " + command_for(report, workload));
  }
  for (const std::string& sentence : report.remarks)
    add(report.experiment.complete ? "notice" : "warning", "regression report", sentence);
  return text;
}

std::string to_junit(const Report& report, const std::string& name) {
  std::vector<JunitCase> cases;
  for (const ReportedWorkload& workload : report.workloads) {
    const WorkloadFinding& found = workload.found;
    const capture::ExperimentWorkload& of = report.experiment.workloads[workload.workload];
    const std::string word = finding_text(found);
    const std::string message = (found.pairs ? change_text(found) + ": " : "") + found.reason;
    JunitCase test{.group = of.catalog, .name = of.id};
    if (found.finding == Finding::Failed || !report.findings.invalid.empty()) {
      test.outcome = JunitOutcome::Error;
      test.message = found.finding == Finding::Failed ? message : report.findings.invalid[0];
    } else if (const auto failure = instruction_failure(report, workload);
               failure || (found.finding == Finding::Regressed && found.gated)) {
      test.outcome = JunitOutcome::Failed;
      test.message = !failure ? message : found.gated ? message + "; " + *failure : *failure;
      test.details = command_for(report, workload);
    } else if (is_unsettled(found) || found.finding == Finding::LayoutSensitive) {
      test.outcome = JunitOutcome::Skipped;
      test.message = word + ": " + message;
    } else {
      test.message = word + " " + change_text(found);
    }
    cases.push_back(std::move(test));
  }
  std::vector<std::pair<std::string, std::string>> properties = {{"experiment", report.path}};
  for (const std::string& sentence : report.remarks) properties.emplace_back("remark", sentence);
  return junit_suite(name, properties, cases);
}

}  // namespace wago::diff
