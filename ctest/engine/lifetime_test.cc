// Objects of the embedding API let go, moved from and mixed in every order we could think of, and what
// engines refuse. Leaks and uses after the end are the sanitizers' to find.
#include <set>
#include <thread>

#include "engine_fixture.h"
#include "runtime/code_map.h"
#include "runtime/type_registry.h"

namespace wago::engine_test {
namespace {

ModuleBuilder adder() {
  ModuleBuilder module;
  const uint32_t unary = module.type({I32}, {I32});
  module.memory(1);
  module.export_("memory", ExternKind::Memory, 0);
  module.export_("table", ExternKind::Table, module.table(FuncRef, 4));
  const uint32_t hidden =
      module.function(unary, {}, Code().op(Opcode::LocalGet, 0).i32(100).op(Opcode::I32Add).end());
  module.elements(Code().i32(0).end(), {hidden});
  module.export_("add", ExternKind::Function,
                 module.function(unary, {}, Code().op(Opcode::LocalGet, 0).i32(1).op(Opcode::I32Add).end()));
  Code code;
  code.op(Opcode::LocalGet, 0).i32(1).op(Opcode::CallIndirect, unary, 0).end();
  module.export_("call_1", ExternKind::Function, module.function(unary, {}, code));
  return module;
}

class Lifetime : public ::testing::Test {
 protected:
  Lifetime() : engine_(Engine::open().value()) {}

  Instance instantiate(const ModuleBuilder& builder) {
    return Linker(engine_).instantiate(engine_.compile(builder.build()).value()).value();
  }
  Instance instantiate_with_host(const ModuleBuilder& builder, FuncType type) {
    Linker linker(engine_);
    auto body = [](std::span<const Slot>, std::span<Slot>) { return std::optional<Trap>(); };
    EXPECT_TRUE(linker.define_host("env", "host", std::move(type), body).ok());
    return linker.instantiate(engine_.compile(builder.build()).value()).value();
  }
  static int32_t call(const Function& function, int32_t argument) {
    return function.typed<int32_t(int32_t)>().value()(argument).value();
  }

