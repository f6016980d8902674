// Comparisons, and what is fused with them: branches, selections, 0 or 1 in a register.

#include "codegen/select/x64/isel.h"

namespace wago::codegen::x64 {

namespace {

Cc condition_code(IntCond cond) {
  switch (cond) {
    case IntCond::Eq:
      return Cc::E;
    case IntCond::Ne:
      return Cc::Ne;
    case IntCond::LtS:
      return Cc::L;
    case IntCond::LtU:
      return Cc::B;
    case IntCond::GtS:
      return Cc::G;
    case IntCond::GtU:
      return Cc::A;
    case IntCond::LeS:
      return Cc::Le;
    case IntCond::LeU:
      return Cc::Be;
    case IntCond::GeS:
      return Cc::Ge;
    case IntCond::GeU:
      return Cc::Ae;
  }
  WAGO_UNREACHABLE("integer condition");
}

// Of operands whose sign bits are clear a signed comparison is an unsigned one.
IntCond unsigned_form(IntCond cond) {
  switch (cond) {
    case IntCond::LtS:
      return IntCond::LtU;
    case IntCond::GtS:
      return IntCond::GtU;
    case IntCond::LeS:
      return IntCond::LeU;
    case IntCond::GeS:
      return IntCond::GeU;
    default:
      return cond;
  }
}

Condition one(Cc cc) {
  return {Condition::Kind::One, cc, cc};
}

}  // namespace

int32_t compare_predicate(FloatCond cond) {
  // EQ_OQ, NEQ_UQ, LT_OS, GT_OS, LE_OS, GE_OS
  static constexpr int32_t kPredicates[] = {0x00, 0x04, 0x01, 0x0e, 0x02, 0x0d};
  return kPredicates[static_cast<size_t>(cond)];
}

// Sets the flags for "v is not zero", through whatever comparison v is.
Condition Isel::condition(Value v) {
  bool inverted = false;
  while (const Inst* def = single(v)) {
    Condition found;
    if (def->op == IrOp::Ieqz) {
      fold(v);
      inverted = !inverted;
      v = arg(*def, 0);
      continue;
    }
    if (def->op == IrOp::Icmp) {
      fold(v);
      found = compare(static_cast<IntCond>(def->aux), arg(*def, 0), arg(*def, 1));
    } else if (def->op == IrOp::Fcmp) {
      fold(v);
      found = compare(static_cast<FloatCond>(def->aux), arg(*def, 0), arg(*def, 1));
    } else if (is_vector_test(*def)) {
      fold(v);
      found = test_vector(*def);
    } else {
      break;
    }
    return inverted ? found.inverse() : found;
  }
  Condition found = compare_zero(IntCond::Ne, v);
  return inverted ? found.inverse() : found;
}

// The cheapest comparison with zero. TEST clears carry and overflow, as CMP with zero does, so that every
// condition holds after either.
Condition Isel::compare_zero(IntCond cond, Value v) {
  size_t wide = is64(v);
  if (std::optional<Address> memory = fold_load(v)) {
    mark_folded(b_.add(kCmp.mi[wide], *memory, 0));
    return one(condition_code(cond));
  }
  if (std::optional<Address> byte = fold_load(v, Access::U8)) {
    mark_folded(b_.add(Op::CMP8mi, *byte, 0));
    return one(condition_code(unsigned_form(cond)));
  }
  if (const Inst* def = single(v, IrOp::Iand)) {
    fold(v);
    test_bits(arg(*def, 0), arg(*def, 1));
    return one(condition_code(cond));
  }
  if ((cond == IntCond::Eq || cond == IntCond::Ne) && take_flags_of(v)) return one(condition_code(cond));
  Reg reg = use_int(v);
  b_.add(wide ? Op::TEST64rr : Op::TEST32rr, reg, reg);
  return one(condition_code(cond));
}

bool Isel::take_flags_of(Value v) {
  const Inst* def = ir_->def_of(v);
  if (!def || def->block != block_ || !alu_of(def->op)) return false;
  for (InstId i = root_->prev; i.valid(); i = ir_->inst(i).prev) {
    const Inst& before = ir_->inst(i);
    if (&before == def) {
      flags_value_ = v;
      return true;
    }
    if (!is_skipped(before)) return false;
  }
  return false;
}

void Isel::test_bits(Value a, Value b) {
  size_t wide = is64(a);
  if (constant(a)) std::swap(a, b);
  std::optional<uint64_t> mask = constant(b);
  if (mask && *mask <= INT8_MAX) {  // the sign of the wider result is zero, as that of the byte is
    b_.add(Op::TEST8ri, use_int(a), static_cast<int32_t>(*mask));
  } else if (mask && *mask <= INT32_MAX) {
    b_.add(Op::TEST32ri, use_int(a), static_cast<int32_t>(*mask));
  } else if (std::optional<int32_t> bits = imm32(b)) {
    b_.add(wide ? Op::TEST64ri32 : Op::TEST32ri, use_int(a), *bits);
  } else {
    Reg left = use_int(a), right = use_int(b);
    b_.add(wide ? Op::TEST64rr : Op::TEST32rr, left, right);
  }
}

Condition Isel::compare(IntCond cond, Value a, Value b) {
  if (imm32(a) && !imm32(b)) {
    std::swap(a, b);
    cond = swapped(cond);
  }
  size_t wide = is64(a);
  if (std::optional<int32_t> immediate = imm32(b)) {
    if (*immediate == 0) return compare_zero(cond, a);
    if (*immediate > 0 && *immediate <= UINT8_MAX) {
      if (std::optional<Address> byte = fold_load(a, Access::U8)) {
        mark_folded(b_.add(Op::CMP8mi, *byte, static_cast<int8_t>(*immediate)));
        return one(condition_code(unsigned_form(cond)));
      }
    }
    if (std::optional<Address> memory = fold_load(a)) {
      mark_folded(b_.add(kCmp.mi[wide], *memory, *immediate));
    } else {
      b_.add(kCmp.ri[wide], use_int(a), *immediate);
    }
  } else if (std::optional<Address> right = fold_load(b)) {
    mark_folded(b_.add(kCmp.rm[wide], use_int(a), *right));
  } else if (std::optional<Address> left = fold_load(a)) {
    mark_folded(b_.add(kCmp.mr[wide], *left, use_int(b)));
  } else {
    Reg left_reg = use_int(a), right_reg = use_int(b);
    b_.add(kCmp.rr[wide], left_reg, right_reg);
  }
  return one(condition_code(cond));
}

// UCOMIS shows "unordered" as carry, zero and parity all set. A and AE are false then, which is why less-than
// is compared the other way round; equality needs parity as well.
Condition Isel::compare(FloatCond cond, Value a, Value b) {
  if (cond == FloatCond::Lt || cond == FloatCond::Le) std::swap(a, b);
  bool is_f64 = type_of(a) == Type::F64;
  Reg left = use(a);
  if (std::optional<Address> memory = fold_float(b)) {
    mark_folded(b_.add(is_f64 ? Op::VUCOMISDrm : Op::VUCOMISSrm, left, *memory));
  } else {
    b_.add(is_f64 ? Op::VUCOMISDrr : Op::VUCOMISSrr, left, use(b));
  }
  switch (cond) {
    case FloatCond::Eq:
      return {Condition::Kind::And, Cc::E, Cc::Np};
    case FloatCond::Ne:
      return {Condition::Kind::Or, Cc::Ne, Cc::P};
    case FloatCond::Lt:
    case FloatCond::Gt:
      return one(Cc::A);
    case FloatCond::Le:
    case FloatCond::Ge:
      return one(Cc::Ae);
  }
  WAGO_UNREACHABLE("float condition");
}

void Isel::set(Reg to, Condition condition) {
  Reg byte = b_.gpr32();
  b_.add(Op::SETCCr, byte, condition.first);
  if (condition.kind != Condition::Kind::One) {
    Reg other = b_.gpr32();
    b_.add(Op::SETCCr, other, condition.second);
    bool both = condition.kind == Condition::Kind::And;
    b_.add(both ? Op::AND32rr : Op::OR32rr, byte, byte, other);
  }
  b_.add(Op::MOVZX32rr8, to, byte);
}

void Isel::select_compare(const Inst& inst) {
  Condition found;
  if (inst.op == IrOp::Icmp) {
    found = compare(static_cast<IntCond>(inst.aux), arg(inst, 0), arg(inst, 1));
  } else if (inst.op == IrOp::Fcmp) {
    found = compare(static_cast<FloatCond>(inst.aux), arg(inst, 0), arg(inst, 1));
  } else if (type_of(arg(inst, 0)) == Type::I32) {
    found = condition(arg(inst, 0)).inverse();
  } else {
    found = compare_zero(IntCond::Eq, arg(inst, 0));
  }
  set(result(inst), found);
}

// --- Selection

// Moves between the comparison and its users change no flags.
void Isel::conditional_move(Reg to, Condition condition, Value if_true, Value if_false) {
  // Two conditions can only be alternatives; of one, a constant is better moved first, unconditionally.
  bool constant_first = condition.kind == Condition::Kind::One && constant(if_true) && !constant(if_false);
  if (condition.kind == Condition::Kind::And || constant_first) {
    condition = condition.inverse();
    std::swap(if_true, if_false);
  }
  Op op = is64(if_true) ? Op::CMOV64rr : Op::CMOV32rr;
  Reg chosen = use_int(if_true);
  copy_value(to, if_false);
  b_.add(op, to, to, chosen, condition.first);
  if (condition.kind == Condition::Kind::Or) b_.add(op, to, to, chosen, condition.second);
}

void Isel::conditional_move(Reg to, Condition condition, Reg if_true, Reg if_false, bool wide) {
  Op op = wide ? Op::CMOV64rr : Op::CMOV32rr;
  if (condition.kind == Condition::Kind::And) {
    condition = condition.inverse();
    std::swap(if_true, if_false);
  }
  b_.copy(to, if_false);
  b_.add(op, to, to, if_true, condition.first);
  if (condition.kind == Condition::Kind::Or) b_.add(op, to, to, if_true, condition.second);
}

void Isel::select_select(const Inst& inst) {
  Value chooser = arg(inst, 0), yes = arg(inst, 1), no = arg(inst, 2);
  if (is_int(inst.type)) {
    Condition found = condition(chooser);
    return conditional_move(result(inst), found, yes, no);
  }
  if (inst.type == Type::V128) return select_vector_select(inst);
  if (select_by_mask(inst)) return;
  // Through integer registers, which have conditional moves.
  bool wide = inst.type == Type::F64;
  Op from_xmm = wide ? Op::VMOVPQIto64rr : Op::VMOVPDI2DIrr;
  auto as_integer = [&](Value v) {
    Reg bits = wide ? b_.gpr64() : b_.gpr32();
    const Inst* def = ir_->def_of(v);
    if (def && def->op == IrOp::Fconst) {
      define_constant(bits, wide ? Type::I64 : Type::I32, def->imm);
    } else {
      b_.add(from_xmm, bits, use(v));
    }
    return bits;
  };
  Reg if_true = as_integer(yes), if_false = as_integer(no), bits = wide ? b_.gpr64() : b_.gpr32();
  conditional_move(bits, condition(chooser), if_true, if_false, wide);
  b_.add(wide ? Op::VMOV64toPQIrr : Op::VMOVDI2PDIrr, result(inst), bits);
}

// A float comparison that chooses between floats of its own type gives a mask to blend with.
bool Isel::select_by_mask(const Inst& inst) {
  Value chooser = arg(inst, 0);
  const Inst* compare = single(chooser, IrOp::Fcmp);
  if (!compare || type_of(arg(*compare, 0)) != inst.type) return false;
  fold(chooser);
  bool wide = inst.type == Type::F64;
  int32_t predicate = compare_predicate(static_cast<FloatCond>(compare->aux));
  Reg mask = new_reg(inst.type), left = use(arg(*compare, 0));
  if (std::optional<Address> memory = fold_float(arg(*compare, 1))) {
    mark_folded(b_.add(wide ? Op::VCMPSDrmi : Op::VCMPSSrmi, mask, left, *memory, predicate));
  } else {
    b_.add(wide ? Op::VCMPSDrri : Op::VCMPSSrri, mask, left, use(arg(*compare, 1)), predicate);
  }
  Reg if_true = use(arg(inst, 1)), if_false = use(arg(inst, 2));
  b_.add(wide ? Op::VBLENDVPDrrr : Op::VBLENDVPSrrr, result(inst), if_false, if_true, mask);
  return true;
}

}  // namespace wago::codegen::x64
