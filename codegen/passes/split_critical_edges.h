// Gives every edge a place of its own: afterwards an edge's source has one successor or its target has one
// predecessor, and arguments are passed only where the source has one successor. Entries of a br_table that
// lead to the same block count as one edge, and share the block put in.
#pragma once

#include <vector>

#include "codegen/ir/ir.h"

namespace wago::codegen {

class SplitCriticalEdges {
 public:
  void run(IrFunction& function);

 private:
  struct Target {
    BlockId source;                // of its edges so far
    bool many_sources = false;     // and there is another
    BlockId given_by;              // who gave it the ranges of an edge
    BlockId split_from, split_by;  // the last block put in on the way here, and from where
  };
  void find_sources(const IrFunction& function);
  void give_to_targets(IrFunction& function, uint32_t count);
  void lead_through(IrFunction& function, BlockId from, uint32_t successor);

  std::vector<Target> targets_;
};

}  // namespace wago::codegen
