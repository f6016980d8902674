#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <memory>

#include "base/json.h"
#include "base/text.h"
#include "cli/flags.h"
#include "cli/output.h"
#include "cli/profile_commands.h"
#include "cli/record_flags.h"
#include "diff/quantity.h"

namespace wago::cli::profile {

namespace {

// One line on a terminal, rewritten in place.
class ProgressLine {
 public:
  explicit ProgressLine(bool shown) : shown_(shown) {}
  ~ProgressLine() { clear(); }

  void show(const harness::Progress& progress) {
    if (!shown_) return;
    std::string text = progress.warming_up ? "warming up" : std::string(base::spelling(progress.phase));
    if (progress.iterations > 0) {
      text += ", " + diff::format_plural(progress.iterations, "iteration");
      if (progress.wanted_iterations > 0) text += " of " + diff::format_count(progress.wanted_iterations);
    }
    if (progress.wanted_duration_ns > 0 && !progress.warming_up) {
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
  bool dirty_ = false;
};

// What a shell expects of a program that was interrupted: that it died of the signal.
void die_of(int signal) {
  std::fflush(stdout);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void print_outcome(const std::string& out, const capture::Manifest& manifest, bool json, Output& output) {
  const capture::PhaseRecord* phase = manifest.measured_phase();
  uint64_t work = phase ? phase->completed_work : 0;
  double each_ns =
      work == 0 ? 0 : static_cast<double>(manifest.execution_duration_ns) / static_cast<double>(work);
  std::string unit = phase ? phase->work_unit : "";
  if (json) {
    output.print(base::Json::object({{"capture", out},
                                     {"complete", manifest.finished()},
                                     {"workload", manifest.workload},
                                     {"phase", base::spelling(manifest.capture_phase)},
                                     {"completed_iterations", manifest.completed_iterations},
                                     {"execution_duration_ns", manifest.execution_duration_ns},
                                     {"completed_work", work},
                                     {"work_unit", unit},
                                     {"ns_per_unit", each_ns}})
                     .dump() +
                 "\n");
    return;
  }
  output.print(base::display(out) + ": " + diff::format_plural(manifest.completed_iterations, "iteration") +
               " in " + diff::format_ns(static_cast<double>(manifest.execution_duration_ns)) + ", " +
               diff::format_count(work) + " " + unit + ", " + diff::format_ns(each_ns) + " each\n");
}

int record(const RecordFlags& flags, Output& output) {
  auto request = request_of(flags);
  if (!request) return output.fail(request.error());
  harness::RecordOutcome outcome;
  {
    ProgressLine progress(!flags.json && isatty(STDERR_FILENO) == 1);
    request->on_progress = [&](const harness::Progress& now) { progress.show(now); };
    outcome = harness::record(*request);
  }
  if (outcome.error) {
    int code = output.fail(*outcome.error);
    if (outcome.interrupted_by != 0) die_of(outcome.interrupted_by);
    return code;
  }
  print_outcome(request->out, outcome.manifest, flags.json, output);
  return kExitDone;
}

}  // namespace

void add_record(Command& profile) {
  auto flags = std::make_shared<RecordFlags>();
  Command& command = profile.add_command("record", "Run a checked workload and keep what was measured");
  flags->add_to(command);
  command.set_action([flags](Output& output) { return record(*flags, output); });
}

}  // namespace wago::cli::profile
