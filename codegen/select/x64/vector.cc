// Vectors: operands, bits, lanes and what of them is in memory. All operations are VEX-encoded, which keeps
// upper halves clean without VZEROUPPER and makes memory operands free of alignment.

#include <array>
#include <bit>
#include <utility>

#include "codegen/select/x64/isel.h"

namespace wago::codegen::x64 {

namespace {

constexpr VectorOps kVectorAnd{Op::VPANDrr, Op::VPANDrm, true};
constexpr VectorOps kVectorAndnot{Op::VPANDNrr, Op::VPANDNrm};
constexpr VectorOps kVectorOr{Op::VPORrr, Op::VPORrm, true};
constexpr VectorOps kVectorXor{Op::VPXORrr, Op::VPXORrm, true};

// The number of a lane's width among 1, 2, 4 and 8 bytes.
size_t width_of(LaneShape shape) {
  return static_cast<size_t>(std::countr_zero(lane_bytes(shape)));
}

// How much of an integer a lane of this width is in memory.
Access access_of(LaneShape shape) {
  return shape == LaneShape::I8x16 ? Access::U8 : shape == LaneShape::I16x8 ? Access::U16 : Access::Full;
}

}  // namespace

// --- Operands

std::optional<Vector> Isel::vector_constant(Value v) const {
  const Inst* def = ir_->def_of(v);
  if (!def || def->op != IrOp::Vconst) return std::nullopt;
  return ir_->vectors[def->imm];
}

bool Isel::can_fold_vector(Value v) const {
  return vector_constant(v) || can_fold_load(v);
}

std::optional<Address> Isel::fold_vector(Value v) {
  if (std::optional<Vector> constant = vector_constant(v)) {
    folded_access_ = nullptr;
    return literal(constant->low, constant->high, 16);
  }
  return fold_load(v);
}

std::optional<Address> Isel::fold_low_half(Value v) {
  const Inst* zero_extended = single(v, IrOp::Vreplace);
  if (!zero_extended || shape_of(zero_extended->aux) != LaneShape::I64x2 || zero_extended->imm != 0 ||
      vector_constant(arg(*zero_extended, 0)) != Vector() || !can_fold_load(arg(*zero_extended, 1))) {
    return std::nullopt;
  }
  fold(v);
  return fold_load(arg(*zero_extended, 1));
}

Address Isel::vector_literal(LaneShape shape, uint64_t bits) {
  const Vector vector = splat(shape, bits);
  return literal(vector.low, vector.high, 16);
}

void Isel::vector_unary(const Inst& inst, Op rr, Op rm) {
  Value v = arg(inst, 0);
  if (std::optional<Address> memory = fold_vector(v)) {
    mark_folded(b_.add(rm, result(inst), *memory));
  } else {
    b_.add(rr, result(inst), use(v));
  }
}

void Isel::vector_binary(const Inst& inst, const VectorOps& ops) {
  vector_binary(result(inst), ops, arg(inst, 0), arg(inst, 1));
}

void Isel::vector_binary(Reg to, const VectorOps& ops, Value a, Value b) {
  if (ops.commutative && can_fold_vector(a) && !can_fold_vector(b)) std::swap(a, b);
  Reg left = use(a);
  if (std::optional<Address> memory = fold_vector(b)) {
    mark_folded(b_.add(ops.rm, to, left, *memory));
  } else {
    b_.add(ops.rr, to, left, use(b));
  }
}

// --- Lanes

void Isel::select_splat(const Inst& inst) {
  static constexpr Op kFromMemory[] = {Op::VPBROADCASTBrm, Op::VPBROADCASTWrm, Op::VBROADCASTSSrm,
                                       Op::VMOVDDUPrm};
  static constexpr Op kFromVector[] = {Op::VPBROADCASTBrr, Op::VPBROADCASTWrr, Op::VPBROADCASTDrr,
                                       Op::VPBROADCASTQrr};
  LaneShape shape = shape_of(inst.aux);
  Value scalar = arg(inst, 0);
  if (std::optional<Address> memory = fold_load(scalar, access_of(shape))) {
    mark_folded(b_.add(kFromMemory[width_of(shape)], result(inst), *memory));
    return;
  }
  if (shape == LaneShape::F32x4) {
    b_.add(Op::VBROADCASTSSrr, result(inst), use(scalar));
  } else if (shape == LaneShape::F64x2) {
    b_.add(Op::VMOVDDUPrr, result(inst), use(scalar));
  } else {
    Reg lane = vector_reg();
    b_.add(shape == LaneShape::I64x2 ? Op::VMOV64toPQIrr : Op::VMOVDI2PDIrr, lane, use_int(scalar));
    b_.add(kFromVector[width_of(shape)], result(inst), lane);
  }
}

void Isel::select_extract(const Inst& inst) {
  LaneShape shape = shape_of(inst.aux);
  const int32_t lane = static_cast<int32_t>(inst.imm);
  Reg from = use(arg(inst, 0));
  if (shape == LaneShape::F32x4 || shape == LaneShape::F64x2) {
    if (lane == 0) {
      b_.copy(result(inst), from);
    } else if (shape == LaneShape::F64x2) {
      b_.add(Op::VUNPCKHPDrr, result(inst), from, from);
    } else {
      b_.add(Op::VPERMILPSri, result(inst), from, lane);
    }
    return;
  }
  if (lane == 0 && lane_bytes(shape) >= 4) {
    b_.add(shape == LaneShape::I64x2 ? Op::VMOVPQIto64rr : Op::VMOVPDI2DIrr, result(inst), from);
    return;
  }
  static constexpr Op kExtract[] = {Op::VPEXTRBrr, Op::VPEXTRWrr, Op::VPEXTRDrr, Op::VPEXTRQrr};
  if (inst.op == IrOp::VextractU) {
    b_.add(kExtract[width_of(shape)], result(inst), from, lane);
    return;
  }
  Reg bits = b_.gpr32();
  b_.add(kExtract[width_of(shape)], bits, from, lane);
  b_.add(shape == LaneShape::I8x16 ? Op::MOVSX32rr8 : Op::MOVSX32rr16, result(inst), bits);
}

// store(a, extract(v)): straight to memory.
bool Isel::select_lane_store(const Inst& inst) {
  Value value = arg(inst, 2);
  const Inst* extract = single(value);
  if (!extract || (extract->op != IrOp::VextractU && extract->op != IrOp::VextractS)) return false;
  LaneShape shape = shape_of(extract->aux);
  if (access_bytes(static_cast<Access>(inst.aux), type_of(value)) != lane_bytes(shape)) return false;
  fold(value);
  const int32_t lane = static_cast<int32_t>(extract->imm);
  Reg from = use(arg(*extract, 0));
  Address to = address(arg(inst, 0), arg(inst, 1), inst.imm);
  if (lane_bytes(shape) == 8) {
    mark_access(b_.add(lane == 0 ? Op::VMOVLPSmr : Op::VMOVHPSmr, to, from), inst);
  } else if (lane_bytes(shape) == 4 && lane == 0) {
    mark_access(b_.add(Op::VMOVSSmr, to, from), inst);
  } else {
    static constexpr Op kExtract[] = {Op::VPEXTRBmr, Op::VPEXTRWmr, Op::VEXTRACTPSmr};
    mark_access(b_.add(kExtract[width_of(shape)], to, from, lane), inst);
  }
  return true;
}

void Isel::select_replace(const Inst& inst) {
  LaneShape shape = shape_of(inst.aux);
  const int32_t lane = static_cast<int32_t>(inst.imm);
  Value vector = arg(inst, 0), scalar = arg(inst, 1);
  const bool into_zeros = lane == 0 && vector_constant(vector) == Vector();
  if (into_zeros && lane_bytes(shape) >= 4) return select_zero_extended(inst);
  if (shape == LaneShape::F32x4) return select_replace_f32(inst);
  if (shape == LaneShape::F64x2) return select_replace_f64(inst);
  static constexpr Op kFromMemory[] = {Op::VPINSRBrm, Op::VPINSRWrm, Op::VPINSRDrm, Op::VPINSRQrm};
  static constexpr Op kFromRegister[] = {Op::VPINSRBrr, Op::VPINSRWrr, Op::VPINSRDrr, Op::VPINSRQrr};
  Reg into = use(vector);
  if (std::optional<Address> memory = fold_load(scalar, access_of(shape))) {
    mark_folded(b_.add(kFromMemory[width_of(shape)], result(inst), into, *memory, lane));
  } else {
    b_.add(kFromRegister[width_of(shape)], result(inst), into, use_int(scalar), lane);
  }
}

// A scalar alone in a vector. Loads clear what is above.
void Isel::select_zero_extended(const Inst& inst) {
  LaneShape shape = shape_of(inst.aux);
  Value scalar = arg(inst, 1);
  const bool wide = lane_bytes(shape) == 8;
  if (std::optional<Address> memory = fold_load(scalar)) {
    mark_folded(b_.add(wide ? Op::VMOVQI2PQIrm : Op::VMOVDI2PDIrm, result(inst), *memory));
  } else if (is_int(lane_type(shape))) {
    b_.add(wide ? Op::VMOV64toPQIrr : Op::VMOVDI2PDIrr, result(inst), use_int(scalar));
  } else if (wide) {
    b_.add(Op::VMOVZPQILo2PQIrr, result(inst), use(scalar));
  } else {
    constexpr int32_t kOthersZero = 0x0e;
    Reg from = use(scalar);
    b_.add(Op::VINSERTPSrr, result(inst), from, from, kOthersZero);
  }
}

void Isel::select_replace_f32(const Inst& inst) {
  const int32_t place = static_cast<int32_t>(inst.imm) << 4;
  Reg into = use(arg(inst, 0));
  if (std::optional<Address> memory = fold_load(arg(inst, 1))) {
    mark_folded(b_.add(Op::VINSERTPSrm, result(inst), into, *memory, place));
  } else {
    b_.add(Op::VINSERTPSrr, result(inst), into, use(arg(inst, 1)), place);
  }
}

void Isel::select_replace_f64(const Inst& inst) {
  const bool low = inst.imm == 0;
  Reg into = use(arg(inst, 0));
  if (std::optional<Address> memory = fold_load(arg(inst, 1))) {
    mark_folded(b_.add(low ? Op::VMOVLPSrm : Op::VMOVHPSrm, result(inst), into, *memory));
  } else {
    b_.add(low ? Op::VMOVSDrr : Op::VMOVLHPSrr, result(inst), into, use(arg(inst, 1)));
  }
}

// Indices of 16 and above must give zero, which the machine gives for a set top bit: adding 0x70 with
// saturation sets it for just those, and leaves the lower four bits of the others.
void Isel::select_swizzle(const Inst& inst) {
  Value table = arg(inst, 0), indices = arg(inst, 1);
  if (std::optional<Vector> known = vector_constant(indices)) {
    auto mark = [](uint64_t bytes) {
      for (int i = 0; i < 64; i += 8) {
        if ((bytes >> i & 0xff) >= 16) bytes |= uint64_t{0x80} << i;
      }
      return bytes;
    };
    b_.add(Op::VPSHUFBrm, result(inst), use(table), literal(mark(known->low), mark(known->high), 16));
    return;
  }
  Reg marked = vector_reg(), from = use(table);
  b_.add(Op::VPADDUSBrm, marked, use(indices), vector_literal(LaneShape::I8x16, 0x70));
  b_.add(Op::VPSHUFBrr, result(inst), from, marked);
}

// --- Bits

void Isel::select_not(const Inst& inst) {
  if (const Inst* compare = single(arg(inst, 0), IrOp::Vicmp)) {
    fold(arg(inst, 0));
    return compare_lanes(result(inst), shape_of(compare->aux),
                         inverse(static_cast<IntCond>(variant_of(compare->aux))), arg(*compare, 0),
                         arg(*compare, 1));
  }
  b_.add(Op::VPXORrm, result(inst), use(arg(inst, 0)), vector_literal(LaneShape::I64x2, ~uint64_t{0}));
}

// A mask of whole lanes, which comparisons give, blends.
void Isel::select_bitselect(const Inst& inst) {
  Value ones = arg(inst, 0), zeros = arg(inst, 1), mask = arg(inst, 2);
  if (is_mask(mask, 1)) {
    Reg if_one = use(ones), if_zero = use(zeros);
    b_.add(Op::VPBLENDVBrrr, result(inst), if_zero, if_one, use(mask));
    return;
  }
  Reg from_ones = vector_reg(), from_zeros = vector_reg(), selector = use(mask);
  b_.add(Op::VPANDrr, from_ones, selector, use(ones));
  b_.add(Op::VPANDNrr, from_zeros, selector, use(zeros));
  b_.add(Op::VPORrr, result(inst), from_ones, from_zeros);
}

bool Isel::is_vector_test(const Inst& inst) const {
  return inst.op == IrOp::VanyTrue || inst.op == IrOp::ViallTrue;
}

// No conditional moves here: the condition becomes a mask.
void Isel::select_vector_select(const Inst& inst) {
  Reg if_true = use(arg(inst, 1)), if_false = use(arg(inst, 2));
  Reg chosen = b_.gpr32(), bits = b_.gpr32(), lane = vector_reg(), mask = vector_reg();
  set(chosen, condition(arg(inst, 0)));
  b_.copy(bits, chosen);
  b_.add(Op::NEG32r, bits, bits);
  b_.add(Op::VMOVDI2PDIrr, lane, bits);
  b_.add(Op::VPSHUFDri, mask, lane, 0);
  b_.add(Op::VPBLENDVBrrr, result(inst), if_false, if_true, mask);
}

// --- Patterns

void Isel::select_vector(const Inst& inst) {
  switch (inst.op) {
    case IrOp::Vnot:
      return select_not(inst);
    case IrOp::Vand:
      return vector_binary(inst, kVectorAnd);
    case IrOp::Vor:
      return vector_binary(inst, kVectorOr);
    case IrOp::Vxor:
      return vector_binary(inst, kVectorXor);
    case IrOp::Vandnot:  // the machine inverts its left operand
      return vector_binary(result(inst), kVectorAndnot, arg(inst, 1), arg(inst, 0));
    case IrOp::Vbitselect:
      return select_bitselect(inst);
    case IrOp::VanyTrue:
    case IrOp::ViallTrue:
      return set(result(inst), test_vector(inst));
    case IrOp::Vsplat:
      return select_splat(inst);
    case IrOp::VextractS:
    case IrOp::VextractU:
      return select_extract(inst);
    case IrOp::Vreplace:
      return select_replace(inst);
    case IrOp::Vswizzle:
      return select_swizzle(inst);
    case IrOp::Vshuffle:
      return select_shuffle(inst);
    default:
      return select_vector_integer(inst);
  }
}

}  // namespace wago::codegen::x64
