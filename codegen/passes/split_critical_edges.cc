#include "codegen/passes/split_critical_edges.h"

#include "codegen/ir/analysis.h"
#include "codegen/passes/count_ways.h"

namespace wago::codegen {

void SplitCriticalEdges::run(IrFunction& function) {
  function.unsplit_blocks = function.block_count;
  if (function.counted) {
    for (uint32_t b = 0; b < function.block_count; ++b) {
      if (hides_ways(function, BlockId(b))) count_ways(function, BlockId(b));
    }
  }
  find_sources(function);
  const uint32_t count = function.block_count;
  for (uint32_t b = 0; b < count; ++b) {
    const BlockId from(b);
    const uint32_t succs = static_cast<uint32_t>(function.block(from).succs.size());
    if (succs < 2) continue;
    for (uint32_t s = 0; s < succs; ++s) {
      const Edge& edge = function.block(from).succs[s];
      if (edge.args_count != 0 || targets_[edge.target.index()].many_sources) lead_through(function, from, s);
    }
  }
  if (function.counted) give_to_targets(function, count);
  if (function.block_count != count) rebuild_predecessors(function);
}

// What is left on edges is on the only way to where they lead.
void SplitCriticalEdges::give_to_targets(IrFunction& function, uint32_t count) {
  for (uint32_t b = 0; b < count; ++b) {
    for (Edge& edge : function.blocks[b].succs) {
      if (edge.executed.empty()) continue;
      // Of equal edges to one place, which all come from this block, one speaks for all.
      BlockId& speaks = targets_[edge.target.index()].given_by;
      if (speaks != BlockId(b))
        function.executed.prepend(function.block(edge.target).executed, edge.executed);
      speaks = BlockId(b);
      edge.executed = RangeList();
    }
  }
}

void SplitCriticalEdges::find_sources(const IrFunction& function) {
  targets_.assign(function.block_count, Target());
  for (uint32_t b = 0; b < function.block_count; ++b) {
    for (const Edge& edge : function.blocks[b].succs) {
      Target& target = targets_[edge.target.index()];
      target.many_sources |= target.source.valid() && target.source != BlockId(b);
      target.source = BlockId(b);
    }
  }
}

// Puts a block on the edge; without arguments, the one that another edge from the same block already has.
void SplitCriticalEdges::lead_through(IrFunction& function, BlockId from, uint32_t successor) {
  const Edge edge = function.block(from).succs[successor];
  Target& target = targets_[edge.target.index()];
  BlockId by = edge.args_count == 0 && target.split_from == from ? target.split_by : BlockId();
  if (!by.valid()) {
    by = function.new_block();
    const Inst& last = function.inst(function.block(from).last);
    const uint32_t pc = last.wasm_pc, site = last.inline_site;
    const InstId jump = function.new_inst(Op::Jump, Type::None, std::span<const Value>());
    function.inst(jump).wasm_pc = pc;
    function.inst(jump).inline_site = site;
    function.append(by, jump);
    function.block(by).succs.push_back(edge);
    function.block(by).succs[0].executed = RangeList();
    function.block(by).executed = edge.executed;
    target.split_from = from;
    target.split_by = by;
  }
  Edge& moved = function.block(from).succs[successor];
  moved.target = by;
  moved.args_begin = moved.args_count = 0;
  moved.executed = RangeList();
}

}  // namespace wago::codegen
