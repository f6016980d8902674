#include "codegen/ir/simplify.h"

#include <bit>
#include <utility>

#include "codegen/ir/evaluate.h"

namespace wago::codegen {

namespace {

bool is_commutative(Op op) {
  switch (op) {
    case Op::Iadd:
    case Op::Imul:
    case Op::ImulHighU:
    case Op::ImulHighS:
    case Op::Iand:
    case Op::Ior:
    case Op::Ixor:
      return true;
    default:
      return false;  // of floats neither: which NaN comes out may depend on the order
  }
}

bool is_shift(Op op) {
  return op == Op::Ishl || op == Op::IshrS || op == Op::IshrU || op == Op::Irotl || op == Op::Irotr;
}

uint64_t mask_of(Type type) {
  return type == Type::I32 ? 0xffffffffu : ~uint64_t{0};
}
uint32_t width_of(Type type) {
  return 8 * bytes_of(type);
}

// One question to the function about one expression.
class Simplifier {
 public:
  Simplifier(Expression& expression, IrFunction& function, ConstantSource& constants)
      : e_(expression), function_(function), constants_(constants) {}

  Value run() {
    // Every rewriting makes the expression smaller in an order without infinite descent; the bound is for
    // mistakes.
    for (int round = 0; round < 8; ++round) {
      rewritten_ = false;
      const Value existing = step();
      if (existing.valid() || !rewritten_) return existing;
    }
    return Value();
  }

 private:
  Value step() {
    if (e_.arg_count == 0) return Value();
    if (fold_constants()) return Value();
    switch (e_.op) {
      case Op::Iadd:
      case Op::Isub:
      case Op::Imul:
      case Op::ImulHighU:
      case Op::ImulHighS:
      case Op::IdivS:
      case Op::IdivU:
      case Op::IremS:
      case Op::IremU:
      case Op::Iand:
      case Op::Ior:
      case Op::Ixor:
      case Op::Ishl:
      case Op::IshrS:
      case Op::IshrU:
      case Op::Irotl:
      case Op::Irotr:
        return binary();
      case Op::Icmp:
        return icmp();
      case Op::Ieqz:
        return ieqz();
      case Op::Select:
        return select();
      default:
        return unary();
    }
  }

  // True if the expression has become a constant.
  bool fold_constants() {
    uint64_t bits[3] = {0, 0, 0};
    for (uint32_t i = 0; i < e_.arg_count; ++i) {
      const ConstantBits c = constant_bits(function_, e_.args[i]);
      if (!c.known) return false;
      bits[i] = c.bits;
    }
    if (e_.op == Op::Vsplat) {
      become_vector(splat(shape_of(e_.aux), bits[0]));
      return true;
    }
    const Evaluation result = evaluate(e_.op, e_.type, function_.type_of(e_.args[0]), e_.aux, bits);
    if (!result.exact()) return false;
    become_constant(result.bits);
    return true;
  }

  void become_constant(uint64_t bits) {
    become_nullary(is_float(e_.type) ? Op::Fconst : Op::Iconst,
                   is_int(e_.type) ? bits & mask_of(e_.type) : bits);
  }
  void become_vector(Vector vector) { become_nullary(Op::Vconst, function_.vector(vector)); }
  void become_nullary(Op op, uint64_t imm) {
    e_.op = op;
    e_.aux = 0;
    e_.arg_count = 0;
    e_.imm = imm;
    e_.args[0] = e_.args[1] = e_.args[2] = Value();
  }
  Value become(Op op, Value a) {
    e_.op = op;
    e_.aux = 0;
    e_.arg_count = 1;
    e_.args[0] = a;
    e_.args[1] = e_.args[2] = Value();
    rewritten_ = true;
    return Value();
  }
  Value become(Op op, Value a, Value b, uint8_t aux = 0) {
    become(op, a);
    e_.aux = aux;
    e_.arg_count = 2;
    e_.args[1] = b;
    return Value();
  }
  Value constant(uint64_t bits) { return constants_.constant(e_.type, bits & mask_of(e_.type)); }
  Value zero() {
    become_constant(0);
    return Value();
  }

  const Inst* def_of(Value value, Op op) const {
    const Inst* def = function_.def_of(value);
    return def != nullptr && def->op == op ? def : nullptr;
  }

  Value binary() {
    Value a = e_.args[0], b = e_.args[1];
    ConstantBits right = constant_bits(function_, b);
    if (is_commutative(e_.op)) {
      const bool left_constant = constant_bits(function_, a).known;
      if (left_constant || (!right.known && b < a)) {
        std::swap(e_.args[0], e_.args[1]);
        std::swap(a, b);
        right = constant_bits(function_, b);
      }
    }
    if (right.known) return with_constant(a, b, right.bits);
    if (a == b) return with_itself(a);
    if (is_shift(e_.op)) return unmask_count(a, b);
    return Value();
  }

