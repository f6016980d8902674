// Numbers of WebAssembly's four scalar types as people spell them, to and from 64-bit slots: i32
// zero-extended, floats by bit pattern. Locale independent.
//
// Integers: optional sign, then decimal, 0x, 0o or 0b; from the signed minimum to the unsigned maximum of the
// type. Floats: optional sign, then decimal or 0x hexadecimal with optional fraction and exponent, rounded to
// nearest even; inf; nan, the canonical one; nan:0xN with N the payload, 1 to the mantissa's maximum. What is
// too large for the type is refused, never rounded to infinity; what is too small becomes the zero or
// subnormal nearest to it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace wago::base {

enum class Scalar : uint8_t { I32, I64, F32, F64 };

std::string_view spelling(Scalar type);  // "i32", ...

// Errors (Usage): the text, the type, and what a value of that type looks like.
Result<uint64_t> parse_scalar(Scalar type, std::string_view text);

// Integers signed decimal; floats in the shortest decimal form that parses back to the same bits, "inf",
// "-inf", "nan" for the canonical NaN, "nan:0x..." with the payload for others, "-" before either.
// parse_scalar() reads it back.
std::string format_scalar(Scalar type, uint64_t slot);

}  // namespace wago::base
