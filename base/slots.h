// ABI slots as users write them, on command lines, in catalogs and in CMake.
//
//   20  0x14  0o24  0b10100             an unsigned 64-bit slot
//   i32:-1  i64:-1  f32:1.5  f64:nan:0x8000000000000     a value of that type, spelled as base/scalar.h says
//   v128:0x0f0e...                      up to 32 hexadecimal digits, the value as one number: two slots, low
//   first
//
// One parser for all of them, so that a spelling means the same everywhere.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace wago::base {

// One value; v128 gives two slots, everything else one. Errors (Usage) quote the text and say what is
// allowed.
Result<std::vector<uint64_t>> parse_slot(std::string_view text);
// Comma-separated, in an optional pair of brackets; "[]" and "" are no slots. Spaces around values are
// allowed.
Result<std::vector<uint64_t>> parse_slots(std::string_view text);

// "6765 (0x1a6d)": a slot whose type is not known.
std::string format_slot(uint64_t slot);
// "[20, 6765]": decimal; parses back.
std::string format_slots(std::span<const uint64_t> slots);

}  // namespace wago::base
