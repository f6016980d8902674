// Durations as users write them: "250ms", "15s", "1m30s". Units ns, us, ms, s, m, h; descending, each once; a
// decimal fraction is allowed in the last part ("1.5s"). Never a bare number, never zero or negative.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace wago::base {

// Nanoseconds, at most about 292 years.
Result<uint64_t> parse_duration_ns(std::string_view text);
// The shortest exact spelling that parses back: "1m30s", "250ms".
std::string format_duration(uint64_t ns);
// One that was measured, as people read it: "91.71 us". Four significant digits.
std::string format_measured_ns(double ns);

}  // namespace wago::base
