#include "runtime/linker.h"

#include <gtest/gtest.h>

#include "runtime/instance.h"
#include "runtime/testing/assembled.h"

namespace wago::runtime {
namespace {

using testing::assembled_engine;
using testing::AssembledModule;
using testing::binary;
using testing::call;
using testing::call_trapping;
using testing::nullary;
using testing::unary;

std::optional<Trap> nothing(std::span<const Slot>, std::span<Slot>) {
  return std::nullopt;
}

Import import_of(ExternKind kind) {
  Import import;
  import.module = "env";
  import.name = "it";
  import.kind = kind;
  return import;
}

ConstExpr i32(uint32_t value) {
  ConstExpr expression;
  expression.bits[0] = value;
  return expression;
}

ConstExpr ref_func(uint32_t function) {
  ConstExpr expression;
  expression.kind = ConstExpr::Kind::RefFunc;
  expression.type = ValueType::FuncRef;
  expression.index = function;
  return expression;
}

class LinkerTest : public ::testing::Test {
 protected:
  LinkerTest() : engine_(assembled_engine()), linker_(engine_) {}

  // The sentence by which instantiating a module with this one import fails.
  std::string refusal(AssembledModule& assembled) {
    InstantiateResult result = linker_.instantiate(assembled.build(engine_));
    EXPECT_FALSE(result.ok());
    EXPECT_EQ(result.failure().kind, InstantiateFailure::Kind::Link);
    EXPECT_FALSE(result.failure().trap.has_value());
    return result.failure().error.message;
  }

  static AssembledModule memory_import(MemoryType type) {
    AssembledModule assembled;
    Import import = import_of(ExternKind::Memory);
    import.memory = type;
    assembled.module().imports.push_back(import);
    assembled.module().memories.push_back(type);
    assembled.module().imported_memories = 1;
    return assembled;
  }
  static AssembledModule table_import(TableType type) {
    AssembledModule assembled;
    Import import = import_of(ExternKind::Table);
    import.table = type;
    assembled.module().imports.push_back(import);
    assembled.module().tables.push_back(type);
    assembled.module().imported_tables = 1;
    return assembled;
  }
  static AssembledModule global_import(GlobalType type) {
    AssembledModule assembled;
    Import import = import_of(ExternKind::Global);
    import.global = type;
    assembled.module().imports.push_back(import);
    assembled.module().globals.push_back({type, {}});
    assembled.module().imported_globals = 1;
    return assembled;
  }

