// An instruction as people read it, after the text format: "i32.const 7", "i32.load offset=8", "call 3".
#pragma once

#include <string>

#include "runtime/code_reader.h"

namespace wago::runtime {

// Block types and the depths of a br_table are told by their number only; alignments are left out. A float is
// written as its shortest decimal form, and as bits where it is not a number.
std::string text_of(const Module& module, const Instruction& instruction);

}  // namespace wago::runtime
