// Instances linked with each other and with objects of the host.
#include "engine_fixture.h"

namespace wago::engine_test {
namespace {

class Linking : public EngineTest {};
INSTANTIATE_TEST_SUITE_P(Configurations, Linking, ::testing::ValuesIn(configurations()), name_of);

// Exports memory, table, mutable global, and functions that use them: "peek", "next" (counts in the global).
ModuleBuilder library() {
  ModuleBuilder module;
  const uint32_t unary = module.type({I32}, {I32}), nullary = module.type({}, {I32});
  module.export_("memory", ExternKind::Memory, module.memory(1, 3));
  module.export_("table", ExternKind::Table, module.table(FuncRef, 4));
  const uint32_t counter = module.global(I32, true, Code().i32(100).end());
  module.export_("counter", ExternKind::Global, counter);
  const uint32_t peek =
      module.function(unary, {}, Code().op(Opcode::LocalGet, 0).op(Opcode::I32Load8U, 0, 0).end());
  Code count;
  count.op(Opcode::GlobalGet, counter).i32(1).op(Opcode::I32Add).op(Opcode::GlobalSet, counter);
  const uint32_t next = module.function(nullary, {}, count.op(Opcode::GlobalGet, counter).end());
  module.export_("peek", ExternKind::Function, peek);
  module.export_("next", ExternKind::Function, next);
  module.elements(Code().i32(0).end(), {peek});
  module.data(Code().i32(5).end(), "library");
  return module;
}

TEST_P(Linking, FunctionsRunInTheInstanceTheyComeFrom) {
  linker_.define_instance("library", instantiate(library()));
  ModuleBuilder module;
  const uint32_t unary = module.type({I32}, {I32}), nullary = module.type({}, {I32});
  const uint32_t peek = module.import_function("library", "peek", unary);
  const uint32_t next = module.import_function("library", "next", nullary);
  const uint32_t table = module.import_table("library", "table", FuncRef, 4);
  module.memory(1);
  module.data(Code().i32(5).end(), "program");
  const uint32_t own =
      module.function(unary, {}, Code().op(Opcode::LocalGet, 0).op(Opcode::I32Load8U, 0, 0).end());
  module.elements(Code().i32(1).end(), {own, peek});
  // 1000000 * library's byte + 1000 * own byte + own byte again, the last through the shared table.
  Code mix;
  mix.op(Opcode::LocalGet, 0).op(Opcode::Call, peek).i32(1000000).op(Opcode::I32Mul);
  mix.op(Opcode::LocalGet, 0).op(Opcode::I32Load8U, 0, 0).i32(1000).op(Opcode::I32Mul).op(Opcode::I32Add);
  mix.op(Opcode::LocalGet, 0).i32(1).op(Opcode::CallIndirect, unary, table).op(Opcode::I32Add);
  module.export_("mix", ExternKind::Function, module.function(unary, {}, mix.end()));
  Code indirect;
  indirect.i32(5).op(Opcode::LocalGet, 0).op(Opcode::CallIndirect, unary, table).end();
  module.export_("indirect", ExternKind::Function, module.function(unary, {}, indirect));
  module.export_("next", ExternKind::Function, next);
  Instance instance = instantiate(module);

  EXPECT_EQ(call(instance, "mix", {5})[0], 'l' * 1000000u + 'p' * 1000u + 'p');
  EXPECT_EQ(call(instance, "indirect", {0})[0], static_cast<Slot>('l'));
  EXPECT_EQ(call(instance, "indirect", {1})[0], static_cast<Slot>('p'));
  EXPECT_EQ(call(instance, "indirect", {2})[0], static_cast<Slot>('l')) << "an import in an element segment";
  EXPECT_EQ(trap_of(instance, "indirect", {3}).code, TrapCode::UninitializedElement);
  EXPECT_EQ(call(instance, "next", {})[0], 101u);
}

TEST_P(Linking, MemoriesAndGlobalsAreShared) {
  Instance lib = instantiate(library());
  linker_.define_instance("library", lib);
  ModuleBuilder module;
  const uint32_t unary = module.type({I32}, {I32});
  module.import_memory("library", "memory", 1);
  const uint32_t counter = module.import_global("library", "counter", I32, true);
  Code code;
  code.op(Opcode::LocalGet, 0).op(Opcode::MemoryGrow, 0).op(Opcode::Drop);
  code.op(Opcode::GlobalGet, counter).i32(11).op(Opcode::I32Add).op(Opcode::GlobalSet, counter);
  code.i32(kPageBytes).i32(77).op(Opcode::I32Store8, 0, 0).op(Opcode::MemorySize, 0);
  module.export_("f", ExternKind::Function, module.function(unary, {}, code.end()));
  Instance instance = instantiate(module);

  EXPECT_EQ(trap_of(instance, "f", {0}).code, TrapCode::MemoryOutOfBounds);
  EXPECT_EQ(trap_of(lib, "peek", {kPageBytes}).code, TrapCode::MemoryOutOfBounds);
  EXPECT_EQ(call(instance, "f", {1})[0], 2u);
  EXPECT_EQ(call(lib, "peek", {kPageBytes})[0], 77u) << "grown for both";
  Slot value = 0;
  lib.global("counter").value().get({&value, 1});
  EXPECT_EQ(value, 122u);
  value = 5;
  EXPECT_TRUE(lib.global("counter").value().set(std::span<const Slot>(&value, 1)).ok());
  EXPECT_EQ(call(lib, "next", {})[0], 6u);
}

TEST_P(Linking, ReferencesOutliveTheHandlesToTheirInstance) {
  Table table = Table::create(engine_, {FuncRef, {2, {}}}).value();
  linker_.define("env", "table", table);
  ModuleBuilder user;
  const uint32_t unary = user.type({I32}, {I32});
  user.import_table("env", "table", FuncRef, 2);
  Code code;
  code.op(Opcode::LocalGet, 0).i32(1).op(Opcode::CallIndirect, unary, 0).end();
  user.export_("call", ExternKind::Function, user.function(unary, {}, code));
  Instance instance = instantiate(user);
  EXPECT_EQ(trap_of(instance, "call", {5}).code, TrapCode::UninitializedElement);
  {
    Instance lib = Linker(engine_).instantiate(compile(library())).value();
    EXPECT_TRUE(table.set(1, *lib.table("table").value().get(0)));
  }
  EXPECT_EQ(call(instance, "call", {5})[0], static_cast<Slot>('l'));
}

// Only functions that can be referenced have a place for it: whichever way a reference is come by, it is to
// the right one.
TEST_P(Linking, ReferencesAreRightAmongFunctionsThatHaveNone) {
  linker_.define_instance("library", instantiate(library()));
  ModuleBuilder module;
  const uint32_t unary = module.type({I32}, {I32}), nullary = module.type({}, {I32});
  const uint32_t taker = module.type({}, {FuncRef});
  const uint32_t peek = module.import_function("library", "peek", unary);  // no reference is taken of it here
  const uint32_t next = module.import_function("library", "next", nullary);
  const uint32_t table = module.table(FuncRef, 4);
  module.export_("table", ExternKind::Table, table);
  // Each returns its own number; every other one has no reference.
  std::vector<uint32_t> numbers;
  for (int32_t i = 0; i < 8; ++i) numbers.push_back(module.function(nullary, {}, Code().i32(i).end()));
  module.elements(Code().i32(0).end(), {numbers[5], next, numbers[1]});
  const uint32_t global = module.global(FuncRef, false, Code().op(Opcode::RefFunc, numbers[7]).end());
  module.export_("global", ExternKind::Global, global);
  module.export_("three", ExternKind::Function, numbers[3]);
  module.export_("take", ExternKind::Function,
                 module.function(taker, {}, Code().op(Opcode::RefFunc, numbers[5]).end()));
  module.export_("take_import", ExternKind::Function,
                 module.function(taker, {}, Code().op(Opcode::RefFunc, next).end()));
  Code peek_at;
  peek_at.op(Opcode::LocalGet, 0).op(Opcode::Call, peek);
  module.export_("peek_at", ExternKind::Function, module.function(unary, {}, peek_at.end()));
  Code indirect;
  indirect.op(Opcode::LocalGet, 0).op(Opcode::CallIndirect, nullary, table);
  module.export_("indirect", ExternKind::Function, module.function(unary, {}, indirect.end()));
  Instance instance = instantiate(module);

  EXPECT_EQ(call(instance, "three", {})[0], 3u);
  EXPECT_EQ(call(instance, "indirect", {0})[0], 5u);
  EXPECT_EQ(call(instance, "indirect", {1})[0], 101u);
  EXPECT_EQ(call(instance, "indirect", {2})[0], 1u);
  EXPECT_EQ(call(instance, "peek_at", {5})[0], static_cast<Slot>('l'));
  auto result_of = [&](Slot reference) {
    auto function = Function::from_reference(reference);
    EXPECT_TRUE(function.ok() && function->has_value());
    Slot result = 0;
    EXPECT_TRUE((*function)->call({}, {&result, 1}).ok());
    return result;
  };
  Slot held = 0;
  instance.global("global").value().get({&held, 1});
  EXPECT_EQ(result_of(held), 7u);
  EXPECT_EQ(result_of(call(instance, "take", {})[0]), 5u);
  EXPECT_EQ(result_of(call(instance, "take_import", {})[0]), 102u);
  EXPECT_EQ(result_of(*instance.table("table").value().get(2)), 1u);
  EXPECT_EQ(call(instance, "take", {})[0], *instance.table("table").value().get(0));
}

TEST_P(Linking, FailedInstantiationLeavesWhatTheSpecificationSays) {
  Instance lib = instantiate(library());
  linker_.define_instance("library", lib);
  ModuleBuilder module;
  const uint32_t unary = module.type({I32}, {I32});
  module.import_table("library", "table", FuncRef, 4);
  module.import_memory("library", "memory", 1);
  const uint32_t own = module.function(unary, {}, Code().i32(42).end());
  module.elements(Code().i32(3).end(), {own});
  module.data(Code().i32(0).end(), "written");
  module.data(Code().i32(kPageBytes - 1).end(), "no");
  InstantiateResult result = linker_.instantiate(compile(module));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.failure().kind, InstantiateFailure::Kind::Trap);
  EXPECT_EQ(result.failure().trap->code, TrapCode::MemoryOutOfBounds);
  EXPECT_EQ(call(lib, "peek", {0})[0], static_cast<Slot>('w'));
  EXPECT_EQ(call(lib, "peek", {kPageBytes - 1})[0], 0u);

