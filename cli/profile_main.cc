#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/profile_commands.h"
#include "harness/recorder.h"

namespace {

void add_profile(wago::cli::Command& program) {
  wago::cli::Command& profile = program.add_command("profile", "Record captures, read and compare them");
  wago::cli::profile::add_record(profile);
  wago::cli::profile::add_top(profile);
  wago::cli::profile::add_annotate(profile);
  wago::cli::profile::add_timeline(profile);
  wago::cli::profile::add_flamegraph(profile);
  wago::cli::profile::add_export(profile);
  wago::cli::profile::add_diff(profile);
  wago::cli::profile::add_report(profile);
  wago::cli::profile::add_history(profile);
  wago::cli::profile::add_experiment(profile);
  wago::cli::profile::add_explain(profile);
  wago::cli::profile::add_worker(profile);
  wago::cli::profile::add_test(profile);
  wago::cli::profile::add_test_comparison(profile);
  wago::cli::profile::add_test_report(profile);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace wago::cli;
  // A recording runs in a child that is this program again.
  if (auto code = wago::harness::record_child_main(argc, argv)) return *code;
  const Edition edition = {"WebAssembly engine and profiling suite", profile::start_run_profile};
  return run_program("wago-profile", edition, add_profile, argc, argv);
}
