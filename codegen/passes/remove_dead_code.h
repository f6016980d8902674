// Removes instructions without effect whose results nobody needs, and block parameters likewise, with the
// arguments that edges pass for them. Finds circles of values that only feed one another.
#pragma once

#include <vector>

#include "codegen/ir/analysis.h"
#include "codegen/ir/ir.h"

namespace wago::codegen {

class RemoveDeadCode {
 public:
  void run(IrFunction& function);

 private:
  void mark(Value value) {
    if (live_[value.index()]) return;
    live_[value.index()] = 1;
    worklist_.push_back(value);
  }
  void mark_roots(const IrFunction& function);
  void mark_operands(const IrFunction& function, Value value);
  void sweep(IrFunction& function);
  void sweep_params(IrFunction& function, BlockId block);

  IncomingEdges incoming_;
  std::vector<uint8_t> live_;  // by value
  std::vector<Value> worklist_;
};

}  // namespace wago::codegen
