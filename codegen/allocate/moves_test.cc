#include "codegen/allocate/moves.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <random>
#include <vector>

namespace wago::codegen {
namespace {

constexpr uint32_t kSlots = 4;

// Registers and slots, 16 bytes each. What an instruction does not write of its target becomes zero if that
// is a register.
using Contents = std::array<std::array<uint8_t, 16>, 32 + kSlots>;

uint8_t width_of(x64::Op op) {
  switch (op) {
    case x64::Op::MOV32rr:
    case x64::Op::MOV32rm:
    case x64::Op::MOV32mr:
    case x64::Op::VMOVSSrm:
    case x64::Op::VMOVSSmr:
      return 4;
    case x64::Op::MOV64rr:
    case x64::Op::MOV64rm:
    case x64::Op::MOV64mr:
    case x64::Op::VMOVSDrm:
    case x64::Op::VMOVSDmr:
      return 8;
    default:
      return 16;  // VMOVAPSrr, VMOVUPSrm, VMOVUPSmr
  }
}

void execute(const MachFunction& function, const MachInst& inst, Contents& contents) {
  struct Side {
    uint8_t* bytes;
    bool is_register;
  };
  auto side = [&](uint32_t operand) -> Side {
    const MachOperand& first = function.operands[inst.first_operand + operand];
    if (first.is_reg()) return {contents[first.reg().number()].data(), true};
    const MachOperand& displacement = function.operands[inst.first_operand + operand + 3];
    return {contents[32 + static_cast<uint32_t>(first.value)].data() + displacement.value, false};
  };
  const bool stores = function.operands[inst.first_operand].kind == MachOperand::Kind::Slot;
  const Side to = side(0), from = side(stores ? 5 : 1);
  std::array<uint8_t, 16> value = {};
  std::memcpy(value.data(), from.bytes, width_of(inst.op));
  std::memcpy(to.bytes, value.data(), to.is_register ? 16 : width_of(inst.op));
}

// Executes `moves` one after the other as emitted, and holds every target against what its source held
// before.
void expect_all_at_once(MachFunction& function, const std::vector<Move>& moves) {
  Contents contents;
  std::mt19937 random(7);
  for (auto& place : contents) {
    for (uint8_t& byte : place) byte = static_cast<uint8_t>(random());
  }
  const Contents before = contents;
  auto bits = [](Location place) { return place.bits(); };

  std::vector<MachInst> out;
  MoveEmitter emitter;
  emitter.start(function, out);
  std::vector<Move> used_up = moves;
  emitter.emit_parallel(used_up);
  for (const MachInst& inst : out) execute(function, inst, contents);
  for (const Move& move : moves) {
    EXPECT_EQ(std::memcmp(contents[bits(move.to)].data(), before[bits(move.from)].data(), move.bytes), 0)
        << bits(move.to) << " <- " << bits(move.from);
  }
}

MachFunction with_slots(uint8_t bytes) {
  MachFunction function;
  function.slots.assign(kSlots, bytes);
  return function;
}

Location gpr(uint32_t number) {
  return Location::reg(Reg::physical(number));
}
Location xmm(uint32_t number) {
  return Location::reg(Reg::xmm(number));
}

TEST(Moves, ACycleThroughSlotsThatBothClassesShare) {
  MachFunction function = with_slots(4);
  const Location a = Location::slot(0), b = Location::slot(1);
  // Whatever member the cycle is opened at.
  std::vector<Move> moves = {
      {gpr(3), a, RegClass::Gpr, 4}, {a, b, RegClass::Xmm, 4}, {b, gpr(3), RegClass::Gpr, 4}};
  for (int turn = 0; turn < 3; ++turn) {
    expect_all_at_once(function, moves);
    std::rotate(moves.begin(), moves.begin() + 1, moves.end());
  }
  moves = {{xmm(3), a, RegClass::Xmm, 4}, {a, b, RegClass::Gpr, 4}, {b, xmm(3), RegClass::Xmm, 4}};
  for (int turn = 0; turn < 3; ++turn) {
    expect_all_at_once(function, moves);
    std::rotate(moves.begin(), moves.begin() + 1, moves.end());
  }
}

// Sources are any places, so that values fan out, chains hang on cycles, and cycles pass through registers of
// both classes by way of slots.
TEST(Moves, AnySetOfMovesHappensAtOnce) {
  std::mt19937 random(1);
  for (int round = 0; round < 5000; ++round) {
    const uint8_t bytes = std::array<uint8_t, 3>{4, 8, 16}[random() % 3];
    std::vector<Location> places;
    for (uint32_t k = 0; k < kSlots; ++k) places.push_back(Location::slot(k));
    for (uint32_t k = 0; k < 3; ++k) {
      places.push_back(xmm(k));
      if (bytes < 16) places.push_back(gpr(k));
    }
    std::vector<Location> targets = places;
    std::shuffle(targets.begin(), targets.end(), random);
    targets.resize(1 + random() % targets.size());
    std::vector<Move> moves;
    for (Location to : targets) {
      const Location from = places[random() % places.size()];
      auto class_of = [](Location place) {
        return place.is_reg() ? std::optional(place.reg().physical_class()) : std::nullopt;
      };
      const RegClass any = bytes == 16 || random() % 2 == 0 ? RegClass::Xmm : RegClass::Gpr;
      const RegClass cls = class_of(to).value_or(class_of(from).value_or(any));
      if (class_of(from).value_or(cls) != cls) continue;  // no value is in both
      moves.push_back({to, from, cls, bytes});
    }
    MachFunction function = with_slots(bytes);
    expect_all_at_once(function, moves);
    if (HasFailure()) FAIL() << "round " << round;
  }
}

}  // namespace
}  // namespace wago::codegen
