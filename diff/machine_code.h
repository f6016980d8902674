// The machine instructions of a function, from the bytes that a capture keeps.
#pragma once

#include <cstdint>
#include <map>
#include <span>
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

// Of one image.
class MachineCode {
 public:
  // Precondition: evidence.code. All that is passed must outlive this.
  MachineCode(const Evidence& evidence, uint32_t image, const Disassemble& disassemble);

  // Body and trap stubs, in order; literals as one row a region.
  std::vector<MachineRow> of(const capture::Function& function) const;

 private:
  const capture::Image& image_;
  const Disassemble& disassemble_;
  std::span<const uint8_t> code_;
  std::map<uint64_t, const capture::Function*> entries_;  // by offset
};

}  // namespace wago::diff
