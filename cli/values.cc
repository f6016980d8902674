#include "cli/values.h"

#include <charconv>
#include <cstdio>
#include <optional>

#include "base/plural.h"
#include "base/scalar.h"

namespace wago::cli {

namespace {

using Slots = std::vector<uint64_t>;

std::optional<base::Scalar> scalar_of(ValueType type) {
  switch (type) {
    case ValueType::I32:
      return base::Scalar::I32;
    case ValueType::I64:
      return base::Scalar::I64;
    case ValueType::F32:
      return base::Scalar::F32;
    case ValueType::F64:
      return base::Scalar::F64;
    default:
      return std::nullopt;
  }
}

unsigned bits_of(ValueType type) {
  switch (type) {
    case ValueType::I32:
    case ValueType::F32:
      return 32;
    case ValueType::V128:
      return 128;
    default:
      return 64;
  }
}

base::Result<Slots> parse_v128(std::string_view text) {
  auto wrong =
      base::usage_error("'" + std::string(text) + "' is not a v128 (0x and up to 32 hexadecimal digits)");
  if (!text.starts_with("0x") || text.size() < 3 || text.size() > 34) return wrong;
  std::string_view digits = text.substr(2);
  Slots slots(2);
  size_t low_digits = std::min<size_t>(digits.size(), 16);
  std::string_view halves[2] = {digits.substr(digits.size() - low_digits),
                                digits.substr(0, digits.size() - low_digits)};
  for (int i = 0; i < 2; ++i) {
    if (halves[i].empty()) continue;
    auto [end, status] = std::from_chars(halves[i].data(), halves[i].data() + halves[i].size(), slots[i], 16);
    if (status != std::errc() || end != halves[i].data() + halves[i].size()) return wrong;
  }
  return slots;
}

base::Result<Slots> parse_as(ValueType type, std::string_view text) {
  if (auto scalar = scalar_of(type)) {
    auto slot = base::parse_scalar(*scalar, text);
    if (!slot) return slot.error();
    return Slots{*slot};
  }
  if (type == ValueType::V128) return parse_v128(text);
  if (text == "null") return Slots{0};
  return base::usage_error("'" + std::string(text) + "' is not " + with_article(type) +
                           "; only null can be passed from the command line");
}

// The type after the last colon, if that is what stands there.
std::optional<ValueType> type_suffix(std::string_view text) {
  size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  for (ValueType type : {ValueType::I32, ValueType::I64, ValueType::F32, ValueType::F64, ValueType::V128,
                         ValueType::FuncRef, ValueType::ExternRef}) {
    if (text.substr(colon + 1) == to_string(type)) return type;
  }
  return std::nullopt;
}

base::Result<Slots> parse_argument(ValueType parameter, std::string_view text) {
  auto suffix = type_suffix(text);
  if (!suffix) return parse_as(parameter, text);
  if (bits_of(*suffix) != bits_of(parameter) || is_reference(*suffix) != is_reference(parameter)) {
    return base::usage_error("'" + std::string(text) + "' cannot be passed as " + to_string(parameter));
  }
  return parse_as(*suffix, text.substr(0, text.rfind(':')));
}

std::string hex(uint64_t word, int digits) {
  char buffer[24];
  std::snprintf(buffer, sizeof buffer, "%0*llx", digits, static_cast<unsigned long long>(word));
  return buffer;
}

std::string format_value(ValueType type, const uint64_t* slots) {
  if (auto scalar = scalar_of(type)) return base::format_scalar(*scalar, slots[0]);
  if (type == ValueType::V128) return "0x" + hex(slots[1], 16) + hex(slots[0], 16);
  // Which one it is cannot be said: its slot is an address of this process.
  return slots[0] == 0 ? "null" : to_string(type);
}

}  // namespace

base::Result<Slots> parse_arguments(const std::string& function, const FuncType& type,
                                    std::span<const std::string> arguments) {
  if (arguments.size() != type.params.size()) {
    return base::usage_error(function + " takes " + base::plural(type.params.size(), "argument") + ", " +
                             std::to_string(arguments.size()) + (arguments.size() == 1 ? " was" : " were") +
                             " given; its type is " + to_string(type));
  }
  Slots slots;
  for (size_t i = 0; i < arguments.size(); ++i) {
    auto value = parse_argument(type.params[i], arguments[i]);
    if (!value) {
      return base::usage_error("argument " + std::to_string(i + 1) + " of " + function + ": " +
                               value.error().message);
    }
    slots.insert(slots.end(), value->begin(), value->end());
  }
  return slots;
}

std::vector<std::string> format_results(const FuncType& type, std::span<const uint64_t> slots) {
  WAGO_CHECK(slots.size() == slots_of(type.results));
  std::vector<std::string> texts;
  const uint64_t* next = slots.data();
  for (ValueType result : type.results) {
    texts.push_back(format_value(result, next));
    next += slots_of(result);
  }
  return texts;
}

}  // namespace wago::cli
