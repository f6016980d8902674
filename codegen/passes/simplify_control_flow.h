// Makes control flow as simple as what is known about it: branches on constants become jumps, edges skip
// blocks that only jump on, blocks that cannot be reached lose their contents, a block is joined with the
// only one that leads to it.
#pragma once

#include <vector>

#include "codegen/ir/analysis.h"
#include "codegen/ir/ir.h"
#include "codegen/ir/value_map.h"

namespace wago::codegen {

class SimplifyControlFlow {
 public:
  void run(IrFunction& function);

 private:
  void fold_branches(IrFunction& function);
  void fold_to_jump(IrFunction& function, BlockId block, uint32_t successor);
  void skip_empty_blocks(IrFunction& function);
  BlockId final_target(IrFunction& function, BlockId block);
  void collect_skipped(IrFunction& function, BlockId target);
  static void own_ranges(IrFunction& function, Block& block);
  void drop_unreachable(IrFunction& function);
  void join_blocks(IrFunction& function);
  void join(IrFunction& function, BlockId block, BlockId next);

  ReversePostorder order_;
  ValueMap replaced_;
  std::vector<BlockId> skip_to_;  // by block, where known
  std::vector<BlockId> path_;
  std::vector<RangeList> skipped_ranges_;  // by block, of functions that are counted
};

}  // namespace wago::codegen
