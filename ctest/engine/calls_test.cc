// Calls in both directions: slots of every type, nesting, threads.
#include <bit>
#include <cmath>
#include <thread>

#include "engine_fixture.h"

namespace wago::engine_test {
namespace {

class Calls : public EngineTest {};
INSTANTIATE_TEST_SUITE_P(Configurations, Calls, ::testing::ValuesIn(configurations()), name_of);

// Many of every class, so that some travel on the stack.
const std::vector<ValueType> kMixed = {I32, F32, I64, F64, I32, I64, F64,       F32, I64, I32,
                                       F32, F64, I32, I64, F32, F64, ExternRef, F64, F32, I64};

std::vector<Slot> mixed_values() {
  std::vector<Slot> values;
  for (size_t i = 0; i < kMixed.size(); ++i) {
    const double number = static_cast<double>(i) + 0.5;
    switch (kMixed[i]) {
      case I32:
        values.push_back(0xfffffff0u + i);
        break;
      case F32:
        values.push_back(std::bit_cast<uint32_t>(static_cast<float>(number)));
        break;
      case F64:
        values.push_back(std::bit_cast<uint64_t>(number));
        break;
      default:
        values.push_back(0xfedcba9876543210u + i);
        break;
    }
  }
  return values;
}

TEST_P(Calls, EveryTypePassesThroughGuestHostAndBack) {
  expect_to_pass_through(kMixed, mixed_values());
}

TEST_P(Calls, GarbageAboveAnI32OfTheHostNeverReachesTheGuest) {
  define_host("dirty", {{}, {I32}}, [](auto, std::span<Slot> results) {
    results[0] = 0xdeadbeef00000008;
    return std::nullopt;
  });
  ModuleBuilder module;
  const uint32_t unary = module.type({I32}, {I64}), nullary = module.type({}, {I32}),
                 load = module.type({I32}, {I32});
  const uint32_t host = module.import_function("env", "dirty", nullary);
  module.memory(1);
  module.export_("widen", ExternKind::Function,
                 module.function(unary, {}, Code().op(Opcode::LocalGet, 0).op(Opcode::I64ExtendI32U).end()));
  module.export_("load", ExternKind::Function,
                 module.function(load, {}, Code().op(Opcode::LocalGet, 0).op(Opcode::I32Load, 2, 0).end()));
  module.export_("load_dirty", ExternKind::Function,
                 module.function(nullary, {}, Code().op(Opcode::Call, host).op(Opcode::I32Load, 2, 0).end()));
  Instance instance = instantiate(module);
  EXPECT_EQ(call(instance, "widen", {0xffffffff00000001})[0], 1u);
  EXPECT_EQ(call(instance, "load", {0xdeadbeef00000004})[0], 0u);
  EXPECT_EQ(call(instance, "load_dirty", {})[0], 0u);
}

TEST_P(Calls, GuestAndHostRecurseIntoEachOther) {
  std::optional<Instance> instance;
  // fact(n) = n <= 1 ? 1 : n * host(n - 1); host(n) = fact(n)
  define_host("fact", {{I64}, {I64}},
              [&](std::span<const Slot> args, std::span<Slot> results) -> std::optional<Trap> {
                CallResult inner = instance->function("fact").value().call(args, results);
                if (!inner) return inner.trap();
                return std::nullopt;
              });
  ModuleBuilder module;
  const uint32_t type = module.type({I64}, {I64});
  const uint32_t host = module.import_function("env", "fact", type);
  Code code;
  code.op(Opcode::LocalGet, 0).i64(1).op(Opcode::I64LeU).open(Opcode::If, I64).i64(1).op(Opcode::Else);
  code.op(Opcode::LocalGet, 0).op(Opcode::LocalGet, 0).i64(1).op(Opcode::I64Sub).op(Opcode::Call, host);
  code.op(Opcode::I64Mul).end().end();
  module.export_("fact", ExternKind::Function, module.function(type, {}, code));
  instance = instantiate(module);
  EXPECT_EQ(call(*instance, "fact", {20})[0], 2432902008176640000u);
  EXPECT_EQ(call(*instance, "fact", {5})[0], 120u) << "a second call from the same depth";
}

TEST_P(Calls, HostMayGrowTheMemoryTheGuestIsUsing) {
  std::optional<Instance> instance;
  define_host("grow", {{}, {}}, [&](auto, auto) {
    EXPECT_EQ(instance->memory("memory").value().grow(1), 1u);
    instance->memory("memory").value().bytes()[kPageBytes + 4] = 9;
    return std::nullopt;
  });
  ModuleBuilder module;
  const uint32_t type = module.type({I32}, {I32}), nullary = module.type({}, {});
  const uint32_t host = module.import_function("env", "grow", nullary);
  module.export_("memory", ExternKind::Memory, module.memory(1, 2));
  Code code;
  code.op(Opcode::LocalGet, 0).op(Opcode::I32Load8U, 0, 0).op(Opcode::Drop).op(Opcode::Call, host);
  code.op(Opcode::LocalGet, 0).op(Opcode::I32Load8U, 0, kPageBytes).end();
  module.export_("f", ExternKind::Function, module.function(type, {}, code));
  instance = instantiate(module);
  EXPECT_EQ(call(*instance, "f", {4})[0], 9u);
}

TEST_P(Calls, InstancesOfOneModuleRunOnManyThreads) {
  ModuleBuilder module;
  const uint32_t type = module.type({I32}, {I32});
  module.memory(1);
  // Counts in memory, then traps at the last but one call.
  Code code;
  code.i32(0).i32(0).op(Opcode::I32Load, 2, 0).i32(1).op(Opcode::I32Add).op(Opcode::I32Store, 2, 0);
  code.i32(100).op(Opcode::LocalGet, 0).op(Opcode::I32DivU).op(Opcode::Drop);
  code.i32(0).op(Opcode::I32Load, 2, 0).end();
  module.export_("count", ExternKind::Function, module.function(type, {}, code));
  Module compiled = compile(module);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int round = 0; round < 5; ++round) {
        Instance instance = linker_.instantiate(compiled).value();
        Function count = instance.function("count").value();
        for (Slot i = 1; i <= 50; ++i) EXPECT_EQ(call(count, {i})[0], i);
        EXPECT_EQ(trap_of(instance, "count", {0}).code, TrapCode::IntegerDivideByZero);
        EXPECT_EQ(call(count, {1})[0], 52u);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_P(Calls, PublicModeLooksTheNameUp) {
  ModuleBuilder module;
  const uint32_t type = module.type({F32}, {F32});
  module.export_("sqrt", ExternKind::Function,
                 module.function(type, {}, Code().op(Opcode::LocalGet, 0).op(Opcode::F32Sqrt).end()));
  Instance instance = instantiate(module);
  Slot arg = std::bit_cast<uint32_t>(2.0f), result = ~Slot{0};
  EXPECT_TRUE(instance.call("sqrt", {&arg, 1}, {&result, 1}).value().ok());
  EXPECT_EQ(result, std::bit_cast<uint32_t>(std::sqrt(2.0f))) << "the upper half of the slot is zero";
  EXPECT_FALSE(instance.call("cbrt", {&arg, 1}, {&result, 1}).ok());
}

TEST(CallsDeath, WrongSlotCountsAreTheCallersMistake) {
  Engine engine = Engine::open().value();
  ModuleBuilder module;
  module.export_("f", ExternKind::Function, module.function(module.type({I32}, {}), {}, Code().end()));
  Function f =
      Linker(engine).instantiate(engine.compile(module.build()).value()).value().function("f").value();
  EXPECT_DEATH((void)f.call({}, {}), "number of slots");
}

}  // namespace
}  // namespace wago::engine_test
