// Every operation on vectors on operands that an implementation might treat as special, in every place that
// operands and results can have - parameter, constant, memory; value, branch, selection, what is fused with
// it - against the specification written out in vector_reference.
#include <optional>

#include "engine_fixture.h"
#include "runtime/opcodes.h"
#include "vector_reference.h"

namespace wago::engine_test {
namespace {

using runtime::OpcodeInfo;

Code& add_constant(Code& code, const Vector& value) {
  return code.op(Opcode::V128Const).raw(Bytes(std::vector<uint8_t>(value.bytes.begin(), value.bytes.end())));
}

// Calls functions of two vectors, a count and an address; operands in memory are at the address.
class Caller {
 public:
  static constexpr uint32_t kFirst = 0, kSecond = 1, kCount = 2, kAddress = 3;
  static constexpr uint32_t kPlace = 4096 + 3;  // aligned to nothing

  explicit Caller(ModuleBuilder& module)
      : module_(module),
        vector_type_(module.type({V128, V128, I32, I32}, {V128})),
        i32_type_(module.type({V128, V128, I32, I32}, {I32})) {
    module.export_("memory", ExternKind::Memory, module.memory(1));
  }

  // Returns the function's place in what call() may call.
  uint32_t add(ValueType result, Code code) {
    uint32_t type = result == V128 ? vector_type_ : i32_type_;
    results_.push_back(result);
    uint32_t function = module_.function(type, {}, code.end());
    module_.export_(std::to_string(results_.size() - 1), ExternKind::Function, function);
    return static_cast<uint32_t>(results_.size() - 1);
  }
  void open(const Instance& instance) {
    for (size_t i = 0; i < results_.size(); ++i)
      functions_.push_back(instance.function(std::to_string(i)).value());
    memory_.emplace(instance.memory("memory").value());
  }
  CallResult call(uint32_t function, const Vector& a, const Vector& b, uint32_t address,
                  Vector& result) const {
    std::memcpy(&memory_->bytes()[kPlace], &a, 16);
    std::memcpy(&memory_->bytes()[kPlace + 16], &b, 16);
    Slot args[6], results[2] = {0, 0};
    std::memcpy(&args[0], &a, 16);
    std::memcpy(&args[2], &b, 16);
    args[4] = b.lane<uint32_t>(0);
    args[5] = address;
    CallResult outcome = functions_[function].call(args, {results, results_[function] == V128 ? 2u : 1u});
    std::memcpy(&result, results, 16);
    return outcome;
  }

