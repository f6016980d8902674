// Relates the blocks of a function to those of the same function when it is counted.
#pragma once

#include <optional>
#include <vector>

#include "codegen/ir/ir.h"

namespace wago::codegen {

// Both have been through the same passes, the last included. What is counted keeps more values alive and so
// may pass more of them along edges, with more blocks put on critical ones; otherwise control flow is the
// same.
//
// By BlockId of `counted`: the block of `ordinary`, invalid where that has none, and of blocks that cannot be
// reached. Nothing if control flow differs, which would be a mistake of the passes.
std::optional<std::vector<BlockId>> match_blocks(const IrFunction& ordinary, const IrFunction& counted);

}  // namespace wago::codegen
