// The passes, in the order in which they run. Level 0: only what later stages need (edge splitting, block
// order).
#pragma once

#include <memory>

#include "codegen/ir/ir.h"
#include "runtime/compiler.h"
#include "runtime/module.h"

namespace wago::codegen {

class PassLog;  // pass_scope.h

// Scratch that survives from function to function; one per worker.
class PassPipeline {
 public:
  PassPipeline();
  ~PassPipeline();
  // Afterwards: critical edges split, loops analysed, `layout` set, unreachable blocks and dead values gone.
  void run(const runtime::Module& module, const runtime::CompileSettings& settings, IrFunction& function);

  PassLog& log();  // times of passes, if asked to keep them

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace wago::codegen
