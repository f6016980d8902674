// Whether the header of a line number table is fit for LLVM's reader.
#pragma once

#include <cstdint>
#include <span>

namespace wago::codegen {

// A header of version 5 announces how many directories and files there are and in which forms. False if the
// entries would need no bytes, if the bytes are not there, or if a form does not suit what it holds: LLVM 19
// goes by the numbers alone. Headers of earlier versions hold their tables as strings with an end, and pass.
// (DWARF 5, section 6.2.4.)
bool line_header_is_sound(std::span<const uint8_t> debug_line, uint64_t offset);

}  // namespace wago::codegen
