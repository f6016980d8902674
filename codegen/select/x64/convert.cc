// Conversions between integers and floats, and between the floats.

#include <bit>

#include "codegen/select/x64/isel.h"

namespace wago::codegen::x64 {

using base::TrapCode;

namespace {

constexpr double kTwo31 = 2147483648.0, kTwo63 = 9223372036854775808.0, kTwo64 = 18446744073709551616.0;

uint64_t bits_of(Type type, double value) {
  return type == Type::F64 ? std::bit_cast<uint64_t>(value)
                           : std::bit_cast<uint32_t>(static_cast<float>(value));
}

}  // namespace

Address Isel::float_literal(Type type, double value) {
  return literal(bits_of(type, value), 0, static_cast<uint8_t>(bytes_of(type)));
}

// Zero, for the operand whose upper bits a conversion passes through: breaks the dependency on the register's
// last value.
Reg Isel::zero_xmm(Type type) {
  Reg zero = new_reg(type);
  define_constant(zero, type, 0);
  return zero;
}

// --- Integer to float

void Isel::select_convert_from_int(const Inst& inst, bool is_signed) {
  Value a = arg(inst, 0);
  bool wide = is64(a), to_f64 = inst.type == Type::F64;
  Reg to = result(inst);
  if (wide && !is_signed) return to_f64 ? convert_u64_to_f64(to, use(a)) : convert_u64_to_f32(to, use(a));
  // An unsigned 32-bit value is a non-negative 64-bit one.
  Reg from = wide || !is_signed ? use(a) : use32(a);
  Op op = wide || !is_signed ? (to_f64 ? Op::VCVTSI642SDrr : Op::VCVTSI642SSrr)
                             : (to_f64 ? Op::VCVTSI2SDrr : Op::VCVTSI2SSrr);
  b_.add(op, to, zero_xmm(inst.type), from);
}

// Each half of the integer becomes the low mantissa bits of a double, 2^52 + low and 2^84 + high * 2^32;
// taking 2^52 and 2^84 away is exact, and adding the halves rounds once.
void Isel::convert_u64_to_f64(Reg to, Reg from) {
  Reg bits = b_.xmm(16), halves = b_.xmm(16), exact = b_.xmm(16), high = b_.xmm(16);
  b_.add(Op::VMOV64toPQIrr, bits, from);
  b_.add(Op::VUNPCKLPSrm, halves, bits, literal(0x45300000'43300000, 0, 16));
  b_.add(Op::VSUBPDrm, exact, halves, literal(0x43300000'00000000, 0x45300000'00000000, 16));
  b_.add(Op::VUNPCKHPDrr, high, exact, exact);
  b_.add(Op::VADDSDrr, to, exact, high);
}

// From 2^63 on the value is halved, its lowest bit kept sticky so that rounding is unchanged, and the
// exponent of the result raised by one.
void Isel::convert_u64_to_f32(Reg to, Reg from) {
  Reg high = b_.gpr64(), half = b_.gpr64(), sticky = b_.gpr64(), bits = b_.gpr32(), rounded = b_.xmm(4);
  b_.copy(high, from);
  b_.add(Op::SHR64ri, high, high, 63);
  b_.add(Op::SHRX64rr, half, from, high);
  b_.copy(sticky, from);
  b_.add(Op::AND64rr, sticky, sticky, high);
  b_.add(Op::OR64rr, half, half, sticky);
  b_.add(Op::VCVTSI642SSrr, rounded, zero_xmm(Type::F32), half);
  b_.add(Op::VMOVPDI2DIrr, bits, rounded);
  b_.add(Op::SHL64ri, high, high, 23);
  b_.add(Op::ADD32rr, bits, bits, high);
  b_.add(Op::VMOVDI2PDIrr, to, bits);
}

// --- Float to integer, trapping

void Isel::compare_floats(Type type, Reg a, const Address& b) {
  b_.add(type == Type::F64 ? Op::VUCOMISDrm : Op::VUCOMISSrm, a, b);
}

void Isel::select_truncate(const Inst& inst, bool is_signed) {
  Value a = arg(inst, 0);
  Type from_type = type_of(a);
  bool from_f64 = from_type == Type::F64;
  Reg from = use(a), to = result(inst);
  Op truncate = from_f64 ? Op::VCVTTSD2SI64rr : Op::VCVTTSS2SI64rr;
  if (!is64(inst)) {
    // Into 64 bits; what is not the extension of 32 bits, the machine's "indefinite" included, is out of
    // range.
    b_.add(from_f64 ? Op::VUCOMISDrr : Op::VUCOMISSrr, from, from);
    b_.trap_if(Cc::P, TrapCode::InvalidConversionToInteger);
    Reg whole = b_.gpr64(), extended = b_.gpr64();
    b_.add(truncate, whole, from);
    if (is_signed) {
      b_.add(Op::MOVSX64rr32, extended, whole);
      b_.add(Op::MOV32rr, to, whole);
    } else {
      b_.add(Op::MOV32rr, to, whole);
      extended = to;
    }
    b_.add(Op::CMP64rr, extended, whole);
    b_.trap_if(Cc::Ne, TrapCode::IntegerOverflow);
    return;
  }
  // In range: below 2^63 or 2^64, and from -2^63 on or above -1.
  compare_floats(from_type, from, float_literal(from_type, is_signed ? kTwo63 : kTwo64));
  b_.trap_if(Cc::P, TrapCode::InvalidConversionToInteger);
  b_.trap_if(Cc::Ae, TrapCode::IntegerOverflow);
  compare_floats(from_type, from, float_literal(from_type, is_signed ? -kTwo63 : -1.0));
  b_.trap_if(is_signed ? Cc::B : Cc::Be, TrapCode::IntegerOverflow);
  if (is_signed) {
    b_.add(truncate, to, from);
  } else {
    truncate_u64(to, from, from_type);
  }
}

// For 0 <= x < 2^64. The signed conversion is right below 2^63 and gives exactly bit 63 from there on; then
// the conversion of x - 2^63 has the other bits.
void Isel::truncate_u64(Reg to, Reg from, Type from_type) {
  bool from_f64 = from_type == Type::F64;
  Op truncate = from_f64 ? Op::VCVTTSD2SI64rr : Op::VCVTTSS2SI64rr;
  Reg rest = new_reg(from_type), low = b_.gpr64(), large = b_.gpr64(), other = b_.gpr64();
  b_.add(truncate, low, from);
  b_.add(from_f64 ? Op::VSUBSDrm : Op::VSUBSSrm, rest, from, float_literal(from_type, kTwo63));
  b_.add(truncate, other, rest);
  b_.copy(large, low);
  b_.add(Op::SAR64ri, large, large, 63);
  b_.add(Op::AND64rr, large, large, other);
  b_.copy(to, low);
  b_.add(Op::OR64rr, to, to, large);
}

// --- Float to integer, saturating

void Isel::select_truncate_saturating(const Inst& inst, bool is_signed) {
  Value a = arg(inst, 0);
  Type from_type = type_of(a);
  Reg from = use(a), to = result(inst);
  if (is_signed) return saturate_signed(to, from, from_type, is64(inst));
  if (is64(inst)) return saturate_u64(to, from, from_type);
  // Every 32-bit integer is a double: clamp there.
  if (from_type == Type::F32) {
    Reg widened = b_.xmm(8);
    b_.add(Op::VCVTSS2SDrr, widened, from, from);
    from = widened;
  }
  Reg number = b_.xmm(8), below = b_.xmm(8), whole = b_.gpr64();
  b_.add(Op::VMAXSDrr, number, from, zero_xmm(Type::F64));  // NaN: the second operand
  b_.add(Op::VMINSDrm, below, number, float_literal(Type::F64, 4294967295.0));
  b_.add(Op::VCVTTSD2SI64rr, whole, below);
  b_.copy(to, whole);
}

// Out of range the machine gives the least integer, which is wrong for large values and for NaN.
void Isel::saturate_signed(Reg to, Reg from, Type from_type, bool wide) {
  static constexpr Op kTruncate[2][2] = {{Op::VCVTTSS2SIrr, Op::VCVTTSS2SI64rr},
                                         {Op::VCVTTSD2SIrr, Op::VCVTTSD2SI64rr}};
  Type type = wide ? Type::I64 : Type::I32;
  Op move = wide ? Op::CMOV64rr : Op::CMOV32rr;
  Reg whole = new_reg(type);
  b_.add(kTruncate[from_type == Type::F64][wide], whole, from);
  Reg largest = constant_reg(type, wide ? INT64_MAX : INT32_MAX), zero = constant_reg(type, 0);
  compare_floats(from_type, from, float_literal(from_type, wide ? kTwo63 : kTwo31));
  b_.copy(to, whole);
  b_.add(move, to, to, largest, Cc::Ae);  // not of NaN: unordered sets the carry
  b_.add(move, to, to, zero, Cc::P);
}

void Isel::saturate_u64(Reg to, Reg from, Type from_type) {
  bool from_f64 = from_type == Type::F64;
  Reg number = new_reg(from_type), whole = b_.gpr64();
  b_.add(from_f64 ? Op::VMAXSDrr : Op::VMAXSSrr, number, from,
         zero_xmm(from_type));  // NaN: the second operand
  truncate_u64(whole, number, from_type);
  Reg largest = constant_reg(Type::I64, UINT64_MAX);
  compare_floats(from_type, number, float_literal(from_type, kTwo64));
  conditional_move(to, {Condition::Kind::One, Cc::Ae, Cc::Ae}, largest, whole, true);
}

// --- Between floats, and bit patterns

void Isel::select_precision(const Inst& inst) {
  Reg from = use(arg(inst, 0));
  b_.add(inst.op == IrOp::Promote ? Op::VCVTSS2SDrr : Op::VCVTSD2SSrr, result(inst), from, from);
}

void Isel::select_bitcast(const Inst& inst) {
  Value a = arg(inst, 0);
  if (std::optional<Address> memory = fold_load(a)) {
    mark_folded(load(result(inst), inst.type, Access::Full, *memory));
    return;
  }
  Op op = inst.type == Type::I32   ? Op::VMOVPDI2DIrr
          : inst.type == Type::I64 ? Op::VMOVPQIto64rr
          : inst.type == Type::F32 ? Op::VMOVDI2PDIrr
                                   : Op::VMOV64toPQIrr;
  b_.add(op, result(inst), is_int(type_of(a)) ? use_int(a) : use(a));
}

}  // namespace wago::codegen::x64
