// A count and what is counted, as sentences have them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace wago::base {

// "1 page", "2 pages"; with `many`, "1 entry", "2 entries".
inline std::string plural(uint64_t count, std::string_view one, std::string_view many = {}) {
  std::string text = std::to_string(count) + " ";
  if (count == 1) return text.append(one);
  return many.empty() ? text.append(one) + "s" : text.append(many);
}

}  // namespace wago::base