  Engine engine_;
};

TEST_F(Lifetime, EverythingOutlivesWhatItCameFrom) {
  std::optional<Function> add;
  std::optional<Memory> memory;
  std::optional<Function> hidden;
  {
    Engine engine = Engine::open().value();
    Instance instance = Linker(engine).instantiate(engine.compile(adder().build()).value()).value();
    add = instance.function("add").value();
    memory = instance.memory("memory").value();
    hidden = instance.table("table").value().function(0).value();
  }
  EXPECT_EQ(call(*add, 1), 2);
  add.reset();
  EXPECT_TRUE(memory->access().store<uint32_t>(0, 7));
  memory.reset();
  EXPECT_EQ(call(*hidden, 1), 101);
}

// Of what the process maps, the images that have come and not gone.
struct MappedImages final : runtime::CodeObserver {
  MappedImages() { runtime::observe_code(this); }
  ~MappedImages() { runtime::observe_code(nullptr); }
  void loaded(const runtime::MappedCode& code) override { live.insert(&code); }
  void retired(const runtime::MappedCode& code) override { live.erase(&code); }
  std::set<const runtime::MappedCode*> live;
};

TEST_F(Lifetime, AnEngineForgetsTheSignaturesOfModulesThatAreGone) {
  // A signature that no other number has: its bits, as types.
  auto signature = [](uint32_t number, ValueType result) {
    FuncType type{{}, {result}};
    for (uint32_t bit = 0; bit < 10; ++bit) type.params.push_back(number >> bit & 1 ? I64 : I32);
    return type;
  };
  auto open = [&](uint32_t number) {
    ModuleBuilder module;
    const uint32_t imported = module.type(signature(number, F64).params, {F64}),
                   exported = module.type(signature(number, I32).params, {I32}),
                   hidden = module.type(signature(number, I64).params, {I64});
    module.import_function("env", "host", imported);
    const uint32_t table = module.table(FuncRef, 1);
    module.export_("table", ExternKind::Table, table);
    module.elements(Code().i32(0).end(), {module.function(hidden, {}, Code().i64(number + 7).end())});
    module.export_("number", ExternKind::Function,
                   module.function(exported, {}, Code().i32(static_cast<int32_t>(number)).end()));
    return instantiate_with_host(module, signature(number, F64));
  };
  const std::vector<Slot> args(10);
  auto result_of = [&](const Function& function) {
    Slot result = 0;
    EXPECT_TRUE(function.call(args, {&result, 1}).ok());
    return result;
  };
  constexpr uint32_t kFirst = 1000;
  std::optional<Instance> first = open(kFirst);
  Function number = first->function("number").value();
  Function hidden = *first->table("table").value().function(0).value();
  Function host =
      Function::host(engine_, signature(kFirst, F32), [](std::span<const Slot>, std::span<Slot> results) {
        results[0] = 5;
        return std::optional<Trap>();
      }).value();
  first.reset();
  MappedImages images;
  const size_t images_before = images.live.size(), types_before = runtime::canonical_types();
  for (uint32_t i = 0; i < 700; ++i) {
    const Instance instance = open(i);
    EXPECT_EQ(result_of(instance.function("number").value()), i);
    EXPECT_EQ(result_of(*instance.table("table").value().function(0).value()), i + 7);
  }
  // Each brought three signatures; an engine keeps a few at hand.
  EXPECT_LE(images.live.size(), images_before + 64);
  EXPECT_LE(runtime::canonical_types(), types_before + 64);
  EXPECT_EQ(result_of(number), kFirst);
  EXPECT_EQ(result_of(hidden), kFirst + 7);
  EXPECT_EQ(result_of(host), 5u);
}

// The instance that imports them goes last, and with it what the functions captured.
TEST_F(Lifetime, WhatAHostFunctionCapturedMayLookForAnotherAsItGoes) {
  struct Looks {
    Slot* reference;
    ~Looks() { (void)Function::from_reference(*reference).ok(); }
  };
  Slot reference = 0;
  {
    ModuleBuilder module;
    const uint32_t type = module.type({}, {});
    const uint32_t a = module.import_function("env", "a", type), b = module.import_function("env", "b", type);
    module.export_("table", ExternKind::Table, module.table(FuncRef, 2));
    module.elements(Code().i32(0).end(), {a, b});
    std::optional<Linker> linker(engine_);
    for (const char* name : {"a", "b"}) {
      auto body = [captured = std::shared_ptr<Looks>(new Looks{&reference})](
                      std::span<const Slot>, std::span<Slot>) { return std::optional<Trap>(); };
      ASSERT_TRUE(linker->define_host("env", name, {}, std::move(body)).ok());
    }
    const Instance instance = linker->instantiate(engine_.compile(module.build()).value()).value();
    linker.reset();
    reference = instance.table("table").value().get(0).value();
  }
  EXPECT_FALSE(Function::from_reference(reference).ok());
}

TEST_F(Lifetime, AReferenceIsRefusedOnceItsFunctionIsGone) {
  Table table = Table::create(engine_, {FuncRef, {2, {}}}).value();
  Slot reference = 0;
  {
    Function host = Function::host(engine_, [](int32_t a) { return a; }).value();
    reference = host.reference();
    EXPECT_TRUE(Function::from_reference(reference).value()->same(host));
  }
  for (Slot wrong : {reference, reference + 8, Slot{8}, ~Slot{0}}) {
    EXPECT_FALSE(Function::from_reference(wrong).ok());
    EXPECT_NE(table.set(0, wrong).error().message.find("no living function"), std::string::npos);
    EXPECT_FALSE(table.grow(1, wrong).has_value());
    EXPECT_FALSE(Table::create(engine_, {FuncRef, {1, {}}}, wrong).ok());
    EXPECT_FALSE(Global::create(engine_, {FuncRef, true}, {&wrong, 1}).ok());
  }
  EXPECT_EQ(table.get(0), Slot{0});
  EXPECT_TRUE(table.set(0, Slot{0}).ok());
  EXPECT_EQ(table.set(2, Slot{0}).error().message, "entry 2 is outside the table, which has 2");
  EXPECT_TRUE(Table::create(engine_, {ExternRef, {1, {}}}, 12345).ok())
      << "the host's own numbers are its own";
}

TEST_F(Lifetime, ARefusedReferenceNeverReachesTheGuest) {
  ModuleBuilder module;
  const uint32_t type = module.type({I32, FuncRef}, {FuncRef});
  module.export_("f", ExternKind::Function, module.function(type, {}, Code().op(Opcode::LocalGet, 1).end()));
  Function f = instantiate(module).function("f").value();
  Slot args[2] = {1, 0xdeadbee8}, result = 1;
  CallResult refused = f.call(args, {&result, 1});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.trap().message.find("no living function"), std::string::npos);
  args[1] = 0;
  EXPECT_TRUE(f.call(args, {&result, 1}).ok());
  EXPECT_EQ(result, 0u);
  args[1] = f.reference();
  EXPECT_TRUE(f.call(args, {&result, 1}).ok());
  EXPECT_EQ(result, f.reference());

