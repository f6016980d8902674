// Removes bounds checks that an earlier check of the same index implies (Bounds::Explicit; there are none
// otherwise).
#pragma once

#include <vector>

#include "codegen/ir/analysis.h"
#include "codegen/ir/ir.h"
#include "runtime/module.h"

namespace wago::codegen {

// A check of index + bytes passes wherever a dominating one of the same index with at least as many bytes
// has, since memories never shrink; and where a constant index lies in the memory's declared minimum.
// Expected linear.
class EliminateChecks {
 public:
  void run(const runtime::Module& module, IrFunction& function, const ReversePostorder& order,
           const Dominators& dominators);

 private:
  std::vector<InstId> strongest_;  // by index value: the last check seen that was not implied
};

}  // namespace wago::codegen
