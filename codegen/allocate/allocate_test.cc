#include "codegen/allocate/allocate.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "codegen/allocate/linear_scan.h"
#include "codegen/allocate/liveness.h"
#include "codegen/allocate/testing/mach_builder.h"
#include "codegen/allocate/testing/mach_interpreter.h"
#include "codegen/allocate/testing/random_function.h"

namespace wago::codegen {
namespace {

using testing::MachBuilder;
using testing::RandomShape;
using Config = void (Allocator::*)(MachFunction&);

constexpr uint32_t kStepsInterpreted = 1000;

// Allocates a copy, checks it both ways, and returns it.
MachFunction allocated(const MachFunction& before, Config config = &Allocator::allocate) {
  Allocator allocator;
  MachFunction after = before;
  (allocator.*config)(after);
  EXPECT_EQ(check_allocation(before, after), "");
  for (uint64_t seed = 0; seed < 2; ++seed) {
    EXPECT_EQ(testing::interpret(before, nullptr, seed, kStepsInterpreted),
              testing::interpret(before, &after, seed, kStepsInterpreted));
  }
  return after;
}

uint32_t count_sites(const MachFunction& function, const MachBlock& block) {
  uint32_t count = 0;
  for (uint32_t i = block.begin; i < block.end; ++i) count += function.insts[i].origin == MachInst::kInserted;
  return count;
}

TEST(Allocate, straight_code_needs_no_moves) {
  MachFunction f;
  MachBuilder b(f);
  b.start_block();
  Reg x = b.gpr(), y = b.gpr(), sum = b.gpr();
  b.moves({{x, kRdi}, {y, kRsi}});
  b.binary(x64::Op::ADD64rr, sum, x, y);
  b.ret({sum});
  b.finish();
  MachFunction after = allocated(f);
  EXPECT_EQ(after.spills + after.reloads, 0u);
  EXPECT_LE(after.moves, 1u);
  EXPECT_TRUE(after.slots.empty());
}

TEST(Allocate, a_loop_keeps_its_values_in_registers) {
  MachFunction f;
  MachBuilder b(f);
  b.start_block();
  Reg n = b.gpr(), i = b.gpr(), sum = b.gpr(), i2 = b.gpr(), sum2 = b.gpr(), zero = b.gpr(), one = b.gpr();
  b.moves({{n, kRdi}});
  b.load_constant(zero, 0);
  b.load_constant(one, 1);
  b.moves({{i, zero}, {sum, zero}});
  b.jump(1);
  b.start_block(1, true);
  b.binary(x64::Op::ADD64rr, sum2, sum, i);
  b.binary(x64::Op::ADD64rr, i2, i, one);
  b.compare(i2, n);
  b.branch(2, 2, 3);
  b.start_block(1);
  b.moves({{i, i2}, {sum, sum2}});
  b.jump(1);
  b.start_block();
  b.ret({sum2});
  b.finish();
  MachFunction after = allocated(f);
  EXPECT_EQ(count_sites(after, after.blocks[1]), 0u);
  EXPECT_EQ(count_sites(after, after.blocks[2]), 0u);
}

TEST(Allocate, a_value_across_calls_is_stored_once_and_loaded_where_needed) {
  MachFunction f;
  MachBuilder b(f);
  b.start_block();
  Reg x = b.gpr(), y = b.gpr();
  b.moves({{x, kRdi}});
  for (int call = 0; call < 5; ++call) b.call({x}, {}, kGuestCallClobbers);
  b.binary(x64::Op::ADD64rr, y, x, x);
  b.ret({y});
  b.finish();
  MachFunction after = allocated(f);
  EXPECT_EQ(after.spills, 1u);
  EXPECT_EQ(after.reloads, 5u);
}

TEST(Allocate, registers_that_helpers_keep_hold_values_across_them) {
  MachFunction f;
  MachBuilder b(f);
  b.start_block();
  Reg x = b.gpr(), y = b.gpr();
  b.moves({{x, kRdi}});
  b.call({}, {}, kHelperCallClobbers);
  b.binary(x64::Op::ADD64rr, y, x, x);
  b.ret({y});
  b.finish();
  EXPECT_EQ(allocated(f).spills, 0u);
}

TEST(Allocate, constants_are_made_again_and_never_stored) {
  MachFunction f;
  MachBuilder b(f);
  b.start_block();
  Reg x = b.gpr(), y = b.gpr();
  b.moves({{y, kRdi}});
  b.load_constant(x, 42);
  b.call({y, x}, {y}, kGuestCallClobbers);
  b.binary(x64::Op::ADD64rr, y, y, x);
  b.ret({y});
  b.finish();
  MachFunction after = allocated(f);
  EXPECT_EQ(after.spills, 0u);
  EXPECT_EQ(after.rematerialized, 1u);  // for the addition; the definition serves the call
}

TEST(Allocate, a_call_after_a_loop_causes_no_store_in_the_loop) {
  MachFunction f;
  MachBuilder b(f);
  b.start_block();
  Reg n = b.gpr(), i = b.gpr();
  b.moves({{n, kRdi}, {i, kRsi}});
  b.jump(1);
  b.start_block(1, true);
  b.inst(x64::Op::ADD64rr, {b.def(i), b.use(i), b.use(n)});
  b.compare(i, n);
  b.branch(2, 2, 3);
  b.start_block(1);
  b.jump(1);
  b.start_block();
  b.call({}, {}, kGuestCallClobbers);
  b.ret({i});
  b.finish();
  MachFunction after = allocated(f);
  EXPECT_EQ(after.spills, 1u);
  EXPECT_EQ(count_sites(after, after.blocks[1]) + count_sites(after, after.blocks[2]), 0u);
}

TEST(Allocate, pressure_before_a_loop_leaves_the_loop_alone) {
  MachFunction f;
  MachBuilder b(f);
  b.start_block();
  Reg base = b.gpr(), n = b.gpr(), i = b.gpr();
  b.moves({{base, kRdi}, {n, kRsi}, {i, kRdx}});
  std::vector<Reg> values;
  for (int k = 0; k < 16; ++k) {
    values.push_back(b.gpr());
    b.load(x64::Op::MOV64rm, values.back(), base);
  }
  b.jump(1);
  b.start_block(1, true);
  b.inst(x64::Op::ADD64rr, {b.def(i), b.use(i), b.use(n)});
  b.compare(i, n);
  b.branch(2, 2, 3);
  b.start_block(1);
  b.jump(1);
  b.start_block();
  for (Reg value : values) b.store(x64::Op::MOV64mr, base, value);
  b.ret({i});
  b.finish();
  MachFunction after = allocated(f);
  EXPECT_GT(after.spills, 0u);
  EXPECT_EQ(count_sites(after, after.blocks[1]) + count_sites(after, after.blocks[2]), 0u);
}

// However long it waits: pieces that each asked for a register in vain made allocation quadratic.
TEST(Allocate, a_value_that_waits_in_memory_is_not_cut_up) {
  constexpr uint32_t kValues = 20'000;
  MachFunction f;
  MachBuilder b(f);
  b.start_block();
  Reg x = b.gpr();
  b.moves({{x, kRdi}});
  std::vector<Reg> values;
  for (uint32_t i = 0; i < kValues; ++i) {
    values.push_back(b.gpr());
    b.binary(x64::Op::ADD64rr, values[i], i == 0 ? x : values[i - 1], x);
  }
  Reg sum = x;
  for (uint32_t i = kValues; i-- > 0;) {
    Reg next = b.gpr();
    b.binary(x64::Op::XOR64rr, next, sum, values[i]);
    sum = next;
  }
  b.ret({sum});
  b.finish();
  Liveness live;
  LinearScan scan;
  live.build(f);
  scan.run(f, live);
  uint32_t pieces = 0;
  for (Reg value : values) {
    for (uint32_t p = scan.first_piece(value.index()); p != Piece::kNone; p = scan.piece(p).next) ++pieces;
  }
  EXPECT_LE(pieces, 5 * kValues);
}

TEST(Allocate, swapped_values_in_memory_survive_without_a_free_register) {
  MachFunction f;
  MachBuilder b(f);
  b.start_block();
  Reg values[] = {b.gpr(8), b.gpr(8), b.xmm(16), b.xmm(16), b.gpr(4), b.gpr(4), b.xmm(4), b.xmm(4)};
  b.moves({{values[0], kRdi},
           {values[1], kRsi},
           {values[2], Reg::xmm(0)},
           {values[3], Reg::xmm(1)},
           {values[4], kRdx},
           {values[5], kRcx},
           {values[6], Reg::xmm(2)},
           {values[7], Reg::xmm(3)}});
  std::vector<testing::RegMove> swaps;
  for (int k = 0; k < 8; ++k) swaps.push_back({values[k], values[k ^ 1]});
  b.moves(swaps);
  for (int k = 0; k < 8; ++k) {
    bool gpr = f.vregs[values[k].index()].cls == RegClass::Gpr;
    uint8_t bytes = f.vregs[values[k].index()].bytes;
    b.store(gpr ? (bytes == 4 ? x64::Op::MOV32mr : x64::Op::MOV64mr)
                : (bytes == 4 ? x64::Op::VMOVSSmr : x64::Op::VMOVUPSmr),
            kContextReg, values[k]);
  }
  b.ret();
  b.finish();
  allocated(f);
  allocated(f, &Allocator::spill_everything);
}

// --- At random
// -------------------------------------------------------------------------------------------------

RandomShape shape_of(uint64_t seed) {
  RandomShape shape;
  shape.statements = static_cast<uint32_t>(5 + seed % 97);
  shape.live_values = static_cast<uint32_t>(3 + seed % 40);
  shape.call_percent = static_cast<uint32_t>(seed % 5 * 4);
  shape.shuffle_layout = seed % 4 == 3;
  return shape;
}

class RandomFunctions : public ::testing::TestWithParam<Config> {};

TEST_P(RandomFunctions, keep_every_value) {
  Allocator allocator;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    MachFunction before;
    testing::random_function(seed, shape_of(seed), before);
    MachFunction after = before;
    (allocator.*GetParam())(after);
    ASSERT_EQ(check_allocation(before, after), "") << "seed " << seed;
    for (uint64_t input = 0; input < 2; ++input) {
      ASSERT_EQ(testing::interpret(before, nullptr, input, kStepsInterpreted),
                testing::interpret(before, &after, input, kStepsInterpreted))
          << "seed " << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Configurations, RandomFunctions,
                         ::testing::Values(&Allocator::allocate, &Allocator::spill_everything),
                         [](const auto& config) {
                           return config.index == 0 ? "linear_scan" : "spill_everything";
                         });

TEST(Allocate, random_functions_come_out_the_same_from_a_used_allocator) {
  Allocator used;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    MachFunction one;
    testing::random_function(seed, shape_of(seed), one);
    MachFunction two = one;
    used.allocate(one);
    Allocator().allocate(two);
    ASSERT_EQ(one.insts.size(), two.insts.size());
    ASSERT_EQ(one.slots, two.slots);
    for (size_t k = 0; k < one.operands.size(); ++k) ASSERT_EQ(one.operands[k].value, two.operands[k].value);
  }
}

// --- The checker itself
// ----------------------------------------------------------------------------------------

// Damages an allocation in one place. False: there is no such place.
using Damage = bool (*)(MachFunction& after, uint32_t inst);

bool drop_inserted(MachFunction& after, uint32_t i) {
  if (after.insts[i].origin != MachInst::kInserted) return false;
  // A move to itself: nothing happens, the shape stays.
  MachOperand& first = after.operands[after.insts[i].first_operand];
  if (after.insts[i].op != x64::Op::MOV64rr) {
    after.insts[i].op = x64::Op::MOV64rr;
    after.insts[i].operand_count = 2;
    first = MachBuilder::def(kR11);
  }
  after.operands[after.insts[i].first_operand + 1] = MachBuilder::use(first.reg());
  return true;
}

bool other_register_read(MachFunction& after, uint32_t i) {
  if (after.insts[i].origin == MachInst::kInserted) return false;
  for (MachOperand& operand : after.ops(after.insts[i])) {
    if (!operand.is_reg() || operand.is_def || !operand.reg().is_physical()) continue;
    uint32_t number = operand.reg().number();
    operand.value = static_cast<int32_t>(number < 16 ? (number == 3 ? 12 : 3) : (number == 20 ? 21 : 20));
    return true;
  }
  return false;
}

bool other_slot_read(MachFunction& after, uint32_t i) {
  if (after.insts[i].site != SiteKind::Reload || after.insts[i].origin != MachInst::kInserted) return false;
  MachOperand& base = after.operands[after.insts[i].first_operand + 1];
  for (uint32_t slot = 0; slot < after.slots.size(); ++slot) {
    if (static_cast<uint32_t>(base.value) == slot ||
        after.slots[slot] != after.slots[static_cast<size_t>(base.value)])
      continue;
    base.value = static_cast<int32_t>(slot);
    return true;
  }
  return false;
}

bool narrow_store(MachFunction& after, uint32_t i) {
  if (after.insts[i].op != x64::Op::MOV64mr || after.insts[i].origin != MachInst::kInserted) return false;
  after.insts[i].op = x64::Op::MOV32mr;
  return true;
}

// A damage may be harmless: the value dropped is never read again, another register holds the same. Where the
// traces of runs differ it is not, and the checker must say so.
struct DamageCounts {
  uint32_t tried = 0, harmful = 0, noticed = 0;
};

DamageCounts damage_everywhere(Damage damage) {
  DamageCounts counts;
  Allocator allocator;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    MachFunction before;
    testing::random_function(seed, shape_of(seed), before);
    MachFunction good = before;
    allocator.allocate(good);
    for (uint32_t i = 0; i < good.insts.size(); i += 3) {
      MachFunction after = good;
      if (!damage(after, i)) continue;
      ++counts.tried;
      bool noticed = !check_allocation(before, after).empty();
      counts.noticed += noticed;
      bool harmful = false;
      for (uint64_t input = 0; input < 3 && !harmful; ++input)
        harmful = !(testing::interpret(before, nullptr, input, 300) ==
                    testing::interpret(before, &after, input, 300));
      counts.harmful += harmful;
      EXPECT_TRUE(noticed || !harmful) << "seed " << seed << ", instruction " << i;
    }
  }
  return counts;
}

// u is made by `first`, then d is loaded and s made of u twice; in what allocation made of it, s is made of
// d.
std::string other_value_read(bool undefined) {
  MachFunction before;
  MachBuilder b(before);
  b.start_block();
  Reg base = b.gpr(), u = b.xmm(16), d = b.xmm(8), s = b.xmm(16);
  b.moves({{base, kRdi}});
  if (undefined) {
    b.inst(x64::Op::Undef, {MachBuilder::def(u)});
  } else {
    b.load(x64::Op::VMOVUPSrm, u, base);
  }
  b.load(x64::Op::VMOVSDrm, d, base);
  b.inst(x64::Op::VXORPSrr, {MachBuilder::def(s), MachBuilder::use(u), MachBuilder::use(u)});
  b.store(x64::Op::VMOVUPSmr, base, s);
  b.store(x64::Op::VMOVSDmr, base, d);
  b.ret();
  b.finish();
  MachFunction after = before;
  Allocator().allocate(after);
  EXPECT_EQ(check_allocation(before, after), "");
  Reg loaded = Reg::xmm(0);
  for (const MachInst& inst : after.insts) {
    if (inst.op == x64::Op::VMOVSDrm) loaded = after.operands[inst.first_operand].reg();
    if (inst.op != x64::Op::VXORPSrr) continue;
    after.operands[inst.first_operand + 1] = after.operands[inst.first_operand + 2] =
        MachBuilder::use(loaded);
  }
  return check_allocation(before, after);
}

TEST(CheckAllocation, any_register_will_do_for_what_is_undefined) {
  EXPECT_EQ(other_value_read(true), "");
  EXPECT_NE(other_value_read(false), "");
}

TEST(CheckAllocation, notices_every_harmful_missing_move) {
  DamageCounts counts = damage_everywhere(&drop_inserted);
  EXPECT_GT(counts.harmful, 100u);
}

TEST(CheckAllocation, notices_every_register_confused) {
  DamageCounts counts = damage_everywhere(&other_register_read);
  EXPECT_GT(counts.harmful, 100u);
}

TEST(CheckAllocation, notices_every_slot_confused) {
  DamageCounts counts = damage_everywhere(&other_slot_read);
  EXPECT_GT(counts.harmful, 50u);
}

TEST(CheckAllocation, notices_a_store_too_narrow) {
  DamageCounts counts = damage_everywhere(&narrow_store);
  EXPECT_EQ(counts.noticed, counts.tried);
  EXPECT_GT(counts.tried, 20u);
}

}  // namespace
}  // namespace wago::codegen
