#include <unistd.h>

#include "base/clock.h"
#include "cli/flags.h"
#include "cli/output.h"
#include "cli/profile_commands.h"
#include "harness/worker.h"

namespace wago::cli::profile {

namespace {

int work(Output& output) {
  if (isatty(STDIN_FILENO) == 1) {
    return output.fail(base::usage_error(
        "a worker is what an experiment talks to, through pipes; docs/worker-protocol.md says how"));
  }
  harness::Worker worker(harness::own_identity(), base::system_clock());
  return harness::serve(worker, STDIN_FILENO, STDOUT_FILENO);
}

}  // namespace

void add_worker(Command& profile) {
  Command& command = profile.add_command("worker", "One side of an experiment, as its experiment starts it");
  command.set_footer(
      "Reads requests from standard input, one JSON object a line, and answers each with one.");
  command.set_action(work);
}

}  // namespace wago::cli::profile
