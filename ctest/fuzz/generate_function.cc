#include "ctest/fuzz/generate_function.h"

#include <algorithm>
#include <array>
#include <optional>

#include "ctest/fuzz/generate_vector.h"

namespace wago::fuzz {

namespace {

using runtime::Immediate;
using runtime::kOpcodes;
using runtime::Opcode;
using runtime::OpcodeInfo;
using runtime::testing::Bytes;
using runtime::testing::Code;
using Types = std::vector<ValueType>;
using enum ValueType;

constexpr uint32_t kMaxDepth = 10;        // of expressions and constructs together
constexpr uint32_t kCallFuel = 25;        // what a call costs; a round of a loop costs 1
constexpr uint32_t kAddressMask = 0xff8;  // where most accesses go, so that they meet
constexpr uint32_t kMaxBulk = 0x3f;       // mask of most lengths of bulk operations

// The instructions of one shape, from the opcode table.
struct Repertoire {
  std::vector<Opcode> numeric[5];  // by index_of(result); all operands numeric
  std::vector<Opcode> vectors;     // those of them that take or give a vector
  std::vector<Opcode> loads[5];
  std::vector<Opcode> stores[5];

  static uint32_t index_of(ValueType type) {
    return static_cast<uint32_t>(I32) - static_cast<uint32_t>(type);
  }

  Repertoire() {
    for (uint32_t i = 0; i < runtime::kOpcodeCount; ++i) {
      const OpcodeInfo& info = kOpcodes[i];
      if (!info.text || info.feature != runtime::Feature::Core || !info.simple) continue;
      const auto opcode = static_cast<Opcode>(i);
      if (info.access_bytes > 0) {
        if (info.results == 1) loads[index_of(info.result)].push_back(opcode);
        if (info.results == 0) stores[index_of(info.param[1])].push_back(opcode);
      } else if (info.results == 1 && info.params > 0 &&
                 (info.immediate == Immediate::None || info.immediate == Immediate::Lane ||
                  info.immediate == Immediate::Shuffle)) {
        numeric[index_of(info.result)].push_back(opcode);
        if (info.result == V128 || info.param[0] == V128) vectors.push_back(opcode);
      }
    }
  }
};

const Repertoire& repertoire() {
  static const Repertoire it;
  return it;
}

template <class T, size_t N>
T pick(Choices& choices, const std::array<T, N>& list) {
  return list[choices.below(N)];
}
template <class T>
const T& pick(Choices& choices, const std::vector<T>& list) {
  return list[choices.below(static_cast<uint32_t>(list.size()))];
}

bool is_division(Opcode op) {
  return (op >= Opcode::I32DivS && op <= Opcode::I32RemU) || (op >= Opcode::I64DivS && op <= Opcode::I64RemU);
}
bool is_trapping_truncation(Opcode op) {
  return (op >= Opcode::I32TruncF32S && op <= Opcode::I32TruncF64U) ||
         (op >= Opcode::I64TruncF32S && op <= Opcode::I64TruncF64U);
}

uint64_t interesting_bits(Choices& choices, ValueType type) {
  static constexpr std::array<uint64_t, 16> kI32s = {
      0, 1, 2, 3, 7, 8, 31, 32, 255, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe, 10};
  static constexpr std::array<uint64_t, 16> kI64s = {0,
                                                     1,
                                                     2,
                                                     5,
                                                     63,
                                                     64,
                                                     0x7fffffff,
                                                     0x80000000,
                                                     0xffffffff,
                                                     0x100000000,
                                                     0x7fffffffffffffff,
                                                     0x8000000000000000,
                                                     0xffffffffffffffff,
                                                     0xffffffff80000000,
                                                     1000000007,
                                                     0xfffffffffffffffe};
  static constexpr std::array<uint64_t, 16> kF32s = {
      0,          0x80000000, 0x3f800000, 0xbf800000, 0x3f000000, 0x7f800000, 0xff800000, 0x7fc00000,
      0x00000001, 0x007fffff, 0x00800000, 0x7f7fffff, 0x4f000000, 0x4f800000, 0x5f000000, 0x40490fdb};
  static constexpr std::array<uint64_t, 16> kF64s = {0,
                                                     0x8000000000000000,
                                                     0x3ff0000000000000,
                                                     0xbff0000000000000,
                                                     0x3fe0000000000000,
                                                     0x7ff0000000000000,
                                                     0xfff0000000000000,
                                                     0x7ff8000000000000,
                                                     0x0000000000000001,
                                                     0x000fffffffffffff,
                                                     0x41dfffffffc00000,
                                                     0x41f0000000000000,
                                                     0x43e0000000000000,
                                                     0xc1e0000000200000,
                                                     0x36a0000000000000,
                                                     0x400921fb54442d18};
  return pick(choices, type == I32 ? kI32s : type == I64 ? kI64s : type == F32 ? kF32s : kF64s);
}

class FunctionGenerator {
 public:
  FunctionGenerator(Choices& choices, const ModuleShape& shape, uint32_t index, uint32_t max_instructions)
      : choices_(choices), shape_(shape), index_(index), budget_(max_instructions) {}

