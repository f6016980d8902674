// Integer arithmetic, logic, shifts and counts.

#include "codegen/select/x64/isel.h"

namespace wago::codegen::x64 {

using base::TrapCode;

const AluOps kAdd{{Op::ADD32rr, Op::ADD64rr},
                  {Op::ADD32rm, Op::ADD64rm},
                  {Op::ADD32ri, Op::ADD64ri32},
                  {Op::ADD32mr, Op::ADD64mr},
                  {Op::ADD32mi, Op::ADD64mi32}};
const AluOps kSub{{Op::SUB32rr, Op::SUB64rr},
                  {Op::SUB32rm, Op::SUB64rm},
                  {Op::SUB32ri, Op::SUB64ri32},
                  {Op::SUB32mr, Op::SUB64mr},
                  {Op::SUB32mi, Op::SUB64mi32}};
const AluOps kAnd{{Op::AND32rr, Op::AND64rr},
                  {Op::AND32rm, Op::AND64rm},
                  {Op::AND32ri, Op::AND64ri32},
                  {Op::AND32mr, Op::AND64mr},
                  {Op::AND32mi, Op::AND64mi32}};
const AluOps kOr{{Op::OR32rr, Op::OR64rr},
                 {Op::OR32rm, Op::OR64rm},
                 {Op::OR32ri, Op::OR64ri32},
                 {Op::OR32mr, Op::OR64mr},
                 {Op::OR32mi, Op::OR64mi32}};
const AluOps kXor{{Op::XOR32rr, Op::XOR64rr},
                  {Op::XOR32rm, Op::XOR64rm},
                  {Op::XOR32ri, Op::XOR64ri32},
                  {Op::XOR32mr, Op::XOR64mr},
                  {Op::XOR32mi, Op::XOR64mi32}};
const AluOps kCmp{{Op::CMP32rr, Op::CMP64rr},
                  {Op::CMP32rm, Op::CMP64rm},
                  {Op::CMP32ri, Op::CMP64ri32},
                  {Op::CMP32mr, Op::CMP64mr},
                  {Op::CMP32mi, Op::CMP64mi32}};

const AluOps* alu_of(IrOp op) {
  switch (op) {
    case IrOp::Iadd:
      return &kAdd;
    case IrOp::Isub:
      return &kSub;
    case IrOp::Iand:
      return &kAnd;
    case IrOp::Ior:
      return &kOr;
    case IrOp::Ixor:
      return &kXor;
    default:
      return nullptr;
  }
}

// --- Two operands, the first of them overwritten

// Of a commutative pair, the one to overwrite: one that dies here, and rather a loop's variable, so that it
// stays in place.
bool Isel::better_destination(Value candidate, Value than) const {
  auto rank = [&](Value v) {
    return (values_[v.index()].uses == 1 ? 2 : 0) + (ir_->value(v).is_param ? 1 : 0);
  };
  return rank(candidate) > rank(than);
}

void Isel::select_alu(const Inst& inst, const AluOps& ops, bool commutative) {
  Value a = arg(inst, 0), b = arg(inst, 1);
  size_t wide = is64(inst);
  if (commutative && !imm32(b)) {
    if (imm32(a) || (can_fold_load(a) && !can_fold_load(b))) {
      std::swap(a, b);
    } else if (!can_fold_load(b) && better_destination(b, a)) {
      std::swap(a, b);
    }
  }
  Reg to = result(inst);
  if (std::optional<int32_t> immediate = imm32(b)) {
    copy_value(to, a);
    b_.add(ops.ri[wide], to, to, *immediate);
  } else if (std::optional<Address> memory = fold_load(b)) {
    copy_value(to, a);
    mark_folded(b_.add(ops.rm[wide], to, to, *memory));
  } else {
    Reg right = use_int(b);
    copy_value(to, a);
    b_.add(ops.rr[wide], to, to, right);
  }
}

void Isel::lea(const Inst& inst, const Address& address) {
  b_.add(is64(inst) ? Op::LEA64r : Op::LEA64_32r, result(inst), address);
}

void Isel::select_add_constant(const Inst& inst, Value a, int32_t addend) {
  const Inst* shift = flags_wanted(inst) ? nullptr : small_shift(a);
  if (shift) {
    fold(a);
    uint8_t scale = static_cast<uint8_t>(1u << *constant(arg(*shift, 1)));
    return lea(inst, Address::scaled(use_int(arg(*shift, 0)), scale, addend));
  }
  Reg from = use_int(a);
  if (values_[a.index()].uses > 1 && !flags_wanted(inst)) return lea(inst, Address::of(from, addend));
  Reg to = result(inst);
  b_.copy(to, from);
  b_.add(kAdd.ri[is64(inst)], to, to, addend);
}

// A shift left by one to three that may be folded into an address.
const Inst* Isel::small_shift(Value v) const {
  const Inst* def = single(v, IrOp::Ishl);
  if (!def) return nullptr;
  std::optional<uint64_t> count = constant(arg(*def, 1));
  return count && *count >= 1 && *count <= 3 ? def : nullptr;
}

void Isel::select_add(const Inst& inst) {
  Value a = arg(inst, 0), b = arg(inst, 1);
  if (imm32(a)) std::swap(a, b);
  if (std::optional<int32_t> addend = imm32(b)) return select_add_constant(inst, a, *addend);
  if (flags_wanted(inst)) return select_alu(inst, kAdd, true);
  if (select_carry(inst, b, a) || select_carry(inst, a, b)) return;
  if (small_shift(a) && !small_shift(b)) std::swap(a, b);
  if (const Inst* shift = small_shift(b)) {
    fold(b);
    uint8_t scale = static_cast<uint8_t>(1u << *constant(arg(*shift, 1)));
    return lea(inst, Address::of(use_int(a), use_int(arg(*shift, 0)), scale));
  }
  bool both_live_on = values_[a.index()].uses > 1 && values_[b.index()].uses > 1;
  if (!both_live_on || constant(a) || constant(b)) return select_alu(inst, kAdd, true);
  lea(inst, Address::of(use_int(a), use_int(b), 1));
}

void Isel::select_sub(const Inst& inst) {
  Value a = arg(inst, 0), b = arg(inst, 1);
  size_t wide = is64(inst);
  if (constant(a) == uint64_t{0}) {
    Reg to = result(inst);
    copy_value(to, b);
    b_.add(wide ? Op::NEG64r : Op::NEG32r, to, to);
    return;
  }
  std::optional<int32_t> subtrahend = imm32(b);
  if (subtrahend && *subtrahend != INT32_MIN) return select_add_constant(inst, a, -*subtrahend);
  if (flags_wanted(inst) || !select_carry(inst, b, a)) select_alu(inst, kSub, false);
}

// other + (x < y), other - (x < y), and the same with the other unsigned comparisons: the borrow of x - y is
// added or subtracted as a carry. x == 0 is x < 1.
bool Isel::select_carry(const Inst& inst, Value bit, Value other) {
  const Inst* def = single(bit);
  Value extended;
  if (def && def->op == IrOp::Zext) {
    extended = bit;
    bit = arg(*def, 0);
    def = single(bit);
  }
  if (!def || constant(other)) return false;
  bool inverted = false;  // other + 1 - borrow
  if (def->op == IrOp::Icmp) {
    IntCond cond = static_cast<IntCond>(def->aux);
    Value x = arg(*def, 0), y = arg(*def, 1);
    if (cond == IntCond::GtU || cond == IntCond::LeU) {
      std::swap(x, y);
      cond = swapped(cond);
    }
    bool with_zero = (cond == IntCond::Eq || cond == IntCond::Ne) && constant(y) == uint64_t{0};
    if (!with_zero && cond != IntCond::LtU && cond != IntCond::GeU) return false;
    inverted = cond == IntCond::GeU || cond == IntCond::Ne;
    size_t wide = is64(x);
    Reg left = use_int(x);
    if (with_zero) {
      b_.add(kCmp.ri[wide], left, 1);
    } else if (std::optional<int32_t> immediate = imm32(y)) {
      b_.add(kCmp.ri[wide], left, *immediate);
    } else {
      b_.add(kCmp.rr[wide], left, use_int(y));
    }
  } else if (def->op == IrOp::Ieqz) {
    Value x = arg(*def, 0);
    b_.add(kCmp.ri[is64(x)], use_int(x), 1);
  } else {
    return false;
  }
  fold(bit);
  if (extended.valid()) fold(extended);
  Reg to = result(inst);
  b_.copy(to, use_int(other));
  bool wide = is64(inst), adds = (inst.op == IrOp::Iadd) != inverted;
  Op op = adds ? (wide ? Op::ADC64ri32 : Op::ADC32ri) : (wide ? Op::SBB64ri32 : Op::SBB32ri);
  // other + 1 - borrow is other - -1 - borrow; other - (1 - borrow) is other + -1 + borrow.
  b_.add(op, to, to, inverted ? -1 : 0);
  return true;
}

// --- Logic

void Isel::unary(const Inst& inst, Op op, Value from) {
  Reg source = use_int(from);
  b_.add(op, result(inst), source);
}

void Isel::select_and(const Inst& inst) {
  Value a = arg(inst, 0), b = arg(inst, 1);
  if (constant(a)) std::swap(a, b);
  if (flags_wanted(inst)) return select_alu(inst, kAnd, true);
  if (std::optional<uint64_t> mask = constant(b)) {
    if (*mask == UINT8_MAX) return unary(inst, Op::MOVZX32rr8, a);
    if (*mask == UINT16_MAX) return unary(inst, Op::MOVZX32rr16, a);
    if (is64(inst) && *mask == UINT32_MAX) return unary(inst, Op::MOV32rr, a);
    if (is64(inst) && *mask <= UINT32_MAX) {
      Reg to = result(inst);
      b_.copy(to, use(a));
      b_.add(Op::AND32ri, to, to, static_cast<int32_t>(*mask));
      return;
    }
  } else if (select_bit_pattern(inst, a, b) || select_bit_pattern(inst, b, a)) {
    return;
  }
  select_alu(inst, kAnd, true);
}

// `v` is x + addend or x - -addend.
bool Isel::is_sum(const Inst& sum, Value x, int64_t addend) const {
  if ((sum.op != IrOp::Iadd && sum.op != IrOp::Isub) || arg(sum, 0) != x) return false;
  std::optional<int32_t> known = imm32(arg(sum, 1));
  if (!known) return false;
  return (sum.op == IrOp::Iadd ? int64_t{*known} : -int64_t{*known}) == addend;
}

// ~x & y; x & (x - 1); x & -x, with the pattern in `b`.
bool Isel::select_bit_pattern(const Inst& inst, Value a, Value b) {
  const Inst* def = single(b);
  if (!def) return false;
  bool wide = is64(inst);
  if (def->op == IrOp::Ixor && imm32(arg(*def, 1)) == -1) {
    fold(b);
    Reg inverted = use_int(arg(*def, 0));
    if (std::optional<Address> memory = fold_load(a)) {
      mark_folded(b_.add(wide ? Op::ANDN64rm : Op::ANDN32rm, result(inst), inverted, *memory));
    } else {
      b_.add(wide ? Op::ANDN64rr : Op::ANDN32rr, result(inst), inverted, use_int(a));
    }
    return true;
  }
  if (is_sum(*def, a, -1)) {
    fold(b);
    unary(inst, wide ? Op::BLSR64rr : Op::BLSR32rr, a);
    return true;
  }
  if (def->op == IrOp::Isub && constant(arg(*def, 0)) == uint64_t{0} && arg(*def, 1) == a) {
    fold(b);
    unary(inst, wide ? Op::BLSI64rr : Op::BLSI32rr, a);
    return true;
  }
  return false;
}

void Isel::select_xor(const Inst& inst) {
  Value a = arg(inst, 0), b = arg(inst, 1);
  bool wide = is64(inst);
  if (flags_wanted(inst)) return select_alu(inst, kXor, true);
  if (imm32(b) == -1) {
    Reg to = result(inst);
    copy_value(to, a);
    b_.add(wide ? Op::NOT64r : Op::NOT32r, to, to);
    return;
  }
  for (int side = 0; side < 2; ++side, std::swap(a, b)) {
    const Inst* def = single(b);
    if (!def || !is_sum(*def, a, -1)) continue;
    fold(b);
    return unary(inst, wide ? Op::BLSMSK64rr : Op::BLSMSK32rr, a);
  }
  select_alu(inst, kXor, true);
}

// --- Multiplication and division

void Isel::select_mul(const Inst& inst) {
  Value a = arg(inst, 0), b = arg(inst, 1);
  bool wide = is64(inst);
  if (imm32(a)) std::swap(a, b);
  if (std::optional<int32_t> factor = imm32(b)) {
    if (*factor == 3 || *factor == 5 || *factor == 9) {
      Reg from = use_int(a);
      return lea(inst, Address::of(from, from, static_cast<uint8_t>(*factor - 1)));
    }
    if (std::optional<Address> memory = fold_load(a)) {
      mark_folded(b_.add(wide ? Op::IMUL64rmi32 : Op::IMUL32rmi, result(inst), *memory, *factor));
    } else {
      b_.add(wide ? Op::IMUL64rri32 : Op::IMUL32rri, result(inst), use_int(a), *factor);
    }
    return;
  }
  static constexpr AluOps kMul{{Op::IMUL32rr, Op::IMUL64rr}, {Op::IMUL32rm, Op::IMUL64rm}, {}, {}, {}};
  select_alu(inst, kMul, true);
}

void Isel::select_mul_high(const Inst& inst, bool is_signed) {
  Value a = arg(inst, 0), b = arg(inst, 1);
  Reg to = result(inst);
  if (!is64(inst)) {
    // The upper half of a 64-bit product.
    Reg left = use(a), right = use(b), product = b_.gpr64();
    if (is_signed) {
      Reg extended = b_.gpr64();
      b_.add(Op::MOVSX64rr32, product, left);
      b_.add(Op::MOVSX64rr32, extended, right);
      right = extended;
    } else {
      b_.copy(product, left);
    }
    b_.add(Op::IMUL64rr, product, product, right);
    b_.add(Op::SHR64ri, product, product, 32);
    b_.copy(to, product);
    return;
  }
  if (constant(b)) std::swap(a, b);  // into the fixed register, where nothing has to be kept
  Reg left = use(a), right = use(b);
  if (is_signed) {
    b_.copy(kRax, left);
    b_.add(Op::IMUL64r, right);
    b_.extra_use(kRax);
    b_.extra_def(kRax);
    b_.extra_def(kRdx);
    b_.copy(to, kRdx);
  } else {
    b_.copy(kRdx, left);
    b_.add(Op::MULX64rr, to, b_.gpr64(), right);
    b_.extra_use(kRdx);
  }
}

// Traps of division, left out where a constant divisor rules them out.
void Isel::check_division(const Inst& inst, Reg dividend, Reg divisor, bool check_overflow) {
  bool wide = is64(inst);
  std::optional<uint64_t> known = constant(arg(inst, 1));
  if (!known || *known == 0) {
    b_.add(wide ? Op::TEST64rr : Op::TEST32rr, divisor, divisor);
    b_.trap_if(Cc::E, TrapCode::IntegerDivideByZero);
    out_->decisions.note(base::DecisionKind::ZeroCheckKept, inst);
  }
  const uint64_t minus_one = wide ? UINT64_MAX : UINT32_MAX;
  if (!check_overflow || (known && *known != minus_one)) return;
  // (dividend ^ min) | ~divisor is zero for min / -1 alone.
  Reg is_min = wide ? b_.gpr64() : b_.gpr32(), is_minus_one = wide ? b_.gpr64() : b_.gpr32();
  if (wide) {
    Reg min = constant_reg(Type::I64, uint64_t{1} << 63);
    b_.copy(is_min, dividend);
    b_.add(Op::XOR64rr, is_min, is_min, min);
  } else {
    b_.copy(is_min, dividend);
    b_.add(Op::XOR32ri, is_min, is_min, INT32_MIN);
  }
  b_.copy(is_minus_one, divisor);
  b_.add(wide ? Op::NOT64r : Op::NOT32r, is_minus_one, is_minus_one);
  b_.add(kOr.rr[wide], is_min, is_min, is_minus_one);
  b_.trap_if(Cc::E, TrapCode::IntegerOverflow);
  out_->decisions.note(base::DecisionKind::OverflowCheckKept, inst);
}

void Isel::select_division(const Inst& inst, bool is_signed, bool remainder) {
  size_t wide = is64(inst);
  Reg dividend = use_int(arg(inst, 0)), divisor = use_int(arg(inst, 1));
  check_division(inst, dividend, divisor, is_signed && !remainder);
  if (is_signed && remainder && !constant(arg(inst, 1))) {
    // x % -1 is x % 1; the machine would fault on min % -1.
    Reg safe = wide ? b_.gpr64() : b_.gpr32();
    Reg one = constant_reg(inst.type, 1);
    b_.add(kCmp.ri[wide], divisor, -1);
    b_.copy(safe, divisor);
    b_.add(wide ? Op::CMOV64rr : Op::CMOV32rr, safe, safe, one, Cc::E);
    divisor = safe;
  } else if (is_signed && remainder && imm32(arg(inst, 1)) == -1) {
    return define_constant(result(inst), inst.type, 0);
  }
  if (is_signed) {
    b_.copy(kRax, dividend);
    b_.add(wide ? Op::CQO : Op::CDQ);
    b_.extra_use(kRax);
    b_.extra_def(kRax);
    b_.extra_def(kRdx);
    b_.add(wide ? Op::IDIV64r : Op::IDIV32r, divisor);
  } else {
    Reg zero = constant_reg(inst.type, 0);
    b_.begin_moves();
    b_.move(kRax, dividend);
    b_.move(kRdx, zero);
    b_.end_moves();
    b_.add(wide ? Op::DIV64r : Op::DIV32r, divisor);
  }
  b_.extra_use(kRax);
  b_.extra_use(kRdx);
  b_.extra_def(kRax);
  b_.extra_def(kRdx);
  b_.copy(result(inst), remainder ? kRdx : kRax);
}

// --- Shifts, rotations, counts

// Shift instructions mask their count themselves.
Value Isel::strip_count_mask(Value count, bool wide) {
  const Inst* def = single(count, IrOp::Iand);
  if (!def) return count;
  std::optional<uint64_t> mask = constant(arg(*def, 1));
  uint64_t bits = wide ? 63 : 31;
  if (!mask || (*mask & bits) != bits) return count;
  fold(count);
  return arg(*def, 0);
}

void Isel::select_shift(const Inst& inst) {
  struct ShiftOps {
    Op ri[2], rr[2], rm[2];
  };
  static constexpr ShiftOps kShl{
      {Op::SHL32ri, Op::SHL64ri}, {Op::SHLX32rr, Op::SHLX64rr}, {Op::SHLX32rm, Op::SHLX64rm}};
  static constexpr ShiftOps kShr{
      {Op::SHR32ri, Op::SHR64ri}, {Op::SHRX32rr, Op::SHRX64rr}, {Op::SHRX32rm, Op::SHRX64rm}};
  static constexpr ShiftOps kSar{
      {Op::SAR32ri, Op::SAR64ri}, {Op::SARX32rr, Op::SARX64rr}, {Op::SARX32rm, Op::SARX64rm}};
  const ShiftOps& ops = inst.op == IrOp::Ishl ? kShl : inst.op == IrOp::IshrU ? kShr : kSar;
  Value a = arg(inst, 0), count = arg(inst, 1);
  size_t wide = is64(inst);
  Reg to = result(inst);
  if (std::optional<uint64_t> known = constant(count)) {
    int32_t bits = static_cast<int32_t>(*known & (wide ? 63 : 31));
    Reg from = use_int(a);
    if (inst.op == IrOp::Ishl && bits == 1 && values_[a.index()].uses > 1) {
      return lea(inst, Address::of(from, from, 1));
    }
    b_.copy(to, from);
    b_.add(ops.ri[wide], to, to, bits);
    return;
  }
  Reg amount = use_int(strip_count_mask(count, wide));
  if (std::optional<Address> memory = fold_load(a)) {
    mark_folded(b_.add(ops.rm[wide], to, *memory, amount));
  } else {
    b_.add(ops.rr[wide], to, use_int(a), amount);
  }
}

void Isel::select_rotate(const Inst& inst) {
  Value a = arg(inst, 0), count = arg(inst, 1);
  size_t wide = is64(inst);
  bool left = inst.op == IrOp::Irotl;
  Reg to = result(inst);
  if (std::optional<uint64_t> known = constant(count)) {
    uint64_t width = wide ? 64 : 32;
    uint64_t right = (left ? width - (*known & (width - 1)) : *known) & (width - 1);
    b_.add(wide ? Op::RORX64ri : Op::RORX32ri, to, use_int(a), static_cast<int32_t>(right));
    return;
  }
  Reg amount = use_int(strip_count_mask(count, wide));
  Reg from = use_int(a);
  static constexpr Op kLeft[] = {Op::ROL32rCL, Op::ROL64rCL}, kRight[] = {Op::ROR32rCL, Op::ROR64rCL};
  b_.copy(to, from);
  b_.copy(kRcx, amount);
  b_.add(left ? kLeft[wide] : kRight[wide], to, to);
  b_.extra_use(kRcx);
}

void Isel::select_count(const Inst& inst) {
  struct CountOps {
    Op rr[2], rm[2];
  };
  static constexpr CountOps kLeading{{Op::LZCNT32rr, Op::LZCNT64rr}, {Op::LZCNT32rm, Op::LZCNT64rm}};
  static constexpr CountOps kTrailing{{Op::TZCNT32rr, Op::TZCNT64rr}, {Op::TZCNT32rm, Op::TZCNT64rm}};
  static constexpr CountOps kOnes{{Op::POPCNT32rr, Op::POPCNT64rr}, {Op::POPCNT32rm, Op::POPCNT64rm}};
  const CountOps& ops = inst.op == IrOp::Iclz ? kLeading : inst.op == IrOp::Ictz ? kTrailing : kOnes;
  Value a = arg(inst, 0);
  size_t wide = is64(inst);
  if (std::optional<Address> memory = fold_load(a)) {
    mark_folded(b_.add(ops.rm[wide], result(inst), *memory));
  } else {
    b_.add(ops.rr[wide], result(inst), use_int(a));
  }
}

// --- Widths

void Isel::select_extend(const Inst& inst) {
  Value a = arg(inst, 0);
  bool wide = is64(inst);
  switch (inst.op) {
    case IrOp::Iextend8:
      return unary(inst, wide ? Op::MOVSX64rr8 : Op::MOVSX32rr8, a);
    case IrOp::Iextend16:
      return unary(inst, wide ? Op::MOVSX64rr16 : Op::MOVSX32rr16, a);
    default:
      break;
  }
  std::optional<Address> memory;
  if (inst.op == IrOp::Sext) memory = fold_load(a);
  if (memory) {
    mark_folded(b_.add(Op::MOVSX64rm32, result(inst), *memory));
  } else {
    unary(inst, Op::MOVSX64rr32, a);
  }
}

void Isel::select_wrap(const Inst& inst) {
  b_.add(Op::MOV32rr, result(inst), use(arg(inst, 0)));
}

}  // namespace wago::codegen::x64
