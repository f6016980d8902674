// Counting where machine code has nothing to count by: a block leads to one place by ways that execute
// different instructions of the module, none of which needs code.
#pragma once

#include "codegen/ir/ir.h"

namespace wago::codegen {

// Whether some of the block's edges lead to the same place, pass nothing, and have different ranges. Then
// they would be, or become, one way.
bool hides_ways(const IrFunction& function, BlockId block);

// Puts a CountWay in front of the block's terminator, a Branch or BrTable, and moves the ranges of its edges
// to the ways.
void count_ways(IrFunction& function, BlockId block);

}  // namespace wago::codegen
