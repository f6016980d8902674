// The IR as text, and back (parse.h): what dumps show and what file tests compare.
//
//   function 3 (i32, i64) -> (f64)
//   block0(v0:i32, v1:i64):
//     v2:i32 = iconst #-5
//     v3:i32 = iadd v0, v2 @1c
//     v4:i32 = icmp.lt_s v3, v0
//     branch v4, block1(v3), block2
//   block1(v5:i32):
//     v6:i32 = load.u8 v7, v5, #16
//     ...
//
// A vector is printed as one hexadecimal number of 128 bits, lane 0 lowest; "vicmp.i8x16.lt_s" has a shape
// and a condition.
//
// An instruction a line: results with their types, the operation with its `aux` spelled behind a dot,
// arguments, `imm` behind a #, successors, and the wasm pc in hexadecimal behind an @ (with "/n" for an
// inline site) where it is not 0. An `imm` of 0 is left out where the operation has none to speak of. Blocks
// in layout order, or else in index order; blocks without instructions are left out. A semicolon starts a
// comment.
#pragma once

#include <string>

#include "codegen/ir/ir.h"

namespace wago::codegen {

std::string print(const IrFunction& function);
std::string print(const IrFunction& function, InstId inst);  // one line, without its end

// Which fields of an instruction mean something; shared by printer and parser.
enum class ImmForm : uint8_t { None, Signed, Hex, Unsigned, Pair, Helper, Vector };
ImmForm imm_form(Op op);
enum class AuxForm : uint8_t { None, IntCond, FloatCond, Access, Trap, Shape, ShapeIntCond, ShapeFloatCond };
AuxForm aux_form(Op op);
const char* to_string(Access access);
const char* helper_name(uint64_t helper);  // nullptr: there is none

}  // namespace wago::codegen