 private:
  ModuleBuilder& module_;
  uint32_t vector_type_, i32_type_;
  std::vector<ValueType> results_;
  std::vector<Function> functions_;
  std::optional<Memory> memory_;
};

// The forms of one operation, and what each is called with.
class Forms {
 public:
  explicit Forms(const VectorReference& reference)
      : reference_(reference),
        op_(runtime::info(reference.opcode)),
        pairs_(interesting_pairs(reference.operands)) {
    is_shift_ = op_.params == 2 && op_.param[1] == I32;
    if (is_shift_) {
      for (size_t i = 0; i < pairs_.size(); ++i)
        pairs_[i].second.set_lane<uint32_t>(0,
                                            static_cast<uint32_t>(i % 70 + (i % 5 == 4 ? 0xffff'ff80 : 0)));
    }
  }

  void add_all(Caller& caller) {
    const ValueType result = op_.result;
    std::vector<Code> operands = {Code().op(Opcode::LocalGet, Caller::kFirst),
                                  Code().op(Opcode::LocalGet, is_shift_ ? Caller::kCount : Caller::kSecond)};
    auto value = [&](const std::vector<Code>& of) {
      Code code;
      for (size_t i = 0; i < op_.params; ++i) code.raw(of[i].bytes());
      return code.op(reference_.opcode);
    };
    add(caller, result, value(operands));
    // In memory; both at once, too.
    std::vector<Code> in_memory = operands;
    for (uint32_t i = 0; i < op_.params && !(is_shift_ && i == 1); ++i) {
      in_memory[i] = Code().op(Opcode::LocalGet, Caller::kAddress).op(Opcode::V128Load, 0, 16 * i);
      std::vector<Code> some = operands;
      some[i] = in_memory[i];
      loads_.push_back(add(caller, result, value(some)));
    }
    if (op_.params == 2) loads_.push_back(add(caller, result, value(in_memory)));
    if (op_.params == 2 && !is_shift_)
      add(caller, result, value({operands[0], operands[0]}), Kind::SameTwice);
    add_constants(caller, operands, value);
    if (result != I32) return;
    // Where flags are what is asked for.
    const Code found = value(operands);
    auto choose = [](Code code) { return code.open(Opcode::If, I32).i32(7).op(Opcode::Else).i32(9).end(); };
    add(caller, I32, choose(found), Kind::SevenOrNine);
    Code inverted = found;
    add(caller, I32, choose(inverted.op(Opcode::I32Eqz)), Kind::NineOrSeven);
    Code chosen;
    chosen.i32(7).i32(9).raw(found.bytes()).op(Opcode::Select);
    add(caller, I32, chosen, Kind::SevenOrNine);
  }

  // Returns how many results it compared.
  uint64_t check(const Caller& caller) const {
    uint64_t compared = 0;
    for (const Form& form : forms_) {
      for (size_t i = 0; i < pairs_.size(); ++i) {
        if (form.only_pair && *form.only_pair != i) continue;
        const auto& [a, b] = pairs_[i];
        const Vector expected = expect(form.kind, a, b);
        Vector got;
        ++compared;
        const CallResult outcome = caller.call(form.function, a, b, Caller::kPlace, got);
        if (outcome.ok() && same(reference_, got, expected, a, b)) continue;
        ADD_FAILURE() << op_.text << ", form " << form.function << ", of " << to_string(a) << ", "
                      << to_string(b) << ": " << (outcome.ok() ? to_string(got) : outcome.trap().message)
                      << ", expected " << to_string(expected);
        return compared;  // the rest of the form says the same
      }
    }
    // A folded load faults as itself.
    for (uint32_t function : loads_) {
      Vector got;
      const CallResult outcome = caller.call(function, {}, {}, 65536 - 15, got);
      EXPECT_FALSE(outcome.ok()) << op_.text << ", form " << function;
      EXPECT_TRUE(outcome.ok() || outcome.trap().code == TrapCode::MemoryOutOfBounds) << op_.text;
    }
    return compared;
  }

 private:
  enum class Kind : uint8_t { Plain, SameTwice, SevenOrNine, NineOrSeven };
  struct Form {
    uint32_t function;
    Kind kind;
    std::optional<size_t> only_pair;
  };

  uint32_t add(Caller& caller, ValueType result, const Code& code, Kind kind = Kind::Plain,
               std::optional<size_t> only_pair = std::nullopt) {
    forms_.push_back({caller.add(result, code), kind, only_pair});
    return forms_.back().function;
  }
  template <class F>
  void add_constants(Caller& caller, const std::vector<Code>& operands, F value) {
    const size_t step = is_shift_ ? 1 : 1 + pairs_.size() / 24;
    const size_t all_alike = interesting_lanes(reference_.operands).size();
    for (size_t i = 0; i < pairs_.size(); i += i < all_alike ? 1 : step) {
      std::vector<Code> all = operands;
      for (uint32_t k = 0; k < op_.params; ++k) {
        const Vector& vector = k == 0 ? pairs_[i].first : pairs_[i].second;
        Code constant;
        if (is_shift_ && k == 1) {
          constant.i32(vector.lane<int32_t>(0));
        } else {
          add_constant(constant, vector);
        }
        std::vector<Code> some = operands;
        some[k] = all[k] = constant;
        add(caller, op_.result, value(some), Kind::Plain, i);
      }
      add(caller, op_.result, value(all), Kind::Plain, i);
    }
  }
  Vector expect(Kind kind, const Vector& a, const Vector& b) const {
    Vector expected = reference_.compute(a, kind == Kind::SameTwice ? a : b);
    if (kind == Kind::Plain || kind == Kind::SameTwice) return expected;
    Vector chosen;
    chosen.set_lane<uint32_t>(0, (expected != Vector{}) == (kind == Kind::SevenOrNine) ? 7 : 9);
    return chosen;
  }

  const VectorReference& reference_;
  const OpcodeInfo& op_;
  std::vector<std::pair<Vector, Vector>> pairs_;
  bool is_shift_ = false;
  std::vector<Form> forms_;
  std::vector<uint32_t> loads_;  // functions that load 16 bytes from the address
};

class VectorOperations : public EngineTest {};
INSTANTIATE_TEST_SUITE_P(Configurations, VectorOperations, ::testing::ValuesIn(configurations()), name_of);

TEST_P(VectorOperations, OnInterestingOperandsInAllPlaces) {
  uint64_t compared = 0;
  for (const VectorReference& reference : vector_references()) {
    ModuleBuilder module;
    Caller caller(module);
    Forms forms(reference);
    forms.add_all(caller);
    Instance instance = instantiate(module);
    caller.open(instance);
    compared += forms.check(caller);
  }
  EXPECT_GT(compared, 50'000u);
}

// A reference for each operation but those on single lanes, with immediates, and the one of three operands.
TEST(VectorReferences, CoverTheInstructionSet) {
  std::vector<std::string> missing;
  uint32_t instructions = 0;
  const size_t first = runtime::opcode_base(0xfd);
  for (size_t i = first; i < first + 0x100; ++i) {
    const OpcodeInfo& op = runtime::kOpcodes[i];
    instructions += op.text != nullptr;
    if (!op.text || op.immediate != runtime::Immediate::None) continue;
    bool covered = op.param[0] != V128 || op.params == 3;  // splats, bitselect
    for (const VectorReference& reference : vector_references())
      covered = covered || reference.opcode == static_cast<Opcode>(i);
    if (!covered) missing.push_back(op.text);
  }
  EXPECT_EQ(instructions, 236u);
  EXPECT_TRUE(missing.empty()) << missing.front();
}

// --- What is selected together

const VectorReference& reference_of(const std::string& name) {
  for (const VectorReference& reference : vector_references()) {
    if (name == runtime::info(reference.opcode).text) return reference;
  }
  WAGO_UNREACHABLE("operation without a reference");
}

Code two_operands(Opcode opcode) {
  return Code().op(Opcode::LocalGet, Caller::kFirst).op(Opcode::LocalGet, Caller::kSecond).op(opcode);
}

std::vector<std::string> integer_comparisons() {
  std::vector<std::string> all;
  for (const std::string shape : {"i8x16.", "i16x8.", "i32x4.", "i64x2."}) {
    for (const char* name : {"eq", "ne", "lt_s", "gt_s", "le_s", "ge_s"}) all.push_back(shape + name);
    if (shape == "i64x2.") continue;
    for (const char* name : {"lt_u", "gt_u", "le_u", "ge_u"}) all.push_back(shape + name);
  }
  return all;
}

// A mask or bits, tested: all_true and any_true of every comparison of every shape, and of logic.
TEST_P(VectorOperations, TestsOfComparisons) {
  struct Case {
    const VectorReference& test;
    const VectorReference& source;
    uint32_t value, branch;
  };
  std::vector<Case> cases;
  ModuleBuilder module;
  Caller caller(module);
  std::vector<std::string> sources = integer_comparisons();
  for (const char* name : {"f32x4.eq", "f32x4.ne", "f32x4.lt", "f64x2.gt", "f64x2.le", "f64x2.ge", "v128.and",
                           "v128.andnot", "v128.or", "v128.xor"}) {
    sources.emplace_back(name);
  }
  for (const char* test :
       {"v128.any_true", "i8x16.all_true", "i16x8.all_true", "i32x4.all_true", "i64x2.all_true"}) {
    for (const std::string& name : sources) {
      const VectorReference &of = reference_of(test), &source = reference_of(name);
      Code found = two_operands(source.opcode).op(of.opcode);
      Code branch = found;
      branch.open(Opcode::If, I32).i32(7).op(Opcode::Else).i32(9).end();
      cases.push_back({of, source, caller.add(I32, found), caller.add(I32, branch)});
    }
  }
  Instance instance = instantiate(module);
  caller.open(instance);
  for (const Case& c : cases) {
    for (const auto& [a, b] : interesting_pairs(c.source.operands)) {
      const bool expected = c.test.compute(c.source.compute(a, b), {}) != Vector{};
      Vector value, branch;
      ASSERT_TRUE(caller.call(c.value, a, b, 0, value).ok());
      ASSERT_TRUE(caller.call(c.branch, a, b, 0, branch).ok());
      ASSERT_EQ(value.lane<uint32_t>(0), expected ? 1u : 0u)
          << runtime::info(c.test.opcode).text << " of " << runtime::info(c.source.opcode).text << ", "
          << to_string(a) << ", " << to_string(b);
      ASSERT_EQ(branch.lane<uint32_t>(0), expected ? 7u : 9u) << runtime::info(c.source.opcode).text;
    }
  }
}

TEST_P(VectorOperations, InvertedComparisons) {
  ModuleBuilder module;
  Caller caller(module);
  std::vector<std::pair<const VectorReference*, uint32_t>> cases;
  for (const std::string& name : integer_comparisons()) {
    const VectorReference& compare = reference_of(name);
    cases.emplace_back(&compare, caller.add(V128, two_operands(compare.opcode).op(Opcode::V128Not)));
  }
  Instance instance = instantiate(module);
  caller.open(instance);
  for (const auto& [compare, function] : cases) {
    for (const auto& [a, b] : interesting_pairs(compare->operands)) {
      Vector expected = compare->compute(a, b), got;
      for (uint8_t& byte : expected.bytes) byte ^= 0xff;
      ASSERT_TRUE(caller.call(function, a, b, 0, got).ok());
      ASSERT_EQ(got, expected) << runtime::info(compare->opcode).text << ", " << to_string(a) << ", "
                               << to_string(b);
    }
  }
}

// A mask chooses whole lanes; other bits choose bits.
TEST_P(VectorOperations, BitselectByMaskAndByBits) {
  ModuleBuilder module;
  Caller caller(module);
  std::vector<std::pair<const VectorReference*, uint32_t>> cases;
  for (const char* name : {"i8x16.lt_s", "i16x8.gt_u", "i32x4.ne", "i64x2.ge_s", "f32x4.lt", "f64x2.eq",
                           "v128.xor", "i8x16.sub"}) {
    const VectorReference& chooser = reference_of(name);
    Code code = Code().op(Opcode::LocalGet, Caller::kFirst).op(Opcode::LocalGet, Caller::kSecond);
    code.raw(two_operands(chooser.opcode).bytes()).op(Opcode::V128Bitselect);
    cases.emplace_back(&chooser, caller.add(V128, code));
  }
  Instance instance = instantiate(module);
  caller.open(instance);
  for (const auto& [chooser, function] : cases) {
    for (const auto& [a, b] : interesting_pairs(chooser->operands)) {
      const Vector mask = chooser->compute(a, b);
      Vector expected, got;
      for (size_t i = 0; i < 16; ++i) {
        expected.bytes[i] =
            static_cast<uint8_t>((a.bytes[i] & mask.bytes[i]) | (b.bytes[i] & ~mask.bytes[i]));
      }
      ASSERT_TRUE(caller.call(function, a, b, 0, got).ok());
      ASSERT_EQ(got, expected) << runtime::info(chooser->opcode).text << ", " << to_string(a) << ", "
                               << to_string(b) << ": " << to_string(got) << ", expected "
                               << to_string(expected);
    }
  }
}

// What needs eight bytes only takes them from memory, and no more than them.
TEST_P(VectorOperations, LowerHalvesFromMemory) {
  ModuleBuilder module;
  Caller caller(module);
  std::vector<std::pair<const VectorReference*, uint32_t>> cases;
  for (const char* name : {"i16x8.extend_low_i8x16_s", "i16x8.extend_low_i8x16_u", "i32x4.extend_low_i16x8_s",
                           "i32x4.extend_low_i16x8_u", "i64x2.extend_low_i32x4_s", "i64x2.extend_low_i32x4_u",
                           "f64x2.promote_low_f32x4", "f64x2.convert_low_i32x4_s",
                           "f64x2.convert_low_i32x4_u", "i8x16.popcnt"}) {
    const VectorReference& reference = reference_of(name);
    Code code = Code().op(Opcode::LocalGet, Caller::kAddress).op(Opcode::V128Load64Zero, 3, 0);
    cases.emplace_back(&reference, caller.add(V128, code.op(reference.opcode)));
  }
  Instance instance = instantiate(module);
  caller.open(instance);
  std::span<uint8_t> memory = instance.memory("memory").value().bytes();
  for (const auto& [reference, function] : cases) {
    for (const auto& [a, unused] : interesting_pairs(reference->operands)) {
      Vector half = a, got;
      half.set_lane<uint64_t>(1, 0);
      std::memcpy(&memory[65536 - 8], &half, 8);
      ASSERT_TRUE(caller.call(function, a, {}, 65536 - 8, got).ok());
      ASSERT_TRUE(same(*reference, got, reference->compute(half, {}), half, {}))
          << runtime::info(reference->opcode).text << " of " << to_string(half) << ": " << to_string(got);
    }
    Vector got;
    const CallResult outcome = caller.call(function, {}, {}, 65536 - 7, got);
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.trap().code, TrapCode::MemoryOutOfBounds);
  }
}

}  // namespace
}  // namespace wago::engine_test
