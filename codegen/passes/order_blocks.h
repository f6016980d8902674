// Decides the order in which blocks are laid out, and finds loops on the way: sets IrFunction::layout,
// Block::cold, Block::loop_depth and Block::loop_header.
//
// Reverse postorder, with three corrections: a loop's blocks are contiguous; a loop that tests at its top is
// turned so that it tests at its bottom, which saves a jump a round; blocks from which only traps can be
// reached go to the end.
#pragma once

#include <vector>

#include "codegen/ir/analysis.h"
#include "codegen/ir/ir.h"

namespace wago::codegen {

class OrderBlocks {
 public:
  void run(IrFunction& function);

 private:
  struct Visit {
    uint32_t next;  // in members_
    uint32_t end;
    BlockId last;  // what is laid out behind the members: the header of a loop that is turned
  };
  void mark_cold(IrFunction& function);
  void group_by_loop(const IrFunction& function);
  void decide_turns(const IrFunction& function);
  bool is_inside(const IrFunction& function, BlockId block, BlockId header) const;
  void lay_out(IrFunction& function);
  std::span<const BlockId> members(BlockId header) const {
    return std::span(members_).subspan(begin_[header.index() + 1],
                                       begin_[header.index() + 2] - begin_[header.index() + 1]);
  }

  ReversePostorder order_;
  Dominators dominators_;
  Loops loops_;
  std::vector<uint32_t> begin_;   // by header + 1, 0 the function: its members in members_
  std::vector<BlockId> members_;  // blocks directly in a loop and headers of loops directly in it, in order
  std::vector<BlockId> last_;  // by header: the loop's last block in the layout; the header itself if turned
  std::vector<Visit> stack_;
};

}  // namespace wago::codegen
