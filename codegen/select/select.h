// IR -> machine instructions with virtual registers, by tree patterns; the guest calling convention
// (runtime/abi.h).
#pragma once

#include <memory>

#include "codegen/ir/ir.h"
#include "codegen/mach/mach.h"
#include "runtime/compiler.h"
#include "runtime/module.h"

namespace wago::codegen {

// Scratch that survives from function to function; one per worker.
class Selector {
 public:
  Selector();
  ~Selector();
  // Fills `out` (cleared first). Expects what PassPipeline::run() leaves.
  void select(const runtime::Module& module, const runtime::CompileSettings& settings,
              const IrFunction& function, MachFunction& out);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace wago::codegen
