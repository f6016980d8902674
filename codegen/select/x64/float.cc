// Floating point arithmetic. Results follow the specification's NaN rules: an operation on canonical NaNs
// gives a canonical one, any other NaN comes out quiet. SSE arithmetic does both by itself.

#include "codegen/select/x64/isel.h"

namespace wago::codegen::x64 {

int32_t rounding_mode(IrOp op) {
  constexpr int32_t kQuiet = 8;  // no inexact exception
  constexpr int32_t kToNearest = kQuiet | 0, kDown = kQuiet | 1, kUp = kQuiet | 2, kToZero = kQuiet | 3;
  switch (op) {
    case IrOp::Fceil:
    case IrOp::Vfceil:
      return kUp;
    case IrOp::Ffloor:
    case IrOp::Vffloor:
      return kDown;
    case IrOp::Ftrunc:
    case IrOp::Vftrunc:
      return kToZero;
    default:
      return kToNearest;
  }
}

const FloatOps kFloatAdd{{Op::VADDSSrr, Op::VADDSDrr}, {Op::VADDSSrm, Op::VADDSDrm}, true};
const FloatOps kFloatSub{{Op::VSUBSSrr, Op::VSUBSDrr}, {Op::VSUBSSrm, Op::VSUBSDrm}, false};
const FloatOps kFloatMul{{Op::VMULSSrr, Op::VMULSDrr}, {Op::VMULSSrm, Op::VMULSDrm}, true};
const FloatOps kFloatDiv{{Op::VDIVSSrr, Op::VDIVSDrr}, {Op::VDIVSSrm, Op::VDIVSDrm}, false};

// A memory operand for a constant or for a load that may be folded.
std::optional<Address> Isel::fold_float(Value v) {
  const Inst* def = ir_->def_of(v);
  if (def && def->op == IrOp::Fconst) {
    folded_access_ = nullptr;
    return literal(def->imm, 0, static_cast<uint8_t>(bytes_of(def->type)));
  }
  return fold_load(v);
}

bool Isel::can_fold_float(Value v) const {
  const Inst* def = ir_->def_of(v);
  return (def && def->op == IrOp::Fconst) || can_fold_load(v);
}

void Isel::select_float_binary(const Inst& inst, const FloatOps& ops) {
  Value a = arg(inst, 0), b = arg(inst, 1);
  if (ops.commutative && can_fold_float(a) && !can_fold_float(b)) std::swap(a, b);
  size_t wide = inst.type == Type::F64;
  Reg left = use(a);
  if (std::optional<Address> memory = fold_float(b)) {
    mark_folded(b_.add(ops.rm[wide], result(inst), left, *memory));
  } else {
    b_.add(ops.rr[wide], result(inst), left, use(b));
  }
}

// MINSD gives its second operand for NaN and for two zeros, whatever their signs. Both orders together differ
// just then: min(-0, +0) is their OR, max is their AND, and equal or ordered operands give the same value
// twice. A NaN comes from the sum of the operands, which is quiet and canonical where it must be.
void Isel::select_min_max(const Inst& inst, bool is_max) {
  bool wide = inst.type == Type::F64;
  Reg a = use(arg(inst, 0)), b = use(arg(inst, 1));
  Op op = is_max ? (wide ? Op::VMAXSDrr : Op::VMAXSSrr) : (wide ? Op::VMINSDrr : Op::VMINSSrr);
  Op combine = is_max ? Op::VANDPSrr : Op::VORPSrr;
  Reg one = new_reg(inst.type), other = new_reg(inst.type), ordered = new_reg(inst.type);
  Reg sum = new_reg(inst.type), is_nan = new_reg(inst.type);
  b_.add(op, one, a, b);
  b_.add(op, other, b, a);
  b_.add(wide ? Op::VADDSDrr : Op::VADDSSrr, sum, a, b);
  b_.add(wide ? Op::VCMPSDrri : Op::VCMPSSrri, is_nan, a, b, kUnordered);
  b_.add(combine, ordered, one, other);
  b_.add(wide ? Op::VBLENDVPDrrr : Op::VBLENDVPSrrr, result(inst), ordered, sum, is_nan);
}

// The sign bit, or all bits but it, of every lane.
Address Isel::sign_mask(Type type, bool sign) {
  uint64_t bits = type == Type::F64 ? uint64_t{1} << 63 : uint64_t{0x80000000'80000000};
  if (!sign) bits = ~bits;
  return literal(bits, bits, 16);
}

void Isel::select_sign(const Inst& inst) {
  bool negate = inst.op == IrOp::Fneg;
  Reg from = use(arg(inst, 0));
  b_.add(negate ? Op::VXORPSrm : Op::VANDPSrm, result(inst), from, sign_mask(inst.type, negate));
}

void Isel::select_copysign(const Inst& inst) {
  Reg magnitude = new_reg(inst.type), sign = new_reg(inst.type);
  b_.add(Op::VANDPSrm, magnitude, use(arg(inst, 0)), sign_mask(inst.type, false));
  b_.add(Op::VANDPSrm, sign, use(arg(inst, 1)), sign_mask(inst.type, true));
  b_.add(Op::VORPSrr, result(inst), magnitude, sign);
}

// The operand that only passes upper bits through is the source itself: no dependency on anything else.
void Isel::select_sqrt(const Inst& inst) {
  Reg from = use(arg(inst, 0));
  b_.add(inst.type == Type::F64 ? Op::VSQRTSDr : Op::VSQRTSSr, result(inst), from, from);
}

void Isel::select_round(const Inst& inst) {
  const int32_t mode = rounding_mode(inst.op);
  Reg from = use(arg(inst, 0));
  b_.add(inst.type == Type::F64 ? Op::VROUNDSDri : Op::VROUNDSSri, result(inst), from, from, mode);
}

}  // namespace wago::codegen::x64
