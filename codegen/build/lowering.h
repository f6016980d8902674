// Which wasm instructions are one IR operation, and which: all numeric instructions and memory accesses.
// Argument and result types are those of the opcode table.
#pragma once

#include <array>
#include <cstdint>

#include "codegen/ir/ir.h"
#include "runtime/opcodes.h"

namespace wago::codegen {

struct Lowering {
  enum class Kind : uint8_t { Other, Compute, Load, Store };
  Kind kind = Kind::Other;
  Op op = Op::Trap;
  uint8_t aux = 0;  // IntCond, FloatCond or Access
  uint8_t args = 0;
  Type type = Type::None;  // of the result; of stores, of the value stored
};

extern const std::array<Lowering, runtime::kOpcodeCount> kLowerings;

}  // namespace wago::codegen
