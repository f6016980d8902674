#include "codegen/passes/order_blocks.h"

#include <algorithm>

namespace wago::codegen {

void OrderBlocks::run(IrFunction& function) {
  order_.compute(function);
  dominators_.compute(function, order_);
  loops_.compute(function, order_, dominators_);
  mark_cold(function);
  group_by_loop(function);
  decide_turns(function);
  lay_out(function);
}

void OrderBlocks::mark_cold(IrFunction& function) {
  const std::span<const BlockId> blocks = order_.blocks();
  for (size_t i = blocks.size(); i-- > 0;) {
    Block& block = function.block(blocks[i]);
    block.cold =
        function.inst(block.last).op == Op::Trap ||
        (!block.succs.empty() && std::all_of(block.succs.begin(), block.succs.end(), [&](const Edge& e) {
          return order_.index_of(e.target) > i && function.block(e.target).cold;
        }));
  }
}

// Counting sort of blocks by the loop they are directly in. A header belongs to the loop around its own.
void OrderBlocks::group_by_loop(const IrFunction& function) {
  auto loop_of = [&](BlockId block) {
    BlockId header = function.block(block).loop_header;
    if (header == block) header = loops_.outer(block);
    return header.valid() ? header.index() + 1 : 0;
  };
  begin_.assign(function.block_count + 2, 0);
  for (const BlockId block : order_.blocks()) ++begin_[loop_of(block) + 1];
  for (uint32_t i = 0; i <= function.block_count; ++i) begin_[i + 1] += begin_[i];
  members_.resize(order_.blocks().size());
  for (const BlockId block : order_.blocks()) members_[begin_[loop_of(block)]++] = block;
  for (uint32_t i = function.block_count + 1; i > 0; --i) begin_[i] = begin_[i - 1];
  begin_[0] = 0;
}

// A loop whose header can leave it and whose last block jumps back to the header is turned: with the header
// last, entering costs a jump once, and going round only the header's branch.
void OrderBlocks::decide_turns(const IrFunction& function) {
  last_.assign(function.block_count, BlockId());
  const std::span<const BlockId> headers = loops_.headers();
  for (size_t i = headers.size(); i-- > 0;) {
    const BlockId header = headers[i];
    const std::span<const BlockId> inside = members(header);
    BlockId last = inside.empty() ? header : inside.back();
    if (last != header && last_[last.index()].valid()) last = last_[last.index()];  // an inner loop's
    const Block& back = function.block(last);
    const Block& top = function.block(header);
    const bool turns =
        last != header && back.succs.size() == 1 && back.succs[0].target == header && top.succs.size() == 2 &&
        is_inside(function, top.succs[0].target, header) != is_inside(function, top.succs[1].target, header);
    last_[header.index()] = turns ? header : last;
  }
}

// Of a successor of the header. Blocks it dominates are inside if their loops are; nothing else can be
// inside.
bool OrderBlocks::is_inside(const IrFunction& function, BlockId block, BlockId header) const {
  if (!dominators_.dominates(header, block)) return false;
  BlockId around = function.block(block).loop_header;
  while (around.valid() && around != header &&
         function.block(around).loop_depth > function.block(header).loop_depth) {
    around = loops_.outer(around);
  }
  return around == header;
}

void OrderBlocks::lay_out(IrFunction& function) {
  std::vector<BlockId>& layout = function.layout;
  layout.clear();
  stack_.clear();
  stack_.push_back({begin_[0], begin_[1], BlockId()});
  while (!stack_.empty()) {
    Visit& top = stack_.back();
    if (top.next == top.end) {
      if (top.last.valid()) layout.push_back(top.last);
      stack_.pop_back();
      continue;
    }
    const BlockId block = members_[top.next++];
    if (function.block(block).cold && block.index() != 0) continue;
    const bool is_header = function.block(block).loop_header == block;
    const bool turned = is_header && last_[block.index()] == block && !members(block).empty();
    if (!turned) layout.push_back(block);
    if (is_header) {
      stack_.push_back({begin_[block.index() + 1], begin_[block.index() + 2], turned ? block : BlockId()});
    }
  }
  for (const BlockId block : order_.blocks()) {
    if (function.block(block).cold && block.index() != 0) layout.push_back(block);
  }
}

}  // namespace wago::codegen