  auto dangling = Function::host(engine_, {{}, {FuncRef}}, [](auto, std::span<Slot> results) {
    results[0] = 0xdeadbee8;
    return std::nullopt;
  });
  EXPECT_NE(dangling.value().call({}, {&result, 1}).trap().message.find("no living function"),
            std::string::npos);
}

// Every importer has a copy of a function's reference; what the host takes out and puts elsewhere must not be
// it.
TEST_F(Lifetime, AnImporterMayGoWhileItsImportIsInATable) {
  Linker linker(engine_);
  ASSERT_TRUE(linker.define_host("env", "ten", [](int32_t a) { return a + 10; }).ok());
  Table table = Table::create(engine_, {FuncRef, {3, {}}}).value();
  {
    ModuleBuilder module;
    const uint32_t unary = module.type({I32}, {I32});
    const uint32_t ten = module.import_function("env", "ten", unary);
    module.table(FuncRef, 1);
    module.elements(Code().i32(0).end(), {ten});
    module.export_("table", ExternKind::Table, 0);
    module.export_("ten", ExternKind::Function, ten);
    Instance importer = linker.instantiate(engine_.compile(module.build()).value()).value();
    EXPECT_TRUE(table.set(0, importer.function("ten").value()).ok());
    EXPECT_TRUE(table.set(1, importer.table("table").value().get(0).value()).ok());
    EXPECT_EQ(table.get(0), table.get(1));
  }
  linker = Linker(engine_);
  EXPECT_EQ(call(*table.function(0).value(), 1), 11);
  EXPECT_EQ(call(*table.function(1).value(), 2), 12);
}

TEST_F(Lifetime, TheLastHandleMayGoInsideAHostFunction) {
  std::optional<Instance> instance;
  std::optional<Function> kept;
  Linker linker(engine_);
  ASSERT_TRUE(linker
                  .define_host("env", "drop",
                               [&](const Caller& caller, const std::optional<Function>& self) {
                                 instance.reset();
                                 // It is still running, so it can be held again, by any way to it.
                                 EXPECT_TRUE(caller.instance().has_value());
                                 EXPECT_TRUE(caller.memory()->store<uint32_t>(0, 5));
                                 kept = self;
                                 return Function::from_reference(self->reference()).value();
                               })
                  .ok());
  ModuleBuilder module;
  const uint32_t drop_type = module.type({FuncRef}, {FuncRef}), unary = module.type({I32}, {I32});
  const uint32_t drop = module.import_function("env", "drop", drop_type);
  module.memory(1);
  module.table(FuncRef, 1);
  const uint32_t hidden = module.function(
      unary, {}, Code().op(Opcode::LocalGet, 0).i32(0).op(Opcode::I32Load, 2, 0).op(Opcode::I32Add).end());
  module.elements(Code().i32(0).end(), {hidden});
  Code code;
  code.i32(0).op(Opcode::RefFunc, hidden).op(Opcode::Call, drop).op(Opcode::TableSet, 0);
  code.op(Opcode::LocalGet, 0).i32(0).op(Opcode::CallIndirect, unary, 0).end();
  module.export_("f", ExternKind::Function, module.function(unary, {}, code));
  instance = linker.instantiate(engine_.compile(module.build()).value()).value();
  Slot argument = 37, result = 0;
  ASSERT_TRUE(instance->function("f").value().call({&argument, 1}, {&result, 1}).ok());
  EXPECT_EQ(result, 42u);
  EXPECT_FALSE(instance.has_value());
  EXPECT_EQ(call(*kept, 1), 6) << "held from inside, it outlives the call";
}

TEST_F(Lifetime, ObjectsOfTwoEnginesMayBeLinked) {
  EngineSettings other_settings;
  other_settings.level = 0;
  other_settings.limits.guest_stack_bytes = 64 << 10;
  std::optional<Instance> user;
  {
    Engine other = Engine::open(other_settings).value();
    Linker linker(other);
    linker.define_instance("library", instantiate(adder()));
    ModuleBuilder module;
    const uint32_t unary = module.type({I32}, {I32});
    const uint32_t add = module.import_function("library", "add", unary);
    module.export_("f", ExternKind::Function,
                   module.function(unary, {}, Code().op(Opcode::LocalGet, 0).op(Opcode::Call, add).end()));
    user = linker.instantiate(other.compile(module.build()).value()).value();
  }
  engine_ = Engine::open().value();
  EXPECT_EQ(call(user->function("f").value(), 41), 42);
}

TEST_F(Lifetime, AFailedInstantiationLeavesWhatOthersUse) {
  Table table = Table::create(engine_, {FuncRef, {4, {}}}).value();
  Memory memory = Memory::create(engine_, {{1, {}}}).value();
  Linker linker(engine_);
  linker.define("env", "table", table);
  linker.define("env", "memory", memory);
  ModuleBuilder module;
  const uint32_t unary = module.type({I32}, {I32}), nullary = module.type({}, {});
  module.import_table("env", "table", FuncRef, 4);
  module.import_memory("env", "memory", 1);
  module.global(I32, true, Code().i32(7).end());
  const uint32_t counting = module.function(
      unary, {}, Code().op(Opcode::GlobalGet, 0).op(Opcode::LocalGet, 0).op(Opcode::I32Add).end());
  module.elements(Code().i32(2).end(), {counting});
  module.data(Code().i32(0).end(), "kept");
  module.start(module.function(nullary, {}, Code().op(Opcode::Unreachable).end()));
  InstantiateResult failed = linker.instantiate(engine_.compile(module.build()).value());
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.failure().trap->code, TrapCode::Unreachable);
  linker = Linker(engine_);
  EXPECT_EQ(memory.access().text(0, 4), "kept");
  EXPECT_EQ(call(*table.function(2).value(), 35), 42) << "with the instance it belongs to";
}

