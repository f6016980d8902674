#include "codegen/ir/match_blocks.h"

namespace wago::codegen {

namespace {

// Where an edge leads behind the block that was put on it, if one was.
BlockId beyond_split(const IrFunction& function, BlockId target) {
  return target.index() < function.unsplit_blocks ? target : function.block(target).succs[0].target;
}

std::vector<bool> laid_out(const IrFunction& function) {
  std::vector<bool> is_there(function.block_count);
  for (const BlockId block : function.layout) is_there[block.index()] = true;
  is_there.resize(function.unsplit_blocks);
  return is_there;
}

}  // namespace

std::optional<std::vector<BlockId>> match_blocks(const IrFunction& ordinary, const IrFunction& counted) {
  if (ordinary.unsplit_blocks != counted.unsplit_blocks) return std::nullopt;
  const std::vector<bool> is_there = laid_out(ordinary);
  if (is_there != laid_out(counted)) return std::nullopt;
  std::vector<BlockId> match(counted.block_count);
  for (uint32_t b = 0; b < counted.unsplit_blocks; ++b) {
    if (!is_there[b]) continue;
    match[b] = BlockId(b);
    const std::vector<Edge>& theirs = ordinary.blocks[b].succs;
    const std::vector<Edge>& ours = counted.blocks[b].succs;
    if (theirs.size() != ours.size()) return std::nullopt;
    for (size_t i = 0; i < ours.size(); ++i) {
      const BlockId from = theirs[i].target, to = ours[i].target;
      if (beyond_split(ordinary, from) != beyond_split(counted, to)) return std::nullopt;
      if (to.index() < counted.unsplit_blocks || from.index() < ordinary.unsplit_blocks) continue;
      if (match[to.index()].valid() && match[to.index()] != from) return std::nullopt;
      match[to.index()] = from;
    }
  }
  return match;
}

}  // namespace wago::codegen
