// Load and store forwarding: a read of memory or of a global whose content is known is that value.
#pragma once

#include <vector>

#include "codegen/ir/analysis.h"
#include "codegen/ir/ir.h"
#include "codegen/ir/value_map.h"
#include "runtime/module.h"

namespace wago::codegen {

// Works along chains of blocks with one predecessor each. What the memory model allows: an instance is used
// by one thread at a time, so between two accesses only stores and calls of this very function's code change
// memory. A load that is removed cannot trap: the same bytes were accessed before, and memories do not
// shrink. Linear: it remembers the last kRemembered accesses.
class ForwardMemory {
 public:
  void run(const runtime::Module& module, IrFunction& function, const ReversePostorder& order);

 private:
  static constexpr size_t kRemembered = 32;
  // The value that a load of exactly this kind would give now.
  struct Known {
    Value index;
    uint64_t offset;
    Access access;
    Type type;
    Value value;
  };
  struct KnownGlobal {
    uint32_t global;
    Value value;
  };

  void forget();
  void visit(const runtime::Module& module, IrFunction& function, InstId id);
  bool load(const Inst& inst);
  void store(const IrFunction& function, const Inst& inst);
  bool global_get(const Inst& inst);
  void global_set(const runtime::Module& module, const Inst& inst);

  std::vector<Known> memory_;
  std::vector<KnownGlobal> globals_;
  ValueMap replaced_;
};

}  // namespace wago::codegen
