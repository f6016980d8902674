#include "base/slots.h"

#include <array>
#include <charconv>
#include <optional>

#include "base/scalar.h"

namespace wago::base {

namespace {

Error wrong_slot(std::string_view text) {
  return usage_error(
      "'" + std::string(text) +
      "' is not a slot; slots are unsigned 64-bit numbers (20, 0x14, 0o24, 0b10100) or typed values "
      "(i32:-1, i64:-1, f32:1.5, f64:0x1p-3, f64:nan:0x1, v128:0x0f)");
}

std::optional<uint64_t> parse_unsigned(std::string_view digits) {
  int radix = 10;
  if (digits.size() > 2 && digits[0] == '0') {
    char letter = digits[1];
    radix = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 10;
    if (radix != 10) digits.remove_prefix(2);
  }
  uint64_t value = 0;
  const char* last = digits.data() + digits.size();
  auto [end, status] = std::from_chars(digits.data(), last, value, radix);
  if (digits.empty() || status != std::errc() || end != last) return std::nullopt;
  return value;
}

std::optional<std::vector<uint64_t>> parse_v128(std::string_view text) {
  if (!text.starts_with("0x")) return std::nullopt;
  text.remove_prefix(2);
  if (text.empty() || text.size() > 32) return std::nullopt;
  std::string digits = std::string(32 - text.size(), '0') + std::string(text);
  auto high = parse_unsigned("0x" + digits.substr(0, 16));
  auto low = parse_unsigned("0x" + digits.substr(16));
  if (!high || !low) return std::nullopt;
  return std::vector<uint64_t>{*low, *high};
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

Result<std::vector<uint64_t>> parse_slot(std::string_view text) {
  size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    auto value = parse_unsigned(text);
    if (!value) return wrong_slot(text);
    return std::vector<uint64_t>{*value};
  }
  std::string_view type = text.substr(0, colon), value = text.substr(colon + 1);
  if (type == "v128") {
    auto slots = parse_v128(value);
    if (!slots) return wrong_slot(text);
    return std::move(*slots);
  }
  for (Scalar scalar : {Scalar::I32, Scalar::I64, Scalar::F32, Scalar::F64}) {
    if (type != spelling(scalar)) continue;
    auto slot = parse_scalar(scalar, value);
    if (!slot) return slot.error();
    return std::vector<uint64_t>{*slot};
  }
  return wrong_slot(text);
}

Result<std::vector<uint64_t>> parse_slots(std::string_view text) {
  std::string_view rest = trimmed(text);
  bool opened = rest.starts_with('['), closed = rest.size() > (opened ? 1u : 0u) && rest.ends_with(']');
  if (opened != closed) return usage_error("'" + std::string(text) + "' has only one of its brackets");
  if (opened) rest = trimmed(rest.substr(1, rest.size() - 2));
  std::vector<uint64_t> slots;
  if (rest.empty()) return slots;
  while (true) {
    size_t comma = rest.find(',');
    auto one = parse_slot(trimmed(rest.substr(0, comma)));
    if (!one) return one.error();
    slots.insert(slots.end(), one->begin(), one->end());
    if (comma == std::string_view::npos) return slots;
    rest.remove_prefix(comma + 1);
  }
}

std::string format_slot(uint64_t slot) {
  std::array<char, 24> hex;
  auto end = std::to_chars(hex.data(), hex.data() + hex.size(), slot, 16).ptr;
  return std::to_string(slot) + " (0x" + std::string(hex.data(), end) + ")";
}

std::string format_slots(std::span<const uint64_t> slots) {
  std::string text = "[";
  for (size_t i = 0; i < slots.size(); ++i) {
    if (i) text += ", ";
    text += std::to_string(slots[i]);
  }
  return text + "]";
}

}  // namespace wago::base
