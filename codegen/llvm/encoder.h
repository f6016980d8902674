// Machine instructions -> bytes, through LLVM's MCCodeEmitter. The only way bytes of code come to be.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "codegen/mach/mach.h"

namespace wago::codegen {

// One per worker: it owns an MC context and is not shared between threads. Set-up costs about 0.2 ms.
class Encoder {
 public:
  Encoder();
  ~Encoder();

  // Appends the bytes of an instruction whose registers are physical. `slot_offsets`: displacement from rbp
  // of every slot. Branches and direct calls are not encoded here but come from the templates below. Returns
  // the offset in `out` of the 32-bit field that must become the distance from the end of the instruction to
  // the operand's literal or jump table, or kNoField.
  static constexpr uint32_t kNoField = ~0u;
  uint32_t encode(const MachFunction& function, const MachInst& inst, std::span<const int32_t> slot_offsets,
                  std::vector<uint8_t>& out);

  // Branches and calls with an empty displacement field at their end, taken from MC once.
  struct Template {
    uint8_t bytes[8] = {};
    uint8_t size = 0;
  };
  const Template& jump(bool near) const;  // 1- or 4-byte displacement
  const Template& conditional_jump(unsigned condition, bool near) const;
  const Template& call() const;       // 4-byte displacement
  const Template& undefined() const;  // ud2, without a field
  // A no-operation of 1 to 9 bytes.
  std::span<const uint8_t> nop(uint32_t bytes) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace wago::codegen
