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
  std::optional<std::string> runs, catalog, workload, backend;
};

std::string latest_file(const std::string& runs) {
  return (fs::path(runs) / "latest").string();
}

base::Result<void> ensure_directory(const fs::path& path) {
  if (base::system_files().is_directory(path.string())) return {};
  return base::system_files().create_directory(path.string());
}

// `path`, or the first of path-2, path-3, ... that does not exist; `extension` stays at the end.
std::string free_name(const fs::path& path, const std::string& extension) {
  std::string name = path.string() + extension;
  for (int serial = 2; base::system_files().exists(name) && serial < kMaxSerial; ++serial) {
    name = path.string() + "-" + std::to_string(serial) + extension;
  }
  return name;
}

// Opens the directory that the captures of one ctest invocation share, and notes it in `latest`.
base::Result<std::string> begin_run(const std::string& runs) {
  if (auto made = ensure_directory(runs); !made) return made.error();
  char stamp[32];
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", &utc);
  std::string run = free_name(fs::absolute(runs) / stamp, "");
  if (auto made = base::system_files().create_directory(run); !made) return made.error();
  std::span<const uint8_t> text(reinterpret_cast<const uint8_t*>(run.data()), run.size());
  if (auto noted = base::system_files().publish(latest_file(runs), text); !noted) return noted.error();
  return run;
}

base::Result<std::string> current_run(const std::string& runs) {
  constexpr uint64_t kMaxPath = 4096;
  auto text = base::system_files().read(latest_file(runs), kMaxPath);
  if (!text) {
    return base::usage_error("no run was begun in " + runs + ": begin one with profile test --begin --runs " +
                             runs);
  }
  return std::string(text->begin(), text->end());
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

int test(const TestFlags& flags, Output& output) {
  if (!flags.runs)
    return output.fail(base::usage_error("--runs is missing: name the directory that holds the runs"));
  if (flags.begin) {
    auto run = begin_run(*flags.runs);
    if (!run) return output.fail(run.error());
    output.print("captures of this run: " + *run + "\n");
    return kExitDone;
  }
  if (!flags.catalog || !flags.workload) {
    return output.fail(
        base::usage_error("--catalog and --workload are both needed: name a declared workload"));
  }
  RecordFlags record;
  record.catalog = flags.catalog;
  record.workload = flags.workload;
  record.backend = flags.backend;
  auto run = current_run(*flags.runs);
  if (!run) return output.fail(run.error());
  record.out = *run;  // any name will do until the catalog is known
  auto request = request_of(record);
  if (!request) return output.fail(request.error());

  const fs::path directory = fs::path(*run) / request->catalog;
  if (auto made = ensure_directory(directory); !made) return output.fail(made.error());
  const std::string name = *flags.workload + (flags.backend ? "." + *flags.backend : "");
  request->out = free_name(directory / name, ".wagoprof");

  harness::RecordOutcome outcome = record_with_progress(*request, output);
  if (outcome.error) {
    int code = fail_recording(outcome, output);
    const bool unmeasurable = outcome.error->kind == base::ErrorKind::Unmeasurable;
    return flags.optional && unmeasurable ? kExitSkipped : code;
  }
  auto evidence = diff::load(request->out);
  if (!evidence) return output.fail(evidence.error());
  diff::Elapsed elapsed = diff::elapsed_of(*evidence);
  output.print(request->out + ": " + diff::format_ns(elapsed.wall_ns.median) + " a " + elapsed.unit + "\n");
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
  command.add_flag("--optional", "Exit with 77 where the workload cannot be measured", &flags->optional);
  command.set_action([flags](Output& output) { return test(*flags, output); });
}

}  // namespace wago::cli::profile
