// Integer lanes of vectors: arithmetic, shifts, widths.
//
// AVX2 lacks shifts of bytes, and arithmetic shifts and products of 64-bit lanes; what takes their place is
// said at each. Masks are literals, used as memory operands.

#include "codegen/select/x64/isel.h"

namespace wago::codegen::x64 {

namespace {

constexpr Op kNone = Op::Copy;  // a shape that has no such instruction
// PSHUFD: lanes 0, 0, 1, 1 and 2, 2, 3, 3.
constexpr int32_t kLowTwice = 0x50, kHighTwice = 0xfa;

constexpr LaneOps kAddLanes{{Op::VPADDBrr, Op::VPADDWrr, Op::VPADDDrr, Op::VPADDQrr},
                            {Op::VPADDBrm, Op::VPADDWrm, Op::VPADDDrm, Op::VPADDQrm},
                            true};
constexpr LaneOps kSubLanes{{Op::VPSUBBrr, Op::VPSUBWrr, Op::VPSUBDrr, Op::VPSUBQrr},
                            {Op::VPSUBBrm, Op::VPSUBWrm, Op::VPSUBDrm, Op::VPSUBQrm},
                            false};
constexpr LaneOps kMulLanes{
    {kNone, Op::VPMULLWrr, Op::VPMULLDrr, kNone}, {kNone, Op::VPMULLWrm, Op::VPMULLDrm, kNone}, true};
constexpr LaneOps kAddSatS{{Op::VPADDSBrr, Op::VPADDSWrr}, {Op::VPADDSBrm, Op::VPADDSWrm}, true};
constexpr LaneOps kAddSatU{{Op::VPADDUSBrr, Op::VPADDUSWrr}, {Op::VPADDUSBrm, Op::VPADDUSWrm}, true};
constexpr LaneOps kSubSatS{{Op::VPSUBSBrr, Op::VPSUBSWrr}, {Op::VPSUBSBrm, Op::VPSUBSWrm}, false};
constexpr LaneOps kSubSatU{{Op::VPSUBUSBrr, Op::VPSUBUSWrr}, {Op::VPSUBUSBrm, Op::VPSUBUSWrm}, false};
constexpr LaneOps kAverage{{Op::VPAVGBrr, Op::VPAVGWrr}, {Op::VPAVGBrm, Op::VPAVGWrm}, true};
constexpr LaneOps kNarrowS{{Op::VPACKSSWBrr, Op::VPACKSSDWrr}, {Op::VPACKSSWBrm, Op::VPACKSSDWrm}, false};
constexpr LaneOps kNarrowU{{Op::VPACKUSWBrr, Op::VPACKUSDWrr}, {Op::VPACKUSWBrm, Op::VPACKUSDWrm}, false};
constexpr LaneOps kAbs{
    {Op::VPABSBrr, Op::VPABSWrr, Op::VPABSDrr}, {Op::VPABSBrm, Op::VPABSWrm, Op::VPABSDrm}, false};
// Those of the lower half; the shape is the result's.
constexpr LaneOps kExtendS{{kNone, Op::VPMOVSXBWrr, Op::VPMOVSXWDrr, Op::VPMOVSXDQrr},
                           {kNone, Op::VPMOVSXBWrm, Op::VPMOVSXWDrm, Op::VPMOVSXDQrm},
                           false};
constexpr LaneOps kExtendU{{kNone, Op::VPMOVZXBWrr, Op::VPMOVZXWDrr, Op::VPMOVZXDQrr},
                           {kNone, Op::VPMOVZXBWrm, Op::VPMOVZXWDrm, Op::VPMOVZXDQrm},
                           false};

struct ShiftOps {
  Op ri[4], rr[4];
};
constexpr ShiftOps kShl{{kNone, Op::VPSLLWri, Op::VPSLLDri, Op::VPSLLQri},
                        {kNone, Op::VPSLLWrr, Op::VPSLLDrr, Op::VPSLLQrr}};
constexpr ShiftOps kShrS{{kNone, Op::VPSRAWri, Op::VPSRADri, kNone},
                         {kNone, Op::VPSRAWrr, Op::VPSRADrr, kNone}};
constexpr ShiftOps kShrU{{kNone, Op::VPSRLWri, Op::VPSRLDri, Op::VPSRLQri},
                         {kNone, Op::VPSRLWrr, Op::VPSRLDrr, Op::VPSRLQrr}};

// The operations that are one instruction for every shape that has them.
const LaneOps* simple_operation(IrOp op) {
  switch (op) {
    case IrOp::Viadd:
      return &kAddLanes;
    case IrOp::Visub:
      return &kSubLanes;
    case IrOp::ViaddSatS:
      return &kAddSatS;
    case IrOp::ViaddSatU:
      return &kAddSatU;
    case IrOp::VisubSatS:
      return &kSubSatS;
    case IrOp::VisubSatU:
      return &kSubSatU;
    case IrOp::ViminS:
      return &kMinLanesS;
    case IrOp::ViminU:
      return &kMinLanesU;
    case IrOp::VimaxS:
      return &kMaxLanesS;
    case IrOp::VimaxU:
      return &kMaxLanesU;
    case IrOp::ViavgrU:
      return &kAverage;
    case IrOp::VinarrowS:
      return &kNarrowS;
    case IrOp::VinarrowU:
      return &kNarrowU;
    default:
      return nullptr;
  }
}

constexpr size_t index(LaneShape shape) {
  return static_cast<size_t>(shape);
}
constexpr int32_t lane_bits(LaneShape shape) {
  return static_cast<int32_t>(8 * lane_bytes(shape));
}

}  // namespace

const LaneOps kMinLanesS{
    {Op::VPMINSBrr, Op::VPMINSWrr, Op::VPMINSDrr}, {Op::VPMINSBrm, Op::VPMINSWrm, Op::VPMINSDrm}, true};
const LaneOps kMinLanesU{
    {Op::VPMINUBrr, Op::VPMINUWrr, Op::VPMINUDrr}, {Op::VPMINUBrm, Op::VPMINUWrm, Op::VPMINUDrm}, true};
const LaneOps kMaxLanesS{
    {Op::VPMAXSBrr, Op::VPMAXSWrr, Op::VPMAXSDrr}, {Op::VPMAXSBrm, Op::VPMAXSWrm, Op::VPMAXSDrm}, true};
const LaneOps kMaxLanesU{
    {Op::VPMAXUBrr, Op::VPMAXUWrr, Op::VPMAXUDrr}, {Op::VPMAXUBrm, Op::VPMAXUWrm, Op::VPMAXUDrm}, true};
const LaneOps kEqualLanes{{Op::VPCMPEQBrr, Op::VPCMPEQWrr, Op::VPCMPEQDrr, Op::VPCMPEQQrr},
                          {Op::VPCMPEQBrm, Op::VPCMPEQWrm, Op::VPCMPEQDrm, Op::VPCMPEQQrm},
                          true};
const LaneOps kGreaterLanes{{Op::VPCMPGTBrr, Op::VPCMPGTWrr, Op::VPCMPGTDrr, Op::VPCMPGTQrr},
                            {Op::VPCMPGTBrm, Op::VPCMPGTWrm, Op::VPCMPGTDrm, Op::VPCMPGTQrm},
                            false};

void Isel::select_vector_integer(const Inst& inst) {
  const LaneShape shape = shape_of(inst.aux);
  if (const LaneOps* ops = simple_operation(inst.op)) return vector_binary(inst, (*ops)[shape]);
  switch (inst.op) {
    case IrOp::Vimul:
      return shape == LaneShape::I64x2 ? select_multiply_64(inst) : vector_binary(inst, kMulLanes[shape]);
    case IrOp::Viq15mulr:
      return select_q15_multiply(inst);
    case IrOp::Vidot:
      return vector_binary(inst, {Op::VPMADDWDrr, Op::VPMADDWDrm, true});
    case IrOp::Viabs:
      return select_vector_abs(inst);
    case IrOp::Vineg:
      return select_vector_neg(inst);
    case IrOp::Vipopcnt:
      return select_byte_popcnt(inst);
    case IrOp::Vishl:
    case IrOp::VishrS:
    case IrOp::VishrU:
      return select_vector_shift(inst);
    case IrOp::Vicmp:
      return compare_lanes(result(inst), shape, static_cast<IntCond>(variant_of(inst.aux)), arg(inst, 0),
                           arg(inst, 1));
    case IrOp::Vibitmask:
      return select_bitmask(inst);
    case IrOp::ViextendLowS:
    case IrOp::ViextendLowU:
    case IrOp::ViextendHighS:
    case IrOp::ViextendHighU:
      return select_extend_half(inst);
    case IrOp::ViextmulLowS:
    case IrOp::ViextmulLowU:
    case IrOp::ViextmulHighS:
    case IrOp::ViextmulHighU:
      return select_extending_multiply(inst);
    case IrOp::ViextaddPairwiseS:
    case IrOp::ViextaddPairwiseU:
      return select_add_pairs(inst);
    default:
      return select_vector_float(inst);
  }
}

// --- Constants

Reg Isel::ones_vector() {
  Reg any = vector_reg(), ones = vector_reg();
  b_.add(Op::Undef, any);
  b_.add(Op::VPCMPEQDrr, ones, any, any);
  return ones;
}

Reg Isel::vector_constant_reg(Vector value) {
  Reg reg = vector_reg();
  b_.add(Op::VMOVUPSrm, reg, literal(value.low, value.high, 16));
  b_.rematerializable();
  return reg;
}

// --- Arithmetic

// The cross products of the 32-bit halves, added, are the upper half's share.
void Isel::select_multiply_64(const Inst& inst) {
  Reg a = use(arg(inst, 0)), b = use(arg(inst, 1));
  Reg a_high = vector_reg(), b_high = vector_reg(), one = vector_reg(), other = vector_reg();
  Reg cross = vector_reg(), upper = vector_reg(), lower = vector_reg();
  b_.add(Op::VPSRLQri, a_high, a, 32);
  b_.add(Op::VPMULUDQrr, one, a_high, b);
  b_.add(Op::VPSRLQri, b_high, b, 32);
  b_.add(Op::VPMULUDQrr, other, a, b_high);
  b_.add(Op::VPADDQrr, cross, one, other);
  b_.add(Op::VPSLLQri, upper, cross, 32);
  b_.add(Op::VPMULUDQrr, lower, a, b);
  b_.add(Op::VPADDQrr, result(inst), lower, upper);
}

// The machine's rounding product is the one asked for but for -1 * -1, where it wraps to the least value,
// which no other product is: its bits are inverted there.
void Isel::select_q15_multiply(const Inst& inst) {
  Reg product = vector_reg(), wrapped = vector_reg();
  vector_binary(product, {Op::VPMULHRSWrr, Op::VPMULHRSWrm, true}, arg(inst, 0), arg(inst, 1));
  b_.add(Op::VPCMPEQWrm, wrapped, product, vector_literal(LaneShape::I16x8, 0x8000));
  b_.add(Op::VPXORrr, result(inst), product, wrapped);
}

void Isel::select_vector_abs(const Inst& inst) {
  const LaneShape shape = shape_of(inst.aux);
  if (shape != LaneShape::I64x2) return vector_unary(inst, kAbs.rr[index(shape)], kAbs.rm[index(shape)]);
  Reg from = use(arg(inst, 0)), negated = vector_reg();
  b_.add(Op::VPSUBQrr, negated, zero_xmm(Type::V128), from);
  b_.add(Op::VBLENDVPDrrr, result(inst), from, negated, from);  // by the sign
}

void Isel::select_vector_neg(const Inst& inst) {
  const VectorOps sub = kSubLanes[shape_of(inst.aux)];
  Reg zero = zero_xmm(Type::V128);
  if (std::optional<Address> memory = fold_vector(arg(inst, 0))) {
    mark_folded(b_.add(sub.rm, result(inst), zero, *memory));
  } else {
    b_.add(sub.rr, result(inst), zero, use(arg(inst, 0)));
  }
}

// Each half of a byte looks its count up among sixteen.
void Isel::select_byte_popcnt(const Inst& inst) {
  Reg from = use(arg(inst, 0));
  Reg table = vector_constant_reg({0x03020201'02010100, 0x04030302'03020201});
  const Address low_half = vector_literal(LaneShape::I8x16, 0x0f);
  Reg low = vector_reg(), shifted = vector_reg(), high = vector_reg();
  Reg low_count = vector_reg(), high_count = vector_reg();
  b_.add(Op::VPANDrm, low, from, low_half);
  b_.add(Op::VPSRLWri, shifted, from, 4);
  b_.add(Op::VPANDrm, high, shifted, low_half);
  b_.add(Op::VPSHUFBrr, low_count, table, low);
  b_.add(Op::VPSHUFBrr, high_count, table, high);
  b_.add(Op::VPADDBrr, result(inst), low_count, high_count);
}

// --- Shifts

void Isel::select_vector_shift(const Inst& inst) {
  const LaneShape shape = shape_of(inst.aux);
  const int32_t mask = lane_bits(shape) - 1;
  Value a = arg(inst, 0), count = arg(inst, 1);
  if (std::optional<uint64_t> known = constant(count)) {
    return shift_by_constant(inst, static_cast<int32_t>(*known) & mask);
  }
  const ShiftOps& ops = inst.op == IrOp::Vishl ? kShl : inst.op == IrOp::VishrS ? kShrS : kShrU;
  Reg from = use(a);
  if (shape == LaneShape::I8x16) return shift_bytes(inst, from, count);
  Reg amount = shift_amount(count, mask, 0);
  if (ops.rr[index(shape)] != kNone) {
    b_.add(ops.rr[index(shape)], result(inst), from, amount);
    return;
  }
  // An arithmetic shift of 64 bits: what was the sign is moved along with the rest, and extended.
  Reg shifted = vector_reg(), sign = vector_reg(), flipped = vector_reg();
  const uint64_t top = uint64_t{1} << 63;
  b_.add(Op::VPSRLQrr, shifted, from, amount);
  b_.add(Op::VPSRLQrr, sign, vector_constant_reg({top, top}), amount);
  b_.add(Op::VPXORrr, flipped, shifted, sign);
  b_.add(Op::VPSUBQrr, result(inst), flipped, sign);
}

// The machine does not take counts modulo the width.
Reg Isel::shift_amount(Value count, int32_t mask, int32_t addend) {
  Reg bits = use32(count), amount = vector_reg();
  if (upper_bound(count, kBoundDepth) > static_cast<uint64_t>(mask)) {
    Reg masked = b_.gpr32();
    b_.copy(masked, bits);
    b_.add(Op::AND32ri, masked, masked, mask);
    bits = masked;
  }
  if (addend != 0) {
    Reg sum = b_.gpr32();
    b_.add(Op::LEA64_32r, sum, Address::of(bits, addend));
    bits = sum;
  }
  b_.add(Op::VMOVDI2PDIrr, amount, bits);
  return amount;
}

// As words. What would cross from one byte into the next is cleared by the mask of the bits that stay in a
// shift to the left, which also are those that stay *before* one to the right.
void Isel::shift_bytes(const Inst& inst, Reg from, Value count) {
  if (inst.op == IrOp::VishrS) {
    // Each byte as the upper one of a word, which the shift makes the lower one.
    Reg amount = shift_amount(count, 7, 8);
    Reg halves[2];
    for (size_t i = 0; i < 2; ++i) {
      Reg word = vector_reg();
      halves[i] = vector_reg();
      b_.add(i == 0 ? Op::VPUNPCKLBWrr : Op::VPUNPCKHBWrr, word, from, from);
      b_.add(Op::VPSRAWrr, halves[i], word, amount);
    }
    b_.add(Op::VPACKSSWBrr, result(inst), halves[0], halves[1]);
    return;
  }
  Reg amount = shift_amount(count, 7, 0), words = vector_reg(), mask = vector_reg(), some = vector_reg();
  const bool left = inst.op == IrOp::Vishl;
  b_.add(Op::VPSLLWrr, words, ones_vector(), amount);
  b_.add(Op::VPBROADCASTBrr, mask, words);
  if (left) {
    b_.add(Op::VPSLLWrr, some, from, amount);
    b_.add(Op::VPANDrr, result(inst), some, mask);
  } else {
    b_.add(Op::VPANDrr, some, from, mask);
    b_.add(Op::VPSRLWrr, result(inst), some, amount);
  }
}

void Isel::shift_by_constant(const Inst& inst, int32_t count) {
  const LaneShape shape = shape_of(inst.aux);
  const bool bytes = shape == LaneShape::I8x16;
  Reg from = use(arg(inst, 0)), to = result(inst);
  if (count == 0) return b_.copy(to, from);
  if (inst.op == IrOp::VishrS && (bytes || shape == LaneShape::I64x2)) {
    return shift_signed_by_constant(inst, from, count);
  }
  const ShiftOps& ops = inst.op == IrOp::Vishl ? kShl : inst.op == IrOp::VishrS ? kShrS : kShrU;
  if (!bytes) {
    b_.add(ops.ri[index(shape)], to, from, count);
  } else if (inst.op == IrOp::Vishl && count == 1) {
    b_.add(Op::VPADDBrr, to, from, from);
  } else {
    const uint32_t mask = inst.op == IrOp::Vishl ? 0xff << count & 0xff : 0xff >> count;
    Reg words = vector_reg();
    b_.add(ops.ri[index(LaneShape::I16x8)], words, from, count);
    b_.add(Op::VPANDrm, to, words, vector_literal(shape, mask));
  }
}

// Where there is no arithmetic shift: the sign is moved along with the rest, and extended.
void Isel::shift_signed_by_constant(const Inst& inst, Reg from, int32_t count) {
  const LaneShape shape = shape_of(inst.aux);
  if (count == lane_bits(shape) - 1) {  // nothing but signs
    b_.add(kGreaterLanes.rr[index(shape)], result(inst), zero_xmm(Type::V128), from);
    return;
  }
  const Address sign = vector_literal(shape, uint64_t{1} << (lane_bits(shape) - 1 - count));
  Reg shifted = vector_reg(), flipped = vector_reg();
  if (shape == LaneShape::I8x16) {
    Reg words = vector_reg();
    b_.add(Op::VPSRLWri, words, from, count);
    b_.add(Op::VPANDrm, shifted, words, vector_literal(shape, 0xffu >> count));
  } else {
    b_.add(Op::VPSRLQri, shifted, from, count);
  }
  b_.add(Op::VPXORrm, flipped, shifted, sign);
  b_.add(kSubLanes.rm[index(shape)], result(inst), flipped, sign);
}

// --- Widths

void Isel::select_extend_half(const Inst& inst) {
  const LaneShape shape = shape_of(inst.aux);
  const bool is_signed = inst.op == IrOp::ViextendLowS || inst.op == IrOp::ViextendHighS;
  const bool high = inst.op == IrOp::ViextendHighS || inst.op == IrOp::ViextendHighU;
  const LaneOps& low = is_signed ? kExtendS : kExtendU;
  Value v = arg(inst, 0);
  if (high) {
    extend_high(result(inst), shape, is_signed, use(v));
  } else if (std::optional<Address> memory = fold_low_half(v)) {
    mark_folded(b_.add(low.rm[index(shape)], result(inst), *memory));
  } else {
    b_.add(low.rr[index(shape)], result(inst), use(v));
  }
}

// Beside zeros; or beside themselves, as upper halves to be shifted down.
void Isel::extend_high(Reg to, LaneShape shape, bool is_signed, Reg from) {
  static constexpr Op kUnpack[] = {kNone, Op::VPUNPCKHBWrr, Op::VPUNPCKHWDrr, Op::VPUNPCKHDQrr};
  const Op unpack = kUnpack[index(shape)];
  if (!is_signed) {
    b_.add(unpack, to, from, zero_xmm(Type::V128));
  } else if (shape == LaneShape::I64x2) {
    Reg signs = vector_reg();
    b_.add(Op::VPSRADri, signs, from, 31);
    b_.add(unpack, to, from, signs);
  } else {
    Reg twice = vector_reg();
    b_.add(unpack, twice, from, from);
    b_.add(kShrS.ri[index(shape)], to, twice, lane_bits(shape) / 2);
  }
}

void Isel::select_extending_multiply(const Inst& inst) {
  const bool is_signed = inst.op == IrOp::ViextmulLowS || inst.op == IrOp::ViextmulHighS;
  const bool high = inst.op == IrOp::ViextmulHighS || inst.op == IrOp::ViextmulHighU;
  const LaneShape shape = shape_of(inst.aux);
  Reg a = use(arg(inst, 0)), b = arg(inst, 0) == arg(inst, 1) ? a : use(arg(inst, 1));
  Reg one = vector_reg(), other = vector_reg();
  if (shape == LaneShape::I32x4) {
    // Both halves of all products, put together.
    b_.add(Op::VPMULLWrr, one, a, b);
    b_.add(is_signed ? Op::VPMULHWrr : Op::VPMULHUWrr, other, a, b);
    b_.add(high ? Op::VPUNPCKHWDrr : Op::VPUNPCKLWDrr, result(inst), one, other);
    return;
  }
  auto widen = [&](Reg to, Reg from) {
    if (shape == LaneShape::I64x2) {  // PMULDQ extends the even lanes itself
      b_.add(Op::VPSHUFDri, to, from, high ? kHighTwice : kLowTwice);
    } else if (high) {
      extend_high(to, shape, is_signed, from);
    } else {
      b_.add((is_signed ? kExtendS : kExtendU).rr[index(shape)], to, from);
    }
  };
  widen(one, a);
  if (a == b) {
    other = one;
  } else {
    widen(other, b);
  }
  Op multiply = shape == LaneShape::I16x8 ? Op::VPMULLWrr : is_signed ? Op::VPMULDQrr : Op::VPMULUDQrr;
  b_.add(multiply, result(inst), one, other);
}

// Products with ones, which the machine adds in pairs. PMADDUBSW takes its first operand as unsigned, its
// second one as signed.
void Isel::select_add_pairs(const Inst& inst) {
  Value v = arg(inst, 0);
  Reg to = result(inst);
  const bool is_signed = inst.op == IrOp::ViextaddPairwiseS;
  if (shape_of(inst.aux) == LaneShape::I16x8) {
    if (!is_signed) {
      b_.add(Op::VPMADDUBSWrm, to, use(v), vector_literal(LaneShape::I8x16, 1));
      return;
    }
    Reg ones = vector_constant_reg({0x01010101'01010101, 0x01010101'01010101});
    if (std::optional<Address> memory = fold_vector(v)) {
      mark_folded(b_.add(Op::VPMADDUBSWrm, to, ones, *memory));
    } else {
      b_.add(Op::VPMADDUBSWrr, to, ones, use(v));
    }
  } else if (is_signed) {
    b_.add(Op::VPMADDWDrm, to, use(v), vector_literal(LaneShape::I16x8, 1));
  } else {
    Reg from = use(v), even = vector_reg(), odd = vector_reg();
    b_.add(Op::VPANDrm, even, from, vector_literal(LaneShape::I32x4, 0xffff));
    b_.add(Op::VPSRLDri, odd, from, 16);
    b_.add(Op::VPADDDrr, to, even, odd);
  }
}

}  // namespace wago::codegen::x64
