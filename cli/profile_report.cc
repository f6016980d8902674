#include <memory>

#include "base/files.h"
#include "base/text.h"
#include "cli/flags.h"
#include "cli/history_file.h"
#include "cli/output.h"
#include "cli/profile_commands.h"
#include "cli/report_files.h"
#include "cli/verdict_flags.h"
#include "diff/report.h"

namespace wago::cli::profile {

namespace {

struct ReportFlags {
  std::vector<std::string> experiments;
  std::optional<std::string> format;
  std::optional<std::string> out;
  std::optional<std::string> release, baseline_release;
  std::optional<std::string> history;
  VerdictFlags verdicts;
};

// release.wagoexp -> "release"
std::string report_name(const std::string& path) {
  std::string name = base::base_name(path);
  if (name.ends_with(".wagoexp")) name.resize(name.size() - 8);
  return name.empty() ? "report" : name;
}

int report(const ReportFlags& flags, Output& output) {
  if (flags.experiments.empty())
    return output.fail(base::usage_error("name an experiment, such as release.wagoexp"));
  auto reading = reading_of(flags.verdicts);
  if (!reading) return output.fail(reading.error());
  auto formats = parse_report_formats(flags.format.value_or("text"));
  if (!formats) return output.fail(formats.error());
  const bool to_standard_output = !flags.out;
  if (to_standard_output && (formats->size() != 1 || flags.experiments.size() != 1)) {
    return output.fail(
        base::usage_error("--out is missing: several formats or experiments need a directory"));
  }
  std::vector<NamedReport> reports;
  std::shared_ptr<const diff::History> history;
  if (flags.history) {
    auto known = load_history(*flags.history);
    if (!known) return output.fail(known.error());
    history = std::make_shared<const diff::History>(std::move(*known));
  }
  int code = kExitDone;
  for (const std::string& path : flags.experiments) {
    auto made = diff::report_on(path, reading->settings);
    if (!made) return output.fail(made.error());
    code = std::max(code, diff::exit_code(made->findings, reading->fail_on, reading->strict));
    if (history) diff::add_history(*made, history);
    made->release = flags.release.value_or("");
    made->baseline_release = flags.baseline_release.value_or("");
    reports.push_back({report_name(path), std::move(*made)});
  }
  if (to_standard_output) {
    output.print(write_report(reports[0].report, formats->front(), output.colour()));
    return code;
  }
  if (auto written = write_reports(reports, *formats, *flags.out); !written)
    return output.fail(written.error());
  for (const NamedReport& one : reports)
    output.print(base::display(one.report.path) + ": " + diff::headline(one.report) + "\n");
  output.print("report in " + base::display(*flags.out) + "\n");
  return code;
}

}  // namespace

void add_report(Command& profile) {
  auto flags = std::make_shared<ReportFlags>();
  Command& command = profile.add_command("report", "What experiments say of a release");
  command.add_rest("EXPERIMENT", "Experiments (.wagoexp)", &flags->experiments);
  command.add_option("--format", "LIST", "text (default), html, markdown, json, junit, annotations",
                     &flags->format);
  command.add_option("--out", "DIR", "Where to; without it to standard output", &flags->out);
  command.add_option("--release", "NAME", "What the report calls the candidate", &flags->release);
  command.add_option("--baseline-release", "NAME", "What it calls the baseline", &flags->baseline_release);
  command.add_option("--history", "STORE", "Shows what a history knows of each workload (html, json)",
                     &flags->history);
  flags->verdicts.add_to(command);
  command.set_footer(
      "Exit 0 done, 1 a regression that holds over all workloads (see --fail-on), 3 inconclusive under "
      "--strict,\n"
      "5 the environment was invalid. Verdicts can be read again with other settings; nothing is measured.");
  command.set_action([flags](Output& output) { return report(*flags, output); });
}

}  // namespace wago::cli::profile