TEST_F(Lifetime, MovingLeavesAnEmptyHandleAndCopiesAlone) {
  Instance instance = instantiate(adder());
  Function add = instance.function("add").value(), copy = add;
  Function moved = std::move(add);
  EXPECT_EQ(call(moved, 1), 2);
  EXPECT_EQ(call(copy, 1), 2);
  add = copy;
  EXPECT_EQ(call(add, 1), 2) << "assigned again, it is a handle again";
  Function& self = add;
  add = std::move(self);
  EXPECT_EQ(call(add, 1), 2);
  Memory memory = instance.memory("memory").value();
  Memory other = std::move(memory);
  memory = other;
  EXPECT_EQ(memory.pages(), 1u);
}

TEST(LifetimeDeath, UseOfAHandleThatWasMovedFromIsFound) {
  Engine engine = Engine::open().value();
  Module module = engine.compile(adder().build()).value();
  Linker linker(engine);
  Instance instance = linker.instantiate(module).value();
  Function add = instance.function("add").value();
  Memory memory = instance.memory("memory").value();
  Table table = instance.table("table").value();
  { Function gone = std::move(add); }
  { Memory gone = std::move(memory); }
  { Table gone = std::move(table); }
  { Instance gone = std::move(instance); }
  { Module gone = std::move(module); }
  Slot argument = 0, result;
  EXPECT_DEATH((void)add.call({&argument, 1}, {&result, 1}), "moved from");
  EXPECT_DEATH((void)add.type(), "moved from");
  EXPECT_DEATH((void)memory.bytes(), "moved from");
  EXPECT_DEATH((void)table.get(0), "moved from");
  EXPECT_DEATH((void)instance.function("add"), "moved from");
  EXPECT_DEATH((void)linker.instantiate(module), "moved from");
  InterruptHandle interrupts;
  { InterruptHandle gone = std::move(interrupts); }
  EXPECT_DEATH(interrupts.cancel(), "moved from");
  EXPECT_DEATH(interrupts.withdraw(), "moved from");
  EXPECT_DEATH((void)interrupts.set_deadline(std::chrono::seconds(1)), "moved from");
  EXPECT_DEATH(linker.set_interrupt_handle(interrupts), "moved from");
  { Linker gone = std::move(linker); }
  EXPECT_DEATH(linker.define("env", "f", Function::host(engine, [] {}).value()), "moved from");
  { Engine gone = std::move(engine); }
  EXPECT_DEATH((void)engine.settings(), "moved from");
}

