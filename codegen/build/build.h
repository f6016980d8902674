// Body bytes -> IR: one forward pass over a validated function, constructing SSA directly, folding constants
// and numbering values as it goes. Linear in the body.
#pragma once

#include <memory>

#include "base/result.h"
#include "codegen/ir/ir.h"
#include "runtime/compiler.h"
#include "runtime/module.h"

namespace wago::codegen {

// Scratch that survives from function to function; one per worker.
class IrBuilder {
 public:
  IrBuilder();
  ~IrBuilder();
  // Fills `out` (cleared first) with function imported_functions + body. Errors: a limit, named with the
  // function.
  base::Result<void> build(const runtime::Module& module, uint32_t body,
                           const runtime::CompileSettings& settings, IrFunction& out);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace wago::codegen
