// The gate that needs neither pairs nor a quiet machine: `--fail-on instructions`. What was executed is
// counted exactly, so that more machine instructions than the baseline's are no chance; the floor is the
// share by which more are let pass.
//
// It goes by what both sides executed in the same work, and knows without counts that the same code executes
// the same. Over different work the means may differ without any difference of code, since a workload may
// execute another number each time; that is not gated.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diff/report.h"
#include "diff/unpaired.h"
#include "diff/verdict.h"

namespace wago::diff {

inline constexpr double kInstructionFloor = 0.0025;  // unless another is given

// Machine instructions of the candidate per unit of work against the baseline's, minus one. Nothing: not
// counted on both sides.
std::optional<double> instruction_change(const ReportedWorkload& workload);
std::optional<double> instruction_change(const UnpairedBenchmark& benchmark);

// Gives the report the gate. What cannot be gated is remarked in it.
void set_instruction_gate(Report& report, double floor);
void set_instruction_gate(UnpairedReport& report, double floor);

// A sentence: by how much there are more than the report's `instruction_floor` lets pass. Nothing: there are
// not, it is not known, or the report has no such gate.
std::optional<std::string> instruction_failure(const Report& report, const ReportedWorkload& workload);
std::optional<std::string> instruction_failure(const UnpairedReport& report,
                                               const UnpairedBenchmark& benchmark);

// What the gates of one or several reports say.
struct GatedInstructions {
  std::vector<std::string> failures;  // a sentence each
  std::vector<std::string> unknown;   // of workloads that are not gated, a sentence each: why
  size_t known = 0;

  GatedInstructions& operator+=(const GatedInstructions& other);
};
GatedInstructions gate_instructions(const Report& report);
GatedInstructions gate_instructions(const UnpairedReport& report);

}  // namespace wago::diff
