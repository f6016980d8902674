#include "base/duration.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <optional>
#include <utility>

namespace wago::base {

namespace {

struct Unit {
  std::string_view name;
  uint64_t ns;
};
// Descending; "ms" is looked for before "m" by taking all letters at once.
constexpr std::array<Unit, 6> kUnits = {
    Unit{"h", 3'600'000'000'000}, Unit{"m", 60'000'000'000}, Unit{"s", 1'000'000'000},
    Unit{"ms", 1'000'000},        Unit{"us", 1'000},         Unit{"ns", 1}};
constexpr uint64_t kMax = INT64_MAX;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

Error wrong(std::string_view text, const char* why) {
  return usage_error("'" + std::string(text) + "' " + why + "; durations are written 250ms, 15s or 1m30s");
}

// `digits` with at most 9 digits of fraction, times `unit`; nothing when it does not fit or is not whole
// nanoseconds.
std::optional<uint64_t> scaled(std::string_view whole, std::string_view fraction, uint64_t unit) {
  uint64_t value = 0;
  for (char c : whole) {
    if (value > kMax / 10) return std::nullopt;
    value = value * 10 + static_cast<uint64_t>(c - '0');
  }
  if (unit != 0 && value > kMax / unit) return std::nullopt;
  value *= unit;
  uint64_t place = unit;
  for (char c : fraction) {
    if (place % 10 != 0 && c != '0') return std::nullopt;
    place /= 10;
    value += place * static_cast<uint64_t>(c - '0');
  }
  return value <= kMax ? std::optional(value) : std::nullopt;
}

}  // namespace

Result<uint64_t> parse_duration_ns(std::string_view text) {
  uint64_t total = 0;
  size_t next_unit = 0;
  bool fractional = false;
  std::string_view rest = text;
  if (rest.empty()) return wrong(text, "is not a duration");
  if (rest.size() > 1 && rest[0] == '-' && is_digit(rest[1])) return wrong(text, "is negative");
  while (!rest.empty()) {
    if (fractional) return wrong(text, "has a fraction that is not in its last part");
    size_t length = 0;
    while (length < rest.size() && is_digit(rest[length])) ++length;
    std::string_view whole = rest.substr(0, length), fraction;
    rest.remove_prefix(length);
    if (whole.empty()) return wrong(text, "is not a duration");
    if (rest.starts_with('.')) {
      length = 1;
      while (length < rest.size() && is_digit(rest[length])) ++length;
      fraction = rest.substr(1, length - 1);
      rest.remove_prefix(length);
      if (fraction.empty()) return wrong(text, "is not a duration");
      fractional = true;
    }
    length = 0;
    while (length < rest.size() && !is_digit(rest[length])) ++length;
    std::string_view name = rest.substr(0, length);
    rest.remove_prefix(length);
    if (name.empty()) return wrong(text, "lacks a unit (ns, us, ms, s, m, h)");
    size_t unit = 0;
    while (unit < kUnits.size() && kUnits[unit].name != name) ++unit;
    if (unit == kUnits.size()) return wrong(text, "has an unknown unit (ns, us, ms, s, m and h are known)");
    if (unit < next_unit) return wrong(text, "has its units out of order");
    next_unit = unit + 1;
    auto part = scaled(whole, fraction, kUnits[unit].ns);
    if (!part || *part > kMax - total) return wrong(text, "is too long, or finer than a nanosecond");
    total += *part;
  }
  if (total == 0) return wrong(text, "is zero");
  return total;
}

std::string format_duration(uint64_t ns) {
  if (ns == 0) return "0s";
  std::string text;
  for (const Unit& unit : kUnits) {
    if (ns < unit.ns) continue;
    text += std::to_string(ns / unit.ns) + std::string(unit.name);
    ns %= unit.ns;
  }
  return text;
}

std::string format_measured_ns(double ns) {
  constexpr std::pair<double, const char*> kSizes[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
  const auto* size = std::begin(kSizes);
  // 999.95 would be shown as 1000 of the smaller unit.
  while (size->first > 1 && std::fabs(ns) < size->first * 0.99995) ++size;
  char text[64];
  std::snprintf(text, sizeof text, "%.4g %s", ns / size->first, size->second);
  return text;
}

}  // namespace wago::base
