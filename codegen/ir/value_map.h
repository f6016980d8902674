// Values that have turned out to be other values: noted while something runs, replaced everywhere at its end.
#pragma once

#include <vector>

#include "codegen/ir/ir.h"

namespace wago::codegen {

class ValueMap {
 public:
  void clear() { by_.clear(); }
  // From now on `by`, which dominates every use of `value`, stands for it. Never in a circle.
  void replace(Value value, Value by) {
    if (by_.size() <= value.index()) by_.resize(value.index() + 1);
    by_[value.index()] = by;
  }
  // What stands for a value; itself if nothing does.
  Value resolve(Value value) {
    return value.index() < by_.size() && by_[value.index()].valid() ? follow(value) : value;
  }
  // Rewrites all arguments of instructions and edges. Definitions stay where they are.
  void apply(IrFunction& function) {
    if (by_.empty()) return;
    for (Inst& inst : function.insts) {
      const uint32_t count = inst.arg_count <= 3 ? inst.arg_count : 0;
      for (uint32_t i = 0; i < count; ++i) inst.inline_args[i] = resolve(inst.inline_args[i]);
    }
    for (Value& value : function.arg_pool) value = resolve(value);
  }

 private:
  // Chains are halved with every walk.
  Value follow(Value value) {
    auto next = [this](Value v) { return v.index() < by_.size() ? by_[v.index()] : Value(); };
    for (Value by = next(value); by.valid(); by = next(value)) {
      if (const Value further = next(by); further.valid()) by_[value.index()] = by = further;
      value = by;
    }
    return value;
  }

  std::vector<Value> by_;
};

}  // namespace wago::codegen