TEST_F(Lifetime, ThreadsUseInstancesOfTheirOwnWithOneHostFunction) {
  Linker linker(engine_);
  ASSERT_TRUE(linker
                  .define_host("env", "read",
                               [](const Caller& caller, uint32_t address) -> Result<uint32_t> {
                                 auto value = caller.memory()->load<uint32_t>(address);
                                 if (!value) return base::failed("outside");
                                 return *value;
                               })
                  .ok());
  ModuleBuilder module;
  const uint32_t unary = module.type({I32}, {I32});
  const uint32_t read = module.import_function("env", "read", unary);
  module.memory(1);
  module.export_("memory", ExternKind::Memory, 0);
  module.export_("read", ExternKind::Function,
                 module.function(unary, {}, Code().op(Opcode::LocalGet, 0).op(Opcode::Call, read).end()));
  Module compiled = engine_.compile(module.build()).value();
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (uint32_t round = 0; round < 20; ++round) {
        Instance instance = linker.instantiate(compiled).value();
        instance.memory("memory").value().access().store<uint32_t>(8, 1000 * t + round);
        auto f = instance.function("read").value().typed<uint32_t(uint32_t)>().value();
        EXPECT_EQ(f(8).value(), 1000 * t + round);
        EXPECT_EQ(f(0xffffffff).trap().message, "outside");
        Table table = Table::create(engine_, {FuncRef, {1, {}}}).value();
        EXPECT_TRUE(table.set(0, f.function()).ok());
        EXPECT_EQ(table.function(0).value()->typed<uint32_t(uint32_t)>().value()(8).value(),
                  1000 * t + round);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

class Limits : public ::testing::Test {
 protected:
  static std::string refusal(const EngineLimits& limits, const ModuleBuilder& builder) {
    EngineSettings settings;
    settings.limits = limits;
    Engine engine = Engine::open(settings).value();
    auto module = engine.compile(builder.build());
    if (!module) return module.error().to_string();
    InstantiateResult instance = Linker(engine).instantiate(*module);
    return instance.ok() ? "" : instance.failure().error.message;
  }
};

TEST_F(Limits, EachIsNamedWithItsCure) {
  ModuleBuilder module;
  const uint32_t type = module.type({}, {I32});
  module.memory(3);
  module.table(FuncRef, 10);
  for (int i = 0; i < 5; ++i) module.function(type, {}, Code().i32(i).end());
  EXPECT_EQ(refusal({}, module), "");
  EXPECT_EQ(refusal({.memory_pages = 3, .table_entries = 10, .functions = 5}, module), "");
  EXPECT_EQ(refusal({.memory_pages = 2}, module),
            "a memory of 3 pages exceeds the limit of 2 memory pages; raise EngineLimits::memory_pages");
  EXPECT_EQ(refusal({.table_entries = 9}, module),
            "a table of 10 entries exceeds the limit of 9 table entries; raise EngineLimits::table_entries");
  EXPECT_NE(refusal({.functions = 4}, module)
                .find("too many functions: 5, the limit is 4; raise EngineLimits::functions"),
            std::string::npos);
  const std::string code = refusal({.code_bytes = 100}, module);
  EXPECT_NE(code.find("more than the limit of 100 code bytes; raise EngineLimits::code_bytes"),
            std::string::npos)
      << code;
}

TEST_F(Limits, GrowingBeyondIsRefusedToGuestAndHost) {
  for (Bounds bounds : {Bounds::Signals, Bounds::Explicit}) {
    EngineSettings settings;
    settings.bounds = bounds;
    settings.limits.memory_pages = 3;
    settings.limits.table_entries = 4;
    Engine engine = Engine::open(settings).value();
    ModuleBuilder module;
    const uint32_t unary = module.type({I32}, {I32});
    module.memory(1, 100);
    module.table(FuncRef, 2);
    module.export_("memory", ExternKind::Memory, 0);
    module.export_(
        "grow_memory", ExternKind::Function,
        module.function(unary, {}, Code().op(Opcode::LocalGet, 0).op(Opcode::MemoryGrow, 0).end()));
    module.export_(
        "grow_table", ExternKind::Function,
        module.function(unary, {},
                        Code().ref_null(FuncRef).op(Opcode::LocalGet, 0).op(Opcode::TableGrow, 0).end()));
    Instance instance = Linker(engine).instantiate(engine.compile(module.build()).value()).value();
    auto grow_memory = instance.function("grow_memory").value().typed<int32_t(int32_t)>().value();
    auto grow_table = instance.function("grow_table").value().typed<int32_t(int32_t)>().value();
    EXPECT_EQ(grow_memory(3).value(), -1);
    EXPECT_EQ(grow_memory(2).value(), 1);
    EXPECT_EQ(grow_memory(1).value(), -1);
    EXPECT_EQ(grow_memory(0).value(), 3);
    EXPECT_EQ(instance.memory("memory").value().grow(1), std::nullopt);
    EXPECT_EQ(grow_table(3).value(), -1);
    EXPECT_EQ(grow_table(2).value(), 2);
    EXPECT_FALSE(Memory::create(engine, {{4, {}}}).ok());
    EXPECT_EQ(Memory::create(engine, {{1, 50}}).value().grow(3), std::nullopt);
    EXPECT_FALSE(Table::create(engine, {FuncRef, {5, {}}}).ok());
  }
}

TEST_F(Limits, StacksAreAsDeepAsTheEngineSaysInAnyOrder) {
  ModuleBuilder module;
  const uint32_t type = module.type({I32}, {I32});
  // depth(n) = n == 0 ? 0 : depth(n - 1) + 1, not inlined, as it calls itself
  Code code;
  code.op(Opcode::LocalGet, 0).open(Opcode::If, I32).op(Opcode::LocalGet, 0).i32(1).op(Opcode::I32Sub);
  code.op(Opcode::Call, 0).i32(1).op(Opcode::I32Add).op(Opcode::Else).i32(0).end().end();
  module.export_("depth", ExternKind::Function, module.function(type, {}, code));
  auto depth_with = [&](uint64_t bytes) {
    EngineSettings settings;
    settings.limits.guest_stack_bytes = bytes;
    Engine engine = Engine::open(settings).value();
    Instance instance = Linker(engine).instantiate(engine.compile(module.build()).value()).value();
    return instance.function("depth").value().typed<int32_t(int32_t)>().value();
  };
  auto small = depth_with(64 << 10), ordinary = depth_with(EngineLimits().guest_stack_bytes),
       large = depth_with(2 << 20);
  auto deepest = [](const auto& depth) {
    int32_t low = 0, high = 1 << 20;  // low succeeds, high traps
    while (high - low > 1) {
      const int32_t middle = low + (high - low) / 2;
      auto result = depth(middle);
      if (!result.ok()) {
        EXPECT_EQ(result.trap().code, TrapCode::StackExhausted);
      }
      (result.ok() ? low : high) = middle;
    }
    return low;
  };
  const int32_t of_small = deepest(small), of_ordinary = deepest(ordinary), of_large = deepest(large);
  EXPECT_NEAR(of_ordinary, 16 * of_small, of_small);
  EXPECT_NEAR(of_large, 32 * of_small, of_small);
  // From one stack pointer, whichever was entered last.
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(deepest(small), of_small);
    EXPECT_EQ(deepest(large), of_large);
    EXPECT_EQ(deepest(ordinary), of_ordinary);
  }
}

TEST(Settings, CodeMovesInSteps) {
  EngineSettings settings;
  for (uint32_t offset : {0, 16, 32, 48}) {
    settings.code_offset = offset;
    EXPECT_TRUE(Engine::open(settings).ok());
  }
  for (uint32_t offset : {1u, 8u, 64u, 0xfffffff0u}) {
    settings.code_offset = offset;
    auto engine = Engine::open(settings);
    ASSERT_FALSE(engine.ok());
    EXPECT_EQ(engine.error().kind, base::ErrorKind::Usage);
    EXPECT_NE(engine.error().message.find("0, 16, 32 or 48"), std::string::npos);
  }
}

TEST(Settings, LevelsAndBoundsAreThoseThatThereAre) {
  auto sentence = [](const EngineSettings& settings) {
    auto engine = Engine::open(settings);
    return engine ? std::string("opened") : engine.error().message;
  };
  EXPECT_EQ(sentence({.level = 2}), "level 2 does not exist: 0 runs no optimisation passes, 1 runs all");
  EXPECT_EQ(sentence({.level = -1}), "level -1 does not exist: 0 runs no optimisation passes, 1 runs all");
  EXPECT_EQ(sentence({.bounds = static_cast<base::Bounds>(7)}),
            "bounds 7 do not exist: there are Bounds::Signals and Bounds::Explicit");
  EXPECT_EQ(sentence({.bounds = base::Bounds::Explicit}), "opened");
}

}  // namespace
}  // namespace wago::engine_test