  Value with_constant(Value a, Value b, uint64_t c) {
    const uint64_t all_ones = mask_of(e_.type);
    switch (e_.op) {
      case Op::Iadd:
        if (c == 0) return a;
        return regroup(Op::Iadd, a, c, [](uint64_t x, uint64_t y) { return x + y; });
      case Op::Isub:
        if (c == 0) return a;
        return become(Op::Iadd, a, constant(0 - c));
      case Op::Imul:
        if (c == 0) return b;
        if (c == 1) return a;
        if (std::has_single_bit(c)) return become(Op::Ishl, a, constant(std::countr_zero(c)));
        return regroup(Op::Imul, a, c, [](uint64_t x, uint64_t y) { return x * y; });
      case Op::Iand:
        if (c == 0) return b;
        if (c == all_ones) return a;
        return regroup(Op::Iand, a, c, [](uint64_t x, uint64_t y) { return x & y; });
      case Op::Ior:
        if (c == 0) return a;
        if (c == all_ones) return b;
        return regroup(Op::Ior, a, c, [](uint64_t x, uint64_t y) { return x | y; });
      case Op::Ixor:
        if (c == 0) return a;
        return regroup(Op::Ixor, a, c, [](uint64_t x, uint64_t y) { return x ^ y; });
      case Op::IdivU:
        if (c == 1) return a;
        if (std::has_single_bit(c)) return become(Op::IshrU, a, constant(std::countr_zero(c)));
        return Value();
      case Op::IdivS:
        return c == 1 ? a : Value();
      case Op::IremU:
        if (std::has_single_bit(c)) return become(Op::Iand, a, constant(c - 1));
        return Value();
      case Op::IremS:
        return c == 1 || c == all_ones ? zero() : Value();
      case Op::ImulHighU:
      case Op::ImulHighS:
        return c == 0 ? b : Value();
      default:
        return shift_by_constant(a, c);
    }
  }

  Value shift_by_constant(Value a, uint64_t c) {
    const uint64_t count = c % width_of(e_.type);
    if (count == 0) return a;
    if (count != c) return become(e_.op, a, constant(count));
    return Value();
  }

  // (x op c1) op c2 = x op (c1 op c2)
  template <class Combine>
  Value regroup(Op op, Value a, uint64_t c, Combine combine) {
    const Inst* inner = def_of(a, op);
    if (inner == nullptr) return Value();
    const ConstantBits inner_right = constant_bits(function_, inner->inline_args[1]);
    if (!inner_right.known) return Value();
    const Value x = inner->inline_args[0];  // before constant() may move the instructions
    return become(op, x, constant(combine(inner_right.bits, c)));
  }

  Value with_itself(Value a) {
    switch (e_.op) {
      case Op::Isub:
      case Op::Ixor:
        return zero();
      case Op::Iand:
      case Op::Ior:
        return a;
      default:
        return Value();  // x / x traps for zero
    }
  }

  // The machine takes counts modulo the width: an `and` that keeps those bits is superfluous.
  Value unmask_count(Value a, Value b) {
    const Inst* mask = def_of(b, Op::Iand);
    if (mask == nullptr) return Value();
    const ConstantBits c = constant_bits(function_, mask->inline_args[1]);
    const uint64_t needed = width_of(e_.type) - 1;
    if (!c.known || (c.bits & needed) != needed) return Value();
    return become(e_.op, a, mask->inline_args[0]);
  }

  Value icmp() {
    IntCond cond = static_cast<IntCond>(e_.aux);
    Value a = e_.args[0], b = e_.args[1];
    const bool left_constant = constant_bits(function_, a).known;
    ConstantBits right = constant_bits(function_, b);
    if (left_constant || (!right.known && b < a)) {
      std::swap(a, b);
      cond = swapped(cond);
      e_.args[0] = a;
      e_.args[1] = b;
      e_.aux = static_cast<uint8_t>(cond);
      right = constant_bits(function_, b);
    }
    if (a == b) {
      const bool holds = cond == IntCond::Eq || cond == IntCond::LeS || cond == IntCond::LeU ||
                         cond == IntCond::GeS || cond == IntCond::GeU;
      become_constant(holds);
      return Value();
    }
    if (right.known && right.bits == 0) return compare_with_zero(cond, a, b);
    return Value();
  }

