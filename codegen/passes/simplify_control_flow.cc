#include "codegen/passes/simplify_control_flow.h"

#include <algorithm>

#include "codegen/ir/simplify.h"
#include "codegen/passes/count_ways.h"

namespace wago::codegen {

// Predecessor lists are wrong from fold_branches() to drop_unreachable(), and right in number alone while
// blocks are joined.
void SimplifyControlFlow::run(IrFunction& function) {
  fold_branches(function);
  skip_empty_blocks(function);
  fold_branches(function);  // both ways may now lead to the same place
  drop_unreachable(function);
  join_blocks(function);
  rebuild_predecessors(function);
}

void SimplifyControlFlow::fold_branches(IrFunction& function) {
  for (uint32_t b = 0; b < function.block_count; ++b) {
    const InstId last = function.blocks[b].last;
    if (!last.valid()) continue;
    const Inst& inst = function.inst(last);
    if (inst.op != Op::Branch && inst.op != Op::BrTable) continue;
    const std::vector<Edge>& succs = function.blocks[b].succs;
    const ConstantBits known = constant_bits(function, inst.inline_args[0]);
    if (known.known) {
      function.decisions.note(base::DecisionKind::BranchFolded, inst);
      const uint32_t value = static_cast<uint32_t>(known.bits);
      const uint32_t end = static_cast<uint32_t>(succs.size()) - 1;
      fold_to_jump(function, BlockId(b), inst.op == Op::Branch ? value == 0 : std::min(value, end));
    } else if (std::all_of(succs.begin(), succs.end(), [&](const Edge& edge) {
                 return edge.target == succs[0].target && edge.args_count == 0;
               })) {
      if (function.counted && hides_ways(function, BlockId(b))) count_ways(function, BlockId(b));
      fold_to_jump(function, BlockId(b), 0);
    }
  }
}

void SimplifyControlFlow::fold_to_jump(IrFunction& function, BlockId id, uint32_t successor) {
  Block& block = function.block(id);
  Inst& inst = function.inst(block.last);
  inst.op = Op::Jump;
  inst.arg_count = 0;
  block.succs[0] = block.succs[successor];
  block.succs.resize(1);
  own_ranges(function, block);
}

// Ranges of the only edge are the block's.
void SimplifyControlFlow::own_ranges(IrFunction& function, Block& block) {
  function.executed.append(block.executed, block.succs[0].executed);
}

// A block is empty if it has no parameters and nothing but a jump that passes none.
void SimplifyControlFlow::skip_empty_blocks(IrFunction& function) {
  skip_to_.assign(function.block_count, BlockId());
  if (function.counted) skipped_ranges_.assign(function.block_count, RangeList());
  for (uint32_t b = 0; b < function.block_count; ++b) {
    Block& block = function.blocks[b];
    for (Edge& edge : block.succs) {
      if (edge.args_count != 0) continue;
      const BlockId target = final_target(function, edge.target);
      if (function.counted && target != edge.target) {
        RangeList passed = function.executed.copy(skipped_ranges_[edge.target.index()]);
        function.executed.append(edge.executed, passed);
      }
      edge.target = target;
    }
    if (block.succs.size() == 1) own_ranges(function, block);
  }
}

BlockId SimplifyControlFlow::final_target(IrFunction& function, BlockId block) {
  path_.clear();
  for (;;) {
    if (skip_to_[block.index()].valid()) {
      block = skip_to_[block.index()];
      break;
    }
    const Block& b = function.block(block);
    const bool empty = b.first.valid() && b.first == b.last && function.inst(b.last).op == Op::Jump &&
                       b.params.empty() && b.succs[0].args_count == 0;
    if (!empty) break;
    // Until its target is known, so that empty blocks in a circle end.
    skip_to_[block.index()] = block;
    path_.push_back(block);
    block = b.succs[0].target;
  }
  for (const BlockId passed : path_) skip_to_[passed.index()] = block;
  if (function.counted) collect_skipped(function, block);
  return block;
}

// What runs from the beginning of each block of `path_` to where it leads.
void SimplifyControlFlow::collect_skipped(IrFunction& function, BlockId target) {
  for (size_t i = path_.size(); i-- > 0;) {
    const BlockId block = path_[i];
    if (block == target) continue;  // in a circle, in which it is the one that stays
    const Block& b = function.block(block);
    RangeList& skipped = skipped_ranges_[block.index()];
    skipped = function.executed.copy(b.executed);
    RangeList rest = function.executed.copy(skipped_ranges_[b.succs[0].target.index()]);
    function.executed.append_merging(skipped, rest);
  }
}

void SimplifyControlFlow::drop_unreachable(IrFunction& function) {
  order_.compute(function);
  for (uint32_t b = 0; b < function.block_count; ++b) {
    Block& block = function.blocks[b];
    if (order_.reachable(BlockId(b))) continue;
    while (block.last.valid()) function.remove(block.last);
    block.succs.clear();
    block.params.clear();
    block.executed = RangeList();
  }
  rebuild_predecessors(function);
}

void SimplifyControlFlow::join_blocks(IrFunction& function) {
  replaced_.clear();
  for (const BlockId block : order_.blocks()) {
    // Joined with one before it.
    if (!function.block(block).first.valid()) continue;
    for (;;) {
      const Block& b = function.block(block);
      if (b.succs.size() != 1 || function.inst(b.last).op != Op::Jump) break;
      const BlockId next = b.succs[0].target;
      if (next == block || function.block(next).preds.size() != 1) break;
      join(function, block, next);
    }
  }
  replaced_.apply(function);
}

void SimplifyControlFlow::join(IrFunction& function, BlockId id, BlockId next_id) {
  Block& block = function.block(id);
  Block& next = function.block(next_id);
  for (uint32_t i = 0; i < next.params.size(); ++i) {
    replaced_.replace(next.params[i], replaced_.resolve(function.args(block.succs[0])[i]));
  }
  next.params.clear();
  function.remove(block.last);
  for (InstId i = next.first; i.valid(); i = function.inst(i).next) function.inst(i).block = id;
  if (block.last.valid()) {
    function.inst(block.last).next = next.first;
    function.inst(next.first).prev = block.last;
  } else {
    block.first = next.first;
  }
  block.last = next.last;
  next.first = next.last = InstId();
  block.succs.swap(next.succs);
  next.succs.clear();
  function.executed.append(block.executed, next.executed);
}

}  // namespace wago::codegen