  Engine engine_;
  Linker linker_;
};

TEST_F(LinkerTest, WhatIsNotProvidedIsNamedWithItsTypeAndTheCure) {
  AssembledModule assembled;
  assembled.import_function("env", "foo", unary());
  EXPECT_EQ(
      refusal(assembled),
      "unknown import env.foo: function (i32) -> (i32) is not provided; provide it with Linker::define or "
      "Linker::define_host");
  AssembledModule memory = memory_import({{1, 2}});
  EXPECT_EQ(refusal(memory),
            "unknown import env.it: memory 1..2 pages is not provided; provide it with Linker::define");
}

TEST_F(LinkerTest, WhatDoesNotMatchIsShownBesideWhatWasWanted) {
  ASSERT_TRUE(linker_.define_host("env", "foo", nullary(), nothing).ok());
  AssembledModule function;
  function.import_function("env", "foo", unary());
  EXPECT_EQ(refusal(function),
            "incompatible import type: env.foo is wanted as function (i32) -> (i32) but provided as function "
            "() -> ()");

  linker_.define("env", "it", Memory::create(engine_, {{1, 3}}).value());
  AssembledModule larger = memory_import({{2, {}}}), bounded = memory_import({{1, 2}});
  EXPECT_EQ(
      refusal(larger),
      "incompatible import type: env.it is wanted as memory 2.. pages but provided as memory 1..3 pages");
  EXPECT_NE(refusal(bounded).find("wanted as memory 1..2 pages"), std::string::npos);
  AssembledModule table = table_import({ValueType::FuncRef, {1, {}}});
  EXPECT_NE(refusal(table).find("wanted as table funcref 1.. but provided as memory 1..3 pages"),
            std::string::npos);

  const Slot seven = 7;
  linker_.define("env", "it", wago::Global::create(engine_, {ValueType::I32, true}, {&seven, 1}).value());
  AssembledModule constant = global_import({ValueType::I32, false}),
                  wide = global_import({ValueType::I64, true});
  EXPECT_NE(refusal(constant).find("wanted as global i32 but provided as global mut i32"), std::string::npos);
  EXPECT_NE(refusal(wide).find("wanted as global mut i64"), std::string::npos);

  linker_.define("env", "it", Table::create(engine_, {ValueType::ExternRef, {1, {}}}).value());
  EXPECT_NE(refusal(table).find("provided as table externref 1.."), std::string::npos);
}

TEST_F(LinkerTest, AMemoryMatchesByTheSizeItHasNow) {
  Memory memory = Memory::create(engine_, {{1, 3}}).value();
  linker_.define("env", "it", memory);
  AssembledModule assembled = memory_import({{2, 3}});
  (void)refusal(assembled);
  EXPECT_EQ(memory.grow(1), 1u);
  EXPECT_TRUE(linker_.instantiate(assembled.build(engine_)).ok());
  EXPECT_EQ(memory.type().limits.min, 1u);
}

TEST_F(LinkerTest, AMemoryWithoutGuardPagesIsNotGivenToCodeThatReliesOnThem) {
  EngineSettings settings;
  settings.bounds = Bounds::Explicit;
  Engine explicit_engine = assembled_engine(settings);
  linker_.define("env", "it", Memory::create(explicit_engine, {{1, {}}}).value());
  AssembledModule assembled = memory_import({{1, {}}});
  EXPECT_NE(refusal(assembled).find("no guard pages"), std::string::npos);
  Linker other(explicit_engine);
  other.define("env", "it", Memory::create(engine_, {{1, {}}}).value());
  EXPECT_TRUE(other.instantiate(assembled.build(explicit_engine)).ok());
}

TEST_F(LinkerTest, ProvidesAgreesWithInstantiate) {
  ASSERT_TRUE(linker_.define_host("env", "foo", unary(), nothing).ok());
  AssembledModule assembled;
  assembled.import_function("env", "foo", unary());
  assembled.import_function("env", "foo", binary());
  assembled.import_function("env", "bar", unary());
  std::vector<ImportInfo> imports = assembled.build(engine_).imports();
  EXPECT_TRUE(linker_.provides(imports[0]));
  EXPECT_FALSE(linker_.provides(imports[1]));
  EXPECT_FALSE(linker_.provides(imports[2]));
}

TEST_F(LinkerTest, CopiesAreIndependent) {
  Linker copy = linker_;
  ASSERT_TRUE(copy.define_host("env", "foo", unary(), nothing).ok());
  AssembledModule assembled;
  assembled.import_function("env", "foo", unary());
  EXPECT_FALSE(linker_.instantiate(assembled.build(engine_)).ok());
  EXPECT_TRUE(copy.instantiate(assembled.build(engine_)).ok());
}

TEST_F(LinkerTest, ExportsOfOneInstanceAreImportsOfAnother) {
  AssembledModule exporter;
  exporter.add_function_add("add");
  Instance instance = linker_.instantiate(exporter.build(engine_)).value();
  linker_.define_instance("math", instance);
  AssembledModule importer;
  importer.import_function("math", "add", binary());
  importer.add_function_call_import("sum", binary(), 0);
  importer.add_export("again", ExternKind::Function, 0);
  Instance second = linker_.instantiate(importer.build(engine_)).value();
  EXPECT_EQ(call(second.function("sum").value(), {20, 22}), 42u);
  EXPECT_EQ(call(second.function("again").value(), {1, 2}), 3u)
      << "an import exported again is the same function";
}

TEST_F(LinkerTest, AnImportKeepsItsExporterAlive) {
  std::optional<Function> sum;
  {
    Linker local(engine_);
    AssembledModule exporter;
    exporter.add_function_add("add");
    local.define_instance("math", local.instantiate(exporter.build(engine_)).value());
    AssembledModule importer;
    importer.import_function("math", "add", binary());
    importer.add_function_call_import("sum", binary(), 0);
    sum = local.instantiate(importer.build(engine_)).value().function("sum").value();
  }
  EXPECT_EQ(call(*sum, {20, 22}), 42u);
}

TEST_F(LinkerTest, InstancesThatShareOnlyHostFunctionsAreFreedOneByOne) {
  auto token = std::make_shared<int>(0);
  ASSERT_TRUE(
      linker_.define_host("env", "foo", nullary(), [token](auto, auto) { return std::nullopt; }).ok());
  AssembledModule assembled;
  assembled.import_function("env", "foo", nullary());
  wago::Module module = assembled.build(engine_);
  const long handles = module.data().use_count();
  Instance kept = linker_.instantiate(module).value();
  for (int i = 0; i < 10; ++i) (void)linker_.instantiate(module).value();
  EXPECT_EQ(module.data().use_count(), handles + 1);
  linker_ = Linker(engine_);
  EXPECT_EQ(token.use_count(), 2) << "the instance holds the host function";
}

TEST_F(LinkerTest, FailedInstantiationKeepsTheEffectsOfEarlierSegmentsAndTheirFunctions) {
  Table table = Table::create(engine_, {ValueType::FuncRef, {4, {}}}).value();
  Memory memory = Memory::create(engine_, {{1, {}}}).value();
  linker_.define("env", "it", table);
  linker_.define("env", "memory", memory);
  AssembledModule assembled = table_import({ValueType::FuncRef, {4, {}}});
  Import import = import_of(ExternKind::Memory);
  import.name = "memory";
  import.memory = {{ 1, {} }};
  Module& module = assembled.module();
  module.imports.push_back(import);
  module.memories.push_back(import.memory);
  module.imported_memories = 1;
  module.bytes = {'a', 'b', 'c', 'd'};
  assembled.add_function_add("add");
  ElementSegment elements;
  elements.mode = ElementSegment::Mode::Active;
  elements.offset = i32(1);
  elements.items = {ref_func(0), ref_func(0)};
  module.elements.push_back(elements);
  DataSegment data;
  data.active = true;
  data.begin = 1;
  data.size = 3;
  data.offset = i32(10);
  module.data.push_back(data);
  data.offset = i32(65534);
  module.data.push_back(data);
  data.offset = i32(20);
  module.data.push_back(data);

  InstantiateResult result = linker_.instantiate(assembled.build(engine_));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.failure().kind, InstantiateFailure::Kind::Trap);
  EXPECT_EQ(result.failure().trap->code, TrapCode::MemoryOutOfBounds);
  EXPECT_EQ(result.failure().error.message, "out of bounds memory access");
  EXPECT_EQ(memory.bytes()[12], 'd');
  EXPECT_EQ(memory.bytes()[65534], 0);
  EXPECT_EQ(memory.bytes()[20], 0);
  EXPECT_EQ(table.get(0), 0u);
  EXPECT_EQ(table.get(1), table.get(2));
  const auto* ref = reinterpret_cast<const FuncRef*>(*table.get(2));
  EXPECT_EQ(call(Function(table.store(), ref), {40, 2}), 42u)
      << "the failed instance's function lives in the table";
}

TEST_F(LinkerTest, ElementSegmentBeyondTheTableTrapsBeforeAnyData) {
  AssembledModule assembled;
  Module& module = assembled.module();
  module.tables.push_back({ValueType::FuncRef, {2, {}}});
  module.memories.push_back({{1, {}}});
  assembled.add_function_add("add");
  ElementSegment elements;
  elements.mode = ElementSegment::Mode::Active;
  elements.offset = i32(1);
  elements.items = {ref_func(0), ref_func(0)};
  module.elements.push_back(elements);
  InstantiateResult result = linker_.instantiate(assembled.build(engine_));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.failure().trap->code, TrapCode::TableOutOfBounds);
}

