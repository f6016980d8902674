// Places the bodies of small callees at their call sites.
#pragma once

#include <vector>

#include "codegen/build/build.h"
#include "codegen/ir/analysis.h"
#include "codegen/ir/ir.h"
#include "codegen/ir/value_map.h"
#include "runtime/compiler.h"
#include "runtime/module.h"

namespace wago::codegen {

// A callee is placed when its body is at most kMaxCalleeBytes of WebAssembly and the caller's growth stays
// within its budget. Calls in what was placed stay calls, so recursion ends by itself. Every placed
// instruction names its inline site, which keeps stack traces and profiles true. Linear in the caller and
// what is placed.
class InlineCalls {
 public:
  static constexpr uint32_t kMaxCalleeBytes = 48;
  // Bytes of callees a function may take in: this much, or its own size if that is more.
  static constexpr uint32_t kMinBudgetBytes = 512;

  // Afterwards control flow has changed: orders and dominators are stale.
  void run(const runtime::Module& module, const runtime::CompileSettings& settings, IrFunction& function);

 private:
  void place(IrFunction& function, InstId call);
  void place_straight(IrFunction& function, InstId call);
  void place_blocks(IrFunction& function, InstId call);
  BlockId split_after(IrFunction& function, InstId call);
  void copy_ranges(IrFunction& function, BlockId from, BlockId to);
  void copy_block(IrFunction& function, BlockId from, BlockId to, InstId before, BlockId continuation);
  Value mapped(Value value) const { return values_[value.index()]; }

  const runtime::Module* module_ = nullptr;
  IrBuilder builder_;
  IrFunction callee_;
  ReversePostorder order_;  // of the callee
  std::vector<InstId> calls_;
  std::vector<Value> values_;    // callee's value -> caller's
  std::vector<BlockId> blocks_;  // callee's block -> caller's
  std::vector<Value> args_;
  uint32_t site_ = 0;
  ValueMap replaced_;
};

}  // namespace wago::codegen
