// Checks the invariants of ir.h. What it checks:
//  * blocks end in exactly one terminator and have as many successors as it asks for; links between
//  instructions agree;
//  * edges and predecessor lists agree; arguments agree with the target's parameters in number and type;
//  * every argument is the result of an instruction that is in a block, or a parameter, and its definition
//  dominates the
//    use; blocks that cannot be reached are left out of this;
//  * operands and results have the types the operation asks for.
// What it does not check: that the function still computes what the wasm says.
#pragma once

#include <string>

#include "codegen/ir/ir.h"

namespace wago::codegen {

struct VerifyOptions {
  bool edges_split = false;  // demand that edges with arguments leave only blocks with one successor
};

// What is wrong, with the place, or an empty string.
std::string verify(const IrFunction& function, const VerifyOptions& options = {});

}  // namespace wago::codegen
