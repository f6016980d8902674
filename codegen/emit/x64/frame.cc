#include "codegen/emit/x64/frame.h"

#include "runtime/abi.h"

namespace wago::codegen {

void FrameLayout::compute(const MachFunction& function) {
  uint32_t used = function.saves_context ? 8 : 0;
  slot_offsets.assign(function.slots.size(), 0);
  for (uint32_t size : {16u, 8u, 4u}) {
    for (size_t i = 0; i < function.slots.size(); ++i) {
      if (function.slots[i] != size) continue;
      used = (used + size + size - 1) & ~(size - 1);
      slot_offsets[i] = -static_cast<int32_t>(used);
    }
  }
  bytes = (used + function.outgoing_bytes + 15) & ~15u;
  checks_stack = !function.is_leaf || function.checks_interrupts || bytes > runtime::kUncheckedLeafFrame;
}

}  // namespace wago::codegen
