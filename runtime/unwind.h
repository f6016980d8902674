// Walks guest code's frames by the unwind rows of its images: exact at every instruction, prologues and
// epilogues included, where frame pointers alone are not.
#pragma once

#include <cstdint>

#include "runtime/code_image.h"

namespace wago::runtime {

// Registers of a frame, as far as leaving it needs them.
struct FrameRegisters {
  uint64_t pc = 0;
  uint64_t rsp = 0;
  uint64_t rbp = 0;
};

// The rule that holds at an offset of the image.
UnwindRule unwind_rule_at(const CodeImage& image, uint32_t offset);

// From a frame of the image to its caller's. `offset` is where the thread was interrupted, of a caller's
// frame that of the last byte of its call. False, with `registers` as they were, if the caller's would have
// to be read outside [stack_low, stack_high), or would not lie above. Safe in a signal handler.
bool unwind(const CodeImage& image, uint32_t offset, uint64_t stack_low, uint64_t stack_high,
            FrameRegisters& registers);

}  // namespace wago::runtime
