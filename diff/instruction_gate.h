// The gate that needs neither pairs nor a quiet machine: `--fail-on instructions`. What was executed is
// counted exactly, so that more machine instructions than the baseline's are no chance; the floor is the
// share by which more are let pass.
//
// It goes by instructions per unit of work, which are known where the code is the same (then they are equal),
// or where both sides did the same work, or where each side's count is a whole number per unit: a workload
// that executes another number each time says nothing where one side did it more often.
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
  std::vector<std::string> unknown;   // workloads that are not gated
  size_t known = 0;

  GatedInstructions& operator+=(const GatedInstructions& other);
};
GatedInstructions gate_instructions(const Report& report);
GatedInstructions gate_instructions(const UnpairedReport& report);

}  // namespace wago::diff
