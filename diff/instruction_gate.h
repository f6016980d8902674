// The gate that needs neither pairs nor a quiet machine: `--fail-on instructions`. What was executed is
// counted exactly, so that more machine instructions than the baseline's are no chance; the floor is the
// share by which more are let pass.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diff/report.h"
#include "diff/unpaired.h"
#include "diff/verdict.h"

namespace wago::diff {

// Machine instructions of the candidate per unit of work against the baseline's, minus one. Nothing: not
// counted on both sides.
std::optional<double> instruction_change(const ReportedWorkload& workload);
std::optional<double> instruction_change(const UnpairedBenchmark& benchmark);

// A sentence: by how much there are more than the report's `instruction_floor` lets pass. Nothing: there are
// not, it is not known, or the report has no such gate.
std::optional<std::string> instruction_failure(const Report& report, const ReportedWorkload& workload);
std::optional<std::string> instruction_failure(const UnpairedReport& report,
                                               const UnpairedBenchmark& benchmark);

// The gate's own part of a reading, beside what time says.
struct GatedInstructions {
  std::vector<std::string> failures;   // a sentence each
  std::vector<std::string> uncounted;  // workloads whose change is not known: they are not gated
  size_t known = 0;
  bool fails() const { return !failures.empty(); }
};
GatedInstructions gate_instructions(const Report& report);
GatedInstructions gate_instructions(const UnpairedReport& report);

}  // namespace wago::diff