  GeneratedBody run() {
    const FuncType& type = shape_.type_of(index_);
    locals_ = type.params;
    declare_locals();
    labels_.push_back(type.results);
    take_fuel(kCallFuel);
    statements(64);
    values(type.results);
    code_.end();
    body_.code = std::move(code_);
    return std::move(body_);
  }

 private:
  static constexpr std::array<ValueType, 5> kNumbers = {I32, I64, F32, F64, V128};
  static constexpr std::array<ValueType, 7> kAll = {I32, I64, F32, F64, V128, FuncRef, ExternRef};

  struct Nested {
    explicit Nested(FunctionGenerator& g) : generator(g) { ++generator.depth_; }
    ~Nested() { --generator.depth_; }
    FunctionGenerator& generator;
  };

  // Whether what is generated now has to be as small as it can be.
  bool must_end() const { return choices_.exhausted() || budget_ == 0 || depth_ >= kMaxDepth; }
  uint32_t below(uint32_t bound) { return choices_.below(bound); }
  bool chance(uint32_t n) { return choices_.chance(n); }
  template <class... Immediates>
  void op(Opcode opcode, Immediates... immediates) {
    if (budget_ > 0) --budget_;
    code_.op(opcode, immediates...);
  }

  void declare_locals() {
    for (uint32_t groups = 1 + below(8); groups-- > 0;) {
      const uint32_t count = below(4);
      const ValueType type = pick(choices_, kAll);
      body_.locals.emplace_back(count, type);
      locals_.insert(locals_.end(), count, type);
    }
    for (ValueType type : kNumbers) new_local(type);
  }
  uint32_t new_local(ValueType type) {
    body_.locals.emplace_back(1, type);
    locals_.push_back(type);
    return static_cast<uint32_t>(locals_.size() - 1);
  }
  // A local of the type, or nothing.
  std::optional<uint32_t> local_of(ValueType type) { return index_of_type(locals_, type, locals_.size()); }
  // One of the first `count` of `list` that is of the type.
  std::optional<uint32_t> index_of_type(const Types& list, ValueType type, size_t count) {
    const uint32_t first = below(static_cast<uint32_t>(std::max<size_t>(count, 1)));
    for (uint32_t i = 0; i < count; ++i) {
      const auto at = static_cast<uint32_t>((first + i) % count);
      if (list[at] == type) return at;
    }
    return std::nullopt;
  }

  void take_fuel(uint32_t amount) {
    const auto price = static_cast<int32_t>(amount);
    code_.op(Opcode::GlobalGet, kFuelGlobal).i32(price).op(Opcode::I32LtU).open(Opcode::If);
    code_.op(Opcode::Unreachable).end();
    code_.op(Opcode::GlobalGet, kFuelGlobal).i32(price).op(Opcode::I32Sub).op(Opcode::GlobalSet, kFuelGlobal);
  }