  Value compare_with_zero(IntCond cond, Value a, Value zero_value) {
    switch (cond) {
      case IntCond::Eq:
      case IntCond::LeU:
        return become(Op::Ieqz, a);
      case IntCond::GtU:
        return become(Op::Icmp, a, zero_value, static_cast<uint8_t>(IntCond::Ne));
      case IntCond::LtU:
        return zero();
      case IntCond::GeU:
        become_constant(1);
        return Value();
      case IntCond::Ne:
        return is_boolean(a) ? a : Value();
      default:
        return Value();
    }
  }

  bool is_boolean(Value value) const {
    const Inst* def = function_.def_of(value);
    return def != nullptr && (def->op == Op::Icmp || def->op == Op::Fcmp || def->op == Op::Ieqz);
  }

  Value ieqz() {
    const Value a = e_.args[0];
    const Inst* def = function_.def_of(a);
    if (def == nullptr) return Value();
    const uint8_t aux = def->aux;
    const Value x = def->inline_args[0], y = def->inline_args[1];
    switch (def->op) {
      case Op::Icmp:
        return become(Op::Icmp, x, y, static_cast<uint8_t>(inverse(static_cast<IntCond>(aux))));
      case Op::Fcmp:
        // Only these two are each other's opposite when an operand is NaN.
        if (aux == static_cast<uint8_t>(FloatCond::Eq)) {
          return become(Op::Fcmp, x, y, static_cast<uint8_t>(FloatCond::Ne));
        }
        if (aux == static_cast<uint8_t>(FloatCond::Ne)) {
          return become(Op::Fcmp, x, y, static_cast<uint8_t>(FloatCond::Eq));
        }
        return Value();
      case Op::Ieqz: {
        const Value zero_value = constants_.constant(function_.type_of(x), 0);
        return become(Op::Icmp, x, zero_value, static_cast<uint8_t>(IntCond::Ne));
      }
      case Op::Sext:
      case Op::Zext:
        return become(Op::Ieqz, x);
      default:
        return Value();
    }
  }

  Value select() {
    if (simplify_condition(e_.args[0], function_)) std::swap(e_.args[1], e_.args[2]);
    if (e_.args[1] == e_.args[2]) return e_.args[1];
    const ConstantBits condition = constant_bits(function_, e_.args[0]);
    if (condition.known) return static_cast<uint32_t>(condition.bits) != 0 ? e_.args[1] : e_.args[2];
    return Value();
  }

  Value unary() {
    const Inst* def = function_.def_of(e_.args[0]);
    if (def == nullptr || e_.arg_count != 1) return Value();
    const Value x = def->inline_args[0];
    switch (e_.op) {
      case Op::Wrap:
        if (def->op == Op::Sext || def->op == Op::Zext) return x;
        return Value();
      case Op::Iextend8:
        if (def->op == Op::Iextend8) return e_.args[0];
        if (def->op == Op::Iextend16 || def->op == Op::Iextend32) return become(e_.op, x);
        return Value();
      case Op::Iextend16:
        if (def->op == Op::Iextend8 || def->op == Op::Iextend16) return e_.args[0];
        if (def->op == Op::Iextend32) return become(e_.op, x);
        return Value();
      case Op::Iextend32:
        if (def->op == Op::Iextend8 || def->op == Op::Iextend16 || def->op == Op::Iextend32 ||
            def->op == Op::Sext) {
          return e_.args[0];
        }
        if (def->op == Op::Zext) return become(Op::Sext, x);
        return Value();
      case Op::Fneg:
        return def->op == Op::Fneg ? x : Value();
      case Op::Fabs:
        if (def->op == Op::Fabs) return e_.args[0];
        return def->op == Op::Fneg ? become(Op::Fabs, x) : Value();
      case Op::Bitcast:
        return def->op == Op::Bitcast && function_.type_of(x) == e_.type ? x : Value();
      default:
        return Value();
    }
  }

  Expression& e_;
  IrFunction& function_;
  ConstantSource& constants_;
  bool rewritten_ = false;
};

}  // namespace

Value simplify(Expression& expression, IrFunction& function, ConstantSource& constants) {
  return Simplifier(expression, function, constants).run();
}

bool simplify_condition(Value& condition, const IrFunction& function) {
  bool opposite = false;
  for (;;) {
    const Inst* def = function.def_of(condition);
    if (def == nullptr) return opposite;
    const Value x = def->inline_args[0];
    if (def->op == Op::Ieqz && function.type_of(x) == Type::I32) {
      opposite = !opposite;
      condition = x;
      continue;
    }
    if (def->op == Op::Icmp && static_cast<IntCond>(def->aux) == IntCond::Ne &&
        function.type_of(x) == Type::I32) {
      const ConstantBits right = constant_bits(function, def->inline_args[1]);
      if (right.known && right.bits == 0) {
        condition = x;
        continue;
      }
    }
    return opposite;
  }
}

}  // namespace wago::codegen
