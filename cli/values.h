// Arguments and results of an exported function as people write and read them.
//
// An argument is read as its parameter's type: i32, i64, f32 and f64 as base/scalar.h spells them, v128 as 0x
// and up to 32 digits, references as "null". "TEXT:TYPE" reads TEXT as that type instead; its bits are then
// passed unchanged, so the two types must be of the same width ("0x7ff0000000000001:i64" is a signalling NaN
// for an f64).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/types.h"

namespace wago::cli {

// The slots of all arguments. Errors (Usage): a wrong count with the signature, or the argument's number and
// its fault.
base::Result<std::vector<uint64_t>> parse_arguments(const std::string& function, const FuncType& type,
                                                    std::span<const std::string> arguments);

// One text a result, in order; v128 as 0x and 32 digits, references "null", or their type if they are not.
std::vector<std::string> format_results(const FuncType& type, std::span<const uint64_t> slots);

}  // namespace wago::cli