  // --- Expressions: each leaves one value of its type. ---

  void values(const Types& types) {
    for (ValueType type : types) expression(type);
  }
  // Takes values off the stack, the last first.
  void consume(const Types& types, size_t keep = 0) {
    for (size_t i = types.size(); i-- > keep;) {
      const std::optional<uint32_t> local = chance(160) ? local_of(types[i]) : std::nullopt;
      if (local) {
        op(Opcode::LocalSet, *local);
      } else {
        op(Opcode::Drop);
      }
    }
  }

  void expression(ValueType type) {
    if (must_end()) return leaf(type);
    Nested nested(*this);
    if (is_reference(type)) return reference(type);
    switch (below(16)) {
      case 0:
      case 1:
      case 2:
        return leaf(type);
      case 3:
        return select(type);
      case 4:
        return tee(type);
      case 5:
      case 6:
        return load(type);
      case 7:
        return construct_of(type);
      case 8:
        return call_of(type);
      case 9:
        return type == I32 ? query() : numeric(type);
      case 10:
        return type == I32 ? compare_for_branch() : numeric(type);
      default:
        return numeric(type);
    }
  }

  void leaf(ValueType type) {
    const uint32_t kind = below(8);
    if (kind < 4) {
      if (const auto local = local_of(type)) return op(Opcode::LocalGet, *local);
    } else if (kind == 4) {
      if (const auto global = index_of_type(shape_.globals, type, shape_.globals.size())) {
        return op(Opcode::GlobalGet, *global);
      }
    }
    constant(type);
  }
  void constant(ValueType type) {
    if (budget_ > 0) --budget_;
    if (type == FuncRef && chance(128)) {
      return op(Opcode::RefFunc, below(static_cast<uint32_t>(shape_.function_types.size())));
    }
    generate_constant(choices_, type, code_);
  }

  void numeric(ValueType type) {
    Opcode opcode = pick(choices_, repertoire().numeric[Repertoire::index_of(type)]);
    // Most of these would trap on most values and end the run.
    if (is_trapping_truncation(opcode) && chance(208))
      opcode = type == I32 ? Opcode::I32TruncSatF64S : Opcode::I64TruncSatF32U;
    operands(opcode, [this](ValueType operand) { expression(operand); });
    if (is_division(opcode) && chance(208)) {
      type == I32 ? code_.i32(1).op(Opcode::I32Or) : code_.i64(1).op(Opcode::I64Or);
    }
    compute(opcode);
  }
  // Each by `operand(type)`.
  template <class Operand>
  void operands(Opcode opcode, Operand operand) {
    const OpcodeInfo& info = runtime::info(opcode);
    for (uint32_t i = 0; i < info.params; ++i) {
      operand(info.param[i]);
      if (shows_nan_bits(opcode, i)) canonicalize(info.param[i]);
    }
  }
  void compute(Opcode opcode) {
    op(opcode);
    generate_lanes(choices_, opcode, code_);
    if (makes_open_nans(opcode)) canonicalize_lanes(opcode, new_local(V128), code_);
  }
  // Whether the result depends on the sign or payload of a NaN given as operand `i`.
  static bool shows_nan_bits(Opcode opcode, uint32_t i) {
    switch (opcode) {
      case Opcode::I32ReinterpretF32:
      case Opcode::I64ReinterpretF64:
      case Opcode::F32x4Splat:
      case Opcode::F64x2Splat:
        return true;
      case Opcode::F32Copysign:
      case Opcode::F64Copysign:
      case Opcode::F32x4ReplaceLane:
      case Opcode::F64x2ReplaceLane:
        return i == 1;
      default:
        return false;
    }
  }
  // The value on the stack, or the canonical NaN in place of any.
  void canonicalize(ValueType type) {
    if (type != F32 && type != F64) return;
    const uint32_t local = new_local(type);
    op(Opcode::LocalTee, local);
    if (type == F32) {
      code_.op(Opcode::F32Const).raw(Bytes().fixed(uint32_t{0x7fc00000}));
    } else {
      code_.op(Opcode::F64Const).raw(Bytes().fixed(uint64_t{0x7ff8000000000000}));
    }
    code_.op(Opcode::LocalGet, local).op(Opcode::LocalGet, local);
    code_.op(type == F32 ? Opcode::F32Eq : Opcode::F64Eq).op(Opcode::Select);
  }

