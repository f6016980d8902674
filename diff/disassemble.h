// What views need of a disassembler. Whoever wires the program has one and passes it in: nothing here knows
// how code is decoded.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace wago::diff {

struct MachineInstruction {
  uint32_t offset = 0;  // from the start of the bytes
  uint32_t size = 0;    // bytes, at least 1
  std::string text;     // branches and calls end with their target, "0x40"
};

// The instructions of `bytes` in order, without gaps. `address` is that of bytes[0], for targets.
using Disassemble =
    std::function<std::vector<MachineInstruction>(std::span<const uint8_t> bytes, uint64_t address)>;

}  // namespace wago::diff
