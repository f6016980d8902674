// Quantities as people read them. Files and JSON carry plain numbers with the unit in the name instead.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace wago::diff {

// Four significant digits and the unit that keeps the number between 1 and 1000: "61.23 us", "1.5 ns", "15
// s".
std::string format_ns(double ns);
// A ratio minus one, signed, in percent: "+1.23 %", "-0.04 %", "+0.00 %"; from a million on "+1.23e+06 %".
std::string format_change(double change);
// The same of counts, where any change is one: "-0.0026 %" where two decimals would show none.
std::string format_exact_change(double change);
// A part of a whole in percent, unsigned: "1.2 %".
std::string format_share(double share);
// A setting that is a part of a whole: "0.25 %", "99.999 %".
std::string format_setting(double share);
// A p-value: "0.012", "3.1e-05", "< 1e-10".
std::string format_p(double p);
// Groups of three: "1,234,567".
std::string format_count(uint64_t count);
// "1 function", "2 functions"
std::string format_plural(uint64_t count, std::string_view noun);
// "1 invocation", "2 invocations": of a unit that is named in the plural.
std::string format_work(uint64_t count, std::string_view units);
// Something a second with a decimal prefix: "12.3 M/s", of bytes ("B") "12.3 MB/s".
std::string format_rate(double per_second, std::string_view unit = {});

// `count` divided by `parts`, with up to four decimals: "207.04", "1,000"; "12.0000" where there is a rest
// too small to show. Precondition: parts > 0.
std::string format_quotient(uint64_t count, uint64_t parts);
// An amount of a unit that is not time: "12.35 k", "0.25".
std::string format_amount(double amount);
// What samples weigh: time where `unit` is "nanoseconds", else "1.5 M cycles".
std::string format_weight(double weight, std::string_view unit);

}  // namespace wago::diff