  void select(ValueType type) {
    expression(type);
    expression(type);
    expression(I32);
    if (budget_ > 0) --budget_;
    if (is_reference(type) || chance(64)) {
      code_.select(type);
    } else {
      code_.op(Opcode::Select);
    }
  }

  void tee(ValueType type) {
    expression(type);
    if (const auto local = local_of(type)) op(Opcode::LocalTee, *local);
  }

  // An address on the stack; returns the offset to go with it.
  uint32_t address() {
    expression(I32);
    const uint32_t kind = below(32);
    if (kind < 28) code_.i32(kAddressMask).op(Opcode::I32And);
    static constexpr std::array<uint32_t, 16> kOffsets = {
        0, 0, 0, 8, 1, 4, 7, 16, 24, 40, 255, 4096, 0xf004, 0xfff8, 0x7fffffff, 0xffffffff};
    return kOffsets[below(kind < 30 ? 14 : 16)];
  }
  void load(ValueType type) {
    const Opcode opcode = pick(choices_, repertoire().loads[Repertoire::index_of(type)]);
    const uint32_t offset = address();
    if (runtime::info(opcode).params == 2) expression(V128);  // whose lane is loaded
    access(opcode, offset);
  }
  void access(Opcode opcode, uint32_t offset) {
    op(opcode, below(runtime::info(opcode).natural_alignment + 1u), offset);
    generate_lanes(choices_, opcode, code_);
  }
  void store(ValueType type) {
    const Opcode opcode = pick(choices_, repertoire().stores[Repertoire::index_of(type)]);
    const uint32_t offset = address();
    expression(type);
    canonicalize(type);
    access(opcode, offset);
  }

  void compare_for_branch() {
    const ValueType type = kNumbers[below(4)];
    static constexpr Opcode kFirst[] = {Opcode::I32Eq, Opcode::I64Eq, Opcode::F32Eq, Opcode::F64Eq};
    expression(type);
    expression(type);
    const uint32_t which = below(type == I32 || type == I64 ? 10 : 6);
    op(static_cast<Opcode>(static_cast<uint32_t>(kFirst[Repertoire::index_of(type)]) + which));
  }

  // What modules say of themselves.
  void query() {
    switch (below(6)) {
      case 0:
        return op(Opcode::MemorySize, 0);
      case 1:
        expression(I32);
        code_.i32(1).op(Opcode::I32And);
        return op(Opcode::MemoryGrow, 0);
      case 2:
        return op(Opcode::TableSize, below(2));
      case 3: {
        const uint32_t table = below(2);
        expression(element_of(table));
        expression(I32);
        code_.i32(3).op(Opcode::I32And);
        return op(Opcode::TableGrow, table);
      }
      default:
        expression(chance(128) ? FuncRef : ExternRef);
        return op(Opcode::RefIsNull);
    }
  }
  static ValueType element_of(uint32_t table) { return table == kFunctionTable ? FuncRef : ExternRef; }
  void table_index() {
    expression(I32);
    if (chance(240)) code_.i32(7).op(Opcode::I32And);
  }

  void reference(ValueType type) {
    switch (below(6)) {
      case 0:
      case 1:
        return leaf(type);
      case 2:
        return select(type);
      case 3:
        return call_of(type);
      case 4:
        return construct_of(type);
      default:
        table_index();
        return op(Opcode::TableGet, type == FuncRef ? kFunctionTable : kExternTable);
    }
  }

  // --- Calls ---

