// ABI slots as users write them, on command lines, in catalogs and in CMake.
//
//   20  0x14  0o24  0b10100             an unsigned 64-bit slot
//   i32:-1  i32:0xffffffff              -2^31 .. 2^32-1, zero-extended
//   i64:-1                              -2^63 .. 2^64-1
//   f32:1.5  f64:0x1p-3  f64:inf  f64:-nan  f64:nan:0x8000000000000     bit patterns; "nan" is the canonical
//   one v128:0x000102...                    up to 32 hexadecimal digits, the value as one number: two slots,
//   low first
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
// The value of one type without its prefix ("-1", "nan:0x1"), as its slot.
Result<uint64_t> parse_i32(std::string_view text);
Result<uint64_t> parse_i64(std::string_view text);
Result<uint64_t> parse_f32(std::string_view text);
Result<uint64_t> parse_f64(std::string_view text);

// "0x1a6d (6765)" for a slot whose type is not known.
std::string format_slot(uint64_t slot);
std::string format_slots(std::span<const uint64_t> slots);  // "[20, 0x...]", decimal; parses back

}  // namespace wago::base
