// The stack frame of a compiled function:
//
//   [rbp + 16 ...]   incoming stack arguments, then stack results
//   [rbp + 8]        return address
//   [rbp]            caller's rbp
//   [rbp - 8]        own context (r15), if the function makes calls that change it
//   ...              spill slots, largest first
//   [rsp ...]        outgoing stack arguments and results
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/mach/mach.h"

namespace wago::codegen {

struct FrameLayout {
  uint32_t bytes = 0;                 // subtracted from rsp, a multiple of 16; 0: no frame below rbp
  std::vector<int32_t> slot_offsets;  // from rbp
  bool checks_stack = false;

  void compute(const MachFunction& function);
};

}  // namespace wago::codegen