  // Directly, what comes later in the module, so that most calls end without fuel's help; or anything.
  std::optional<uint32_t> callee(std::optional<ValueType> first_result) {
    const auto count = static_cast<uint32_t>(shape_.function_types.size());
    const uint32_t first = below(count);
    const bool any = chance(24);
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t at = (first + i) % count;
      const bool later = at == 0 || at > index_;  // 0: the import
      const Types& results = shape_.type_of(at).results;
      if (!any && !later) continue;
      if (!first_result || (!results.empty() && results.front() == *first_result)) return at;
    }
    return std::nullopt;
  }
  void call(uint32_t function) {
    values(shape_.type_of(function).params);
    op(Opcode::Call, function);
  }
  // A call of an entry of the table, by its type; returns the type. Sometimes the entry is another or none.
  const FuncType& call_indirect(uint32_t entry) {
    const uint32_t type = shape_.table_types[entry];
    values(shape_.types[type].params);
    if (chance(32)) {
      table_index();
    } else {
      code_.i32(static_cast<int32_t>(entry));
    }
    op(Opcode::CallIndirect, type, kFunctionTable);
    return shape_.types[type];
  }
  void call_of(ValueType type) {
    if (chance(96)) {
      const auto count = static_cast<uint32_t>(shape_.table_types.size());
      for (uint32_t i = 0, first = below(count); i < count; ++i) {
        const uint32_t entry = (first + i) % count;
        const Types& results = shape_.types[shape_.table_types[entry]].results;
        if (!results.empty() && results.front() == type) return consume(call_indirect(entry).results, 1);
      }
    }
    const auto function = callee(type);
    if (!function) return leaf(type);
    call(*function);
    consume(shape_.type_of(*function).results, 1);
  }

  // --- Structured control ---

  // block, loop or if with the parameters and results of a type of the module's.
  const FuncType& construct(uint32_t type_index) {
    const FuncType& type = shape_.types[type_index];
    values(type.params);
    const uint32_t kind = below(4);
    if (kind == 3) {
      loop(type, type_index);
    } else if (kind == 2 && (chance(192) || type.params != type.results)) {
      expression(I32);
      open(Opcode::If, type, type_index);
      arm(type, type.results);
      op(Opcode::Else);
      arm(type, type.results);
      code_.end();
    } else if (kind == 2) {  // without else: the parameters are the results
      expression(I32);
      open(Opcode::If, type, type_index);
      arm(type, type.results);
      code_.end();
    } else {
      open(Opcode::Block, type, type_index);
      arm(type, type.results);
      code_.end();
    }
    return type;
  }
  void open(Opcode opcode, const FuncType& type, uint32_t type_index) {
    if (budget_ > 0) --budget_;
    if (type.params.empty() && type.results.empty()) {
      code_.open(opcode);
    } else if (type.params.empty() && type.results.size() == 1) {
      code_.open(opcode, type.results[0]);
    } else {
      code_.open(opcode, type_index);
    }
  }
  // What stands between the opening and the end of a construct, whose label takes `label`.
  void arm(const FuncType& type, const Types& label) {
    labels_.push_back(label);
    const bool pass_on = type.params == type.results && chance(96);
    if (!pass_on) consume(type.params);
    statements(6);
    if (!pass_on) values(type.results);
    labels_.pop_back();
  }
  // Rounds end by a branch back: at the bottom, if there is one, on a condition.
  void loop(const FuncType& type, uint32_t type_index) {
    open(Opcode::Loop, type, type_index);
    labels_.push_back(type.params);
    take_fuel(1);
    consume(type.params);
    statements(6);
    if (chance(192)) {
      const uint32_t counter = new_local(I32);
      values(type.params);
      code_.op(Opcode::LocalGet, counter).i32(1).op(Opcode::I32Add).op(Opcode::LocalTee, counter);
      code_.i32(static_cast<int32_t>(1 + below(9))).op(chance(128) ? Opcode::I32LtU : Opcode::I32LtS);
      op(Opcode::BrIf, 0);
      consume(type.params);
    }
    values(type.results);
    labels_.pop_back();
    code_.end();
  }
  void construct_of(ValueType type) {
    const auto count = static_cast<uint32_t>(shape_.types.size());
    for (uint32_t i = 0, first = below(count); i < count; ++i) {
      const uint32_t at = (first + i) % count;
      const Types& results = shape_.types[at].results;
      if (!results.empty() && results.front() == type) return consume(construct(at).results, 1);
    }
    leaf(type);
  }

