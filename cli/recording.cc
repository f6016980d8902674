#include "cli/recording.h"

#include <unistd.h>

#include <cstdio>

#include <wago/wago.h>
#include "base/json.h"
#include "base/text.h"
#include "base/vocabulary.h"
#include "cli/output.h"
#include "cli/status_line.h"
#include "diff/quantity.h"

namespace wago::cli::profile {

namespace {

// `measured`: the phase that is.
std::string said(const harness::Progress& progress, base::Phase measured) {
  std::string text = progress.warming_up ? "warming up" : std::string(base::spelling(progress.phase));
  // How much is wanted is said of what is measured; other phases come before and after it.
  const bool measuring = !progress.warming_up && (progress.phase == measured || measured == base::Phase::All);
  if (progress.iterations > 0) {
    text += ", " + diff::format_plural(progress.iterations, "iteration");
    if (measuring && progress.wanted_iterations > 0) {
      text += " of " + diff::format_count(progress.wanted_iterations);
    }
  }
  if (measuring && progress.wanted_duration_ns > 0) {
    text += ", " + diff::format_ns(static_cast<double>(progress.elapsed_ns)) + " of " +
            diff::format_ns(static_cast<double>(progress.wanted_duration_ns));
  }
  return text;
}

}  // namespace

harness::RecordOutcome record_with_progress(harness::RecordRequest request, const Output& output) {
  StatusLine line(!output.json() && isatty(STDERR_FILENO) == 1);
  request.on_begin = [&, begun = std::move(request.on_begin)] {
    line.clear();
    if (begun) begun();
  };
  request.on_progress = [&, measured = request.workload.phase](const harness::Progress& now) {
    if (line.shown()) line.show(said(now, measured));
  };
  return harness::record(request);
}

int fail_recording(const harness::RecordOutcome& outcome, const std::string& out, Output& output) {
  std::string lines;
  base::Json members = outcome.trap ? trap_members(*outcome.trap) : base::Json::object();
  if (outcome.trap && outcome.trap->frames.size() > 1) {
    const std::string trap = outcome.trap->to_string();  // its sentence, then its frames
    lines = trap.substr(trap.find('\n') + 1);
  }
  if (outcome.left) {
    lines += "  unfinished capture: " + base::display(out) + "\n";
    members.set("capture", out);
  }
  int code = output.fail(*outcome.error, lines, members);
  return ended_by(outcome.interrupted_by, code);
}

}  // namespace wago::cli::profile
