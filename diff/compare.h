// Two sides of captures -> what may honestly be said about them. The one model behind text and JSON.
//
// Captures of different sessions are compared by what is exact in them: their code (identity.h). Elapsed
// times are shown per completed unit of work, with n and spread, and never make a verdict: identical code
// measured twice differs by more than most changes do.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "diff/contract.h"
#include "diff/cost_changes.h"
#include "diff/count_changes.h"
#include "diff/elapsed.h"
#include "diff/evidence.h"
#include "diff/identity.h"

namespace wago::base {
class Json;
}

namespace wago::diff {

enum class Verdict : uint8_t {
  SameCode,      // everything that can run is the same machine code; whatever the clock says is placement or
                 // noise
  Inconclusive,  // unpaired: the sides did not run together
};
// "same code", "inconclusive (unpaired)"
const char* to_string(Verdict verdict);

// One capture of a side.
struct CaptureSummary {
  std::string path;
  std::string revision;
  std::string dirty;  // "clean", "dirty", "unknown"
  Elapsed elapsed;
};

struct ComparedSide {
  std::vector<CaptureSummary> captures;
  std::string module_name;
  std::string module_sha256;
  std::string code_sha256;
  // Over the captures' own figures, per unit of work; n is the number of captures.
  Summary elapsed_ns;  // measured work over completed work
  Summary wall_ns;     // medians of the iterations
  std::optional<Summary> cpu_ns;
};

// What is said of one workload.
struct WorkloadComparison {
  std::string workload;
  std::string phase;
  std::string unit;  // "invocation"
  ComparedSide baseline;
  ComparedSide candidate;
  std::optional<double> elapsed_change;  // ratio of medians, minus one
  std::optional<double> wall_change;
  std::optional<double> cpu_change;
  CodeComparison code;
  std::optional<CountComparison> counts;  // of the first capture of each side; nothing: not both counted
  std::optional<CostComparison> costs;    // nothing: without samples on both sides
  std::string why_no_costs;               // a sentence, see cost_changes.h; or empty
  Verdict verdict = Verdict::Inconclusive;
  std::vector<std::string> reasons;  // sentences
};

struct Comparison {
  // Not empty: the captures' contracts differ, and nothing else was said.
  std::vector<ContractDifference> contract;
  std::vector<WorkloadComparison> workloads;
  std::vector<std::string> baseline_only;  // workloads without a counterpart
  std::vector<std::string> candidate_only;

  // Every workload of either side was compared, and none inconclusively.
  bool conclusive() const;
};

// Workloads are matched by name; where each side has a single one, they are matched whatever their names.
// Without `disassemble` counts are not compared by line.
// Errors (Usage): nothing matches; a side's captures of one workload hold different code.
base::Result<Comparison> compare(std::span<const Evidence> baseline, std::span<const Evidence> candidate,
                                 const Disassemble& disassemble = {});

std::string to_text(const Comparison& comparison, bool colour = false);
base::Json to_json(const Comparison& comparison);

// "96 bytes, 24 instructions -> 112 bytes, 27 instructions"; of the one side that has it.
std::string sizes_text(const FunctionDifference& function);
std::string to_text(const CodeComparison& code);
base::Json to_json(const CodeComparison& code);

// The contract's differences alone, one a line.
std::string to_text(std::span<const ContractDifference> differences);
base::Json to_json(std::span<const ContractDifference> differences);

}  // namespace wago::diff
