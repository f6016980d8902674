// Vectors wherever values go: through calls in both directions, globals, blocks, tables, memory's edge.
#include <tuple>

#include <wago/typed.h>

#include "engine_fixture.h"

namespace wago::engine_test {
namespace {

class Vectors : public EngineTest {
 protected:
  static Code constant(uint64_t low, uint64_t high) {
    return Code().op(Opcode::V128Const).raw(Bytes().fixed(low).fixed(high));
  }
};
INSTANTIATE_TEST_SUITE_P(Configurations, Vectors, ::testing::ValuesIn(configurations()), name_of);

// More vectors than registers pass, between others of both classes.
const std::vector<ValueType> kMixed = {V128, I32,  V128, F64, V128, I64, V128, F32, V128, V128, I64,
                                       V128, V128, F32,  I32, V128, I64, I32,  I64, V128, V128, F64};

std::vector<Slot> mixed_values() {
  std::vector<Slot> values;
  for (size_t i = 0; i < kMixed.size(); ++i) {
    if (kMixed[i] == V128) {
      values.push_back(0x1111111111111111 * (i % 16));
      values.push_back(0xfedcba9876543210 + i);
    } else {
      values.push_back(kMixed[i] == I32 || kMixed[i] == F32 ? 0x40000000 + i : 0x4000000040000000 + i);
    }
  }
  return values;
}

TEST_P(Vectors, PassThroughGuestHostAndBackOnTheStackToo) {
  expect_to_pass_through(kMixed, mixed_values());
}

TEST_P(Vectors, TypedFunctionsTakeAndGiveThem) {
  auto defined = linker_.define_host("env", "swap", [](double scale, wago::V128 v, uint32_t low) {
    return std::tuple(wago::V128{v.high, v.low + low}, scale);
  });
  ASSERT_TRUE(defined.ok());
  ModuleBuilder module;
  const uint32_t type = module.type({F64, V128, I32}, {V128, F64});
  const uint32_t host = module.import_function("env", "swap", type);
  Code code;
  for (uint32_t i = 0; i < 3; ++i) code.op(Opcode::LocalGet, i);
  module.export_("f", ExternKind::Function, module.function(type, {}, code.op(Opcode::Call, host).end()));
  Instance instance = instantiate(module);
  using Results = std::tuple<wago::V128, double>;
  auto f = instance.function("f").value().typed<Results(double, wago::V128, uint32_t)>().value();
  EXPECT_EQ(f(0.5, {1, 2}, 0xffffffff).value(), Results(wago::V128{2, 0x100000000}, 0.5));
}

TEST_P(Vectors, LiveAcrossCallsAndUnderPressure) {
  // Twenty vectors, more than registers, are alive while another function overwrites every register.
  constexpr uint32_t kCount = 20;
  ModuleBuilder module;
  const uint32_t fold = module.type({V128}, {V128}), leaf = module.type({}, {V128});
  const uint32_t other = module.function(leaf, {}, constant(0, uint64_t{1} << 63).end());
  Code code;
  for (uint32_t i = 0; i < kCount; ++i) {
    code.op(Opcode::LocalGet, 0).i32(static_cast<int32_t>(i + 1)).op(Opcode::I8x16ReplaceLane);
    code.raw(Bytes{static_cast<int>(i % 16)}).op(Opcode::LocalSet, i + 1);
  }
  code.op(Opcode::Call, other);
  for (uint32_t i = 0; i < kCount; ++i) code.op(Opcode::LocalGet, i + 1).op(Opcode::V128Xor);
  module.export_("fold", ExternKind::Function, module.function(fold, {{kCount, V128}}, code.end()));
  Instance instance = instantiate(module);
  // Of an even number of copies of zeros only the lanes replaced are left.
  const std::vector<Slot> folded = call(instance, "fold", {0, 0});
  uint8_t wanted[16] = {};
  for (uint32_t i = 0; i < kCount; ++i) wanted[i % 16] = static_cast<uint8_t>(wanted[i % 16] ^ (i + 1));
  wanted[15] ^= 0x80;
  for (uint32_t i = 0; i < 16; ++i) EXPECT_EQ(folded[i / 8] >> 8 * (i % 8) & 0xff, wanted[i]) << i;
}

TEST_P(Vectors, GlobalsOwnAndImported) {
  const Slot start[] = {1, 2};
  Global shared = Global::create(engine_, {V128, true}, start).value();
  const Slot fixed[] = {7, 8};
  linker_.define("env", "shared", shared);
  linker_.define("env", "fixed", Global::create(engine_, {V128, false}, fixed).value());
  ModuleBuilder module;
  const uint32_t imported = module.import_global("env", "shared", V128, true);
  const uint32_t constant_import = module.import_global("env", "fixed", V128);
  const uint32_t own = module.global(V128, true, constant(3, 4).end());
  const uint32_t copy = module.global(V128, false, Code().op(Opcode::GlobalGet, constant_import).end());
  const uint32_t immutable = module.global(V128, false, constant(0xf0, 0x0f).end());
  const uint32_t nullary = module.type({}, {V128});
  // Exchanges the mutable ones and returns what all others give together.
  Code code;
  code.op(Opcode::GlobalGet, imported).op(Opcode::GlobalGet, own);
  code.op(Opcode::GlobalSet, imported).op(Opcode::GlobalSet, own);
  code.op(Opcode::GlobalGet, copy).op(Opcode::GlobalGet, immutable).op(Opcode::V128Or).end();
  module.export_("exchange", ExternKind::Function, module.function(nullary, {}, code));
  module.export_("own", ExternKind::Global, own);
  Instance instance = instantiate(module);
  EXPECT_EQ(call(instance, "exchange", {}), (std::vector<Slot>{0xf7, 0x0f}));
  Slot seen[2];
  shared.get(seen);
  EXPECT_EQ(seen[0], 3u);
  EXPECT_EQ(seen[1], 4u);
  instance.global("own").value().get(seen);
  EXPECT_EQ(seen[0], 1u);
  EXPECT_EQ(seen[1], 2u);
  ASSERT_TRUE(instance.global("own").value().set(std::span<const Slot>(fixed)).ok());
  call(instance, "exchange", {});
  shared.get(seen);
  EXPECT_EQ(seen[0], 7u);
  EXPECT_EQ(seen[1], 8u);
}

TEST_P(Vectors, ThroughBlocksLoopsAndSelections) {
  ModuleBuilder module;
  const uint32_t step = module.type({V128}, {V128});
  const uint32_t type = module.type({V128, V128, I32}, {V128, V128});
  // (a, b, n): a and b change places n times, in a loop with both as parameters; then, by n, one of them
  // twice.
  const uint32_t pair = module.type({V128, V128}, {V128, V128});
  Code code;
  code.op(Opcode::LocalGet, 0).op(Opcode::LocalGet, 1);
  code.open(Opcode::Loop, pair);
  code.op(Opcode::LocalSet, 3).op(Opcode::LocalSet, 4).op(Opcode::LocalGet, 3).op(Opcode::LocalGet, 4);
  code.op(Opcode::LocalGet, 2).i32(1).op(Opcode::I32Sub).op(Opcode::LocalTee, 2).op(Opcode::BrIf, 0).end();
  code.open(Opcode::Block, step).op(Opcode::V128Not).end();
  code.op(Opcode::LocalGet, 0).op(Opcode::LocalGet, 2).op(Opcode::Select).end();
  module.export_("swap", ExternKind::Function, module.function(type, {{2, V128}}, code));
  // Which of two, by a condition that is a comparison.
  Code choose;
  choose.op(Opcode::LocalGet, 0).op(Opcode::LocalGet, 1).op(Opcode::LocalGet, 2).i32(5).op(Opcode::I32LtS);
  choose.op(Opcode::Select).op(Opcode::LocalGet, 1).op(Opcode::LocalGet, 0).op(Opcode::LocalGet, 2);
  choose.select(V128).end();
  module.export_("choose", ExternKind::Function, module.function(type, {}, choose));
  Instance instance = instantiate(module);
  EXPECT_EQ(call(instance, "swap", {1, 2, 3, 4, 1}), (std::vector<Slot>{3, 4, 1, 2}));
  EXPECT_EQ(call(instance, "swap", {1, 2, 3, 4, 2}), (std::vector<Slot>{1, 2, 1, 2}));
  EXPECT_EQ(call(instance, "choose", {1, 2, 3, 4, 0}), (std::vector<Slot>{1, 2, 1, 2}));
  EXPECT_EQ(call(instance, "choose", {1, 2, 3, 4, 9}), (std::vector<Slot>{3, 4, 3, 4}));
  EXPECT_EQ(call(instance, "choose", {1, 2, 3, 4, 0xfffffffe}), (std::vector<Slot>{1, 2, 3, 4}));
}

// An access that ends one byte behind the memory traps, and a store has then written nothing.
TEST_P(Vectors, AccessesAtTheEdgeOfMemory) {
  ModuleBuilder module;
  module.memory(1, 1);
  const uint32_t load = module.type({I32}, {V128}), store = module.type({I32, V128}, {});
  struct Access {
    const char* name;
    Opcode opcode;
    uint32_t bytes;
  };
  const Access loads[] = {{"load", Opcode::V128Load, 16},
                          {"load8_splat", Opcode::V128Load8Splat, 1},
                          {"load16_splat", Opcode::V128Load16Splat, 2},
                          {"load32_splat", Opcode::V128Load32Splat, 4},
                          {"load64_splat", Opcode::V128Load64Splat, 8},
                          {"load32_zero", Opcode::V128Load32Zero, 4},
                          {"load64_zero", Opcode::V128Load64Zero, 8}};
  for (const Access& it : loads) {
    const Code code = Code().op(Opcode::LocalGet, 0).op(it.opcode, 0, 0).end();
    module.export_(it.name, ExternKind::Function, module.function(load, {}, code));
  }
  Code code = Code().op(Opcode::LocalGet, 0).op(Opcode::LocalGet, 1).op(Opcode::V128Store, 0, 0).end();
  module.export_("store", ExternKind::Function, module.function(store, {}, code));
  Code lane = Code().op(Opcode::LocalGet, 0).op(Opcode::LocalGet, 1);
  lane.op(Opcode::V128Store64Lane, 0, 0).raw(Bytes{1}).end();
  module.export_("store64_lane", ExternKind::Function, module.function(store, {}, lane));
  Instance instance = instantiate(module);
  for (const Access& it : loads) {
    EXPECT_EQ(call(instance, it.name, {kPageBytes - it.bytes}), (std::vector<Slot>{0, 0})) << it.name;
    EXPECT_EQ(trap_of(instance, it.name, {kPageBytes - it.bytes + 1}).code, TrapCode::MemoryOutOfBounds)
        << it.name;
    EXPECT_EQ(trap_of(instance, it.name, {0xffffffff}).code, TrapCode::MemoryOutOfBounds) << it.name;
  }
  EXPECT_EQ(trap_of(instance, "store", {kPageBytes - 15, ~Slot{0}, ~Slot{0}}).code,
            TrapCode::MemoryOutOfBounds);
  EXPECT_EQ(trap_of(instance, "store64_lane", {kPageBytes - 7, ~Slot{0}, ~Slot{0}}).code,
            TrapCode::MemoryOutOfBounds);
  EXPECT_EQ(call(instance, "load", {kPageBytes - 16}), (std::vector<Slot>{0, 0}));
  call(instance, "store64_lane", {kPageBytes - 8, 1, 0x1122334455667788});
  EXPECT_EQ(call(instance, "load", {kPageBytes - 16}), (std::vector<Slot>{0, 0x1122334455667788}));
}

}  // namespace
}  // namespace wago::engine_test
