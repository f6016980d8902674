#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/files.h"
#include "base/process.h"
#include "base/text.h"
#include "capture/catalog.h"
#include "cli/experimenting.h"
#include "cli/flags.h"
#include "cli/output.h"
#include "cli/profile_commands.h"
#include "cli/test_comparison.h"
#include "cli/test_runs.h"
#include "diff/quantity.h"
#include "diff/report.h"

namespace wago::cli::profile {

namespace {

namespace fs = std::filesystem;

struct ComparisonFlags {
  std::optional<std::string> runs, name, baseline;
  std::vector<std::string> catalogs;
  AmountFlags amount;
  VerdictFlags verdicts;
};

base::Result<std::vector<capture::Catalog>> read_catalogs(const std::vector<std::string>& paths) {
  std::vector<capture::Catalog> catalogs;
  for (const std::string& path : paths) {
    auto catalog = capture::read_catalog(path);
    if (!catalog) return catalog.error();
    catalogs.push_back(std::move(*catalog));
  }
  return catalogs;
}

// The experiment must be about what was declared: a workload that it lacks would be compared by nobody.
base::Result<void> check_holds(const std::string& path, const std::vector<capture::Catalog>& catalogs) {
  auto contents = capture::read_experiment(path);
  if (!contents) return contents.error();
  const std::vector<capture::ExperimentWorkload>& held = contents->experiment.workloads;
  for (const capture::Catalog& catalog : catalogs) {
    for (const capture::Workload& workload : catalog.workloads) {
      if (std::none_of(held.begin(), held.end(), [&](const auto& one) { return one.id == workload.id; })) {
        return base::usage_error("the experiment has no workload " + workload.id + " of catalog " +
                                     catalog.name + ": record it again, or compare a catalog without it",
                                 {.file = path});
      }
    }
  }
  return {};
}

// What came of measuring: a sentence is not needed where there is an exit code, since it was said.
struct Measured {
  std::optional<int> exit_code;
  std::vector<ComparedExperiment> experiments;
};

// This program against the baseline, one experiment a catalog, each with its share of the budget.
Measured measure(const ComparisonFlags& flags, const std::vector<capture::Catalog>& catalogs,
                 const diff::ReadSettings& settings, const std::string& directory, Output& output) {
  Measured measured;
  auto amount = amount_of(flags.amount, settings);
  if (!amount) return {output.fail(amount.error()), {}};
  size_t workloads = 0;
  for (const capture::Catalog& catalog : catalogs) workloads += catalog.workloads.size();
  for (const capture::Catalog& catalog : catalogs) {
    harness::ExperimentRequest request;
    request.workloads = catalog.workloads;
    request.catalog = catalog.name;
    request.sides[0].program = *flags.baseline;
    request.sides[1].program = fs::read_symlink("/proc/self/exe").string();
    request.budget_ns = amount->budget_ns / workloads * catalog.workloads.size();
    const std::string name = *flags.name + "." + catalog.name;
    with_free_name(fs::path(directory) / name, ".wagoexp", [&](const std::string& path) {
      request.out = path;
      return !base::system_files().exists(path);
    });
    const harness::ExperimentOutcome outcome = experiment_with_progress(request, *amount->rule, output);
    if (outcome.error) return {fail_experiment(outcome, request.out, output), {}};
    measured.experiments.push_back({name, request.out});
  }
  return measured;
}

// What CDash plots of a workload.
void print_measurements(const diff::Report& report, const diff::ReportedWorkload& workload, Output& output) {
  const capture::ExperimentWorkload& of = report.experiment.workloads[workload.workload];
  auto print = [&, name = of.catalog + "." + of.id + "."](const char* what, double value) {
    print_measurement(output, name + what, value);
  };
  const diff::WorkloadFinding& found = workload.found;
  print("pairs", static_cast<double>(found.pairs));
  if (found.pairs > 0) {
    print("change_percent", 100 * found.change);
    print("baseline_cpu_ns", found.baseline_ns);
    print("candidate_cpu_ns", found.candidate_ns);
  }
  if (found.interval) {
    print("change_percent_low", 100 * found.interval->low);
    print("change_percent_high", 100 * found.interval->high);
  }
  if (workload.code && workload.code->instructions) {
    print("baseline_instructions", workload.code->instructions->machine[0]);
    print("candidate_instructions", workload.code->instructions->machine[1]);
  }
}

// The findings, for people and for CDash. The exit code is the worst of all experiments.
int tell(const TestComparison& comparison, const Reading& reading, Output& output) {
  output.print("CTEST_FULL_OUTPUT\n");  // or CTest would cut the middle out of it
  int code = kExitDone;
  for (const ComparedExperiment& experiment : comparison.experiments) {
    auto report = diff::report_on(experiment.path, reading.settings);
    if (!report) return output.fail(report.error());
    output.print(diff::to_text(*report) + "\n");
    for (const diff::ReportedWorkload& workload : report->workloads)
      print_measurements(*report, workload, output);
    code = std::max(code, diff::exit_code(report->findings, reading.fail_on, reading.strict));
  }
  return code;
}

base::Result<void> check(const ComparisonFlags& flags) {
  if (!flags.runs) return base::usage_error("--runs is missing: name the directory that holds the runs");
  if (!flags.name) return base::usage_error("--name is missing: what the comparison is called");
  if (flags.catalogs.empty()) return base::usage_error("--catalog is missing: the workloads to compare");
  if (!flags.baseline)
    return base::usage_error("--baseline is missing: a wago-profile of another revision, or an experiment");
  return {};
}

int test_comparison(const ComparisonFlags& flags, Output& output) {
  if (auto checked = check(flags); !checked) return output.fail(checked.error());
  auto reading = reading_of(flags.verdicts);
  if (!reading) return output.fail(reading.error());
  base::Files& files = base::system_files();
  if (!files.exists(*flags.baseline)) {
    output.print("skipped: there is no baseline at " + base::display(*flags.baseline) +
                 "; keep a wago-profile of another revision there, or an experiment\n");
    return kExitSkipped;
  }
  auto run = current_run(*flags.runs);
  if (!run) return output.fail(run.error());
  auto catalogs = read_catalogs(flags.catalogs);
  if (!catalogs) return output.fail(catalogs.error());
  const std::string directory = base::join_path(*run, *flags.name);
  if (auto made = ensure_directory(directory); !made) return output.fail(made.error());
  TestComparison comparison{.name = *flags.name, .experiments = {}, .verdicts = flags.verdicts};
  if (files.is_directory(*flags.baseline)) {
    if (!capture::is_experiment(*flags.baseline)) {
      return output.fail(base::usage_error("is a directory and no experiment, so it is no baseline",
                                           {.file = *flags.baseline}));
    }
    if (auto held = check_holds(*flags.baseline, *catalogs); !held) return output.fail(held.error());
    comparison.experiments.push_back({*flags.name, fs::absolute(*flags.baseline).string()});
  } else if (!base::find_program(*flags.baseline)) {
    return output.fail(
        base::usage_error("is no program that can be run, and no experiment", {.file = *flags.baseline}));
  } else {
    Measured measured = measure(flags, *catalogs, reading->settings, directory, output);
    if (measured.exit_code) return *measured.exit_code;
    comparison.experiments = std::move(measured.experiments);
  }
  if (auto kept = keep(comparison, *run); !kept) return output.fail(kept.error());
  return tell(comparison, *reading, output);
}

}  // namespace

void add_test_comparison(Command& profile) {
  auto flags = std::make_shared<ComparisonFlags>();
  Command& command = profile.add_command(
      "test-comparison", "What CTest runs: compare this program with a baseline, in the current run");
  command.add_option("--runs", "DIR", "The directory that holds the runs", &flags->runs);
  command.add_option("--name", "NAME", "What the comparison is called", &flags->name);
  command.add_list("--catalog", "FILE", "The catalogs whose workloads are compared", &flags->catalogs);
  command.add_option("--baseline", "PATH", "A wago-profile of another revision, or an experiment",
                     &flags->baseline);
  command.add_option("--budget", "D", "Time for all catalogs together (default 150s)", &flags->amount.budget);
  command.add_option("--pairs", "N", "As for experiment", &flags->amount.pairs);
  flags->verdicts.add_to(command);
  command.set_footer("Exit codes as of report; 77 where there is no baseline.");
  command.set_action([flags](Output& output) { return test_comparison(*flags, output); });
}

}  // namespace wago::cli::profile
