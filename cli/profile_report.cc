#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>

#include "base/files.h"
#include "base/text.h"
#include "cli/flags.h"
#include "cli/history_file.h"
#include "cli/output.h"
#include "cli/profile_commands.h"
#include "cli/report_files.h"
#include "cli/result_files.h"
#include "cli/verdict_flags.h"
#include "diff/report.h"
#include "diff/unpaired.h"

namespace wago::cli::profile {

namespace {

struct ReportFlags {
  std::vector<std::string> experiments;
  std::vector<std::string> baseline, candidate;  // captures, or files of results
  std::optional<std::string> format;
  std::optional<std::string> out;
  std::optional<std::string> release, baseline_release;
  std::optional<std::string> history;
  VerdictFlags verdicts;
};

// release.wagoexp -> "release", old.json -> "old".
std::string report_name(const std::string& path) {
  std::string name = own_name(path);
  for (const std::string_view extension : {".wagoexp", ".wagoprof", ".json", ".txt"}) {
    if (name.ends_with(extension)) name.resize(name.size() - extension.size());
  }
  return name.empty() ? "report" : name;
}

// What the sides of the experiments are called: one name for all, or one each.
base::Result<std::vector<std::string>> names_of(const char* flag, const std::optional<std::string>& given,
                                                size_t experiments) {
  std::vector<std::string> names;
  const std::string text = given.value_or("");
  for (size_t begin = 0; begin <= text.size() && experiments > 1;) {
    const size_t comma = std::min(text.find(',', begin), text.size());
    names.push_back(text.substr(begin, comma - begin));
    begin = comma + 1;
  }
  if (names.size() <= 1) return std::vector<std::string>(experiments, text);
  if (names.size() == experiments) return names;
  return base::usage_error(std::string(flag) + ": " + std::to_string(names.size()) + " names for " +
                           std::to_string(experiments) + " experiments; give one for all, or one each");
}

struct Made {
  std::vector<NamedReport> reports;
  diff::GatedInstructions gated;  // of all of them
  int exit_code = kExitDone;      // without what is gated
};

base::Result<Made> of_experiments(const ReportFlags& flags, const Reading& reading,
                                  std::span<const ReportFormat> formats) {
  diff::ReadSettings settings = reading.settings;
  std::shared_ptr<const diff::History> history;
  if (flags.history) {
    auto known = load_history(*flags.history);
    if (!known) return known.error();
    history = std::make_shared<const diff::History>(std::move(*known));
    settings.history = *flags.history;
    settings.past = {history, &history->experiments};
  }
  auto releases = names_of("--release", flags.release, flags.experiments.size());
  if (!releases) return releases.error();
  auto baselines = names_of("--baseline-release", flags.baseline_release, flags.experiments.size());
  if (!baselines) return baselines.error();
  Made made;
  std::vector<std::filesystem::path> seen;
  for (const std::string& path : flags.experiments) {
    const size_t number = made.reports.size();
    std::error_code unseen;
    const std::filesystem::path place = std::filesystem::weakly_canonical(path, unseen);
    if (std::ranges::find(seen, place) != seen.end()) {
      return base::usage_error("is named twice; each experiment counts once", {.file = path});
    }
    seen.push_back(place);
    base::Files& files = base::system_files();
    if (files.exists(path) && !files.is_directory(path)) {
      return base::usage_error(
          "is no experiment; results of other tools are named with --baseline A... --candidate B...",
          {.file = path});
    }
    auto report = report_for(path, settings, formats);
    if (!report) return report.error();
    set_gate(*report, reading);
    made.gated += diff::gate_instructions(*report);
    made.exit_code =
        graver(made.exit_code, diff::exit_code(report->findings, reading.fail_on, reading.strict));
    if (history) diff::add_history(*report, history);
    report->release = (*releases)[number];
    report->baseline_release = (*baselines)[number];
    made.reports.push_back({report_name(path), std::move(*report)});
  }
  return made;
}

base::Result<Made> of_sides(const ReportFlags& flags, const Reading& reading) {
  if (!flags.experiments.empty()) {
    return base::usage_error("name either experiments or --baseline and --candidate, not both");
  }
  if (flags.baseline.empty() || flags.candidate.empty()) {
    return base::usage_error(flags.baseline.empty() ? "--baseline is missing: what to compare with"
                                                    : "--candidate is missing: what to compare");
  }
  if (flags.verdicts.need_pairs()) {
    return base::usage_error(
        "--confidence, --floor, --margin and --fail-on are for experiments: these sides did not run "
        "together; of captures there is " +
        std::string(kUnpairedGate));
  }
  if (flags.history) {
    return base::usage_error("--history is for experiments: it knows nothing of what did not run together");
  }
  auto results = are_result_files(flags.baseline, flags.candidate);
  if (!results) return results.error();
  for (const auto* side : {&flags.baseline, &flags.candidate}) {
    for (const std::string& path : *side) {
      if (!capture::is_experiment(path)) continue;
      return base::usage_error("is an experiment, which has both sides in it: name it without a flag",
                               {.file = path});
    }
  }
  auto report = *results ? compare_result_files(flags.baseline, flags.candidate)
                         : compare_capture_sets(flags.baseline, flags.candidate);
  if (!report) return report.error();
  report->release = flags.release.value_or("");
  report->baseline_release = flags.baseline_release.value_or("");
  set_gate(*report, reading);
  Made made;
  made.gated = diff::gate_instructions(*report);
  made.exit_code = reading.strict && !diff::is_conclusive(*report) ? kExitInconclusive : kExitDone;
  made.reports.push_back({report_name(flags.candidate.front()), std::move(*report)});
  return made;
}

base::Result<diff::Releases> put_together(const std::vector<NamedReport>& reports) {
  std::vector<diff::ReleaseReport> experiments;
  std::map<std::string, std::string> seen;  // paths by identity
  for (const NamedReport& named : reports) {
    const diff::Report& report = std::get<diff::Report>(named.report);
    const auto [first, is_new] = seen.try_emplace(diff::identity_of(report.experiment), report.path);
    if (!is_new) {
      return base::usage_error("is the same experiment as " + base::display(first->second) +
                                   ", or a copy of it; each experiment counts once: leave one out",
                               {.file = report.path});
    }
    if (named.name == kOverview) {
      return base::usage_error("an experiment is called " + named.name +
                               ", and so is the document on all of them; give it another name");
    }
    experiments.push_back({named.name, &report});
  }
  return diff::releases_of(experiments);
}

int report(const ReportFlags& flags, Output& output) {
  const bool results = !flags.baseline.empty() || !flags.candidate.empty();
  if (flags.experiments.empty() && !results)
    return output.fail(base::usage_error("name an experiment, such as release.wagoexp"));
  auto reading = reading_of(flags.verdicts);
  if (!reading) return output.fail(reading.error());
  auto formats = parse_report_formats(flags.format.value_or("text"));
  if (!formats) return output.fail(formats.error());
  const bool several = flags.experiments.size() > 1;
  if (!flags.out && (formats->size() != 1 || (several && !has_overview(formats->front())))) {
    return output.fail(
        base::usage_error("--out is missing: several formats, or reports for servers on several experiments, "
                          "need a directory"));
  }
  if (flags.out) {
    if (auto good = check_directory("--out", *flags.out); !good) return output.fail(good.error());
  }
  auto made = results ? of_sides(flags, *reading) : of_experiments(flags, *reading, *formats);
  if (!made) return output.fail(made.error());
  const std::string& first = results ? flags.candidate.front() : flags.experiments.front();
  // Last, when the documents are there.
  auto end = [&] {
    auto code = with_gate(made->exit_code, made->gated, *reading, first, output);
    return code ? *code : output.fail(code.error());
  };
  std::optional<diff::Releases> together;
  if (several) {
    auto releases = put_together(made->reports);
    if (!releases) return output.fail(releases.error());
    together = std::move(*releases);
  }
  if (!flags.out && together) {
    output.print(write_overview(*together, formats->front(), false, output.colour()));
    return end();
  }
  if (!flags.out) {
    output.print(write_report(made->reports[0], formats->front(), output.colour()));
    return end();
  }
  if (auto names = check_names(made->reports); !names) return output.fail(names.error());
  if (auto there = make_directory("--out", *flags.out); !there) return output.fail(there.error());
  if (auto written = write_reports(made->reports, *formats, *flags.out); !written)
    return output.fail(written.error());
  if (together) {
    if (auto written = write_overviews(*together, *formats, *flags.out); !written)
      return output.fail(written.error());
  }
  for (size_t i = 0; i < made->reports.size(); ++i) {
    const std::string& subject = results ? flags.candidate.front() : flags.experiments[i];
    output.print(base::display(subject) + ": " + headline(made->reports[i].report) + "\n");
  }
  output.print("report in " + base::display(*flags.out) + "\n");
  return end();
}

}  // namespace

void add_report(Command& profile) {
  auto flags = std::make_shared<ReportFlags>();
  Command& command = profile.add_command("report", "What experiments say of a release");
  command.add_rest("EXPERIMENT", "Experiments (.wagoexp)", &flags->experiments);
  command.add_list("--baseline", "FILE", "Captures, or results of another tool, to compare with",
                   &flags->baseline);
  command.add_list("--candidate", "FILE", "Captures, or results of another tool, to compare",
                   &flags->candidate);
  command.add_option("--format", "LIST", "text (default), html, markdown, json, junit, annotations",
                     &flags->format);
  command.add_option("--out", "DIR", "Where to; without it to standard output", &flags->out);
  command.add_option("--release", "NAME[,...]", "What the report calls the candidate; of each experiment",
                     &flags->release);
  command.add_option("--baseline-release", "NAME[,...]", "What it calls the baseline; of each experiment",
                     &flags->baseline_release);
  command.add_option("--history", "STORE",
                     "Learns the floor from its controls, shows what it knows of workloads (html, json)",
                     &flags->history);
  flags->verdicts.add_to(command);
  command.set_footer(
      "Exit 0 done, 1 a regression that holds over all workloads (see --fail-on), 3 inconclusive under "
      "--strict,\n"
      "5 the environment was invalid. Verdicts can be read again with other settings; nothing is measured.");
  command.set_action([flags](Output& output) { return report(*flags, output); });
}

}  // namespace wago::cli::profile
