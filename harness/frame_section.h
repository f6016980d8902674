// How the frames of a function are left, in the words that tools read: a .eh_frame section with one function
// in it, and an .eh_frame_hdr that points to it (DWARF 4, 6.4, and the Linux Standard Base, 10.6).
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/code_image.h"

namespace wago::harness {

struct FrameSection {
  std::vector<uint8_t> bytes;  // the frames, then the index
  uint32_t index_bytes = 0;    // how many of them are the index
};

// Of the code at [begin, begin + size) of the image, for a file in which the section lies right behind that
// code, at the next multiple of 8: all its addresses are relative to itself.
FrameSection frame_section(const runtime::CodeImage& image, uint32_t begin, uint32_t size);

}  // namespace wago::harness
