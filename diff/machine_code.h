// The machine instructions of a function, from the bytes that a capture keeps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diff/disassemble.h"
#include "diff/evidence.h"

namespace wago::diff {

struct MachineRow {
  uint32_t offset = 0;  // in the image
  uint32_t size = 0;    // bytes
  std::string text;     // of literals "(16 bytes of literals)"
  std::string target;   // raw name of the function that a direct call leads to
};

// Body and trap stubs, in order; literals as one row a region. Precondition: evidence.code.
std::vector<MachineRow> machine_code(const Evidence& evidence, uint32_t image,
                                     const capture::Function& function, const Disassemble& disassemble);

}  // namespace wago::diff
