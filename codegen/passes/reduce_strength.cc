#include "codegen/passes/reduce_strength.h"

#include <bit>

#include "codegen/passes/magic.h"

namespace wago::codegen {

namespace {

// Writes the operations of one division in front of it, and turns the division itself into the last of them,
// so that its result keeps its name.
class Division {
 public:
  Division(IrFunction& function, InstId id) : function_(function), id_(id), type_(function.inst(id).type) {
    const Inst& inst = function.inst(id);
    x_ = inst.inline_args[0];
    op_ = inst.op;
    wide_ = type_ == Type::I64;
  }

  void run(uint64_t bits) {
    const bool remainder = op_ == Op::IremS || op_ == Op::IremU;
    const bool is_signed = op_ == Op::IdivS || op_ == Op::IremS;
    const uint64_t divisor = wide_ ? bits : static_cast<uint32_t>(bits);
    if (!remainder) {
      last_is_quotient_ = true;
      is_signed ? signed_quotient(divisor) : unsigned_quotient(divisor);
      return;
    }
    const Value quotient = is_signed ? signed_quotient(divisor) : unsigned_quotient(divisor);
    const Value product = add(Op::Imul, type_, quotient, constant(type_, divisor));
    become(Op::Isub, x_, product);
  }

 private:
  Value constant(Type type, uint64_t bits) {
    const InstId id =
        function_.new_inst(Op::Iconst, type, {}, type == Type::I32 ? static_cast<uint32_t>(bits) : bits);
    return place(id);
  }
  Value place(InstId id) {
    Inst& inst = function_.inst(id);
    inst.wasm_pc = function_.inst(id_).wasm_pc;
    inst.inline_site = function_.inst(id_).inline_site;
    function_.insert_before(id_, id);
    return function_.inst(id).result;
  }
  Value add(Op op, Type type, Value a) {
    const Value args[] = {a};
    return place(function_.new_inst(op, type, args));
  }
  Value add(Op op, Type type, Value a, Value b) {
    const Value args[] = {a, b};
    return place(function_.new_inst(op, type, args));
  }
  void become(Op op, Value a, Value b = Value()) {
    Inst& inst = function_.inst(id_);
    inst.op = op;
    inst.inline_args[0] = a;
    inst.inline_args[1] = b;
    inst.arg_count = b.valid() ? 2 : 1;
  }
  // The last operation of a quotient: the division itself, unless a remainder needs it as an argument.
  Value last(Op op, Value a, Value b = Value()) {
    if (last_is_quotient_) {
      become(op, a, b);
      return function_.inst(id_).result;
    }
    return b.valid() ? add(op, type_, a, b) : add(op, type_, a);
  }
  Value shift(Op op, Value a, uint32_t count) {
    return count == 0 ? a : add(op, type_, a, constant(type_, count));
  }

  Value unsigned_quotient(uint64_t divisor) {
    if (!wide_) {
      const Value x = add(Op::Zext, Type::I64, x_);
      const Value multiplier = constant(Type::I64, unsigned_magic32(static_cast<uint32_t>(divisor)));
      return last(Op::Wrap, add(Op::ImulHighU, Type::I64, x, multiplier));
    }
    const UnsignedMagic64 magic = unsigned_magic64(divisor);
    const Value high = add(Op::ImulHighU, type_, x_, constant(type_, magic.multiplier));
    if (!magic.add) return last(Op::IshrU, high, constant(type_, magic.shift));
    const Value half = shift(Op::IshrU, add(Op::Isub, type_, x_, high), 1);
    return last(Op::IshrU, add(Op::Iadd, type_, half, high), constant(type_, magic.shift - 1));
  }

  Value signed_quotient(uint64_t bits) {
    const int64_t divisor = wide_ ? static_cast<int64_t>(bits) : static_cast<int32_t>(bits);
    const uint64_t magnitude = divisor < 0 ? -static_cast<uint64_t>(divisor) : static_cast<uint64_t>(divisor);
    if (std::has_single_bit(magnitude)) return signed_power_of_two(magnitude, divisor < 0);
    if (wide_) return signed_quotient64(divisor);
    const SignedMagic32 magic = signed_magic32(static_cast<uint32_t>(magnitude));
    const Value x = add(Op::Sext, Type::I64, x_);
    const Value product = add(Op::Imul, Type::I64, x, constant(Type::I64, magic.multiplier));
    const Value scaled = add(Op::IshrS, Type::I64, product, constant(Type::I64, magic.shift));
    const Value truncated = add(Op::Wrap, type_, scaled);
    const Value negative = shift(Op::IshrS, x_, 31);  // -1 for a negative x
    return divisor < 0 ? last(Op::Isub, negative, truncated) : last(Op::Isub, truncated, negative);
  }

  Value signed_quotient64(int64_t divisor) {
    const SignedMagic64 magic = signed_magic64(divisor);
    Value q = add(Op::ImulHighS, type_, x_, constant(type_, static_cast<uint64_t>(magic.multiplier)));
    if (magic.adjust > 0) q = add(Op::Iadd, type_, q, x_);
    if (magic.adjust < 0) q = add(Op::Isub, type_, q, x_);
    q = shift(Op::IshrS, q, magic.shift);
    return last(Op::Iadd, q, shift(Op::IshrU, q, 63));
  }

  // Rounds towards zero by adding divisor - 1 to negative numbers first.
  Value signed_power_of_two(uint64_t magnitude, bool negate) {
    const uint32_t width = wide_ ? 64 : 32;
    const uint32_t log = static_cast<uint32_t>(std::countr_zero(magnitude));
    const Value bias = shift(Op::IshrU, shift(Op::IshrS, x_, width - 1), width - log);
    const Value biased = add(Op::Iadd, type_, x_, bias);
    if (!negate) return last(Op::IshrS, biased, constant(type_, log));
    return last(Op::Isub, constant(type_, 0), shift(Op::IshrS, biased, log));
  }

  IrFunction& function_;
  InstId id_;
  Type type_;
  Value x_;
  Op op_ = Op::IdivU;
  bool wide_ = false;
  bool last_is_quotient_ = false;
};

bool worth_it(const Inst& inst, uint64_t divisor) {
  const bool wide = inst.type == Type::I64;
  if (!wide) divisor = static_cast<uint32_t>(divisor);
  const uint64_t minimum = uint64_t{1} << (wide ? 63 : 31);
  const uint64_t minus_one = wide ? ~uint64_t{0} : 0xffffffffu;
  if (divisor <= 1) return false;
  if (inst.op == Op::IdivS || inst.op == Op::IremS) return divisor != minimum && divisor != minus_one;
  return !std::has_single_bit(divisor);
}

}  // namespace

void reduce_strength(IrFunction& function) {
  for (uint32_t b = 0; b < function.block_count; ++b) {
    for (InstId id = function.blocks[b].first; id.valid(); id = function.inst(id).next) {
      const Inst& inst = function.inst(id);
      if (inst.op < Op::IdivS || inst.op > Op::IremU) continue;
      const Inst* divisor = function.def_of(inst.inline_args[1]);
      if (divisor == nullptr || divisor->op != Op::Iconst || !worth_it(inst, divisor->imm)) continue;
      function.decisions.note(base::DecisionKind::StrengthReduced, inst);
      Division(function, id).run(divisor->imm);
    }
  }
}

}  // namespace wago::codegen
