// What an operation without side effects gives for constant arguments, exactly as WebAssembly says (core
// specification 2.0, section 4.3). Constant folding and the reference interpreter both ask here, so that they
// cannot disagree.
#pragma once

#include <cstdint>

#include "base/vocabulary.h"
#include "codegen/ir/ir.h"

namespace wago::codegen {

struct Evaluation {
  enum class Kind : uint8_t {
    Exact,    // bits: the one right answer; i32 and f32 zero-extended
    Nan,      // a NaN whose sign and payload the specification leaves open; bits: the canonical one
    Trap,     // trap: which one
    Unknown,  // not an operation on values alone
  };
  Kind kind = Kind::Unknown;
  uint64_t bits = 0;
  base::TrapCode trap = base::TrapCode::Unreachable;

  bool exact() const { return kind == Kind::Exact; }
};

// `type`: of the result; `arg_type`: of the first argument, or for Select of the second. args: three bit
// patterns, those beyond the arity ignored. Integer operands: bits above a type's width are ignored.
Evaluation evaluate(Op op, Type type, Type arg_type, uint8_t aux, const uint64_t* args);

}  // namespace wago::codegen
