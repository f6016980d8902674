// ABI slots as users write them, on command lines, in catalogs and in CMake.
//
//   20  0x14  0o24  0b10100             an unsigned 64-bit slot
//   i32:-1  i64:-1  f32:1.5  f64:nan:0x8000000000000     a value of that type, spelled as base/scalar.h says
//   v128:0x0f0e...                      up to 32 hexadecimal digits, the value as one number: two slots, low
//   first
//
// One parser for all of them, so that a spelling means the same everywhere. A slot knows the type it was
// spelled as, so that it can be held against the one it is for.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace wago::base {

// What a slot was said to be; Any: a plain number.
enum class SlotType : uint8_t { Any, I32, I64, F32, F64, V128 };
std::string_view spelling(SlotType type);  // "i32", ...; "" for Any

struct Slots {
  std::vector<uint64_t> values;
  std::vector<SlotType> types;  // one a value
  void append(const Slots& more);
  // `types`, or nothing where none was said of any.
  std::vector<SlotType> stated_types() const;
  bool operator==(const Slots&) const = default;
};

// One value; v128 gives two slots, everything else one. Errors (Usage) quote the text and say what is
// allowed.
Result<Slots> parse_slot(std::string_view text);
// Comma-separated, in an optional pair of brackets; "[]" is no slots. Spaces around values are allowed.
Result<Slots> parse_slots(std::string_view text);

// "6765 (0x1a6d)": a slot whose type is not known.
std::string format_slot(uint64_t slot);
// Each value as parse_slot() reads it, with its type where it has one; the two slots of a v128 are one value.
std::vector<std::string> spell_slots(const Slots& slots);
// "[20, 6765]": decimal; parses back.
std::string format_slots(std::span<const uint64_t> slots);

}  // namespace wago::base
