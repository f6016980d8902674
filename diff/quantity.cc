#include "diff/quantity.h"

#include <cmath>
#include <cstdio>

#include "base/duration.h"

namespace wago::diff {

namespace {

// Up to four significant digits without trailing zeros.
std::string four_digits(double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%.4g", value);
  return buffer;
}

// A number of more than six digits before its point is no longer read as one.
std::string percent_text(double share, int digits) {
  constexpr double kMost = 1e6;
  const double percent = share * 100;
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, std::fabs(percent) < kMost ? "%.*f %%" : "%.*e %%", digits, percent);
  return buffer;
}

struct Unit {
  double size;
  const char* name;
};

std::string with_unit(double value, const Unit* units, size_t count, const char* smallest) {
  for (size_t i = 0; i < count; ++i) {
    // 999.95 would be shown as 1000 of the smaller unit.
    if (std::fabs(value) >= units[i].size * 0.99995)
      return four_digits(value / units[i].size) + " " + units[i].name;
  }
  return four_digits(value) + " " + smallest;
}

}  // namespace

std::string format_ns(double ns) {
  return base::format_measured_ns(ns);
}

std::string format_rate(double per_second, std::string_view unit) {
  static constexpr Unit kPrefixes[] = {{1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
  return with_unit(per_second, kPrefixes, 3, "") + std::string(unit) + "/s";
}

std::string format_change(double change) {
  return (std::signbit(change) ? "" : "+") + percent_text(change, 2);
}

std::string format_setting(double share) {
  // A confidence of 99.999 % is not 100 %.
  const int digits = share > 0.99 ? 6 : 4;
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.*g %%", digits, share * 100);
  return buffer;
}

std::string format_p(double p) {
  // What is smaller is beyond the precision of the distributions that it is computed from.
  constexpr double kLeast = 1e-10;
  if (p < kLeast) return "< 1e-10";
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, p < 0.001 ? "%.1e" : "%.3f", p);
  return buffer;
}

std::string format_exact_change(double change) {
  if (change == 0 || std::fabs(change) >= 0.00005) return format_change(change);
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%+.2g %%", change * 100);
  return buffer;
}

std::string format_share(double share) {
  return percent_text(share, 1);
}

std::string format_count(uint64_t count) {
  std::string text = std::to_string(count);
  for (size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, ",");
  return text;
}

std::string format_work(uint64_t count, std::string_view units) {
  if (count == 1 && units.ends_with('s')) units.remove_suffix(1);
  return format_count(count) + " " + std::string(units);
}

std::string format_plural(uint64_t count, std::string_view noun) {
  return format_count(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::string format_quotient(uint64_t count, uint64_t parts) {
  std::string text = format_count(count / parts);
  const uint64_t rest = count % parts;
  if (rest == 0) return text;
  char decimals[8];
  std::snprintf(decimals, sizeof decimals, "%04u",
                static_cast<unsigned>(static_cast<unsigned __int128>(rest) * 10'000 / parts));
  std::string digits = decimals;
  while (digits != "0000" && digits.ends_with('0')) digits.pop_back();
  return text + "." + digits;
}

std::string format_amount(double amount) {
  static constexpr Unit kPrefixes[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
  std::string text = with_unit(amount, kPrefixes, 4, "");
  if (text.ends_with(' ')) text.pop_back();
  return text;
}

std::string format_weight(double weight, std::string_view unit) {
  if (unit == "nanoseconds") return format_ns(weight);
  const std::string amount = format_amount(weight);
  if (amount == "1" && unit.ends_with('s')) unit.remove_suffix(1);
  return amount + " " + std::string(unit);
}

}  // namespace wago::diff
