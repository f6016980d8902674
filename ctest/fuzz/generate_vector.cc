#include "ctest/fuzz/generate_vector.h"

#include <array>
#include <string_view>

namespace wago::fuzz {

using runtime::Immediate;
using runtime::Opcode;
using runtime::OpcodeInfo;
using runtime::testing::Bytes;
using runtime::testing::Code;

namespace {

// Indices as compilers write them, which selection knows: a permutation of lanes, an interleaving, a shift.
void patterned_indices(Choices& choices, Bytes& indices) {
  const uint32_t bytes = 1u << choices.below(4), kind = choices.below(3);
  const uint32_t first = choices.below(32), lanes = 16 / bytes;
  std::array<uint8_t, 16> permutation;
  for (uint8_t& lane : permutation) lane = static_cast<uint8_t>(choices.below(2 * lanes));
  for (uint32_t i = 0; i < 16; ++i) {
    const uint32_t lane = i / bytes;
    const uint32_t interleaved = first % 2 * 8 + lane / 2 * bytes + i % bytes + lane % 2 * 16;
    const uint32_t index = kind == 0   ? permutation[lane] * bytes + i % bytes
                           : kind == 1 ? interleaved
                                       : first + i;
    indices.byte(static_cast<uint8_t>(index % 32));
  }
}

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

}  // namespace

void generate_lanes(Choices& choices, Opcode opcode, Code& code) {
  const OpcodeInfo& info = runtime::info(opcode);
  Bytes lanes;
  switch (info.immediate) {
    case Immediate::Lane:
    case Immediate::MemargLane:
      lanes.byte(static_cast<uint8_t>(choices.below(info.lanes)));
      break;
    case Immediate::Shuffle:
      if (choices.chance(160)) {
        patterned_indices(choices, lanes);
      } else {
        for (int i = 0; i < 16; ++i) lanes.byte(static_cast<uint8_t>(choices.below(info.lanes)));
      }
      break;
    default:
      return;
  }
  code.raw(lanes);
}

void generate_vector_constant(Choices& choices, Code& code) {
  static constexpr std::array<uint64_t, 16> kHalves = {0,
                                                       0xffffffffffffffff,
                                                       0x8000000000000000,
                                                       0x7fffffffffffffff,
                                                       0x8000000080000000,
                                                       0x7fffffff80000000,
                                                       0x80007fff80007fff,
                                                       0x807f00ff80018000,
                                                       0x0706050403020100,
                                                       0x100f1f0f0880ff01,
                                                       0x3f800000bf800000,
                                                       0x7fc000007f800000,
                                                       0x4f0000004f800000,
                                                       0x3ff0000000000000,
                                                       0x7ff8000000000000,
                                                       0x41dfffffffc00000};
  Bytes vector;
  for (int half = 0; half < 2; ++half) {
    vector.fixed(choices.chance(48) ? choices.bits(8) : kHalves[choices.below(kHalves.size())]);
  }
  code.op(Opcode::V128Const).raw(vector);
}

bool makes_open_nans(Opcode opcode) {
  const OpcodeInfo& info = runtime::info(opcode);
  const std::string_view text = info.text;
  if (!starts_with(text, "f32x4.") && !starts_with(text, "f64x2.")) return false;
  const std::string_view name = text.substr(6);
  for (std::string_view open : {"add", "sub", "mul", "div", "min", "max", "sqrt", "ceil", "floor", "trunc",
                                "nearest", "demote_f64x2_zero", "promote_low_f32x4"}) {
    if (name == open) return true;
  }
  return false;
}

void canonicalize_lanes(Opcode opcode, uint32_t local, Code& code) {
  const bool wide = starts_with(runtime::info(opcode).text, "f64x2.");
  const uint64_t nan = wide ? 0x7ff8000000000000 : 0x7fc000007fc00000;
  code.op(Opcode::LocalTee, local).op(Opcode::V128Const).raw(Bytes().fixed(nan).fixed(nan));
  code.op(Opcode::LocalGet, local).op(Opcode::LocalGet, local);
  code.op(wide ? Opcode::F64x2Eq : Opcode::F32x4Eq).op(Opcode::V128Bitselect).op(Opcode::LocalTee, local);
}

}  // namespace wago::fuzz
