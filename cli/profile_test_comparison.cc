#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/files.h"
#include "base/process.h"
#include "base/text.h"
#include "capture/catalog.h"
#include "capture/history_store.h"
#include "cli/capture_sets.h"
#include "cli/experimenting.h"
#include "cli/flags.h"
#include "cli/history_file.h"
#include "cli/output.h"
#include "cli/profile_commands.h"
#include "cli/result_files.h"
#include "cli/test_comparison.h"
#include "cli/test_runs.h"
#include "diff/history.h"
#include "diff/quantity.h"
#include "diff/report.h"

namespace wago::cli::profile {

namespace {

namespace fs = std::filesystem;

constexpr const char* kBaselines = "a wago-profile of another revision, an experiment, or captures";

struct ComparisonFlags {
  std::optional<std::string> runs, name, baseline;
  std::optional<std::string> history, baseline_as, candidate_as;
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

// What CDash plots of what did not run together; `group`: the catalog, and the backend where there is one.
void print_measurements(const diff::UnpairedReport& report, const std::string& group, Output& output) {
  for (const diff::UnpairedBenchmark& benchmark : report.benchmarks) {
    auto print = [&](const char* what, double value) {
      print_measurement(output, group + "." + benchmark.name + "." + what, value);
    };
    for (const auto& [side, wall, cpu] :
         {std::tuple(&benchmark.baseline, "baseline_wall_ns_per_unit", "baseline_cpu_ns_per_unit"),
          std::tuple(&benchmark.candidate, "candidate_wall_ns_per_unit", "candidate_cpu_ns_per_unit")}) {
      if (side->wall_ns.n > 0) print(wall, side->wall_ns.median);
      if (side->cpu_ns) print(cpu, side->cpu_ns->median);
    }
    if (!benchmark.exact || !benchmark.exact->counts) continue;
    const diff::CountComparison& counts = *benchmark.exact->counts;
    print("baseline_instructions_per_unit",
          static_cast<double>(counts.machine.baseline) / static_cast<double>(counts.baseline_work));
    print("candidate_instructions_per_unit",
          static_cast<double>(counts.machine.candidate) / static_cast<double>(counts.candidate_work));
  }
}

// Adds what was measured to the history, and shows where it changed.
int add_to_history(const ComparisonFlags& flags, const TestComparison& comparison, Output& output) {
  const std::string store = base::display(*flags.history);
  std::vector<capture::HistoryExperiment> entries;
  for (const ComparedExperiment& experiment : comparison.experiments) {
    auto report = diff::report_on(experiment.path);
    if (!report) return output.fail(report.error());
    const auto& [baseline, candidate] = report->experiment.sides;
    const bool one_version = baseline.runner_id == candidate.runner_id ||
                             (baseline.revision == candidate.revision &&
                              baseline.dirty == base::Dirty::Clean && candidate.dirty == base::Dirty::Clean);
    if (one_version && !flags.baseline_as && !flags.candidate_as) {
      output.print("not added to " + store + ": both sides are one version\n");
      continue;
    }
    auto entry = diff::history_entry(*report, {flags.baseline_as, flags.candidate_as});
    if (!entry) return output.fail(entry.error());
    entries.push_back(std::move(*entry));
  }
  if (entries.empty()) return kExitDone;
  if (auto added = capture::add_to_history(*flags.history, entries); !added)
    return output.fail(added.error());
  for (const capture::HistoryExperiment& entry : entries) {
    output.print(base::display(entry.name) + " is in " + store + ": " +
                 base::display(entry.sides[0].version) + " to " + base::display(entry.sides[1].version) +
                 "\n");
  }
  auto history = load_history(*flags.history);
  if (!history) return output.fail(history.error());
  output.print(diff::changes_text(*history, {}));
  return kExitDone;
}

// The findings, for people and for CDash. The exit code is the gravest of all experiments.
int tell(const TestComparison& comparison, const Reading& reading, Output& output) {
  output.print("CTEST_FULL_OUTPUT\n");  // or CTest would cut the middle out of it
  int code = kExitDone;
  diff::GatedInstructions gated;
  for (const ComparedExperiment& experiment : comparison.experiments) {
    auto report = diff::report_on(experiment.path, reading.settings);
    if (!report) return output.fail(report.error());
    set_gate(*report, reading);
    gated += diff::gate_instructions(*report);
    output.print(diff::to_text(*report) + "\n");
    for (const diff::ReportedWorkload& workload : report->workloads)
      print_measurements(*report, workload, output);
    code = graver(code, diff::exit_code(report->findings, reading.fail_on, reading.strict));
  }
  auto with = with_gate(code, gated, reading, comparison.name, output);
  return with ? *with : output.fail(with.error());
}

base::Result<void> check(const ComparisonFlags& flags) {
  if (!flags.runs) return base::usage_error("--runs is missing: name the directory that holds the runs");
  if (!flags.name) return base::usage_error("--name is missing: what the comparison is called");
  if (flags.catalogs.empty()) return base::usage_error("--catalog is missing: the workloads to compare");
  if (!flags.baseline) return base::usage_error(std::string("--baseline is missing: ") + kBaselines);
  if (!flags.history && (flags.baseline_as || flags.candidate_as)) {
    return base::usage_error(
        "--baseline-as and --candidate-as name versions in the history of --add-to, which is missing");
  }
  return {};
}

// Of what did not run together there is no interval, and nothing regresses: a gate on that could not fail.
base::Result<void> check_for_captures(const ComparisonFlags& flags, const Reading& reading) {
  const VerdictFlags& verdicts = flags.verdicts;
  if (flags.amount.budget || flags.amount.pairs || flags.history || verdicts.confidence || verdicts.floor ||
      verdicts.margin) {
    return base::usage_error(
        "--budget, --pairs, --confidence, --floor, --margin and --add-to are for experiments: captures do "
        "not "
        "run together with this program",
        {.file = *flags.baseline});
  }
  if (!verdicts.fail_on || reading.instruction_floor || reading.fail_on == diff::FailOn::Inconclusive ||
      reading.fail_on == diff::FailOn::Never) {
    return {};
  }
  return base::usage_error(
      "--fail-on " + *verdicts.fail_on +
          " is for experiments: with captures as the baseline it is instructions, inconclusive, or never",
      {.file = *flags.baseline});
}

// As `report --baseline A... --candidate B...` says it.
int compare_with_captures(const ComparisonFlags& flags, const Reading& reading,
                          std::span<const capture::Catalog> catalogs, const std::string& run,
                          Output& output) {
  if (auto meant = check_for_captures(flags, reading); !meant) return output.fail(meant.error());
  // build/profile/latest, say.
  if (std::error_code unseen; fs::equivalent(*flags.baseline, run, unseen)) {
    return output.fail(base::usage_error(
        "is the run that is under way, from which it cannot differ: keep an earlier run elsewhere",
        {.file = *flags.baseline}));
  }
  auto captures = pair_captures(*flags.name, catalogs, fs::absolute(*flags.baseline).string(), run);
  if (!captures) return output.fail(captures.error());
  std::vector<diff::UnpairedReport> reports;
  for (const ComparedCaptures& one : *captures) {
    auto report = compare_capture_sets(one.baseline, one.candidate);
    if (!report) return output.fail(report.error());
    set_gate(*report, reading);
    reports.push_back(std::move(*report));
  }
  const TestComparison comparison{
      .name = *flags.name, .experiments = {}, .captures = std::move(*captures), .verdicts = flags.verdicts};
  if (auto kept = keep(comparison, run); !kept) return output.fail(kept.error());
  output.print("CTEST_FULL_OUTPUT\n");
  int code = kExitDone;
  diff::GatedInstructions gated;
  for (size_t i = 0; i < reports.size(); ++i) {
    output.print(diff::to_text(reports[i]) + "\n");
    print_measurements(reports[i], comparison.captures[i].name.substr(comparison.name.size() + 1), output);
    if (!diff::is_conclusive(reports[i])) {
      if (reading.fail_on == diff::FailOn::Inconclusive) code = graver(code, kExitFailed);
      if (reading.strict) code = graver(code, kExitInconclusive);
    }
    gated += diff::gate_instructions(reports[i]);
  }
  auto with = with_gate(code, gated, reading, *flags.baseline, output);
  return with ? *with : output.fail(with.error());
}

int test_comparison(const ComparisonFlags& flags, Output& output) {
  if (auto checked = check(flags); !checked) return output.fail(checked.error());
  auto reading = reading_of(flags.verdicts);
  if (!reading) return output.fail(reading.error());
  base::Files& files = base::system_files();
  if (!files.exists(*flags.baseline)) {
    output.print("skipped: there is no baseline at " + base::display(*flags.baseline) + "; keep there " +
                 kBaselines + "\n");
    return kExitSkipped;
  }
  auto run = current_run(*flags.runs);
  if (!run) return output.fail(run.error());
  auto catalogs = read_catalogs(flags.catalogs);
  if (!catalogs) return output.fail(catalogs.error());
  const std::string directory = base::join_path(*run, *flags.name);
  if (auto made = ensure_directory(directory); !made) return output.fail(made.error());
  const bool is_experiment = capture::is_experiment(*flags.baseline);
  if (!is_experiment && has_captures(*flags.baseline, *catalogs))
    return compare_with_captures(flags, *reading, *catalogs, *run, output);
  TestComparison comparison{
      .name = *flags.name, .experiments = {}, .captures = {}, .verdicts = flags.verdicts};
  if (files.is_directory(*flags.baseline)) {
    if (!is_experiment) {
      return output.fail(
          base::usage_error("is a directory with neither an experiment nor captures of the catalogs in it, "
                            "so it is no baseline",
                            {.file = *flags.baseline}));
    }
    if (auto held = check_holds(*flags.baseline, *catalogs); !held) return output.fail(held.error());
    comparison.experiments.push_back({*flags.name, fs::absolute(*flags.baseline).string()});
  } else if (!base::find_program(*flags.baseline)) {
    return output.fail(base::usage_error(
        "is no program that can be run, and neither an experiment nor captures", {.file = *flags.baseline}));
  } else {
    Measured measured = measure(flags, *catalogs, reading->settings, directory, output);
    if (measured.exit_code) return *measured.exit_code;
    comparison.experiments = std::move(measured.experiments);
  }
  if (auto kept = keep(comparison, *run); !kept) return output.fail(kept.error());
  const int code = tell(comparison, *reading, output);
  return flags.history ? graver(code, add_to_history(flags, comparison, output)) : code;
}

}  // namespace

void add_test_comparison(Command& profile) {
  auto flags = std::make_shared<ComparisonFlags>();
  Command& command = profile.add_command(
      "test-comparison", "What CTest runs: compare this program with a baseline, in the current run");
  command.add_option("--runs", "DIR", "The directory that holds the runs", &flags->runs);
  command.add_option("--name", "NAME", "What the comparison is called", &flags->name);
  command.add_list("--catalog", "FILE", "The catalogs whose workloads are compared", &flags->catalogs);
  command.add_option("--baseline", "PATH", "A wago-profile of another revision, an experiment, or captures",
                     &flags->baseline);
  command.add_option("--budget", "D", "Time for all catalogs together (default 150s)", &flags->amount.budget);
  command.add_option("--pairs", "N", "As for experiment", &flags->amount.pairs);
  flags->verdicts.add_to(command);
  command.add_option("--add-to", "STORE", "Adds what was measured, and shows where it changed",
                     &flags->history);
  command.add_option("--baseline-as", "NAME", "As for history add", &flags->baseline_as);
  command.add_option("--candidate-as", "NAME", "As for history add", &flags->candidate_as);
  command.set_footer("Exit codes as of report; 77 where there is no baseline.");
  command.set_action([flags](Output& output) { return test_comparison(*flags, output); });
}

}  // namespace wago::cli::profile
