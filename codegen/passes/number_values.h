// Global value numbering: an operation equal to one that dominates it is that one. On the way every operation
// is simplified again, because what is known about its arguments has grown since it was built.
#pragma once

#include <vector>

#include "codegen/ir/analysis.h"
#include "codegen/ir/ir.h"
#include "codegen/ir/simplify.h"
#include "codegen/ir/value_map.h"

namespace wago::codegen {

// Covers operations that are pure, and those that only may trap: where an equal one has passed, it cannot
// trap any more. Reads of state are forward_memory's, bounds checks eliminate_checks'. Expected linear.
// Scratch is kept.
class NumberValues final : private ConstantSource {
 public:
  // True if a branch has turned out to depend on a constant: control flow is worth simplifying again.
  bool run(IrFunction& function, const ReversePostorder& order, const Dominators& dominators);

 private:
  struct Entry {
    InstId inst;
    uint32_t hash;
    uint32_t next;  // with the same hash bucket, or kNone
  };
  static constexpr uint32_t kNone = ~0u;

  uint32_t& bucket_of(const Inst& inst, uint32_t hash);

  Value constant(Type type, uint64_t bits) override;
  bool simplify_in_place(InstId inst);
  bool simplify_branch(Block& block);
  Value find(const Inst& inst, BlockId block, const Dominators& dominators);
  void remember(InstId inst);

  IrFunction* function_ = nullptr;
  InstId current_;                 // in front of it constants are made
  std::vector<uint32_t> buckets_;  // a power of two of them
  std::vector<Entry> entries_;
  ValueMap replaced_;
};

}  // namespace wago::codegen