  ModuleBuilder user;
  user.type({I32}, {I32});
  user.import_table("library", "table", FuncRef, 4);
  Code code;
  code.i32(0).op(Opcode::LocalGet, 0).op(Opcode::CallIndirect, 0, 0).end();
  user.export_("call", ExternKind::Function, user.function(0, {}, code));
  EXPECT_EQ(call(instantiate(user), "call", {3})[0], 42u) << "its function stays callable";
}

TEST_P(Linking, BulkOperationsCheckFirstAndSegmentsEmptyWhenDropped) {
  ModuleBuilder module;
  const uint32_t ternary = module.type({I32, I32, I32}, {}), nullary = module.type({}, {}),
                 unary = module.type({I32}, {I32});
  module.memory(1);
  module.export_("memory", ExternKind::Memory, 0);
  module.export_("table", ExternKind::Table, module.table(FuncRef, 8));
  const uint32_t f = module.function(unary, {}, Code().op(Opcode::LocalGet, 0).end());
  const uint32_t data = module.passive_data("0123456789");
  const uint32_t elements = module.passive_elements({f, f, f});
  module.data_count(1);
  auto args = [] { return Code().op(Opcode::LocalGet, 0).op(Opcode::LocalGet, 1).op(Opcode::LocalGet, 2); };
  auto add = [&](const char* name, uint32_t type, Code code) {
    module.export_(name, ExternKind::Function, module.function(type, {}, code.end()));
  };
  add("memory_init", ternary, args().op(Opcode::MemoryInit, data, 0));
  add("memory_copy", ternary, args().op(Opcode::MemoryCopy, 0, 0));
  add("table_init", ternary, args().op(Opcode::TableInit, elements, 0));
  add("table_copy", ternary, args().op(Opcode::TableCopy, 0, 0));
  add("data_drop", nullary, Code().op(Opcode::DataDrop, data));
  add("elem_drop", nullary, Code().op(Opcode::ElemDrop, elements));
  Instance instance = instantiate(module);
  std::span<uint8_t> bytes = instance.memory("memory").value().bytes();
  Table table = instance.table("table").value();
  auto text = [&](size_t at, size_t count) {
    return std::string(bytes.begin() + at, bytes.begin() + at + count);
  };

  call(instance, "memory_init", {100, 2, 5});
  EXPECT_EQ(text(100, 5), "23456");
  call(instance, "memory_copy", {102, 100, 5});
  EXPECT_EQ(text(100, 7), "2323456") << "overlapping";
  EXPECT_EQ(trap_of(instance, "memory_copy", {65534, 100, 5}).code, TrapCode::MemoryOutOfBounds);
  EXPECT_EQ(text(65534, 2), std::string(2, '\0')) << "nothing is written before the check";
  EXPECT_EQ(trap_of(instance, "memory_init", {0, 8, 3}).code, TrapCode::MemoryOutOfBounds);
  EXPECT_EQ(trap_of(instance, "memory_init", {0xffffffff, 0, 0xffffffff}).code, TrapCode::MemoryOutOfBounds);
  call(instance, "memory_init", {65536, 10, 0});
  EXPECT_EQ(trap_of(instance, "memory_init", {65537, 0, 0}).code, TrapCode::MemoryOutOfBounds);

  call(instance, "table_init", {1, 0, 3});
  EXPECT_NE(*table.get(3), 0u);
  EXPECT_EQ(*table.get(4), 0u);
  call(instance, "table_copy", {3, 1, 3});
  EXPECT_NE(*table.get(5), 0u);
  EXPECT_EQ(trap_of(instance, "table_copy", {6, 1, 3}).code, TrapCode::TableOutOfBounds);
  EXPECT_EQ(*table.get(6), 0u);

  call(instance, "data_drop", {});
  call(instance, "elem_drop", {});
  call(instance, "memory_init", {0, 0, 0});
  EXPECT_EQ(trap_of(instance, "memory_init", {0, 0, 1}).code, TrapCode::MemoryOutOfBounds);
  EXPECT_EQ(trap_of(instance, "table_init", {0, 0, 1}).code, TrapCode::TableOutOfBounds);
}

TEST_P(Linking, StartFunctionSeesSegmentsAndMayTrap) {
  ModuleBuilder module;
  const uint32_t nullary = module.type({}, {});
  module.memory(1);
  module.data(Code().i32(0).end(), std::string_view("\0", 1));
  Code code;
  code.i32(1).i32(0).op(Opcode::I32Load8U, 0, 0).op(Opcode::I32DivU).op(Opcode::Drop).end();
  module.start(module.function(nullary, {}, code));
  InstantiateResult result = linker_.instantiate(compile(module));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.failure().trap->code, TrapCode::IntegerDivideByZero);
  ASSERT_EQ(result.failure().trap->frames.size(), 1u);
  EXPECT_EQ(result.failure().trap->frames[0].name, "func[0]");
}

}  // namespace
}  // namespace wago::engine_test
