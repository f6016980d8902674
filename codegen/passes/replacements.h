// Values that a pass found equal to others: noted while it runs, applied to the whole function at its end.
#pragma once

#include <vector>

#include "codegen/ir/ir.h"

namespace wago::codegen {

class Replacements {
 public:
  void start(const IrFunction& function) {
    to_.assign(function.values.size(), Value());
    any_ = false;
  }
  // `from` is used no more; `to` dominates its uses.
  void replace(Value from, Value to) {
    to_[from.index()] = resolve(to);
    any_ = true;
  }
  Value resolve(Value value) const {
    // Chains are as long as replacements of replacements are deep; replace() keeps them at one step for later
    // ones.
    while (value.index() < to_.size() && to_[value.index()].valid()) value = to_[value.index()];
    return value;
  }
  // Rewrites all arguments. Linear.
  void apply(IrFunction& function) const {
    if (!any_) return;
    for (uint32_t b = 0; b < function.block_count; ++b) {
      for (InstId id = function.blocks[b].first; id.valid(); id = function.inst(id).next) {
        for (Value& arg : function.args(function.inst(id))) arg = resolve(arg);
      }
      for (const Edge& edge : function.blocks[b].succs) {
        for (Value& arg : function.args(edge)) arg = resolve(arg);
      }
    }
  }

 private:
  std::vector<Value> to_;
  bool any_ = false;
};

}  // namespace wago::codegen
