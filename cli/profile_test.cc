#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>

#include "base/files.h"
#include "cli/flags.h"
#include "cli/output.h"
#include "cli/profile_commands.h"
#include "cli/record_flags.h"
#include "cli/recording.h"
#include "diff/elapsed.h"
#include "diff/evidence.h"
#include "diff/quantity.h"

namespace wago::cli::profile {

namespace {

namespace fs = std::filesystem;

// What CTest's SKIP_RETURN_CODE is set to for tests that are declared optional.
constexpr int kExitSkipped = 77;
constexpr int kMaxSerial = 10'000;

struct TestFlags {
  bool begin = false;
  bool optional = false;
  bool json = false;
  std::optional<std::string> runs, catalog, workload, backend, collection_timeout;
};

base::Result<void> ensure_directory(const fs::path& path) {
  base::Files& files = base::system_files();
  if (files.is_directory(path.string())) return {};
  if (files.exists(path.string())) return base::usage_error("is not a directory", {.file = path.string()});
  auto made = files.create_directory(path.string());
  // Another run may have made it meanwhile.
  if (!made && files.is_directory(path.string())) return {};
  return made;
}

// Tries `path`, path-2, path-3, ..., `extension` at the end, as long as `attempt` finds the name taken.
template <class Attempt>
void with_free_name(const fs::path& path, const std::string& extension, Attempt attempt) {
  std::string name = path.string() + extension;
  for (int serial = 2; !attempt(name) && serial <= kMaxSerial; ++serial) {
    name = path.string() + "-" + std::to_string(serial) + extension;
  }
}

// Makes the link `latest` lead to `run`, which is beside it. Replaced in one step, so that runs that begin at
// the same time leave one of theirs.
base::Result<void> point_latest(const fs::path& run) {
  const fs::path link = run.parent_path() / "latest";
  fs::path beside = link;
  beside += "." + std::to_string(getpid()) + ".part";
  std::error_code problem;
  fs::create_symlink(run.filename(), beside, problem);
  if (!problem) fs::rename(beside, link, problem);
  if (!problem) return {};
  std::error_code ignored;
  fs::remove(beside, ignored);
  return base::failed("cannot be made to lead to " + run.filename().string() + ": " + problem.message(),
                      {.file = link.string()});
}

// Opens the directory that the captures of one ctest invocation share.
base::Result<std::string> begin_run(const std::string& runs) {
  if (auto made = ensure_directory(runs); !made) return made.error();
  char stamp[32];
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", &utc);
  std::string run;
  base::Result<void> made;
  with_free_name(fs::absolute(runs) / stamp, "", [&](const std::string& name) {
    run = name;
    made = base::system_files().create_directory(name);
    return made.ok() || !base::system_files().exists(name);
  });
  if (!made) return made.error();
  if (auto pointed = point_latest(run); !pointed) return pointed.error();
  return run;
}

base::Result<std::string> current_run(const std::string& runs) {
  std::error_code problem;
  const fs::path link = fs::absolute(runs) / "latest";
  const fs::path run = fs::read_symlink(link, problem);
  if (problem || !base::system_files().is_directory(link.string())) {
    return base::usage_error("no run was begun in " + runs + ": begin one with profile test --begin --runs " +
                             runs);
  }
  return (link.parent_path() / run).string();
}

void print_measurement(Output& output, const char* name, double value) {
  char line[160];
  std::snprintf(line, sizeof line,
                "<CTestMeasurement type=\"numeric/double\" name=\"%s\">%.6g</CTestMeasurement>\n", name,
                value);
  output.print(line);
}

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
