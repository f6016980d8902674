// Why a workload of an experiment takes longer on one side, or does not: its finding, and what captures of
// both sides say of their code, of what was executed, exactly, and of where the time went. The one model
// behind the text and the JSON of `profile explain`.
//
// Only what is exact is sure. Samples of the two sides were not taken together: what they say of a function
// is listed where it is beyond their error, and is no verdict. What cannot be said is said to be unknown.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "diff/compare.h"
#include "diff/disassemble.h"
#include "diff/evidence.h"
#include "diff/report.h"
#include "diff/side_by_side.h"

namespace wago::base {
class Json;
}

namespace wago::diff {

// The captures of both sides, by ExperimentSide.
using BothSides = std::array<Evidence, 2>;

struct ExplainedFunction {
  std::string name;  // raw
  std::string signature;
  // Its greatest change, of executed machine instructions or of time, as a part of all that the baseline
  // executed or took. 0: it does not show in either.
  double part = 0;
  std::optional<FunctionDifference> code;     // nothing: the same machine code, or none is known
  std::optional<FunctionCountChange> counts;  // nothing: executed the same, or not counted
  std::optional<FunctionCost> cost;           // nothing: not beyond the error of samples
  // Of the first ones. Nothing: no capture tells its instructions, or several functions are called so. Of a
  // function that one side lacks, the other side is empty.
  std::optional<SideBySide> instructions;
};

struct Explanation {
  Report report;                     // of the experiment
  ReportedWorkload reported;         // the workload's part of it
  std::array<std::string, 2> exact;  // paths of the captures; empty: there are none
  std::array<std::string, 2> sampled;
  std::optional<CodeComparison> code;
  std::optional<CountComparison> counts;
  std::optional<CostComparison> costs;
  std::vector<ExplainedFunction> functions;  // that differ, most costly first
  std::vector<std::string> remarks;          // sentences: what is not known, and why
  bool can_say_more = false;                 // if more was recorded

  const capture::ExperimentWorkload& workload() const {
    return report.experiment.workloads[reported.workload];
  }
};

// Whether a capture is of what this side of the workload was measured with: contract, module and code, as far
// as the experiment knows them. Error (Usage): it is not.
base::Result<void> check_own(const Evidence& evidence, const capture::ExperimentWorkload& workload,
                             capture::ExperimentSide side);
// Whether they are captures of both sides of this workload. Errors (Usage): one is not of this experiment;
// they differ in more than what the experiment is about.
base::Result<void> check_captures(const BothSides& sides, const capture::Experiment& experiment,
                                  const capture::ExperimentWorkload& workload);

struct ExplainedCaptures {
  std::optional<BothSides> exact;  // code, and counts where both sides' programs count
  std::optional<BothSides> sampled;
};

// `number`: of the workload in the experiment. Errors as of check_captures().
base::Result<Explanation> explain(Report report, size_t number, const ExplainedCaptures& captures,
                                  const Disassemble& disassemble);

// `assembly`: both sides of functions whole, else only the instructions that differ.
struct ExplanationShown {
  bool assembly = false;
  bool colour = false;
};
std::string to_text(const Explanation& explanation, const ExplanationShown& shown = {});
base::Json to_json(const Explanation& explanation, const ExplanationShown& shown = {});

}  // namespace wago::diff
