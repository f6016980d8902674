// Where the instructions of a counted capture were executed, exactly: by function, by source line, or by what
// the compiler emitted them for.
//
// Functions need nothing but counts. Lines and sites are of single machine instructions, so that they need
// the code, and a disassembler to tell where each begins.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "diff/disassemble.h"
#include "diff/evidence.h"
#include "diff/labels.h"

namespace wago::diff {

struct ExecutedRow {
  Label label;
  uint64_t machine = 0;  // instructions; of a function with all that was inlined into it
  uint64_t wasm = 0;     // of functions only: of its body, wherever that was placed
  uint64_t entered = 0;  // of functions only: how often its own machine code was
};

struct Executed {
  Grouping grouping = Grouping::Function;
  uint64_t machine = 0;  // of the whole capture
  uint64_t wasm = 0;
  std::vector<ExecutedRow>
      rows;  // most machine instructions first, then most wasm instructions, then by name
};

// Usage error where the capture has no counts, or `grouping` needs what it has not got.
base::Result<void> expect_counts(const Evidence& evidence, Grouping grouping);
// Precondition: expect_counts().
Executed executed(const Evidence& evidence, Grouping grouping, const Disassemble& disassemble);

}  // namespace wago::diff
