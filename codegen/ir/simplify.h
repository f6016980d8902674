// Constant folding and algebraic identities on one operation whose arguments already exist. The builder asks
// before it creates an instruction, passes when an argument of one has changed.
//
// Canonical forms that come out, on which selection and value numbering rely:
//  * constants are right operands of commutative operations and of comparisons;
//  * no subtraction of a constant, only addition; no multiplication, unsigned division or remainder by a
//  power of two;
//  * shift counts are below the width, and not masked to it by an operation of their own;
//  * a comparison with zero for equality is an Ieqz; an Ieqz of an integer comparison is the inverse
//  comparison;
//  * a condition (of Select, of Branch) is never an Ieqz or a comparison with zero of an i32.
#pragma once

#include <cstdint>

#include "codegen/ir/ir.h"

namespace wago::codegen {

// An operation without side effects of its own: of kPure or kTraps operations those with at most three
// arguments.
struct Expression {
  Op op = Op::Iconst;
  Type type = Type::None;
  uint8_t aux = 0;
  uint8_t arg_count = 0;
  uint64_t imm = 0;
  Value args[3];

  bool operator==(const Expression&) const = default;
};

// Where simplification gets the constants that it needs as arguments.
class ConstantSource {
 public:
  virtual Value constant(Type type, uint64_t bits) = 0;  // i32 and f32 zero-extended

 protected:
  ~ConstantSource() = default;
};

// The existing value that `expression` equals, or an invalid one: `expression` may then have become a simpler
// one. Never simplifies a trap away, nor into being.
Value simplify(Expression& expression, IrFunction& function, ConstantSource& constants);

// What that says about an operation that was a `before`, for those who want to know.
inline void note_simplified(DecisionLog& decisions, Op before, const Expression& after, Value existing,
                            uint32_t wasm_pc, uint32_t inline_site = ~0u) {
  if (!decisions.keeps()) return;
  if (existing.valid() || (after.op != before && after.arg_count == 0)) {
    decisions.note(base::DecisionKind::Simplified, wasm_pc, inline_site);
  } else if (after.op != before && before >= Op::Imul && before <= Op::IremU) {
    decisions.note(base::DecisionKind::StrengthReduced, wasm_pc, inline_site);
  }
}

// Strips from a condition what does not change whether it is nonzero. True if the result has the opposite
// sense.
bool simplify_condition(Value& condition, const IrFunction& function);

// The bits of a constant.
struct ConstantBits {
  bool known = false;
  uint64_t bits = 0;
};
inline ConstantBits constant_bits(const IrFunction& function, Value value) {
  const Inst* def = function.def_of(value);
  if (def == nullptr || (def->op != Op::Iconst && def->op != Op::Fconst)) return {};
  return {true, def->imm};
}

}  // namespace wago::codegen
