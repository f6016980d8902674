// `profile report`, and `profile diff` of experiments: what may be said of a release. One model behind all
// formats.
//
// The three lanes stand side by side, the most certain first: whether the same code ran, how many
// instructions were executed (exact), how long it took (paired).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "base/text.h"
#include "capture/experiment.h"
#include "diff/compare.h"
#include "diff/floor.h"
#include "diff/history.h"
#include "diff/verdict.h"

namespace wago::base {
class Json;
}

namespace wago::diff {

struct FlameGraph;

// What was executed, an iteration; exact.
struct InstructionLane {
  std::array<double, 2> machine = {};  // instructions, by ExperimentSide
  std::array<double, 2> wasm = {};
  // Ratio minus one; 0 where the baseline executed none.
  double machine_change() const { return machine[0] > 0 ? machine[1] / machine[0] - 1 : 0; }
};

// Lane 1, from captures of both sides, whatever the experiment's setting made of their code; nothing of it:
// there are none, or they cannot be compared.
struct CodeLane {
  bool same_code = false;
  uint64_t functions_same = 0;
  std::vector<FunctionDifference> differences;
  std::optional<InstructionLane> instructions;  // lane 2: where both captures hold counts
};

struct ReportedWorkload {
  uint32_t workload = 0;  // index into Experiment::workloads
  WorkloadFinding found;
  std::optional<CodeLane> code;
  std::vector<double> changes;               // of each pair that was kept, in the order measured
  std::vector<uint32_t> code_offsets;        // of the same pairs
  const HistorySeries* history = nullptr;    // in Report::history; nothing: it knows no such workload
  std::shared_ptr<const FlameGraph> flames;  // nothing: not asked for, or not sampled; see report_flames.h
  // `profile explain` has captures of both sides to read, as far as was seen; else it must record them.
  bool explainable = false;
};

struct Report {
  std::string path;                       // of the experiment, as the user named it
  std::string release, baseline_release;  // what the sides are called; empty: nothing was said
  capture::Experiment experiment;
  ExperimentFindings findings;
  Floor floor;                              // of the findings, and where it is from
  std::vector<ReportedWorkload> workloads;  // findings first, by Benjamini and Hochberg; then by name
  std::vector<ReportedWorkload> controls;
  uint64_t pairs = 0;
  std::vector<std::string> remarks;  // sentences that a reader must know: what is missing, what was left out
  std::shared_ptr<const History> history;  // nothing: none was asked for
  // Machine instructions beyond the baseline's by more than this share are a failure as well
  // (instruction_gate.h); nothing: counts fail nothing.
  std::optional<double> instruction_floor;
};

// Errors as read_experiment(). A capture in the experiment that cannot be read is a remark, unless what
// `explain` recorded is as good: pairs need none.
base::Result<Report> report_on(const std::string& path, const ReadSettings& settings = {},
                               base::Files& files = base::system_files());

// Puts each workload's series beside it: of the same contract, on the same kind of processor.
void add_history(Report& report, std::shared_ptr<const History> history);

// "regressed  matmul  +2.1 % [+1.8 %, +2.4 %]  16 pairs  p 0.0002", the table that matters first.
std::string to_text(const Report& report, bool colour = false);
// docs/reports.md lists the members.
base::Json to_json(const Report& report);
base::Json to_json(const Report& report, const ReportedWorkload& workload);
// For a pull request or a release note.
std::string to_markdown(const Report& report);
// Each workload a test case: a gated regression a failure, a side that failed or an invalid environment an
// error, what is unsettled or layout-sensitive skipped with its reason. `name`: of the suite, see
// report_markup.h.
std::string to_junit(const Report& report, const std::string& name);
// Workflow commands of GitHub Actions, a line each: errors for gated regressions, warnings for the rest that
// needs eyes.
std::string to_annotations(const Report& report);
// One document that needs nothing else: sortable, readable in light and dark and on a phone.
std::string to_html(const Report& report);

// "release 1.3 against 1.2", as far as it was said; else empty.
std::string releases_text(const std::string& release, const std::string& baseline_release);
// "wago-profile 1.1, revision 0123456789ab (dirty), --level 0"
std::string side_text(const capture::SideRecord& side);
base::Json to_json(const capture::SideRecord& side);
// "regressed", or "regressed?" where it is not held over all workloads.
std::string finding_text(const WorkloadFinding& found);
base::Paint paint_of(Finding finding);
// The class that paints it in a page.
const char* tone_of(Finding finding);
// Not the same: someone should look.
bool needs_eyes(Finding finding);
// "+0.42 %" of machine instructions, "-" where they were not counted.
std::string instructions_text(const ReportedWorkload& workload);
// "same", "2 functions" that differ, "helpers may differ" of different programs whose functions do not, "not
// known".
std::string code_text(const ReportedWorkload& workload);
// "+2.10 % [+1.80 %, +2.40 %]"; without an interval the change alone, without pairs "-".
std::string change_text(const WorkloadFinding& found);
// "2 regressed (1 held over all), 14 same, 1 inconclusive"
std::string headline(const Report& report);
// The same of all workloads of several; of reports that claim nothing none. Empty: there are none.
std::string findings_text(std::span<const Report* const> reports);
// What to run to see why a workload that is no control was found so: where the experiment has captures this
// says it at once, otherwise it records them.
std::string command_for(const Report& report, const ReportedWorkload& workload);
// What records counts and samples of both sides; words in capitals are the reader's, since an experiment does
// not keep where things were.
std::string recording_command(const Report& report, const ReportedWorkload& workload);

}  // namespace wago::diff
