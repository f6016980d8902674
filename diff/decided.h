// What the compiler decided about one function of a capture, and which rows of its annotation it is about.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/decisions.h"
#include "capture/code_metadata.h"
#include "diff/locations.h"

namespace wago::base {
class Json;
}

namespace wago::diff {

struct AnnotatedRow;
struct FunctionChoice;

struct DecidedInstruction {
  base::DecisionKind kind = base::DecisionKind::Inlined;
  uint32_t wasm_pc = 0;                   // in the inline site's callee, or in the function
  uint32_t inline_site = capture::kNone;  // number of the inline site
  uint32_t callee = capture::kNone;       // of a direct call
  std::string callee_name;                // raw
};

struct Decided {
  std::optional<capture::CodeOrigin>
      origin;  // nothing: the capture has no source maps, or is older than they
  std::vector<DecidedInstruction> instructions;  // by inline site, none first, and wasm pc
};

// Numbers each row's decisions in AnnotatedRow::decided: a call's stand at its call instruction, others at
// the first row of their instruction; those of instructions without a row at none.
Decided decided_about(const Evidence& evidence, const FunctionChoice& choice, const Locations& locations,
                      std::vector<AnnotatedRow>& rows);

// "2 inlined, 1 not-inlined-large"; empty: nothing is known to have been decided.
std::string to_text(const Decided& decided);
// What of it is to be said beside a row.
std::string row_text(const Decided& decided, const AnnotatedRow& row);
base::Json to_json(const Decided& decided);

}  // namespace wago::diff
