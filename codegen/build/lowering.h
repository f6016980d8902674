// Which wasm instructions are one IR operation, and which: all numeric instructions and memory accesses.
// Those that access a vector's lane in memory are two or three. Argument and result types are those of the
// opcode table.
#pragma once

#include <array>
#include <cstdint>

#include "codegen/ir/ir.h"
#include "runtime/opcodes.h"

namespace wago::codegen {

struct Lowering {
  enum class Kind : uint8_t {
    Other,
    Compute,
    Lane,     // Compute with the lane as `imm`
    Shuffle,  // Compute with the vector of indices as `imm`
    Load,
    Store,
    // `aux` is the shape. A scalar load, then:
    LoadSplat,   // Vsplat
    LoadZero,    // Vreplace of lane 0 of zeros
    LoadExtend,  // that, of 64 bits, and `op`
    LoadLane,    // Vreplace
    StoreLane,   // VextractU and a scalar store
  };
  Kind kind = Kind::Other;
  Op op = Op::Trap;
  uint8_t aux = 0;  // IntCond, FloatCond, Access or vector_aux()
  uint8_t args = 0;
  Type type = Type::None;  // of the result; of stores, of the value stored
};

extern const std::array<Lowering, runtime::kOpcodeCount> kLowerings;

}  // namespace wago::codegen
