// Loop-invariant code motion: pure operations whose arguments do not change in a loop move in front of it.
#pragma once

#include <vector>

#include "codegen/ir/analysis.h"
#include "codegen/ir/ir.h"

namespace wago::codegen {

// An operation moves out of as many loops as its arguments allow, into the block that enters the loop.
// Constants stay: they are made where they are used. Linear in operations times the depth of what moves.
class HoistInvariants {
 public:
  void run(IrFunction& function, const ReversePostorder& order, const Loops& loops);

 private:
  bool is_outside(const IrFunction& function, const Loops& loops, Value value, BlockId header) const;

  std::vector<BlockId>
      entering_;  // by header: the one block that enters the loop, invalid where there is none
};

}  // namespace wago::codegen
