// The passes, in the order in which they run. Level 0: only what later stages need (edge splitting, block order).
#pragma once

#include <memory>

#include "codegen/ir/ir.h"
#include "runtime/compiler.h"
#include "runtime/module.h"

namespace wago::codegen {

// Scratch that survives from function to function; one per worker.
class PassPipeline {
 public:
  PassPipeline();
  ~PassPipeline();
  // Afterwards: critical edges split, loops analysed, `layout` set, unreachable blocks and dead values gone.
  void run(const runtime::Module& module, const runtime::CompileSettings& settings, IrFunction& function);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace wago::codegen
