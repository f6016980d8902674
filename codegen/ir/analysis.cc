#include "codegen/ir/analysis.h"

#include <algorithm>
#include <utility>

namespace wago::codegen {

void rebuild_predecessors(IrFunction& function) {
  for (uint32_t b = 0; b < function.block_count; ++b) function.blocks[b].preds.clear();
  for (uint32_t b = 0; b < function.block_count; ++b) {
    for (const Edge& edge : function.blocks[b].succs) function.block(edge.target).preds.push_back(BlockId(b));
  }
}

namespace {

// True if the second successor of a branch comes before the first in the wasm code.
bool second_is_nearer(const IrFunction& function, const Block& block) {
  if (block.succs.size() != 2) return false;
  const InstId a = function.block(block.succs[0].target).first;
  const InstId b = function.block(block.succs[1].target).first;
  if (!a.valid() || !b.valid() || function.inst(a).inline_site != function.inst(b).inline_site) return false;
  return function.inst(b).wasm_pc < function.inst(a).wasm_pc;
}

}  // namespace

void ReversePostorder::compute(const IrFunction& function) {
  order_.clear();
  stack_.clear();
  index_.assign(function.block_count, kUnreachable);
  auto visit = [&](BlockId block) {
    index_[block.index()] = 0;
    const Block& b = function.block(block);
    stack_.push_back({block, static_cast<uint32_t>(b.succs.size()), second_is_nearer(function, b)});
  };
  visit(BlockId(0));
  while (!stack_.empty()) {
    Visit& top = stack_.back();
    if (top.remaining == 0) {
      order_.push_back(top.block);
      stack_.pop_back();
      continue;
    }
    --top.remaining;
    const uint32_t successor = top.backwards ? 1 - top.remaining : top.remaining;
    const BlockId next = function.block(top.block).succs[successor].target;
    if (index_[next.index()] == kUnreachable) visit(next);
  }
  std::reverse(order_.begin(), order_.end());
  for (uint32_t i = 0; i < order_.size(); ++i) index_[order_[i].index()] = i;
}

void Dominators::compute(const IrFunction& function, const ReversePostorder& order) {
  nodes_.assign(function.block_count, Node());
  for (const BlockId block : order.blocks().subspan(1)) {
    constexpr uint32_t kNone = ~0u;
    uint32_t dominator = kNone;
    for (const BlockId pred : function.block(block).preds) {
      // Unreachable ones have the largest index of all.
      if (order.index_of(pred) >= order.index_of(block)) continue;
      dominator = dominator == kNone ? pred.index() : common_ancestor(dominator, pred.index());
    }
    Node& node = nodes_[block.index()];
    const Node& parent = nodes_[dominator];
    const Node& far = nodes_[parent.jump];
    node.parent = dominator;
    node.depth = parent.depth + 1;
    node.jump = parent.depth - far.depth == far.depth - nodes_[far.jump].depth ? far.jump : dominator;
  }
  number_tree(order);
  for (const BlockId block : order.blocks()) {
    for (const BlockId pred : function.block(block).preds) {
      if (!order.reachable(pred) || order.index_of(pred) < order.index_of(block)) continue;
      WAGO_CHECK_MSG(dominates(block, pred), "irreducible control flow");
    }
  }
}

uint32_t Dominators::common_ancestor(uint32_t a, uint32_t b) const {
  if (nodes_[a].depth < nodes_[b].depth) std::swap(a, b);
  while (nodes_[a].depth > nodes_[b].depth) {
    a = nodes_[nodes_[a].jump].depth >= nodes_[b].depth ? nodes_[a].jump : nodes_[a].parent;
  }
  while (a != b) {
    const bool far = nodes_[a].jump != nodes_[b].jump;
    a = far ? nodes_[a].jump : nodes_[a].parent;
    b = far ? nodes_[b].jump : nodes_[b].parent;
  }
  return a;
}

// Intervals without walking the tree: subtree sizes bottom up, then places handed out top down.
void Dominators::number_tree(const ReversePostorder& order) {
  const std::span<const BlockId> blocks = order.blocks();
  for (size_t i = blocks.size(); i-- > 1;) {
    const Node& node = nodes_[blocks[i].index()];
    nodes_[node.parent].next += node.next;
  }
  nodes_[0].leave = nodes_[0].next;
  for (const BlockId block : blocks.subspan(1)) {
    Node& node = nodes_[block.index()];
    Node& parent = nodes_[node.parent];
    node.leave = parent.next;
    node.enter = parent.next -= node.next;
    node.next = node.leave;
  }
}

void IncomingEdges::compute(const IrFunction& function) {
  begin_.assign(function.block_count + 1, 0);
  for (uint32_t i = 0; i < function.block_count; ++i) {
    for (const Edge& edge : function.blocks[i].succs) ++begin_[edge.target.index() + 1];
  }
  for (uint32_t i = 0; i < function.block_count; ++i) begin_[i + 1] += begin_[i];
  refs_.resize(begin_[function.block_count]);
  // begin_[b] moves to b's end while it fills, which is where b + 1 begins: shifted back afterwards.
  for (uint32_t i = 0; i < function.block_count; ++i) {
    const std::vector<Edge>& succs = function.blocks[i].succs;
    for (uint32_t s = 0; s < succs.size(); ++s) refs_[begin_[succs[s].target.index()]++] = {BlockId(i), s};
  }
  for (uint32_t i = function.block_count; i > 0; --i) begin_[i] = begin_[i - 1];
  begin_[0] = 0;
}

BlockId Loops::outermost(BlockId block) {
  BlockId top = block;
  while (ancestor_[top.index()].valid()) top = ancestor_[top.index()];
  while (block != top) {
    const BlockId next = ancestor_[block.index()];
    ancestor_[block.index()] = top;
    block = next;
  }
  return top;
}

// Headers from last to first in reverse postorder, so inner before outer. A loop's blocks are what reaches
// its back edges without passing its header; finished inner loops are stepped over as one block, their
// header.
void Loops::compute(IrFunction& function, const ReversePostorder& order, const Dominators& dominators) {
  headers_.clear();
  outer_.assign(function.block_count, BlockId());
  ancestor_.assign(function.block_count, BlockId());
  for (uint32_t i = 0; i < function.block_count; ++i) {
    function.blocks[i].loop_depth = 0;
    function.blocks[i].loop_header = BlockId();
  }
  const std::span<const BlockId> blocks = order.blocks();
  for (size_t i = blocks.size(); i-- > 0;) {
    const BlockId header = blocks[i];
    worklist_.clear();
    bool is_header = false;
    for (const BlockId pred : function.block(header).preds) {
      if (!order.reachable(pred) || !dominators.dominates(header, pred)) continue;
      is_header = true;
      worklist_.push_back(pred);
    }
    if (!is_header) continue;
    headers_.push_back(header);
    function.block(header).loop_header = header;
    while (!worklist_.empty()) {
      const BlockId block = outermost(worklist_.back());
      worklist_.pop_back();
      if (block == header) continue;
      ancestor_[block.index()] = header;
      Block& b = function.block(block);
      if (b.loop_header == block) {
        outer_[block.index()] = header;
      } else {
        b.loop_header = header;
      }
      for (const BlockId pred : b.preds) {
        if (order.reachable(pred)) worklist_.push_back(pred);
      }
    }
  }
  std::reverse(headers_.begin(), headers_.end());
  for (const BlockId header : headers_) {
    const BlockId around = outer_[header.index()];
    function.block(header).loop_depth = 1 + (around.valid() ? function.block(around).loop_depth : 0);
  }
  for (const BlockId block : blocks) {
    Block& b = function.block(block);
    if (b.loop_header.valid()) b.loop_depth = function.block(b.loop_header).loop_depth;
  }
  number_loops(function.block_count);
}

void Loops::number_loops(uint32_t block_count) {
  spans_.assign(block_count, Span());
  Span all;
  for (size_t i = headers_.size(); i-- > 0;) {
    const BlockId around = outer_[headers_[i].index()];
    (around.valid() ? spans_[around.index()] : all).next += spans_[headers_[i].index()].next;
  }
  for (const BlockId header : headers_) {
    const BlockId around = outer_[header.index()];
    Span& parent = around.valid() ? spans_[around.index()] : all;
    Span& span = spans_[header.index()];
    span.leave = parent.next;
    span.enter = parent.next -= span.next;
    span.next = span.leave;
  }
}

}  // namespace wago::codegen
