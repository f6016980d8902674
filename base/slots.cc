#include "base/slots.h"

#include <algorithm>
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

constexpr std::array<std::string_view, 6> kTypes = {"", "i32", "i64", "f32", "f64", "v128"};
constexpr std::array<Scalar, 4> kScalars = {Scalar::I32, Scalar::I64, Scalar::F32, Scalar::F64};

SlotType type_of(Scalar scalar) {
  return static_cast<SlotType>(static_cast<int>(scalar) + 1);
}
static_assert(static_cast<int>(SlotType::F64) == static_cast<int>(Scalar::F64) + 1);

std::optional<Slots> parse_v128(std::string_view text) {
  if (!text.starts_with("0x")) return std::nullopt;
  text.remove_prefix(2);
  if (text.empty() || text.size() > 32) return std::nullopt;
  std::string digits = std::string(32 - text.size(), '0') + std::string(text);
  auto high = parse_unsigned("0x" + digits.substr(0, 16));
  auto low = parse_unsigned("0x" + digits.substr(16));
  if (!high || !low) return std::nullopt;
  return Slots{{*low, *high}, {SlotType::V128, SlotType::V128}};
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

std::string_view spelling(SlotType type) {
  return kTypes.at(static_cast<size_t>(type));
}

void Slots::append(const Slots& more) {
  values.insert(values.end(), more.values.begin(), more.values.end());
  types.insert(types.end(), more.types.begin(), more.types.end());
}

std::vector<SlotType> Slots::stated_types() const {
  bool stated = std::any_of(types.begin(), types.end(), [](SlotType type) { return type != SlotType::Any; });
  return stated ? types : std::vector<SlotType>();
}

Result<Slots> parse_slot(std::string_view text) {
  size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    auto value = parse_unsigned(text);
    if (!value) return wrong_slot(text);
    return Slots{{*value}, {SlotType::Any}};
  }
  std::string_view type = text.substr(0, colon), value = text.substr(colon + 1);
  if (type == "v128") {
    auto slots = parse_v128(value);
    if (!slots) return wrong_slot(text);
    return std::move(*slots);
  }
  for (Scalar scalar : kScalars) {
    if (type != spelling(scalar)) continue;
    auto slot = parse_scalar(scalar, value);
    if (!slot) return slot.error();
    return Slots{{*slot}, {type_of(scalar)}};
  }
  return wrong_slot(text);
}

Result<Slots> parse_slots(std::string_view text) {
  std::string_view rest = trimmed(text);
  if (rest.empty()) return usage_error("no slots are given; '[]' says that there are none");
  bool opened = rest.starts_with('['), closed = rest.size() > (opened ? 1u : 0u) && rest.ends_with(']');
  if (opened != closed) return usage_error("'" + std::string(text) + "' has only one of its brackets");
  if (opened) rest = trimmed(rest.substr(1, rest.size() - 2));
  Slots slots;
  if (rest.empty()) return slots;
  while (true) {
    size_t comma = rest.find(',');
    auto one = parse_slot(trimmed(rest.substr(0, comma)));
    if (!one) return one.error();
    slots.append(*one);
    if (comma == std::string_view::npos) return slots;
    rest.remove_prefix(comma + 1);
  }
}

namespace {
std::string hex_of(uint64_t value) {
  std::array<char, 24> digits;
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr};
}
}  // namespace

std::vector<std::string> spell_slots(const Slots& slots) {
  WAGO_CHECK(slots.types.size() == slots.values.size());
  std::vector<std::string> texts;
  for (size_t i = 0; i < slots.values.size(); ++i) {
    const SlotType type = slots.types[i];
    if (type == SlotType::Any) {
      texts.push_back(std::to_string(slots.values[i]));
    } else if (type == SlotType::V128) {
      std::string low = hex_of(slots.values[i]);
      texts.push_back("v128:0x" + hex_of(slots.values.at(i + 1)) + std::string(16 - low.size(), '0') + low);
      ++i;
    } else {
      const Scalar scalar = kScalars.at(static_cast<size_t>(type) - 1);
      texts.push_back(std::string(spelling(type)) + ":" + format_scalar(scalar, slots.values[i]));
    }
  }
  return texts;
}

std::string format_slot(uint64_t slot) {
  return std::to_string(slot) + " (0x" + hex_of(slot) + ")";
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
