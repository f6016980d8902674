#include <memory>

#include "base/files.h"
#include "base/json.h"
#include "base/shell.h"
#include "base/text.h"
#include "cli/flags.h"
#include "cli/output.h"
#include "cli/profile_commands.h"
#include "cli/record_flags.h"
#include "cli/recording.h"
#include "diff/quantity.h"
#include "diff/timeline.h"
#include "harness/perf_collector.h"
#include "harness/samply_collector.h"

namespace wago::cli::profile {

namespace {

void print_outcome(const std::string& out, const capture::Manifest& manifest, bool json, Output& output) {
  const capture::PhaseRecord* phase = manifest.measured_phase();
  uint64_t work = phase ? phase->completed_work : 0;
  uint64_t elapsed_ns = phase ? phase->elapsed_ns : 0;
  double each_ns =
      work == 0 ? 0 : static_cast<double>(manifest.execution_duration_ns) / static_cast<double>(work);
  std::string unit = phase ? phase->work_unit : "";
  if (json) {
    output.print(base::Json::object({{"capture", out},
                                     {"complete", manifest.finished()},
                                     {"workload", manifest.workload},
                                     {"phase", base::spelling(manifest.capture_phase)},
                                     {"completed_iterations", manifest.completed_iterations},
                                     {"elapsed_ns", elapsed_ns},
                                     {"execution_duration_ns", manifest.execution_duration_ns},
                                     {"completed_work", work},
                                     {"work_unit", unit},
                                     {"ns_per_unit", each_ns},
                                     {"lost_spans", manifest.losses.spans}})
                     .dump() +
                 "\n");
    return;
  }
  if (manifest.backend == base::Backend::Perf) {
    const std::string buildid = base::shell_path(base::join_path(out, harness::kPerfBuildIdFolder));
    const std::string data = base::shell_path(base::join_path(out, harness::kPerfJitFile));
    output.note("perf opens it: perf --buildid-dir " + buildid + " report -i " + data);
  }
  if (manifest.backend == base::Backend::Samply) {
    output.note("samply opens it: samply load " +
                base::shell_path(base::join_path(out, harness::kSamplyFile)));
  }
  output.print(base::display(out) + ": " + diff::format_plural(manifest.completed_iterations, "iteration") +
               ", " + diff::format_ns(static_cast<double>(manifest.execution_duration_ns)) + " timed of " +
               diff::format_ns(static_cast<double>(elapsed_ns)) + ", " + diff::format_work(work, unit) +
               ", " + diff::format_ns(each_ns) + " each\n");
  if (manifest.losses.spans > 0) output.print("note: " + diff::lost_spans_sentence(manifest) + "\n");
}

int record(const RecordFlags& flags, Output& output) {
  auto request = request_of(flags);
  if (!request) return output.fail(request.error());
  if (request->settings.stack_bytes) {
    request->on_begin = [&output] {
      output.note(
          "warning: raw stacks are recorded, which may hold secrets of the guest's or the recorder's");
    };
  }
  harness::RecordOutcome outcome = record_with_progress(*request, output);
  if (outcome.error) return fail_recording(outcome, request->out, output);
  output.set_done("the capture " + request->out + " is complete");
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
