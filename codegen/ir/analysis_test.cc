// Orders, dominators and loops against their definitions, on random reducible graphs: dominance by removing a
// block and looking what is still reached, loop membership by the blocks from which a back edge is reached.
#include "codegen/ir/analysis.h"

#include <gtest/gtest.h>

#include "codegen/build/build.h"
#include "codegen/ir/print.h"
#include "codegen/testing/assemble.h"
#include "codegen/testing/random_wasm.h"

namespace wago::codegen {
namespace {

// What is reached from `from` without entering `without`.
std::vector<bool> reached(const IrFunction& f, BlockId from, BlockId without) {
  std::vector<bool> seen(f.block_count, false);
  std::vector<BlockId> work;
  auto visit = [&](BlockId block) {
    if (block == without || seen[block.index()]) return;
    seen[block.index()] = true;
    work.push_back(block);
  };
  visit(from);
  while (!work.empty()) {
    const BlockId block = work.back();
    work.pop_back();
    for (const Edge& edge : f.block(block).succs) visit(edge.target);
  }
  return seen;
}

void check(IrFunction& f) {
  ReversePostorder order;
  Dominators dominators;
  Loops loops;
  order.compute(f);
  dominators.compute(f, order);
  loops.compute(f, order, dominators);
  const std::vector<bool> reachable = reached(f, BlockId(0), BlockId());
  // dominated[a][b]: a dominates b.
  std::vector<std::vector<bool>> dominated(f.block_count);
  for (uint32_t a = 0; a < f.block_count; ++a) {
    ASSERT_EQ(order.reachable(BlockId(a)), reachable[a]);
    if (!reachable[a]) continue;
    const std::vector<bool> without = reached(f, BlockId(0), BlockId(a));
    dominated[a].resize(f.block_count);
    for (uint32_t b = 0; b < f.block_count; ++b) {
      if (!reachable[b]) continue;
      dominated[a][b] = a == b || !without[b];
      ASSERT_EQ(dominators.dominates(BlockId(a), BlockId(b)), dominated[a][b]) << a << " " << b << "\n"
                                                                               << print(f);
      if (dominated[a][b]) {
        ASSERT_LE(order.index_of(BlockId(a)), order.index_of(BlockId(b)));
      }
    }
  }
  for (uint32_t h = 0; h < f.block_count; ++h) {
    if (!reachable[h]) continue;
    // The loop of h: itself, and what reaches a back edge to it without passing it.
    std::vector<bool> inside(f.block_count, false);
    bool is_header = false;
    for (uint32_t b = 0; b < f.block_count; ++b) {
      if (!reachable[b] || !dominated[h][b]) continue;
      const std::vector<bool> from = reached(f, BlockId(b), b == h ? BlockId() : BlockId(h));
      for (uint32_t source = 0; source < f.block_count; ++source) {
        if (!from[source] || !dominated[h][source]) continue;
        for (const Edge& edge : f.blocks[source].succs) {
          if (edge.target != BlockId(h)) continue;
          is_header = true;
          inside[b] = true;
        }
      }
    }
    ASSERT_EQ(f.blocks[h].loop_header == BlockId(h), is_header) << h << "\n" << print(f);
    for (uint32_t b = 0; is_header && b < f.block_count; ++b) {
      if (!reachable[b]) continue;
      ASSERT_EQ(loops.contains(f, BlockId(h), BlockId(b)), inside[b]) << h << " " << b << "\n" << print(f);
    }
  }
}

TEST(Analysis, AgreesWithDefinitions) {
  IrBuilder builder;
  IrFunction function;
  uint32_t loops = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    auto bytes = testing::assemble(testing::random_wasm(seed));
    ASSERT_TRUE(bytes.ok());
    auto module = runtime::decode_module(std::move(*bytes));
    ASSERT_TRUE(module.ok());
    ASSERT_TRUE(builder.build(**module, 0, {}, function).ok());
    if (function.block_count > 60) continue;
    check(function);
    for (uint32_t b = 0; b < function.block_count; ++b) loops += function.blocks[b].loop_header == BlockId(b);
  }
  EXPECT_GT(loops, 20u);
}

}  // namespace
}  // namespace wago::codegen
