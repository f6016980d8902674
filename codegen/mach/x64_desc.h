// What is known of a machine operation, from LLVM's MC tables. The table itself is generated at build time
// (codegen/llvm/generate_tables.cc) into codegen/x64_tables.h, in the order of x64_pseudo.def, then
// x64_opcodes.def.
#pragma once

#include <cstdint>

namespace wago::codegen::x64 {

constexpr int kMaxOperands = 10;

struct OpDesc {
  const char* name;       // LLVM's, or the pseudo's
  uint16_t mc_opcode;     // LLVM's number; 0 for pseudos
  uint8_t operand_count;  // MC operands, without extras; pseudos: 0
  uint8_t def_count;      // the first def_count operands are definitions
  int8_t tied;            // operand that must be the same register as operand 0, or -1
  int8_t memory;          // first of the five operands of a memory reference, or -1
  bool may_load, may_store;
  bool reads_flags, writes_flags;
  bool is_branch, is_call, is_return, is_terminator;
  uint32_t implicit_uses;  // physical registers by bit (general purpose and xmm; rsp and flags left out)
  uint32_t implicit_defs;
  // Bytes of the register in each operand: 1, 2, 4, 8 (general purpose), 16 (xmm); 0: not a register.
  uint8_t width[kMaxOperands];
};

}  // namespace wago::codegen::x64
