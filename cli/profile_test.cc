#include <filesystem>
#include <memory>

#include "base/files.h"
#include "cli/flags.h"
#include "cli/output.h"
#include "cli/profile_commands.h"
#include "cli/record_flags.h"
#include "cli/recording.h"
#include "cli/test_runs.h"
#include "diff/elapsed.h"
#include "diff/evidence.h"
#include "diff/quantity.h"

namespace wago::cli::profile {

namespace {

namespace fs = std::filesystem;

struct TestFlags {
  bool begin = false;
  bool optional = false;
  bool json = false;
  std::optional<std::string> runs, catalog, workload, backend, collection_timeout;
};

// What CDash plots.
void print_measurements(const diff::Elapsed& elapsed, Output& output) {
  print_measurement(output, "wall_ns_per_unit_median", elapsed.wall_ns.median);
  print_measurement(output, "wall_ns_per_unit_iqr",
                    elapsed.wall_ns.upper_quartile - elapsed.wall_ns.lower_quartile);
  if (elapsed.cpu_ns) print_measurement(output, "cpu_ns_per_unit_median", elapsed.cpu_ns->median);
  print_measurement(output, "batches", static_cast<double>(elapsed.wall_ns.n));
  print_measurement(output, "completed_iterations", static_cast<double>(elapsed.iterations));
}

// Records under a name that no other capture has, which another ctest in the same tree may be looking for as
// well.
harness::RecordOutcome record_beside_others(harness::RecordRequest& request, const fs::path& path,
                                            const Output& output) {
  harness::RecordOutcome outcome;
  outcome.error = base::usage_error("every name for a capture is taken", {.file = path.string()});
  with_free_name(path, ".wagoprof", [&](const std::string& name) {
    request.out = name;
    if (base::system_files().exists(name)) return false;
    outcome = record_with_progress(request, output);
    return !outcome.error || outcome.created || !base::system_files().exists(name);
  });
  return outcome;
}

int begin(const TestFlags& flags, Output& output) {
  if (flags.catalog || flags.workload || flags.backend || flags.collection_timeout || flags.optional) {
    return output.fail(base::usage_error("--begin records nothing: it takes --runs only"));
  }
  auto run = begin_run(*flags.runs);
  if (!run) return output.fail(run.error());
  output.print("captures of this run: " + *run + "\n");
  return kExitDone;
}

// Every way out of a test but a capture: a workload that cannot be measured here is skipped where it may be.
int fail_test(const TestFlags& flags, const base::Error& error, int code) {
  return flags.optional && error.kind == base::ErrorKind::Unmeasurable ? kExitSkipped : code;
}

int test(const TestFlags& flags, Output& output) {
  if (!flags.runs)
    return output.fail(base::usage_error("--runs is missing: name the directory that holds the runs"));
  if (flags.begin) return begin(flags, output);
  if (!flags.catalog || !flags.workload) {
    return output.fail(
        base::usage_error("--catalog and --workload are both needed: name a declared workload"));
  }
  RecordFlags record;
  record.catalog = flags.catalog;
  record.workload = flags.workload;
  record.backend = flags.backend;
  record.collection_timeout = flags.collection_timeout;
  record.declared_by_cmake = true;
  auto run = current_run(*flags.runs);
  if (!run) return output.fail(run.error());
  record.out = *run;  // any name will do until the catalog is known
  auto request = request_of(record);
  if (!request) return fail_test(flags, request.error(), output.fail(request.error()));

  const fs::path directory = fs::path(*run) / request->catalog;
  if (auto made = ensure_directory(directory); !made) return output.fail(made.error());
  const std::string name = *flags.workload + (flags.backend ? "." + *flags.backend : "");
  harness::RecordOutcome outcome = record_beside_others(*request, directory / name, output);
  if (outcome.error) return fail_test(flags, *outcome.error, fail_recording(outcome, request->out, output));
  output.set_done("the capture " + request->out + " is complete");
  auto evidence = diff::load(request->out);
  if (!evidence) return output.fail(evidence.error());
  diff::Elapsed elapsed = diff::elapsed_of(*evidence);
  output.print(request->out + ": " + diff::format_ns(elapsed.wall_ns.median) + " per " + elapsed.unit + "\n");
  print_measurements(elapsed, output);
  return kExitDone;
}

}  // namespace

void add_test(Command& profile) {
  auto flags = std::make_shared<TestFlags>();
  Command& command = profile.add_command("test", "What CTest runs: record a workload into the current run");
  command.add_flag("--begin", "Open a new run and record nothing", &flags->begin);
  command.add_option("--runs", "DIR", "The directory that holds the runs", &flags->runs);
  command.add_option("--catalog", "FILE", "The catalog that declares the workload", &flags->catalog);
  command.add_option("--workload", "ID", "The workload", &flags->workload);
  command.add_option("--backend", "NAME", "The backend, instead of the workload's own", &flags->backend);
  command.add_option("--collection-timeout", "D", "As for record", &flags->collection_timeout);
  command.add_flag("--optional", "Exit with 77 where the workload cannot be measured", &flags->optional);
  command.add_flag("--json", "Errors as JSON", &flags->json);
  command.set_action([flags](Output& output) { return test(*flags, output); });
}

}  // namespace wago::cli::profile
