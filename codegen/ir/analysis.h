// Facts about a function's control flow: orders, dominators, loops. Each holds until an edge or a block
// changes. Scratch is kept from function to function. Linear, dominators n log n.
//
// Control flow is reducible: every retreating edge enters a loop at a block that dominates the loop.
// WebAssembly has no other; a pass must not make it so, and dominators check.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codegen/ir/ir.h"

namespace wago::codegen {

// Makes Block::preds anew from the successors, which passes that lead many edges elsewhere do once at their
// end.
void rebuild_predecessors(IrFunction& function);

class ReversePostorder {
 public:
  static constexpr uint32_t kUnreachable = ~0u;

  void compute(const IrFunction& function);
  // Reachable blocks; the entry first, and every block after those that dominate it. Where there is a choice,
  // near the order of the wasm code, which a compiler has usually laid out with care.
  std::span<const BlockId> blocks() const { return order_; }
  uint32_t index_of(BlockId block) const { return index_[block.index()]; }
  bool reachable(BlockId block) const { return index_[block.index()] != kUnreachable; }

 private:
  struct Visit {
    BlockId block;
    uint32_t remaining;  // successors not looked at
    bool backwards;      // the second one of two is to come first in the order
  };
  std::vector<BlockId> order_;
  std::vector<uint32_t> index_;
  std::vector<Visit> stack_;
};

// One pass in reverse postorder: in a reducible graph a block's immediate dominator is the nearest common
// ancestor, in the tree so far, of its predecessors but for back edges. Ancestors are found with jump
// pointers (Myers, "An applicative random-access stack", 1983), because a thousand early exits from a
// straight line are an ordinary function.
class Dominators {
 public:
  void compute(const IrFunction& function, const ReversePostorder& order);
  BlockId immediate(BlockId block) const {
    return BlockId(nodes_[block.index()].parent);
  }  // the entry's is itself
  // Of reachable blocks, reflexive. Constant time.
  bool dominates(BlockId a, BlockId b) const {
    const Node& x = nodes_[a.index()];
    const Node& y = nodes_[b.index()];
    return x.enter <= y.enter && y.leave <= x.leave;
  }
  // Distance from the entry in the tree.
  uint32_t depth(BlockId block) const { return nodes_[block.index()].depth; }

 private:
  struct Node {
    uint32_t parent = 0, jump = 0, depth = 0;
    uint32_t enter = 0, leave = 0;  // of the subtree, as an interval
    uint32_t next = 1;  // subtree size, then the end of what is left of the interval for further children
  };
  uint32_t common_ancestor(uint32_t a, uint32_t b) const;
  void number_tree(const ReversePostorder& order);

  std::vector<Node> nodes_;
};

// The edges into each block.
class IncomingEdges {
 public:
  struct Ref {
    BlockId from;
    uint32_t successor;  // index in from's succs
  };
  void compute(const IrFunction& function);
  std::span<const Ref> of(BlockId block) const {
    return std::span(refs_).subspan(begin_[block.index()], begin_[block.index() + 1] - begin_[block.index()]);
  }

 private:
  std::vector<Ref> refs_;
  std::vector<uint32_t> begin_;
};

// Natural loops; wasm has no others. Sets Block::loop_depth and Block::loop_header.
class Loops {
 public:
  void compute(IrFunction& function, const ReversePostorder& order, const Dominators& dominators);
  // Outer loops before the loops in them.
  std::span<const BlockId> headers() const { return headers_; }
  // The header of the loop around a header's own loop; invalid if there is none.
  BlockId outer(BlockId header) const { return outer_[header.index()]; }
  // Whether a block is in a header's loop, or in a loop in it. Constant time.
  bool contains(const IrFunction& function, BlockId header, BlockId block) const {
    const BlockId at = function.block(block).loop_header;
    if (!at.valid()) return false;
    const Span& inner = spans_[at.index()];
    const Span& whole = spans_[header.index()];
    return whole.enter <= inner.enter && inner.enter < whole.leave;
  }

 private:
  // The loop and the loops in it, as an interval of numbers that every loop has one of.
  struct Span {
    uint32_t enter = 0, leave = 0;
    uint32_t next = 1;  // loops inside and itself, then the end of what is left of the interval
  };
  BlockId outermost(BlockId block);
  void number_loops(uint32_t block_count);

  std::vector<BlockId> headers_;
  std::vector<BlockId> outer_;     // by header
  std::vector<Span> spans_;        // by header
  std::vector<BlockId> ancestor_;  // compressed paths to outer headers
  std::vector<BlockId> worklist_;
};

}  // namespace wago::codegen
