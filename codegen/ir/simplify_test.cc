// Every operation on every pair of arguments from a pool in which all the patterns that simplification knows
// occur: what it makes of the expression must have the same value, for operands that matter, and trap when it
// did.
#include "codegen/ir/simplify.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "codegen/ir/evaluate.h"
#include "codegen/ir/print.h"

namespace wago::codegen {
namespace {

constexpr uint64_t kInterestingInts[] = {0,
                                         1,
                                         2,
                                         31,
                                         32,
                                         63,
                                         64,
                                         0x7f,
                                         0x80,
                                         0xff,
                                         0x8000,
                                         0x7fffffff,
                                         0x80000000,
                                         0xffffffff,
                                         0xffffffff80000000,
                                         0x7fffffffffffffff,
                                         0x8000000000000000,
                                         0xfffffffffffffffe,
                                         0xffffffffffffffff,
                                         0x123456789abcdef0};
constexpr double kInterestingFloats[] = {0.0,          -0.0,      1.0,    -1.0,        0.5,    -1.5,
                                         2147483648.0, 1e10,      -1e300, 4.9406e-324, 1e-40,  3.4028e38,
                                         INFINITY,     -INFINITY, NAN,    -2.5,        9.3e18, 1.9e19};
constexpr int kEnvironments = 24;

struct Pool final : ConstantSource {
  Pool() {
    block = function.new_block();
    for (const Type type :
         {Type::I32, Type::I32, Type::I64, Type::I64, Type::F32, Type::F32, Type::F64, Type::F64}) {
      add_value(function.new_param(block, type));
      for (int e = 0; e < kEnvironments; ++e) bits[e].push_back(operand(type));
    }
  }

  uint64_t random() {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
  }
  uint64_t operand(Type type) {
    const uint64_t r = random() >> 20;
    const double f = kInterestingFloats[r % std::size(kInterestingFloats)];
    switch (type) {
      case Type::F32:
        return std::bit_cast<uint32_t>(static_cast<float>(f));
      case Type::F64:
        return std::bit_cast<uint64_t>(f);
      case Type::I32:
        return static_cast<uint32_t>(kInterestingInts[r % std::size(kInterestingInts)]);
      default:
        return kInterestingInts[r % std::size(kInterestingInts)];
    }
  }

  void add_value(Value value) { by_type[static_cast<size_t>(function.type_of(value))].push_back(value); }
  std::vector<Value>& of(Type type) { return by_type[static_cast<size_t>(type)]; }

  Evaluation evaluate_in(int environment, const Expression& e) const {
    if (e.op == Op::Iconst || e.op == Op::Fconst) return {Evaluation::Kind::Exact, e.imm, {}};
    uint64_t args[3] = {0, 0, 0};
    for (uint32_t i = 0; i < e.arg_count; ++i) args[i] = bits[environment][e.args[i].index()];
    return evaluate(e.op, e.type, function.type_of(e.args[0]), e.aux, args);
  }

  // Adds the expression as it is to the function, if it has a value in all environments.
  Value add(const Expression& e) {
    Evaluation all[kEnvironments];
    for (int i = 0; i < kEnvironments; ++i) {
      all[i] = evaluate_in(i, e);
      if (all[i].kind == Evaluation::Kind::Trap || all[i].kind == Evaluation::Kind::Unknown) return Value();
    }
    const InstId id = function.new_inst(e.op, e.type, std::span(e.args, e.arg_count), e.imm, e.aux);
    function.append(block, id);
    for (int i = 0; i < kEnvironments; ++i) bits[i].push_back(all[i].bits);
    return function.inst(id).result;
  }
  Value constant(Type type, uint64_t value_bits) override {
    Expression e;
    e.op = is_float(type) ? Op::Fconst : Op::Iconst;
    e.type = type;
    e.imm = value_bits;
    return add(e);
  }