TEST_F(LinkerTest, StartFunctionRunsAndItsTrapIsTheFailure) {
  AssembledModule assembled;
  assembled.add_function_trap("");
  assembled.module().start = 0;
  InstantiateResult result = linker_.instantiate(assembled.build(engine_));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.failure().trap->to_string(),
            "wago: trap: unreachable instruction executed\n  at func[0] (func[0], wasm pc 0x1)\n");

  int ran = 0;
  ASSERT_TRUE(linker_
                  .define_host("env", "start", nullary(),
                               [&](auto, auto) {
                                 ++ran;
                                 return std::nullopt;
                               })
                  .ok());
  AssembledModule host;
  host.import_function("env", "start", nullary());
  host.module().start = 0;
  EXPECT_TRUE(linker_.instantiate(host.build(engine_)).ok());
  EXPECT_EQ(ran, 1);
}

TEST_F(LinkerTest, ReferencesStoredThroughTheApiKeepTheirFunctionsAlive) {
  Table table = Table::create(engine_, {ValueType::FuncRef, {1, {}}}).value();
  {
    AssembledModule assembled;
    assembled.add_function_add("add");
    Instance instance = linker_.instantiate(assembled.build(engine_)).value();
    EXPECT_TRUE(table.set(0, instance.function("add").value().reference()));
    EXPECT_FALSE(table.set(1, 0));
  }
  const auto* ref = reinterpret_cast<const FuncRef*>(*table.get(0));
  EXPECT_EQ(call(Function(table.store(), ref), {1, 2}), 3u);
}

