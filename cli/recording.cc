#include "cli/recording.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>

#include <wago/wago.h>
#include "base/json.h"
#include "base/text.h"
#include "base/vocabulary.h"
#include "cli/output.h"
#include "diff/quantity.h"

namespace wago::cli::profile {

namespace {

// One line on a terminal, rewritten in place.
class ProgressLine {
 public:
  ProgressLine(bool shown, base::Phase measured) : shown_(shown), measured_(measured) {}
  ~ProgressLine() { clear(); }

  void show(const harness::Progress& progress) {
    if (!shown_) return;
    std::string text = progress.warming_up ? "warming up" : std::string(base::spelling(progress.phase));
    // How much is wanted is said of what is measured; other phases come before and after it.
    const bool measuring =
        !progress.warming_up && (progress.phase == measured_ || measured_ == base::Phase::All);
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
    std::fprintf(stderr, "\r\x1b[K%s", text.c_str());
    std::fflush(stderr);
    dirty_ = true;
  }

  void clear() {
    if (dirty_) std::fputs("\r\x1b[K", stderr);
    dirty_ = false;
  }

 private:
  bool shown_;
  base::Phase measured_;
  bool dirty_ = false;
};

}  // namespace

harness::RecordOutcome record_with_progress(harness::RecordRequest request, const Output& output) {
  ProgressLine progress(!output.json() && isatty(STDERR_FILENO) == 1, request.workload.phase);
  request.on_progress = [&](const harness::Progress& now) { progress.show(now); };
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
  if (outcome.interrupted_by != 0) {
    std::fflush(stdout);
    std::signal(outcome.interrupted_by, SIG_DFL);
    std::raise(outcome.interrupted_by);
  }
  return code;
}

}  // namespace wago::cli::profile