  uint32_t any_label() { return below(static_cast<uint32_t>(labels_.size())); }
  const Types& label_types(uint32_t depth) const { return labels_[labels_.size() - 1 - depth]; }

  void branch_if() {
    const uint32_t depth = any_label();
    values(label_types(depth));
    expression(I32);
    op(Opcode::BrIf, depth);
    consume(label_types(depth));
  }
  void branch_table() {
    const uint32_t default_depth = any_label();
    const Types types = label_types(default_depth);
    std::vector<uint32_t> alike;
    for (uint32_t depth = 0; depth < labels_.size(); ++depth) {
      if (label_types(depth) == types) alike.push_back(depth);
    }
    values(types);
    expression(I32);
    const uint32_t targets = below(12);
    if (chance(160)) code_.i32(static_cast<int32_t>(targets + 1)).op(Opcode::I32RemU);
    op(Opcode::BrTable, targets);
    Bytes depths;
    for (uint32_t i = 0; i < targets; ++i) depths.u32(pick(choices_, alike));
    code_.raw(depths.u32(default_depth));
  }

  // --- Statements: each leaves the stack as it was. ---

  void statements(uint32_t most) {
    Nested nested(*this);
    for (uint32_t i = 0; i < most && !must_end(); ++i) statement();
  }

  // Straight code on vectors in locals, as loops over arrays have it.
  void vector_statements() {
    for (uint32_t count = 1 + below(16); count-- > 0 && !choices_.exhausted() && budget_ > 0;) {
      const uint32_t kind = below(8);
      if (kind == 0) {
        store(V128);
        continue;
      }
      ValueType result = V128;
      if (kind == 1) {
        load(V128);
      } else {
        const Opcode opcode = pick(choices_, repertoire().vectors);
        operands(opcode, [this](ValueType operand) { leaf(operand); });
        compute(opcode);
        result = runtime::info(opcode).result;
      }
      op(Opcode::LocalSet, *local_of(result));
    }
  }

  void statement() {
    switch (below(18)) {
      case 16:
      case 17:
        return vector_statements();
      case 0:
      case 1:
      case 2:
        return set_local();
      case 3:
        return set_global();
      case 4:
      case 5:
        return store(pick(choices_, kNumbers));
      case 6:
      case 7:
      case 8:
        return consume(construct(below(static_cast<uint32_t>(shape_.types.size()))).results);
      case 9:
        return branch_if();
      case 10:
        return chance(64) ? leave() : branch_if();
      case 11:
        return call_statement();
      case 12:
        return bulk();
      case 13:
        return table_access();
      case 14:
        return switch_statement();
      default:
        expression(pick(choices_, kAll));
        return op(Opcode::Drop);
    }
  }
  void set_local() {
    const uint32_t local = below(static_cast<uint32_t>(locals_.size()));
    expression(locals_[local]);
    op(Opcode::LocalSet, local);
  }
  void set_global() {
    const uint32_t global = 1 + below(shape_.first_constant_global - 1);
    expression(shape_.globals[global]);
    op(Opcode::GlobalSet, global);
  }
  void call_statement() {
    if (chance(96)) {
      return consume(call_indirect(below(static_cast<uint32_t>(shape_.table_types.size()))).results);
    }
    if (const auto function = callee(std::nullopt)) {
      call(*function);
      consume(shape_.type_of(*function).results);
    }
  }
  // Control does not come back; what follows is dead, and its stack holds whatever is asked of it.
  void leave() {
    switch (below(4)) {
      case 0: {
        const uint32_t depth = any_label();
        values(label_types(depth));
        op(Opcode::Br, depth);
        break;
      }
      case 1:
        values(labels_.front());
        op(Opcode::Return);
        break;
      case 2:
        branch_table();
        break;
      default:
        op(Opcode::Unreachable);
    }
    if (chance(128)) {
      const Opcode dead = pick(choices_, repertoire().numeric[below(5)]);
      code_.op(dead);
      generate_lanes(choices_, dead, code_);
      code_.op(Opcode::Drop);
    }
    if (chance(64)) code_.op(Opcode::Select).op(Opcode::Drop);
  }
  // br_table out of blocks around it, as compilers write it.
  void switch_statement() {
    const uint32_t arms = 1 + below(5);
    for (uint32_t i = 0; i < arms; ++i) {
      code_.open(Opcode::Block);
      labels_.push_back({});
    }
    branch_table();
    for (uint32_t i = 0; i < arms; ++i) {
      code_.end();
      labels_.pop_back();
      statements(2);
    }
  }

