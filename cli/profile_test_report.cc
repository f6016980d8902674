#include <filesystem>
#include <memory>

#include "base/files.h"
#include "base/text.h"
#include "cli/flags.h"
#include "cli/output.h"
#include "cli/profile_commands.h"
#include "cli/report_files.h"
#include "cli/result_files.h"
#include "cli/test_comparison.h"
#include "cli/test_runs.h"

namespace wago::cli::profile {

namespace {

namespace fs = std::filesystem;

struct TestReportFlags {
  std::optional<std::string> runs, format, release, baseline_release, out;
  std::vector<std::string> comparisons;
};

// One a file that was written, so that CDash keeps it.
void attach(const std::string& file, Output& output) {
  output.print("<CTestMeasurementFile type=\"file\" name=\"" + base::as_markup(base::base_name(file)) +
               "\">" + base::as_markup(file) + "</CTestMeasurementFile>\n");
}

base::Result<void> add_reports(const TestComparison& comparison, const TestReportFlags& flags,
                               std::span<const ReportFormat> formats, std::vector<NamedReport>& reports) {
  auto reading = reading_of(comparison.verdicts);
  if (!reading) return reading.error();
  for (const ComparedExperiment& experiment : comparison.experiments) {
    auto report = report_for(experiment.path, reading->settings, formats);
    if (!report) return report.error();
    set_gate(*report, *reading);
    report->release = flags.release.value_or("");
    report->baseline_release = flags.baseline_release.value_or("");
    reports.push_back({experiment.name, std::move(*report)});
  }
  for (const ComparedCaptures& captures : comparison.captures) {
    auto report = compare_capture_sets(captures.baseline, captures.candidate);
    if (!report) return report.error();
    set_gate(*report, *reading);
    report->release = flags.release.value_or("");
    report->baseline_release = flags.baseline_release.value_or("");
    reports.push_back({captures.name, std::move(*report)});
  }
  return {};
}

base::Result<void> check(const TestReportFlags& flags) {
  if (!flags.runs) return base::usage_error("--runs is missing: name the directory that holds the runs");
  if (flags.comparisons.empty())
    return base::usage_error("--comparison is missing: the comparisons to report on");
  if (!flags.out) return base::usage_error("--out is missing: where the report goes");
  return {};
}

int test_report(const TestReportFlags& flags, Output& output) {
  if (auto checked = check(flags); !checked) return output.fail(checked.error());
  auto formats = parse_report_formats(flags.format.value_or("html,markdown,json,junit"));
  if (!formats) return output.fail(formats.error());
  auto run = current_run(*flags.runs);
  if (!run) return output.fail(run.error());
  std::vector<NamedReport> reports;
  for (const std::string& name : flags.comparisons) {
    auto comparison = find_comparison(name, *run);
    if (!comparison) return output.fail(comparison.error());
    if (!*comparison) {
      output.print("comparison " + base::display(name) + " has no result in " + base::display(*run) +
                   ": it was skipped, failed before it measured, or was not run\n");
      continue;
    }
    if (auto added = add_reports(**comparison, flags, *formats, reports); !added)
      return output.fail(added.error());
  }
  if (reports.empty()) {
    output.print("skipped: there is nothing to report on\n");
    return kExitSkipped;
  }
  if (auto names = check_names(reports); !names) return output.fail(names.error());
  const std::string directory = fs::absolute(*flags.out).string();
  if (auto made = ensure_directory(directory); !made) return output.fail(made.error());
  if (auto written = write_reports(reports, *formats, directory); !written)
    return output.fail(written.error());
  for (const NamedReport& named : reports) {
    output.print(base::display(named.name) + ": " + headline(named.report) + "\n");
    for (const ReportFormat format : *formats)
      attach(base::join_path(directory, report_file(named.name, format)), output);
  }
  return kExitDone;
}

}  // namespace

void add_test_report(Command& profile) {
  auto flags = std::make_shared<TestReportFlags>();
  Command& command =
      profile.add_command("test-report", "What CTest runs: report on what was compared in the current run");
  command.add_option("--runs", "DIR", "The directory that holds the runs", &flags->runs);
  command.add_list("--comparison", "NAME", "The comparisons", &flags->comparisons);
  command.add_option("--format", "LIST", "As for report (default html,markdown,json,junit)", &flags->format);
  command.add_option("--release", "NAME", "As for report", &flags->release);
  command.add_option("--baseline-release", "NAME", "As for report", &flags->baseline_release);
  command.add_option("--out", "DIR", "Where to", &flags->out);
  command.set_footer("Exit 0 when the report is written, whatever it says; 77 where nothing was compared.");
  command.set_action([flags](Output& output) { return test_report(*flags, output); });
}

}  // namespace wago::cli::profile