  IrFunction function;
  BlockId block;
  std::vector<Value> by_type[6];
  std::vector<uint64_t> bits[kEnvironments];  // by value
  uint64_t state = 88172645463325252u;
};

Expression expression(Op op, Type type, std::initializer_list<Value> args, uint8_t aux = 0) {
  Expression e;
  e.op = op;
  e.type = type;
  e.aux = aux;
  for (const Value arg : args) e.args[e.arg_count++] = arg;
  return e;
}

constexpr Op kIntBinary[] = {Op::Iadd,  Op::Isub,      Op::Imul,      Op::IdivS, Op::IdivU, Op::IremS,
                             Op::IremU, Op::ImulHighU, Op::ImulHighS, Op::Iand,  Op::Ior,   Op::Ixor,
                             Op::Ishl,  Op::IshrS,     Op::IshrU,     Op::Irotl, Op::Irotr};
constexpr Op kIntUnary[] = {Op::Iclz, Op::Ictz, Op::Ipopcnt, Op::Iextend8, Op::Iextend16};
constexpr Op kFloatBinary[] = {Op::Fadd, Op::Fsub, Op::Fmul, Op::Fdiv, Op::Fmin, Op::Fmax, Op::Fcopysign};
constexpr Op kFloatUnary[] = {Op::Fabs, Op::Fneg, Op::Fsqrt, Op::Fceil, Op::Ffloor, Op::Ftrunc, Op::Fnearest};

// All operations on arguments from the pool: calls `use` with each expression.
template <class Use>
void for_all(Pool& pool, Use use) {
  const std::vector<Value> i32s = pool.of(Type::I32), i64s = pool.of(Type::I64);
  const std::vector<Value> f32s = pool.of(Type::F32), f64s = pool.of(Type::F64);
  for (const Type type : {Type::I32, Type::I64}) {
    const std::vector<Value>& values = type == Type::I32 ? i32s : i64s;
    for (const Value a : values) {
      for (const Op op : kIntUnary) use(expression(op, type, {a}));
      if (type == Type::I64) use(expression(Op::Iextend32, type, {a}));
      use(expression(Op::Ieqz, Type::I32, {a}));
      for (const Value b : values) {
        for (const Op op : kIntBinary) use(expression(op, type, {a, b}));
        for (uint8_t cond = 0; cond < 10; ++cond) use(expression(Op::Icmp, Type::I32, {a, b}, cond));
      }
      for (const Type to : {Type::F32, Type::F64}) {
        use(expression(Op::ConvertS, to, {a}));
        use(expression(Op::ConvertU, to, {a}));
      }
    }
  }
  for (const Type type : {Type::F32, Type::F64}) {
    const std::vector<Value>& values = type == Type::F32 ? f32s : f64s;
    for (const Value a : values) {
      for (const Op op : kFloatUnary) use(expression(op, type, {a}));
      for (const Value b : values) {
        for (const Op op : kFloatBinary) use(expression(op, type, {a, b}));
        for (uint8_t cond = 0; cond < 6; ++cond) use(expression(Op::Fcmp, Type::I32, {a, b}, cond));
      }
      for (const Type to : {Type::I32, Type::I64}) {
        for (const Op op : {Op::TruncS, Op::TruncU, Op::TruncSatS, Op::TruncSatU})
          use(expression(op, to, {a}));
      }
      use(expression(Op::Bitcast, type == Type::F32 ? Type::I32 : Type::I64, {a}));
    }
  }
  for (const Value a : i32s) {
    use(expression(Op::Sext, Type::I64, {a}));
    use(expression(Op::Zext, Type::I64, {a}));
    use(expression(Op::Bitcast, Type::F32, {a}));
    for (const Value b : i64s) use(expression(Op::Select, Type::I64, {a, b, i64s[0]}));
    for (const Value b : f32s) use(expression(Op::Select, Type::F32, {a, f32s[0], b}));
  }
  for (const Value a : i64s) {
    use(expression(Op::Wrap, Type::I32, {a}));
    use(expression(Op::Bitcast, Type::F64, {a}));
  }
  for (const Value a : f64s) use(expression(Op::Demote, Type::F32, {a}));
  for (const Value a : f32s) use(expression(Op::Promote, Type::F64, {a}));
}

std::string describe(const IrFunction& f, const Expression& e) {
  std::string text = to_string(e.op) + std::string(":") + to_string(e.type) + "." + std::to_string(e.aux);
  if (e.arg_count == 0) text += " " + std::to_string(e.imm);
  for (uint32_t i = 0; i < e.arg_count; ++i) {
    const Inst* def = f.def_of(e.args[i]);
    text += def == nullptr ? " v" + std::to_string(e.args[i].index())
                           : " (" + print(f, InstId(f.value(e.args[i]).def)) + ")";
  }
  return text;
}

// Counts, so that a test can see that something was simplified.
uint32_t check(Pool& pool, const Expression& original) {
  Expression e = original;
  const Value existing = simplify(e, pool.function, pool);
  if (!existing.valid() && e == original) return 0;
  for (int i = 0; i < kEnvironments; ++i) {
    const Evaluation expected = pool.evaluate_in(i, original);
    if (expected.kind == Evaluation::Kind::Unknown) return 0;
    Evaluation got{Evaluation::Kind::Exact, 0, {}};
    if (existing.valid()) {
      got.bits = pool.bits[i][existing.index()];
    } else {
      got = pool.evaluate_in(i, e);
    }
    const bool same = expected.kind == Evaluation::Kind::Trap
                          ? got.kind == Evaluation::Kind::Trap && got.trap == expected.trap
                          : got.kind != Evaluation::Kind::Trap && got.bits == expected.bits;
    EXPECT_TRUE(same) << describe(pool.function, original) << " became "
                      << (existing.valid() ? "v" + std::to_string(existing.index())
                                           : describe(pool.function, e))
                      << ": " << got.bits << ", expected " << expected.bits;
    if (!same) return 0;
  }
  return 1;
}

TEST(Simplify, KeepsEveryValueAndTrap) {
  Pool pool;
  // Constants, then one operation on everything so far: the arguments of what is simplified.
  for (const uint64_t c : {uint64_t{0}, uint64_t{1}, uint64_t{4}, uint64_t{31}, uint64_t{63}, ~uint64_t{0}}) {
    pool.add_value(pool.constant(Type::I32, static_cast<uint32_t>(c)));
    pool.add_value(pool.constant(Type::I64, c));
  }
  for (const double c : {0.0, -1.5}) {
    pool.add_value(pool.constant(Type::F64, std::bit_cast<uint64_t>(c)));
    pool.add_value(pool.constant(Type::F32, std::bit_cast<uint32_t>(static_cast<float>(c))));
  }
  std::vector<Value> layer;
  uint32_t seen = 0;
  for_all(pool, [&](const Expression& e) {
    // All unary ones; of the binary ones those of a first parameter and something, thinned out.
    const bool keep =
        e.arg_count == 1 || (e.args[0].index() % 2 == 0 && e.args[0].index() < 8 && ++seen % 5 == 0);
    if (!keep) return;
    if (const Value v = pool.add(e); v.valid()) layer.push_back(v);
  });
  for (const Value v : layer) pool.add_value(v);

  uint64_t simplified = 0;
  for_all(pool, [&](const Expression& e) {
    if (!::testing::Test::HasFailure()) simplified += check(pool, e);
  });
  EXPECT_GT(simplified, 5000u);
}

TEST(Simplify, Conditions) {
  Pool pool;
  const Value x = pool.of(Type::I32)[0], y = pool.of(Type::I64)[0];
  const Value zero = pool.constant(Type::I32, 0);
  const Value eqz = pool.add(expression(Op::Ieqz, Type::I32, {x}));
  const Value eqz_eqz = pool.add(expression(Op::Ieqz, Type::I32, {eqz}));
  const Value wide = pool.add(expression(Op::Ieqz, Type::I32, {y}));
  const Value ne = pool.add(expression(Op::Icmp, Type::I32, {eqz, zero}, static_cast<uint8_t>(IntCond::Ne)));
  Value condition = eqz;
  EXPECT_TRUE(simplify_condition(condition, pool.function));
  EXPECT_EQ(condition, x);
  condition = eqz_eqz;
  EXPECT_FALSE(simplify_condition(condition, pool.function));
  EXPECT_EQ(condition, x);
  condition = ne;
  EXPECT_TRUE(simplify_condition(condition, pool.function));
  EXPECT_EQ(condition, x);
  condition = wide;
  EXPECT_FALSE(simplify_condition(condition, pool.function));
  EXPECT_EQ(condition, wide);
}

}  // namespace
}  // namespace wago::codegen
