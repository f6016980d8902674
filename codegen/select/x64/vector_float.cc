// Float lanes of vectors. NaNs as in float.cc: packed arithmetic treats them as scalar arithmetic does.

#include <bit>

#include "codegen/select/x64/isel.h"

namespace wago::codegen::x64 {

namespace {

// An operation on f32x4 and on f64x2.
struct FloatVectorOps {
  VectorOps f32, f64;

  constexpr const VectorOps& operator[](LaneShape shape) const {
    return shape == LaneShape::F64x2 ? f64 : f32;
  }
};
constexpr FloatVectorOps kAddLanes{{Op::VADDPSrr, Op::VADDPSrm, true}, {Op::VADDPDrr, Op::VADDPDrm, true}};
constexpr FloatVectorOps kSubLanes{{Op::VSUBPSrr, Op::VSUBPSrm}, {Op::VSUBPDrr, Op::VSUBPDrm}};
constexpr FloatVectorOps kMulLanes{{Op::VMULPSrr, Op::VMULPSrm, true}, {Op::VMULPDrr, Op::VMULPDrm, true}};
constexpr FloatVectorOps kDivLanes{{Op::VDIVPSrr, Op::VDIVPSrm}, {Op::VDIVPDrr, Op::VDIVPDrm}};
constexpr FloatVectorOps kMinLanes{{Op::VMINPSrr, Op::VMINPSrm}, {Op::VMINPDrr, Op::VMINPDrm}};
constexpr FloatVectorOps kMaxLanes{{Op::VMAXPSrr, Op::VMAXPSrm}, {Op::VMAXPDrr, Op::VMAXPDrm}};
constexpr FloatVectorOps kSqrtLanes{{Op::VSQRTPSr, Op::VSQRTPSm}, {Op::VSQRTPDr, Op::VSQRTPDm}};

constexpr uint64_t kTwo31F32 = 0x4f000000;  // 2^31 as an f32
constexpr uint64_t kTwo52 = 0x43300000'00000000;

}  // namespace

void Isel::select_vector_float(const Inst& inst) {
  const LaneShape shape = shape_of(inst.aux);
  switch (inst.op) {
    case IrOp::Vfadd:
      return vector_binary(inst, kAddLanes[shape]);
    case IrOp::Vfsub:
      return vector_binary(inst, kSubLanes[shape]);
    case IrOp::Vfmul:
      return vector_binary(inst, kMulLanes[shape]);
    case IrOp::Vfdiv:
      return vector_binary(inst, kDivLanes[shape]);
    case IrOp::Vfmin:
    case IrOp::Vfmax:
      return select_lane_min_max(inst);
    // The machine's are b < a ? b : a and b > a ? b : a of operands (b, a).
    case IrOp::Vfpmin:
      return vector_binary(result(inst), kMinLanes[shape], arg(inst, 1), arg(inst, 0));
    case IrOp::Vfpmax:
      return vector_binary(result(inst), kMaxLanes[shape], arg(inst, 1), arg(inst, 0));
    case IrOp::Vfabs:
      b_.add(Op::VANDPSrm, result(inst), use(arg(inst, 0)), sign_mask(lane_type(shape), false));
      return;
    case IrOp::Vfneg:
      b_.add(Op::VXORPSrm, result(inst), use(arg(inst, 0)), sign_mask(lane_type(shape), true));
      return;
    case IrOp::Vfsqrt:
      return vector_unary(inst, kSqrtLanes[shape].rr, kSqrtLanes[shape].rm);
    case IrOp::Vfceil:
    case IrOp::Vffloor:
    case IrOp::Vftrunc:
    case IrOp::Vfnearest:
      return select_lane_round(inst);
    case IrOp::Vfcmp:
      return compare_float_lanes(inst);
    case IrOp::VtruncSatS:
      return shape == LaneShape::F64x2 ? saturate_f64_lanes_signed(inst) : saturate_f32_lanes_signed(inst);
    case IrOp::VtruncSatU:
      return shape == LaneShape::F64x2 ? saturate_f64_lanes_unsigned(inst)
                                       : saturate_f32_lanes_unsigned(inst);
    case IrOp::VconvertS:
    case IrOp::VconvertU:
      return select_convert_lanes(inst, inst.op == IrOp::VconvertS);
    case IrOp::Vdemote:
      return vector_unary(inst, Op::VCVTPD2PSrr, Op::VCVTPD2PSrm);
    case IrOp::Vpromote:
      return convert_low_half(inst, Op::VCVTPS2PDrr, Op::VCVTPS2PDrm);
    default:
      WAGO_UNREACHABLE("operation without a pattern");
  }
}

// As select_min_max() does it.
void Isel::select_lane_min_max(const Inst& inst) {
  const LaneShape shape = shape_of(inst.aux);
  const bool is_max = inst.op == IrOp::Vfmax, wide = shape == LaneShape::F64x2;
  const Op op = (is_max ? kMaxLanes : kMinLanes)[shape].rr;
  Reg a = use(arg(inst, 0)), b = use(arg(inst, 1));
  Reg one = vector_reg(), other = vector_reg(), ordered = vector_reg();
  Reg sum = vector_reg(), is_nan = vector_reg();
  b_.add(op, one, a, b);
  b_.add(op, other, b, a);
  b_.add(kAddLanes[shape].rr, sum, a, b);
  b_.add(wide ? Op::VCMPPDrri : Op::VCMPPSrri, is_nan, a, b, kUnordered);
  b_.add(is_max ? Op::VANDPSrr : Op::VORPSrr, ordered, one, other);
  b_.add(wide ? Op::VBLENDVPDrrr : Op::VBLENDVPSrrr, result(inst), ordered, sum, is_nan);
}

void Isel::select_lane_round(const Inst& inst) {
  const bool wide = shape_of(inst.aux) == LaneShape::F64x2;
  const int32_t mode = rounding_mode(inst.op);
  Value v = arg(inst, 0);
  if (std::optional<Address> memory = fold_vector(v)) {
    mark_folded(b_.add(wide ? Op::VROUNDPDmi : Op::VROUNDPSmi, result(inst), *memory, mode));
  } else {
    b_.add(wide ? Op::VROUNDPDri : Op::VROUNDPSri, result(inst), use(v), mode);
  }
}

// --- Floats to integers. Out of range the machine gives the least integer.

// NaN becomes zero first; where the least integer stands for too large a number, its inverse is the greatest.
void Isel::saturate_f32_lanes_signed(const Inst& inst) {
  Reg from = use(arg(inst, 0));
  Reg is_number = vector_reg(), number = vector_reg(), whole = vector_reg(), large = vector_reg();
  b_.add(Op::VCMPPSrri, is_number, from, from, compare_predicate(FloatCond::Eq));
  b_.add(Op::VANDPSrr, number, from, is_number);
  b_.add(Op::VCVTTPS2DQrr, whole, number);
  b_.add(Op::VCMPPSrmi, large, from, vector_literal(LaneShape::F32x4, kTwo31F32),
         compare_predicate(FloatCond::Ge));
  b_.add(Op::VPXORrr, result(inst), whole, large);
}

// Below 2^31 the signed conversion is right. From there on it gives 2^31, and the conversion of what exceeds
// that, saturated in the same way, is what to add: it is negative for smaller numbers, and then not added.
void Isel::saturate_f32_lanes_unsigned(const Inst& inst) {
  Reg from = use(arg(inst, 0)), zero = zero_xmm(Type::V128);
  Reg number = vector_reg(), low = vector_reg(), excess = vector_reg(), rest = vector_reg();
  Reg large = vector_reg(), saturated = vector_reg(), high = vector_reg();
  const Address limit = vector_literal(LaneShape::F32x4, kTwo31F32);
  b_.add(Op::VMAXPSrr, number, from, zero);  // NaN: the second operand
  b_.add(Op::VCVTTPS2DQrr, low, number);
  b_.add(Op::VSUBPSrm, excess, number, limit);
  b_.add(Op::VCVTTPS2DQrr, rest, excess);
  b_.add(Op::VCMPPSrmi, large, excess, limit, compare_predicate(FloatCond::Ge));
  b_.add(Op::VPXORrr, saturated, rest, large);
  b_.add(Op::VPMAXSDrr, high, saturated, zero);
  b_.add(Op::VPADDDrr, result(inst), low, high);
}

// Every 32-bit integer is a double: clamp there.
void Isel::saturate_f64_lanes_signed(const Inst& inst) {
  Reg from = use(arg(inst, 0)), is_number = vector_reg(), largest = vector_reg(), number = vector_reg();
  b_.add(Op::VCMPPDrri, is_number, from, from, compare_predicate(FloatCond::Eq));
  b_.add(Op::VANDPSrm, largest, is_number,
         vector_literal(LaneShape::F64x2, std::bit_cast<uint64_t>(2147483647.0)));
  b_.add(Op::VMINPDrr, number, from, largest);  // NaN: the second operand, zero
  b_.add(Op::VCVTTPD2DQrr, result(inst), number);
}

// Added to 2^52, a whole number is the low mantissa bits.
void Isel::saturate_f64_lanes_unsigned(const Inst& inst) {
  Reg from = use(arg(inst, 0)), zero = zero_xmm(Type::V128);
  Reg number = vector_reg(), clamped = vector_reg(), whole = vector_reg(), bits = vector_reg();
  b_.add(Op::VMAXPDrr, number, from, zero);  // NaN: the second operand
  b_.add(Op::VMINPDrm, clamped, number,
         vector_literal(LaneShape::F64x2, std::bit_cast<uint64_t>(4294967295.0)));
  b_.add(Op::VROUNDPDri, whole, clamped, rounding_mode(IrOp::Vftrunc));
  b_.add(Op::VADDPDrm, bits, whole, vector_literal(LaneShape::F64x2, kTwo52));
  constexpr int32_t kEvenLanes = 0 | 2 << 2 | 0 << 4 | 2 << 6;
  b_.add(Op::VSHUFPSrri, result(inst), bits, zero, kEvenLanes);
}

// --- Integers to floats, and between floats

void Isel::select_convert_lanes(const Inst& inst, bool is_signed) {
  const bool wide = shape_of(inst.aux) == LaneShape::F64x2;
  if (is_signed && wide) return convert_low_half(inst, Op::VCVTDQ2PDrr, Op::VCVTDQ2PDrm);
  if (is_signed) return vector_unary(inst, Op::VCVTDQ2PSrr, Op::VCVTDQ2PSrm);
  Reg from = use(arg(inst, 0)), to = result(inst);
  if (wide) {
    // The low mantissa bits of 2^52 + x.
    Reg bits = vector_reg();
    b_.add(Op::VUNPCKLPSrm, bits, from, vector_literal(LaneShape::I32x4, kTwo52 >> 32));
    b_.add(Op::VSUBPDrm, to, bits, vector_literal(LaneShape::F64x2, kTwo52));
    return;
  }
  // Each half the low mantissa bits of a float, 2^23 + low and 2^39 + high * 2^16; taking 2^39 + 2^23 away
  // from the latter is exact, and adding the halves rounds once.
  constexpr int32_t kOddWords = 0xaa;
  constexpr uint64_t kTwo23 = 0x4b000000, kTwo39 = 0x53000000, kTwo39And23 = 0x53000080;
  Reg low = vector_reg(), shifted = vector_reg(), high = vector_reg(), exact = vector_reg();
  b_.add(Op::VPBLENDWrmi, low, from, vector_literal(LaneShape::I32x4, kTwo23), kOddWords);
  b_.add(Op::VPSRLDri, shifted, from, 16);
  b_.add(Op::VPBLENDWrmi, high, shifted, vector_literal(LaneShape::I32x4, kTwo39), kOddWords);
  b_.add(Op::VSUBPSrm, exact, high, vector_literal(LaneShape::I32x4, kTwo39And23));
  b_.add(Op::VADDPSrr, to, low, exact);
}

void Isel::convert_low_half(const Inst& inst, Op rr, Op rm) {
  Value v = arg(inst, 0);
  if (std::optional<Address> memory = fold_low_half(v)) {
    mark_folded(b_.add(rm, result(inst), *memory));
  } else {
    b_.add(rr, result(inst), use(v));
  }
}

}  // namespace wago::codegen::x64