TEST_F(LinkerTest, AnInstanceMayBeDroppedByAHostFunctionItCalls) {
  std::optional<Instance> instance;
  std::optional<Function> run;
  auto token = std::make_shared<int>(0);
  ASSERT_TRUE(linker_
                  .define_host("env", "drop", nullary(),
                               [&, token](auto, auto) {
                                 instance.reset();
                                 run.reset();
                                 linker_ = Linker(engine_);
                                 return std::nullopt;
                               })
                  .ok());
  AssembledModule assembled;
  assembled.import_function("env", "drop", nullary());
  assembled.add_function_call_import("run", nullary(), 0);
  assembled.module().memories.push_back({{1, {}}});
  instance = linker_.instantiate(assembled.build(engine_)).value();
  run = instance->function("run").value();
  EXPECT_TRUE(run->call({}, {}).ok());
  EXPECT_EQ(token.use_count(), 1) << "all of it is gone once the call has returned";
}

TEST_F(LinkerTest, AHostFunctionMayDropTheLastHandleToItself) {
  std::optional<Function> function;
  auto token = std::make_shared<int>(5);
  function =
      Function::host(engine_, unary(), [&, token](std::span<const Slot> args, std::span<Slot> results) {
        function.reset();
        results[0] = args[0] + static_cast<Slot>(*token);
        return std::nullopt;
      }).value();
  Slot arg = 2, result = 0;
  EXPECT_TRUE(function->call({&arg, 1}, {&result, 1}).ok());
  EXPECT_EQ(result, 7u);
  EXPECT_EQ(token.use_count(), 1);
}

TEST_F(LinkerTest, ArgumentsAndResultsOfAHostBodyDoNotOverlap) {
  ASSERT_TRUE(linker_
                  .define_host("env", "twice", binary(),
                               [](std::span<const Slot> args, std::span<Slot> results) {
                                 results[0] = 100;
                                 results[0] += args[0] + args[1];
                                 return std::nullopt;
                               })
                  .ok());
  AssembledModule assembled;
  assembled.import_function("env", "twice", binary());
  assembled.add_function_call_import("run", binary(), 0);
  Instance instance = linker_.instantiate(assembled.build(engine_)).value();
  EXPECT_EQ(call(instance.function("run").value(), {1, 2}), 103u);
}

TEST_F(LinkerTest, AMissingExportListsTheCandidates) {
  AssembledModule assembled;
  assembled.add_function_add("add");
  assembled.add_function_load("load");
  assembled.module().memories.push_back({{1, {}}});
  assembled.add_export("memory", ExternKind::Memory, 0);
  Instance instance = linker_.instantiate(assembled.build(engine_)).value();
  EXPECT_EQ(instance.function("sub").error().message,
            "there is no export \"sub\"; what it exports of that kind: add, load");
  EXPECT_EQ(instance.function("memory").error().message,
            "export \"memory\" is a memory, not a function; what it exports of that kind: add, load");
  EXPECT_EQ(instance.global("g").error().message, "there is no export \"g\"; the module exports no global");
  EXPECT_EQ(instance.function("sub").error().kind, base::ErrorKind::Usage);
  Slot args[2] = {1, 2}, result = 0;
  EXPECT_TRUE(instance.call("add", args, {&result, 1}).value().ok());
  EXPECT_EQ(result, 3u);
}

}  // namespace
}  // namespace wago::runtime
