// Global value numbering: an operation equal to one that dominates it is that one.
#pragma once

#include <vector>

#include "codegen/ir/analysis.h"
#include "codegen/ir/ir.h"
#include "codegen/passes/replacements.h"

namespace wago::codegen {

// Covers operations that are pure, and those that only may trap: where an equal one has passed, it cannot
// trap any more. Reads of state are forward_memory's, bounds checks eliminate_checks'. Expected linear.
// Scratch is kept.
class NumberValues {
 public:
  void run(IrFunction& function, const ReversePostorder& order, const Dominators& dominators);

 private:
  struct Entry {
    InstId inst;
    uint32_t next;  // with the same hash bucket, or kNone
  };
  static constexpr uint32_t kNone = ~0u;

  std::vector<uint32_t> buckets_;
  std::vector<Entry> entries_;
  Replacements replacements_;
};

}  // namespace wago::codegen