  void bulk_length() {
    expression(I32);
    if (chance(240)) code_.i32(kMaxBulk).op(Opcode::I32And);
  }
  void masked_address() {
    expression(I32);
    if (chance(240)) code_.i32(kAddressMask).op(Opcode::I32And);
  }
  void bulk() {
    switch (below(4)) {
      case 0:
        masked_address();
        masked_address();
        bulk_length();
        return op(Opcode::MemoryCopy, 0, 0);
      case 1:
        masked_address();
        expression(I32);
        bulk_length();
        return op(Opcode::MemoryFill, 0);
      case 2:
        masked_address();
        table_index();
        bulk_length();
        return op(Opcode::MemoryInit, below(shape_.data_segments), 0);
      default:
        return op(Opcode::DataDrop, below(shape_.data_segments));
    }
  }
  void table_access() {
    const uint32_t table = below(2);
    switch (below(5)) {
      case 0:
        table_index();
        expression(element_of(table));
        return op(Opcode::TableSet, table);
      case 1:
        table_index();
        table_index();
        table_index();
        return op(Opcode::TableCopy, table, table);
      case 2:
        table_index();
        expression(element_of(table));
        table_index();
        return op(Opcode::TableFill, table);
      case 3:
        table_index();
        table_index();
        table_index();
        return op(Opcode::TableInit, below(shape_.element_segments), kFunctionTable);
      default:
        return op(Opcode::ElemDrop, below(shape_.element_segments));
    }
  }

  Choices& choices_;
  const ModuleShape& shape_;
  const uint32_t index_;
  uint32_t budget_;
  uint32_t depth_ = 0;
  Code code_;
  GeneratedBody body_;
  Types locals_;
  std::vector<Types> labels_;  // what a branch to each open label carries, outermost first
};

}  // namespace

void generate_constant(Choices& choices, ValueType type, Code& code) {
  if (is_reference(type)) {
    code.ref_null(type);
    return;
  }
  if (type == V128) return generate_vector_constant(choices, code);
  const bool narrow = type == I32 || type == F32;
  const uint64_t bits = choices.chance(64) ? choices.bits(narrow ? 4 : 8) : interesting_bits(choices, type);
  if (type == I32) code.i32(static_cast<int32_t>(bits));
  if (type == I64) code.i64(static_cast<int64_t>(bits));
  if (type == F32) code.op(Opcode::F32Const).raw(Bytes().fixed(static_cast<uint32_t>(bits)));
  if (type == F64) code.op(Opcode::F64Const).raw(Bytes().fixed(bits));
}

GeneratedBody generate_function(Choices& choices, const ModuleShape& shape, uint32_t index,
                                uint32_t max_instructions) {
  return FunctionGenerator(choices, shape, index, max_instructions).run();
}

}  // namespace wago::fuzz
