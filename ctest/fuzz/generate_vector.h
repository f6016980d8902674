// What instructions on vectors need beyond operands: immediates, and that what they make is deterministic.
//
// A vector's lanes are bits to some instruction or other, so generated code makes the NaNs of float lanes
// canonical where arithmetic made them: a vector holds none whose sign or payload is open.
#pragma once

#include <cstdint>

#include "ctest/fuzz/choices.h"
#include "runtime/testing/module_builder.h"

namespace wago::fuzz {

// Lane index or byte indices, behind the opcode and what else it has; nothing for an opcode without.
void generate_lanes(Choices& choices, runtime::Opcode opcode, runtime::testing::Code& code);

// v128.const, of interest to compilers, mostly; and to lanes of every width.
void generate_vector_constant(Choices& choices, runtime::testing::Code& code);

// Whether NaNs of the instruction's vector are open.
bool makes_open_nans(runtime::Opcode opcode);

// The vector on the stack, which `opcode` made, with canonical NaNs in place of any. `local`, a v128 local,
// has the same value afterwards, so that it may be read elsewhere.
void canonicalize_lanes(runtime::Opcode opcode, uint32_t local, runtime::testing::Code& code);

}  // namespace wago::fuzz
