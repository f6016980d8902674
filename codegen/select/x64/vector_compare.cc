// Comparisons of vectors, and what is made of vectors in one word: tests and bit masks.

#include <utility>

#include "codegen/select/x64/isel.h"

namespace wago::codegen::x64 {

namespace {

// What PTEST shows.
constexpr Condition kIsZero{Condition::Kind::One, Cc::E, Cc::E};
constexpr Condition kNoneAlone{Condition::Kind::One, Cc::B, Cc::B};

// One less or one more in every lane; false where a lane would wrap.
bool step_lanes(LaneShape shape, bool down, Vector& vector) {
  const uint32_t bits = 8 * lane_bytes(shape);
  const uint64_t lane_mask = ~uint64_t{0} >> (64 - bits), last = down ? 0 : lane_mask;
  for (uint64_t* half : {&vector.low, &vector.high}) {
    for (uint32_t at = 0; at < 64; at += bits) {
      if ((*half >> at & lane_mask) == last) return false;
      *half += (down ? ~uint64_t{0} : 1) << at;
    }
  }
  return true;
}

// a cond b is b swapped(cond) a.
constexpr FloatCond swapped(FloatCond cond) {
  switch (cond) {
    case FloatCond::Lt:
      return FloatCond::Gt;
    case FloatCond::Gt:
      return FloatCond::Lt;
    case FloatCond::Le:
      return FloatCond::Ge;
    case FloatCond::Ge:
      return FloatCond::Le;
    default:
      return cond;
  }
}

}  // namespace

// --- Comparisons

// That of greater-or-equal is equality with the larger one, that of less-or-equal with the smaller one; the
// rest is their inverse, or has its operands swapped.
void Isel::compare_lanes(Reg to, LaneShape shape, IntCond cond, Value a, Value b) {
  if (compare_with_next(to, shape, cond, a, b)) return;
  if (is_inverted_mask(shape, cond)) {
    Reg inverted = vector_reg();
    compare_lanes(inverted, shape, inverse(cond), a, b);
    b_.add(Op::VPXORrm, to, inverted, vector_literal(shape, ~uint64_t{0}));
    return;
  }
  switch (cond) {
    case IntCond::Eq:
      return vector_binary(to, kEqualLanes[shape], a, b);
    case IntCond::GtS:
      return vector_binary(to, kGreaterLanes[shape], a, b);
    case IntCond::LtS:
      return vector_binary(to, kGreaterLanes[shape], b, a);
    default:
      break;
  }
  if (can_fold_vector(a) && !can_fold_vector(b)) {
    std::swap(a, b);
    cond = swapped(cond);
  }
  const LaneOps& bound = cond == IntCond::GeS   ? kMaxLanesS
                         : cond == IntCond::GeU ? kMaxLanesU
                         : cond == IntCond::LeS ? kMinLanesS
                                                : kMinLanesU;
  Reg left = use(a), limit = vector_reg();
  if (std::optional<Address> memory = fold_vector(b)) {
    mark_folded(b_.add(bound[shape].rm, limit, left, *memory));
  } else {
    b_.add(bound[shape].rr, limit, left, use(b));
  }
  b_.add(kEqualLanes[shape].rr, to, limit, left);
}

// x < c is x <= c - 1, and x > c is x >= c + 1, unsigned: that is no inverse.
bool Isel::compare_with_next(Reg to, LaneShape shape, IntCond cond, Value a, Value b) {
  if (cond != IntCond::LtU && cond != IntCond::GtU) return false;
  if (vector_constant(a)) {
    std::swap(a, b);
    cond = swapped(cond);
  }
  const bool below = cond == IntCond::LtU;
  std::optional<Vector> bound = vector_constant(b);
  if (!bound || !step_lanes(shape, below, *bound)) return false;
  Reg left = use(a), limit = vector_reg();
  const LaneOps& nearer = below ? kMinLanesU : kMaxLanesU;
  b_.add(nearer[shape].rm, limit, left, literal(bound->low, bound->high, 16));
  b_.add(kEqualLanes[shape].rr, to, limit, left);
  return true;
}

// Whether a mask comes out inverted at first.
bool Isel::is_inverted_mask(LaneShape shape, IntCond cond) {
  switch (cond) {
    case IntCond::Ne:
    case IntCond::GtU:
    case IntCond::LtU:
      return true;
    case IntCond::GeS:
    case IntCond::LeS:
      return shape == LaneShape::I64x2;
    default:
      return false;
  }
}

void Isel::compare_float_lanes(const Inst& inst) {
  const bool wide = shape_of(inst.aux) == LaneShape::F64x2;
  FloatCond cond = static_cast<FloatCond>(variant_of(inst.aux));
  Value a = arg(inst, 0), b = arg(inst, 1);
  if (can_fold_vector(a) && !can_fold_vector(b)) {
    std::swap(a, b);
    cond = swapped(cond);
  }
  Reg left = use(a);
  const int32_t predicate = compare_predicate(cond);
  if (std::optional<Address> memory = fold_vector(b)) {
    mark_folded(b_.add(wide ? Op::VCMPPDrmi : Op::VCMPPSrmi, result(inst), left, *memory, predicate));
  } else {
    b_.add(wide ? Op::VCMPPDrri : Op::VCMPPSrri, result(inst), left, use(b), predicate);
  }
}

// --- Tests. PTEST's zero flag is "no bit of both", its carry flag "no bit of the second alone".

// Sets the flags for a VanyTrue or ViallTrue.
Condition Isel::test_vector(const Inst& test) {
  Value v = arg(test, 0);
  const bool all = test.op == IrOp::ViallTrue;
  const uint32_t bytes = all ? lane_bytes(shape_of(test.aux)) : 1;
  const Inst* def = single(v);
  if (def && def->op == IrOp::Vicmp && is_mask(v, bytes)) {
    fold(v);
    return test_comparison(*def, all);
  }
  if (all) return is_mask(v, bytes) ? test_all_ones(use(v)) : test_all_true(shape_of(test.aux), v);
  if (def && (def->op == IrOp::Vand || def->op == IrOp::Vandnot)) {
    fold(v);
    return test_common_bits(*def);
  }
  Reg bits = use(v);
  b_.add(Op::VPTESTrr, bits, bits);
  return kIsZero.inverse();
}

// Of a mask, or of its inverse where that is what comes first: all are true where no inverse is.
Condition Isel::test_comparison(const Inst& compare, bool all) {
  const LaneShape shape = shape_of(compare.aux);
  const IntCond cond = static_cast<IntCond>(variant_of(compare.aux));
  const bool inverted = is_inverted_mask(shape, cond);
  Reg mask = vector_reg();
  compare_lanes(mask, shape, inverted ? inverse(cond) : cond, arg(compare, 0), arg(compare, 1));
  if (all != inverted) return all ? test_all_ones(mask) : test_all_ones(mask).inverse();
  b_.add(Op::VPTESTrr, mask, mask);
  return all ? kIsZero : kIsZero.inverse();
}

Condition Isel::test_all_ones(Reg mask) {
  b_.add(Op::VPTESTrm, mask, vector_literal(LaneShape::I64x2, ~uint64_t{0}));
  return kNoneAlone;
}

// No lane equals zero.
Condition Isel::test_all_true(LaneShape shape, Value v) {
  const VectorOps equal = kEqualLanes[shape];
  Reg zero = zero_xmm(Type::V128), is_false = vector_reg();
  if (std::optional<Address> memory = fold_vector(v)) {
    mark_folded(b_.add(equal.rm, is_false, zero, *memory));
  } else {
    b_.add(equal.rr, is_false, zero, use(v));
  }
  b_.add(Op::VPTESTrr, is_false, is_false);
  return kIsZero;
}

// Whether a & b or a & ~b has any.
Condition Isel::test_common_bits(const Inst& inst) {
  const bool inverts = inst.op == IrOp::Vandnot;
  Value a = arg(inst, inverts ? 1 : 0), b = arg(inst, inverts ? 0 : 1);
  if (!inverts && can_fold_vector(a) && !can_fold_vector(b)) std::swap(a, b);
  Reg left = use(a);
  if (std::optional<Address> memory = fold_vector(b)) {
    mark_folded(b_.add(Op::VPTESTrm, left, *memory));
  } else {
    b_.add(Op::VPTESTrr, left, use(b));
  }
  return inverts ? kNoneAlone.inverse() : kIsZero.inverse();
}

// Whether lanes of so many bytes are all ones or all zeros.
bool Isel::is_mask(Value v, uint32_t bytes) const {
  const Inst* def = ir_->def_of(v);
  return def && (def->op == IrOp::Vicmp || def->op == IrOp::Vfcmp) && lane_bytes(shape_of(def->aux)) >= bytes;
}

void Isel::select_bitmask(const Inst& inst) {
  Reg from = use(arg(inst, 0)), to = result(inst);
  switch (shape_of(inst.aux)) {
    case LaneShape::I8x16:
      b_.add(Op::VPMOVMSKBrr, to, from);
      return;
    case LaneShape::I16x8: {
      Reg bytes = vector_reg();
      b_.add(Op::VPACKSSWBrr, bytes, from, zero_xmm(Type::V128));
      b_.add(Op::VPMOVMSKBrr, to, bytes);
      return;
    }
    case LaneShape::I32x4:
      b_.add(Op::VMOVMSKPSrr, to, from);
      return;
    default:
      b_.add(Op::VMOVMSKPDrr, to, from);
  }
}

}  // namespace wago::codegen::x64
