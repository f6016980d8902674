// Host functions from C++ callables, typed calls, memory access and callers.
#include <tuple>

#include "engine_fixture.h"

namespace wago::engine_test {
namespace {

class Typed : public EngineTest {
 protected:
  // An instance of a module that imports env.<name> and exports it by way of a function of its own, "f",
  // which passes its parameters on.
  Instance forwarding(const char* name, const std::vector<ValueType>& params,
                      const std::vector<ValueType>& results, const char* memory_text = nullptr) {
    ModuleBuilder module;
    const uint32_t type = module.type(params, results);
    const uint32_t host = module.import_function("env", name, type);
    if (memory_text) {
      module.memory(1, 4);
      module.data(Code().i32(16).end(), memory_text);
    }
    Code code;
    for (uint32_t i = 0; i < params.size(); ++i) code.op(Opcode::LocalGet, i);
    module.export_("f", ExternKind::Function, module.function(type, {}, code.op(Opcode::Call, host).end()));
    return instantiate(module);
  }
  template <class Callable>
  void define(const char* name, Callable callable) {
    auto defined = linker_.define_host("env", name, std::move(callable));
    ASSERT_TRUE(defined.ok());
  }
};
// Calls of vectors and references are made of the same thunk; the configurations differ in the guest.
INSTANTIATE_TEST_SUITE_P(Configurations, Typed, ::testing::ValuesIn(configurations()), name_of);

int64_t free_function(int32_t a, int64_t b) {
  return a - b;
}

TEST_P(Typed, NumbersOfEveryTypeGoThroughCallableGuestAndTypedCall) {
  define("mixed", [](int32_t a, uint32_t b, int64_t c, uint64_t d, float e, double f) {
    return std::tuple(f, e, d, c, b, a);
  });
  Instance instance = forwarding("mixed", {I32, I32, I64, I64, F32, F64}, {F64, F32, I64, I64, I32, I32});
  using Results = std::tuple<double, float, uint64_t, int64_t, uint32_t, int32_t>;
  auto f = instance.function("f")
               .value()
               .typed<Results(int32_t, uint32_t, int64_t, uint64_t, float, double)>()
               .value();
  EXPECT_EQ(f(-1, 0xfffffffeu, -3, 1ull << 63, -0.5f, 1e300).value(),
            Results(1e300, -0.5f, 1ull << 63, -3, 0xfffffffeu, -1));

  define("difference", free_function);
  Instance other = forwarding("difference", {I32, I64}, {I64});
  EXPECT_EQ(other.function("f").value().typed<int64_t(int32_t, int64_t)>().value()(-5, 7).value(), -12);
}

TEST_P(Typed, CallablesMayHaveStateThatOnlyMoves) {
  auto count = std::make_unique<int>(0);
  int* seen = count.get();
  define("count", [count = std::move(count)](int32_t step) mutable { *count += step; });
  Instance instance = forwarding("count", {I32}, {});
  auto f = instance.function("f").value().typed<void(int32_t)>().value();
  EXPECT_TRUE(f(2).ok());
  EXPECT_TRUE(f(40).ok());
  EXPECT_EQ(*seen, 42);
}

TEST_P(Typed, ErrorsTrapsAndExceptionsOfCallablesBecomeTraps) {
  define("half", [](int32_t a) -> Result<int32_t> {
    if (a % 2) return base::failed("an odd number has no half");
    return a / 2;
  });
  Instance instance = forwarding("half", {I32}, {I32});
  EXPECT_EQ(call(instance, "f", {84})[0], 42u);
  Trap trap = trap_of(instance, "f", {3});
  EXPECT_EQ(trap.code, TrapCode::Host);
  EXPECT_EQ(trap.message, "an odd number has no half");
  ASSERT_EQ(trap.frames.size(), 2u);
  EXPECT_TRUE(trap.frames[0].host);
  EXPECT_EQ(trap.frames[0].name, "env.half");

  define("half", [](int32_t) -> int32_t { throw std::runtime_error("no halves today"); });
  EXPECT_EQ(trap_of(forwarding("half", {I32}, {I32}), "f", {2}).message, "no halves today");

  // The trap of an inner guest is passed on whole.
  ModuleBuilder dividing;
  const uint32_t unary = dividing.type({I32}, {I32});
  dividing.export_(
      "divide", ExternKind::Function,
      dividing.function(unary, {}, Code().i32(1).op(Opcode::LocalGet, 0).op(Opcode::I32DivU).end()));
  auto divide = instantiate(dividing).function("divide").value().typed<int32_t(int32_t)>().value();
  define("half", [divide](int32_t a) { return divide(a); });
  Instance nested = forwarding("half", {I32}, {I32});
  EXPECT_EQ(call(nested, "f", {1})[0], 1u);
  EXPECT_EQ(trap_of(nested, "f", {0}).code, TrapCode::IntegerDivideByZero);
}

TEST_P(Typed, AnotherTypeIsRefusedWithBoth) {
  define("half", [](int32_t a) { return a / 2; });
  Function f = forwarding("half", {I32}, {I32}).function("f").value();
  auto wrong = f.typed<double(int64_t)>();
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().message, "the function is asked for as (i64) -> (f64), but it is (i32) -> (i32)");
  ModuleBuilder module;
  module.import_function("env", "half", module.type({I64}, {I32}));
  auto linked = linker_.instantiate(compile(module));
  ASSERT_FALSE(linked.ok());
  EXPECT_NE(linked.failure().error.message.find("provided as function (i32) -> (i32)"), std::string::npos);
}

TEST_P(Typed, CallersAreSeenWithTheirMemory) {
  std::optional<Instance> seen;
  define("print", [&seen](const Caller& caller, uint32_t address, uint32_t size) -> Result<uint64_t> {
    seen = caller.instance();
    std::optional<MemoryAccess> memory = caller.memory();
    if (!memory) return base::failed("the caller has no memory");
    auto text = memory->text(address, size);
    if (!text) return base::failed("the text is outside the memory");
    const uint64_t hash = std::hash<std::string_view>()(*text);
    EXPECT_TRUE(memory->store<uint32_t>(address + 1, 0x21212121));
    return hash;
  });
  Instance one = forwarding("print", {I32, I32}, {I64}, "hello"),
           two = forwarding("print", {I32, I32}, {I64}, "world"),
           none = forwarding("print", {I32, I32}, {I64});
  EXPECT_EQ(call(one, "f", {16, 5})[0], std::hash<std::string_view>()("hello"));
  EXPECT_EQ(seen->data(), one.data());
  EXPECT_EQ(call(two, "f", {16, 5})[0], std::hash<std::string_view>()("world"));
  EXPECT_EQ(seen->data(), two.data());
  EXPECT_EQ(call(one, "f", {16, 6})[0], std::hash<std::string_view>()(std::string_view("h!!!!\0", 6)));
  EXPECT_EQ(trap_of(one, "f", {0xffffffff, 2}).message, "the text is outside the memory");
  EXPECT_EQ(trap_of(none, "f", {0, 0}).message, "the caller has no memory");

  // Through a table, whose caller keeps its context elsewhere than one that calls by name.
  ModuleBuilder indirect;
  const uint32_t type = indirect.type({I32, I32}, {I64});
  const uint32_t host = indirect.import_function("env", "print", type);
  indirect.memory(1);
  indirect.data(Code().i32(8).end(), "indirect");
  indirect.table(FuncRef, 1);
  indirect.elements(Code().i32(0).end(), {host});
  Code code;
  code.op(Opcode::LocalGet, 0).op(Opcode::LocalGet, 1).i32(0).op(Opcode::CallIndirect, type, 0);
  indirect.export_("f", ExternKind::Function, indirect.function(type, {}, code.end()));
  Instance instance = instantiate(indirect);
  EXPECT_EQ(call(instance, "f", {8, 8})[0], std::hash<std::string_view>()("indirect"));
  EXPECT_EQ(seen->data(), instance.data());
}

TEST(TypedCallers, TheHostItselfIsNoInstance) {
  Engine engine = Engine::open().value();
  auto function = Function::host(
      engine, [](Caller caller, int32_t) { return (caller.instance() ? 1 : 0) + (caller.memory() ? 2 : 0); });
  EXPECT_EQ(function.value().typed<int32_t(int32_t)>().value()(7).value(), 0);
}

TEST(MemoryAccessTest, EveryHelperChecksItsBounds) {
  Engine engine = Engine::open().value();
  Memory memory = Memory::create(engine, {{1, 2}}).value();
  MemoryAccess access = memory.access();
  EXPECT_TRUE(access.store<uint64_t>(kPageBytes - 8, 0x1122334455667788));
  EXPECT_FALSE(access.store<uint64_t>(kPageBytes - 7, 0));
  EXPECT_EQ(access.load<uint32_t>(kPageBytes - 5), 0x22334455u) << "not aligned";
  EXPECT_EQ(access.load<uint8_t>(kPageBytes), std::nullopt);
  EXPECT_EQ(access.load<uint64_t>(~uint64_t{0} - 3), std::nullopt) << "the end of the range wraps";
  std::vector<uint8_t> bytes(4, 9);
  EXPECT_FALSE(access.read(kPageBytes - 3, bytes));
  EXPECT_EQ(bytes, std::vector<uint8_t>(4, 9)) << "nothing is copied";
  EXPECT_TRUE(access.read(kPageBytes - 4, bytes));
  EXPECT_EQ(bytes, (std::vector<uint8_t>{0x44, 0x33, 0x22, 0x11}));
  EXPECT_TRUE(access.write(0, bytes));
  EXPECT_FALSE(access.write(kPageBytes - 3, bytes));
  EXPECT_EQ(access.text(kPageBytes, 0), "");
  EXPECT_EQ(access.text(kPageBytes + 1, 0), std::nullopt);
  EXPECT_EQ(access.slice(1, kPageBytes), std::nullopt);
  ASSERT_EQ(memory.grow(1), 1u);
  EXPECT_EQ(access.load<uint8_t>(kPageBytes), 0u) << "it sees the memory grow";
}

TEST(TypedGlobals, ReadAndWriteByType) {
  Engine engine = Engine::open().value();
  const Slot bits = std::bit_cast<uint64_t>(1.5);
  Global global = Global::create(engine, {F64, true}, {&bits, 1}).value();
  EXPECT_EQ(global.get<double>().value(), 1.5);
  EXPECT_TRUE(global.set(2.5).ok());
  EXPECT_EQ(global.get<double>().value(), 2.5);
  EXPECT_EQ(global.get<int64_t>().error().message, "the global is asked for as i64, but it is f64");
  Global constant = Global::create(engine, {F64, false}, {&bits, 1}).value();
  EXPECT_EQ(constant.set(2.5).error().message, "the global is immutable: it cannot be set");
  const Slot wide[2] = {1, 2};
  Global vector = Global::create(engine, {ValueType::V128, true}, wide).value();
  EXPECT_EQ(vector.get<wago::V128>().value(), (wago::V128{1, 2}));
  EXPECT_TRUE(vector.set(wago::V128{3, 4}).ok());
  EXPECT_EQ(vector.get<wago::V128>().value(), (wago::V128{3, 4}));
}

TEST_P(Typed, FunctionReferencesAreHandles) {
  // apply(f, x) = f(x), made a guest's export by way of a table of its own.
  define("apply", [](const std::optional<Function>& f, int32_t x) -> TypedResult<int32_t> {
    if (!f) return 0;
    return f->typed<int32_t(int32_t)>().value()(x);
  });
  ModuleBuilder module;
  const uint32_t apply_type = module.type({FuncRef, I32}, {I32}), unary = module.type({I32}, {I32}),
                 get_type = module.type({}, {FuncRef});
  const uint32_t apply = module.import_function("env", "apply", apply_type);
  const uint32_t twice =
      module.function(unary, {}, Code().op(Opcode::LocalGet, 0).i32(2).op(Opcode::I32Mul).end());
  module.table(FuncRef, 1);
  module.elements(Code().i32(0).end(), {twice});
  module.export_("table", ExternKind::Table, 0);
  module.export_(
      "f", ExternKind::Function,
      module.function(
          unary, {},
          Code().op(Opcode::RefFunc, twice).op(Opcode::LocalGet, 0).op(Opcode::Call, apply).end()));
  module.export_("twice", ExternKind::Function,
                 module.function(get_type, {}, Code().op(Opcode::RefFunc, twice).end()));
  // Calls what it is given through its table.
  Code keep;
  keep.i32(0)
      .op(Opcode::LocalGet, 0)
      .op(Opcode::TableSet, 0)
      .op(Opcode::LocalGet, 1)
      .i32(0)
      .op(Opcode::CallIndirect, unary, 0)
      .end();
  module.export_("keep", ExternKind::Function, module.function(apply_type, {}, keep));
  Code again;
  again.op(Opcode::LocalGet, 0).i32(0).op(Opcode::CallIndirect, unary, 0).end();
  module.export_("again", ExternKind::Function, module.function(unary, {}, again));
  Instance instance = instantiate(module);

  EXPECT_EQ(call(instance, "f", {21})[0], 42u) << "not exported, called by the host through its reference";
  auto from_table = instance.table("table").value().function(0).value();
  EXPECT_EQ(from_table->typed<int32_t(int32_t)>().value()(4).value(), 8);
  using Getter = std::optional<Function>();
  std::optional<Function> returned = instance.function("twice").value().typed<Getter>().value()().value();
  EXPECT_TRUE(returned->same(*from_table));

  // A host function that only this call holds goes on living in the guest's table.
  using Keep = int32_t(std::optional<Function>, int32_t);
  auto token = std::make_shared<int>(5);
  {
    Function add = Function::host(engine_, [token](int32_t x) { return x + *token; }).value();
    EXPECT_EQ(instance.function("keep").value().typed<Keep>().value()(add, 1).value(), 6);
  }
  EXPECT_EQ(call(instance, "again", {2})[0], 7u);
  EXPECT_EQ(token.use_count(), 2);
  EXPECT_EQ(instance.function("keep").value().typed<Keep>().value()(std::nullopt, 1).trap().code,
            TrapCode::UninitializedElement);
}

// A host function drops every handle there is before the guest returns one of its functions.
TEST_P(Typed, AFunctionAmongTheResultsLivesThoughEveryOtherHandleIsGone) {
  using Getter = TypedFunction<std::tuple<std::optional<Function>, int32_t>()>;
  std::optional<Instance> instance;
  std::optional<Getter> getter;
  define("drop", [&] {
    instance.reset();
    getter.reset();
  });
  ModuleBuilder module;
  const uint32_t number = module.type({}, {I32}), nullary = module.type({}, {});
  const uint32_t drop = module.import_function("env", "drop", nullary);
  const uint32_t three = module.function(number, {}, Code().i32(3).end());
  module.declare_elements({three});
  module.export_("get", ExternKind::Function,
                 module.function(module.type({}, {FuncRef, I32}), {},
                                 Code().op(Opcode::Call, drop).op(Opcode::RefFunc, three).i32(9).end()));
  instance = instantiate(module);
  getter.emplace(
      instance->function("get").value().typed<std::tuple<std::optional<Function>, int32_t>()>().value());
  const auto outcome = (*getter)();
  ASSERT_TRUE(outcome.ok());
  const auto& [function, nine] = *outcome;
  EXPECT_EQ(nine, 9);
  EXPECT_EQ(function->typed<int32_t()>().value()().value(), 3);
}

// Without a guest between there is nobody who could keep it.
TEST_P(Typed, AFunctionThatOnlyItsHostFunctionHeldIsATrap) {
  using Getter = std::optional<Function>();
  const auto make = Function::host(engine_, [this]() -> std::optional<Function> {
                      return Function::host(engine_, [] {}).value();
                    }).value();
  const auto outcome = make.typed<Getter>().value()();
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.trap().message,
            "a funcref among the results refers to no living function; keep a handle to it");
  const auto null = Function::host(engine_, []() -> std::optional<Function> { return std::nullopt; }).value();
  EXPECT_FALSE(null.typed<Getter>().value()().value().has_value());
}

TEST_P(Typed, AFunctionThatAHostFunctionReturnsIsTheGuestsToKeep) {
  auto token = std::make_shared<int>(30);
  define("make", [this, token]() -> std::optional<Function> {
    return Function::host(engine_, [token](int32_t x) { return x + *token; }).value();
  });
  ModuleBuilder module;
  const uint32_t make_type = module.type({}, {FuncRef}), nullary = module.type({}, {}),
                 unary = module.type({I32}, {I32});
  const uint32_t make = module.import_function("env", "make", make_type);
  module.table(FuncRef, 1);
  module.export_(
      "fill", ExternKind::Function,
      module.function(nullary, {}, Code().i32(0).op(Opcode::Call, make).op(Opcode::TableSet, 0).end()));
  Code code;
  code.op(Opcode::LocalGet, 0).i32(0).op(Opcode::CallIndirect, unary, 0).end();
  module.export_("f", ExternKind::Function, module.function(unary, {}, code));
  Instance instance = instantiate(module);
  call(instance, "fill", {});
  EXPECT_EQ(call(instance, "f", {12})[0], 42u);
}

}  // namespace
}  // namespace wago::engine_test
