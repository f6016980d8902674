// From compiled code back to what people wrote: the interface through which the runtime asks a module's debug
// information. `codegen` implements it with LLVM's reader of DWARF and the engine hands it in, as it does the
// compiler.
#pragma once

#include <cstdint>
#include <vector>

#include <wago/wago.h>

namespace wago::runtime {

// Of one module. Any number of threads may ask at once.
class SourceLines {
 public:
  virtual ~SourceLines() = default;

  // The source frames at the instruction with this offset in the module: functions that the guest's compiler
  // inlined there, innermost first, then the function that holds them. Empty where nothing is known; debug
  // information that is damaged or beyond a limit gives less, never an error. The first question reads what
  // debug information there is about all functions, later ones what belongs to the function asked for.
  virtual std::vector<SourceFrame> at(uint32_t module_offset) const = 0;
};

}  // namespace wago::runtime
