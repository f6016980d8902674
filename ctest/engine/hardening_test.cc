// What a guest must not be able to do, whatever the compiler made of it.
#include <sys/resource.h>

#include <cstdio>
#include <cstring>
#include <fstream>

#include "engine_fixture.h"
#include "runtime/testing/refused_threads.h"

namespace wago::engine_test {
namespace {

class Hardening : public EngineTest {};
INSTANTIATE_TEST_SUITE_P(Configurations, Hardening, ::testing::ValuesIn(configurations()), name_of);

// Lines of /proc/self/maps whose permissions are both.
int writable_and_executable_mappings() {
  int count = 0;
  FILE* maps = std::fopen("/proc/self/maps", "re");
  char line[512], permissions[8];
  while (std::fgets(line, sizeof line, maps)) {
    if (std::sscanf(line, "%*s %7s", permissions) == 1 && permissions[1] == 'w' && permissions[2] == 'x')
      ++count;
  }
  std::fclose(maps);
  return count;
}

TEST_P(Hardening, NothingIsEverWritableAndExecutable) {
  int in_host = -1;
  define_host("look", {}, [&](auto, auto) {
    in_host = writable_and_executable_mappings();
    return std::nullopt;
  });
  ModuleBuilder module;
  const uint32_t type = module.type({}, {});
  const uint32_t look = module.import_function("env", "look", type);
  module.memory(1);
  module.export_("f", ExternKind::Function, module.function(type, {}, Code().op(Opcode::Call, look).end()));
  Instance instance = instantiate(module);
  call(instance, "f", {});
  EXPECT_EQ(in_host, 0);
}

// A table's entry is checked each time it is called, however often the same call has been seen to be right.
TEST_P(Hardening, EntryThatChangesBetweenEqualCallsIsCheckedAgain) {
  struct Case {
    const char* change;
    TrapCode code;
  };
  for (const Case& c : {Case{"other_type", TrapCode::IndirectCallTypeMismatch},
                        Case{"null", TrapCode::UninitializedElement}}) {
    ModuleBuilder module;
    const uint32_t number = module.type({I32}, {I32});
    const uint32_t nothing = module.type({}, {});
    module.table(FuncRef, 1);
    const uint32_t same = module.function(number, {}, Code().op(Opcode::LocalGet, 0).end());
    const uint32_t other = module.function(nothing, {}, Code().end());
    module.elements(Code().i32(0).end(), {same});
    module.declare_elements({other});
    Code change;
    change.i32(0);
    if (std::strcmp(c.change, "null") == 0) {
      change.ref_null(FuncRef);
    } else {
      change.op(Opcode::RefFunc, other);
    }
    const uint32_t changes = module.function(nothing, {}, change.op(Opcode::TableSet, 0).end());
    auto call_entry = [&](Code& code) {
      code.op(Opcode::LocalGet, 0).i32(0).op(Opcode::CallIndirect, number, 0);
    };
    Code twice;
    call_entry(twice);
    twice.op(Opcode::Drop).op(Opcode::Call, changes);
    call_entry(twice);
    module.export_("twice", ExternKind::Function, module.function(number, {}, twice.end()));
    Code loop;
    loop.open(Opcode::Loop, I32);
    call_entry(loop);
    loop.op(Opcode::Drop).op(Opcode::Call, changes).op(Opcode::LocalGet, 0).op(Opcode::BrIf, 0).i32(0).end();
    module.export_("loop", ExternKind::Function, module.function(number, {}, loop.end()));
    for (const char* name : {"twice", "loop"}) {
      Instance instance = instantiate(module);
      EXPECT_EQ(trap_of(instance, name, {1}).code, c.code) << name << " " << c.change;
    }
  }
}

// Equal structures are one type across modules; anything else is a mismatch, also for a constant index.
TEST_P(Hardening, SignatureIsCheckedAcrossModules) {
  ModuleBuilder owner;
  owner.table(FuncRef, 2);
  const uint32_t unused = owner.type({F64}, {});
  const uint32_t number = owner.type({I32}, {I32});
  const uint32_t same = owner.function(number, {}, Code().op(Opcode::LocalGet, 0).end());
  const uint32_t other = owner.function(unused, {}, Code().end());
  owner.elements(Code().i32(0).end(), {same, other});
  owner.export_("table", ExternKind::Table, 0);
  linker_.define_instance("owner", instantiate(owner));

  ModuleBuilder caller;
  const uint32_t type = caller.type({I32}, {I32});
  caller.import_table("owner", "table", FuncRef, 2);
  for (int entry : {0, 1}) {
    Code code = Code().op(Opcode::LocalGet, 0).i32(entry).op(Opcode::CallIndirect, type, 0);
    caller.export_(entry == 0 ? "right" : "wrong", ExternKind::Function,
                   caller.function(type, {}, code.end()));
  }
  Instance instance = instantiate(caller);
  EXPECT_EQ(call(instance, "right", {7})[0], 7u);
  EXPECT_EQ(trap_of(instance, "wrong", {7}).code, TrapCode::IndirectCallTypeMismatch);
}

// Lengths and places whose sums do not fit 32 bits, with memory at its full size and without.
TEST_P(Hardening, BulkOperationsOfAnyLengthStayInside) {
  ModuleBuilder module;
  const uint32_t type = module.type({I32, I32, I32}, {});
  module.memory(1);
  module.table(FuncRef, 4);
  module.data_count(1);
  module.passive_data("0123456789");
  module.passive_elements({0});
  auto three = [] { return Code().op(Opcode::LocalGet, 0).op(Opcode::LocalGet, 1).op(Opcode::LocalGet, 2); };
  const std::pair<const char*, Code> operations[] = {
      {"memory.fill", three().op(Opcode::MemoryFill, 0)},
      {"memory.copy", three().op(Opcode::MemoryCopy, 0, 0)},
      {"memory.init", three().op(Opcode::MemoryInit, 0, 0)},
      {"table.copy", three().op(Opcode::TableCopy, 0, 0)},
      {"table.init", three().op(Opcode::TableInit, 0, 0)},
  };
  for (const auto& [name, code] : operations) {
    Code whole = code;
    module.export_(name, ExternKind::Function, module.function(type, {}, whole.end()));
  }
  module.export_("memory", ExternKind::Memory, 0);
  Instance instance = instantiate(module);
  const Memory memory = instance.memory("memory").value();
  for (const auto& [name, unused] : operations) {
    const bool is_table = std::strncmp(name, "table", 5) == 0;
    for (Slot length : {0x80000000u, 0xfffffff0u, 0xffffffffu}) {
      for (Slot place : {0u, 1u, 16u, 0x7fffffffu, 0x80000000u, 0xffffffffu}) {
        EXPECT_EQ(trap_of(instance, name, {place, 0, length}).code,
                  is_table ? TrapCode::TableOutOfBounds : TrapCode::MemoryOutOfBounds)
            << name << " " << place << " " << length;
      }
    }
  }
  for (uint8_t byte : memory.bytes()) ASSERT_EQ(byte, 0) << "a refused operation writes nothing";

  // Overlapping, both ways.
  std::span<uint8_t> bytes = memory.bytes();
  for (size_t i = 0; i < 300; ++i) bytes[i] = static_cast<uint8_t>(i);
  call(instance, "memory.copy", {1, 0, 299});
  for (size_t i = 1; i < 300; ++i) ASSERT_EQ(bytes[i], static_cast<uint8_t>(i - 1));
  call(instance, "memory.copy", {0, 1, 299});
  for (size_t i = 0; i < 299; ++i) ASSERT_EQ(bytes[i], static_cast<uint8_t>(i));
}

// Pages that nobody touched are not there, and what all tables may have is one number.
TEST_P(Hardening, TablesOfAnInstanceShareALimitAndTakeMemoryWhenTheyAreTouched) {
  auto tables = [](uint32_t count, uint32_t entries) {
    ModuleBuilder module;
    const uint32_t type = module.type({I32}, {I32});
    for (uint32_t i = 0; i < count; ++i) module.table(ExternRef, entries);
    Code grow;
    grow.ref_null(ExternRef).op(Opcode::LocalGet, 0).op(Opcode::TableGrow, 0);
    module.export_("grow", ExternKind::Function, module.function(type, {}, grow.end()));
    module.export_("table", ExternKind::Table, 0);
    return module;
  };
  auto resident_bytes = [] {
    std::ifstream file("/proc/self/statm");
    uint64_t size = 0, resident = 0;
    file >> size >> resident;
    return resident * 4096;
  };
  [[maybe_unused]] const uint64_t before = resident_bytes();
  Instance instance = instantiate(tables(5, 1'900'000));
#ifndef __SANITIZE_ADDRESS__
  EXPECT_LT(resident_bytes() - before, uint64_t{20} << 20) << "five tables of 15 MB";
#endif
  EXPECT_EQ(instance.table("table").value().get(1'899'999), Slot{0});
  EXPECT_EQ(call(instance, "grow", {500'001})[0], 0xffffffffu);
  EXPECT_EQ(call(instance, "grow", {500'000})[0], 1'900'000u);
  EXPECT_EQ(call(instance, "grow", {1})[0], 0xffffffffu);
  EXPECT_EQ(instance.table("table").value().grow(1, 0), std::nullopt);

  const InstantiateResult refused = linker_.instantiate(compile(tables(100, 9'000'000)));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(
      refused.failure().error.message,
      "a table of 9000000 entries exceeds what the limit on all tables of an instance leaves, 1000000; raise "
      "EngineLimits::instance_table_entries");
}

TEST_P(Hardening, TypesThatNoModuleCouldHaveAreRefusedOfTheHostToo) {
  auto message = [&](FuncType type) {
    auto body = [](auto, auto) -> std::optional<Trap> { return std::nullopt; };
    auto made = Function::host(engine_, type, body);
    auto defined = linker_.define_host("env", "f", type, body);
    EXPECT_EQ(made.ok(), defined.ok());
    EXPECT_TRUE(made.ok() || made.error().message == defined.error().message);
    return made.ok() ? std::string("fine") : made.error().message;
  };
  const std::vector<ValueType> thousand(1000, V128), more(1001, I32);
  const auto unknown = static_cast<ValueType>(0x6e);
  EXPECT_EQ(message({thousand, thousand}), "fine");
  EXPECT_EQ(message({more, {}}), "a function has at most 1000 parameters, as in modules; this one has 1001");
  EXPECT_EQ(message({{}, more}), "a function has at most 1000 results, as in modules; this one has 1001");
  EXPECT_EQ(message({{I32, unknown}, {}}),
            "the host function's parameters have a type of number 110, which no WebAssembly type has");
  EXPECT_EQ(message({{}, {unknown}}),
            "the host function's results have a type of number 110, which no WebAssembly type has");
  const Slot zero = 0;
  EXPECT_FALSE(Global::create(engine_, {unknown, true}, {&zero, 1}).ok());
  EXPECT_FALSE(Table::create(engine_, {unknown, {1, 1}}).ok());
  EXPECT_TRUE(Memory::create(engine_, {{1, 65536}}).ok());
  for (const Limits& limits : {Limits{1, 65537}, Limits{1, 70000}, Limits{65537, {}}, Limits{2, 1}}) {
    auto memory = Memory::create(engine_, {limits});
    ASSERT_FALSE(memory.ok());
    EXPECT_EQ(memory.error().message,
              "a memory has at most 65536 pages, and its maximum is not below its minimum");
  }
}

ModuleBuilder many_functions() {
  ModuleBuilder module;
  const uint32_t type = module.type({I32}, {I32});
  for (int i = 0; i < 200; ++i) module.function(type, {}, Code().op(Opcode::LocalGet, 0).end());
  return module;
}

TEST_P(Hardening, CompilingGoesOnWithFewerThreadsThanItIsPromised) {
  EngineSettings settings = GetParam();
  settings.workers = 4;
  const Engine engine = Engine::open(settings).value();
  EXPECT_TRUE(runtime::testing::holds_in_child([&] {
    runtime::testing::refuse_threads();
    return engine.compile(many_functions().build()).ok();
  }));
  for (unsigned workers : {kMaxWorkers + 1, ~0u}) {
    settings.workers = workers;
    auto refused = Engine::open(settings);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().message,
              std::to_string(workers) + " workers are too many: at most 1024, and 0 is one a core");
  }
  settings.workers = kMaxWorkers;
  EXPECT_TRUE(Engine::open(settings).value().compile(many_functions().build()).ok());
}

TEST_P(Hardening, MemoryThatIsNotToBeHadIsAnErrorOfTheCallThatNeedsIt) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer's allocator ends the process";
#endif
  ModuleBuilder module;
  const uint32_t type = module.type({I32}, {I32});
  Code large;
  large.op(Opcode::LocalGet, 0);
  for (int i = 0; i < 200'000; ++i)
    large.op(Opcode::LocalGet, 0).op(Opcode::I32Mul).i32(i).op(Opcode::I32Xor);
  module.function(type, {}, large.end());
  for (int i = 0; i < 20; ++i) module.function(type, {}, Code().op(Opcode::LocalGet, 0).end());
  const std::vector<uint8_t> bytes = module.build();
  for (unsigned workers : {1u, 4u}) {
    EngineSettings settings = GetParam();
    settings.workers = workers;
    settings.check_allocation = settings.verify_ir = false;
    const Engine engine = Engine::open(settings).value();
    EXPECT_TRUE(runtime::testing::holds_in_child([&] {
      std::ifstream file("/proc/self/statm");
      rlim_t pages = 0;
      file >> pages;
      const rlimit little{pages * 4096 + (16 << 20), RLIM_INFINITY};
      if (setrlimit(RLIMIT_AS, &little) != 0) return false;
      auto refused = engine.compile(bytes);
      return !refused.ok() && refused.error().kind == base::ErrorKind::Unmeasurable &&
             refused.error().message == "no memory to compile the module; allow the process more";
    })) << workers;
  }
}

// What lies behind a memory is not the host's other data.
TEST_P(Hardening, EveryAddressOutsideOfAMemoryTraps) {
  ModuleBuilder module;
  const uint32_t type = module.type({I32, I64}, {});
  module.memory(1);
  for (uint32_t offset : {0u, 1u, 0xffffu, 0x10000u, 0x7fffffffu, 0x80000000u, 0xffffffffu}) {
    Code store = Code().op(Opcode::LocalGet, 0).op(Opcode::LocalGet, 1).op(Opcode::I64Store, 0, offset);
    const std::string name = "store" + std::to_string(offset);
    module.export_(name.c_str(), ExternKind::Function, module.function(type, {}, store.end()));
  }
  Instance instance = instantiate(module);
  for (uint64_t offset : {0u, 1u, 0xffffu, 0x10000u, 0x7fffffffu, 0x80000000u, 0xffffffffu}) {
    for (uint64_t address : {0u, 1u, 0xfff8u, 0xfff9u, 0x10000u, 0x7fffffffu, 0x80000000u, 0xffffffffu}) {
      const std::string name = "store" + std::to_string(offset);
      if (address + offset + 8 <= 0x10000) {
        call(instance, name.c_str(), {address, ~uint64_t{0}});
      } else {
        EXPECT_EQ(trap_of(instance, name.c_str(), {address, 1}).code, TrapCode::MemoryOutOfBounds)
            << address << "+" << offset;
      }
    }
  }
}

}  // namespace
}  // namespace wago::engine_test
