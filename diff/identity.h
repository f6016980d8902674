// Lane 1: whether two captures ran the same machine code.
//
// Functions are joined by name and signature; of several with the same, equal code is paired first, then by
// order. The hash of a function masks where it landed and includes the constants it refers to and whom it
// calls, so equal hashes mean equal instructions.
//
// Where both captures have counts, it is known which functions ran in the measured phase, and a difference in
// the others is none of what ran.
//
// What is said here is about code alone. Whether it amounts to a verdict depends on the phase, see compare.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/images.h"
#include "diff/evidence.h"

namespace wago::diff {

enum class FunctionFate : uint8_t { Changed, New, Vanished };
const char* to_string(FunctionFate fate);  // "changed", "new", "vanished"

// A function that is not the same on both sides. The side it is missing from has zeros.
struct FunctionDifference {
  FunctionFate fate = FunctionFate::Changed;
  std::string name;  // raw
  std::string signature;
  uint32_t baseline_bytes = 0;  // machine code
  uint32_t candidate_bytes = 0;
  uint32_t baseline_instructions = 0;  // machine instructions, static
  uint32_t candidate_instructions = 0;
  bool ran = true;  // its machine code, on either side; true as well where it is not known
  std::vector<std::string>
      inlined_into;  // raw names: whose machine code executed its body instead; empty if it ran
};
// "its own code did not run: inlined into hot, main and 2 more"; of none "did not run".
std::string not_run_text(const std::vector<std::string>& inlined_into);

enum class HelperIdentity : uint8_t {
  Equal,      // both captures were recorded by the same program
  NotCalled,  // different programs, but no function calls a helper
  Unknown,    // different programs, and helpers are called
};
const char* to_string(HelperIdentity helpers);  // "equal", "not called", "unknown"

struct CodeComparison {
  bool modules_equal = false;  // the binaries, data and all
  bool knows_what_ran = false;
  uint64_t functions_same = 0;
  std::vector<FunctionDifference> differences;  // changed, new, vanished; each in name order
  uint64_t adapters_same = 0;
  uint64_t adapters_different = 0;  // changed, or on one side only
  HelperIdentity helpers = HelperIdentity::Unknown;

  uint64_t count(FunctionFate fate) const;
  bool all_that_ran_same() const;  // functions alone
  // Everything that ran, or where that is not known everything that can run, is the same machine code.
  bool same() const;
};

CodeComparison compare_code(const Evidence& baseline, const Evidence& candidate);

}  // namespace wago::diff
