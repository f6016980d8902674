#include "base/scalar.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

namespace wago::base {

namespace {

Error not_a(Scalar type, std::string_view text, const char* why) {
  return usage_error("'" + std::string(text) + "' " + why + " " + std::string(spelling(type)));
}

bool is_float(Scalar type) {
  return type == Scalar::F32 || type == Scalar::F64;
}

Error wrong_spelling(Scalar type, std::string_view text) {
  Error error = not_a(type, text, "is not an");
  error.message +=
      is_float(type) ? " (1.5, 0x1.8p0, inf, nan and nan:0x200000 are)" : " (-7, 42 and 0x2a are)";
  return error;
}

Error too_large(Scalar type, std::string_view text) {
  return not_a(type, text, "does not fit an");
}

// Takes the sign off.
bool take_minus(std::string_view& digits) {
  if (digits.empty() || (digits[0] != '-' && digits[0] != '+')) return false;
  bool minus = digits[0] == '-';
  digits.remove_prefix(1);
  return minus;
}

// Takes 0x, 0o or 0b off.
int take_radix(std::string_view& digits) {
  if (digits.size() < 2 || digits[0] != '0') return 10;
  int radix = 10;
  switch (digits[1]) {
    case 'x':
    case 'X':
      radix = 16;
      break;
    case 'o':
    case 'O':
      radix = 8;
      break;
    case 'b':
    case 'B':
      radix = 2;
      break;
    default:
      return 10;
  }
  digits.remove_prefix(2);
  return radix;
}

Result<uint64_t> parse_integer(Scalar type, std::string_view text) {
  std::string_view digits = text;
  bool minus = take_minus(digits);
  int radix = take_radix(digits);
  // from_chars would take a second minus sign.
  if (digits.empty() || digits[0] == '-') return wrong_spelling(type, text);
  uint64_t magnitude = 0;
  auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, radix);
  if (end != digits.data() + digits.size()) return wrong_spelling(type, text);
  unsigned bits = type == Scalar::I32 ? 32 : 64;
  uint64_t mask = bits == 32 ? 0xffffffffu : ~uint64_t{0};
  uint64_t limit = minus ? uint64_t{1} << (bits - 1) : mask;
  if (status != std::errc() || magnitude > limit) return too_large(type, text);
  return (minus ? ~magnitude + 1 : magnitude) & mask;
}

template <class Float>
struct Layout;
template <>
struct Layout<float> {
  using Bits = uint32_t;
  static constexpr int kMantissaBits = 23;
  static constexpr Bits kQuietNan = 0x7fc00000;
  static constexpr Bits kInfinity = 0x7f800000;
};
template <>
struct Layout<double> {
  using Bits = uint64_t;
  static constexpr int kMantissaBits = 52;
  static constexpr Bits kQuietNan = 0x7ff8000000000000;
  static constexpr Bits kInfinity = 0x7ff0000000000000;
};

// After "nan".
template <class Float>
std::optional<typename Layout<Float>::Bits> parse_nan(std::string_view suffix) {
  using L = Layout<Float>;
  if (suffix.empty()) return L::kQuietNan;
  if (!suffix.starts_with(":0x")) return std::nullopt;
  suffix.remove_prefix(3);
  if (suffix.empty()) return std::nullopt;
  uint64_t payload = 0;
  auto [end, status] = std::from_chars(suffix.data(), suffix.data() + suffix.size(), payload, 16);
  if (status != std::errc() || end != suffix.data() + suffix.size()) return std::nullopt;
  if (payload == 0 || payload >> L::kMantissaBits) return std::nullopt;
  return static_cast<typename L::Bits>(L::kInfinity | payload);
}

// Whether from_chars refused because the value is below the smallest subnormal: decided on its exponent,
// since both ends of the range give the same error.
bool is_tiny(std::string_view digits, bool hexadecimal) {
  long double value = 0;
  auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value,
                                       hexadecimal ? std::chars_format::hex : std::chars_format::general);
  (void)end;
  if (status == std::errc()) return value < 1;
  size_t exponent = digits.find_first_of(hexadecimal ? "pP" : "eE");
  return exponent != std::string_view::npos && exponent + 1 < digits.size() && digits[exponent + 1] == '-';
}

template <class Float>
Result<uint64_t> parse_float(Scalar type, std::string_view text) {
  using L = Layout<Float>;
  std::string_view digits = text;
  bool minus = take_minus(digits);
  typename L::Bits bits = 0;
  if (digits.starts_with("nan")) {
    auto nan = parse_nan<Float>(digits.substr(3));
    if (!nan) return wrong_spelling(type, text);
    bits = *nan;
  } else if (digits == "inf" || digits == "infinity") {
    bits = L::kInfinity;
  } else {
    bool hexadecimal = digits.starts_with("0x") || digits.starts_with("0X");
    if (hexadecimal) digits.remove_prefix(2);
    // from_chars also takes a sign, "inf" and "nan(...)" of its own.
    if (digits.find_first_of("0123456789abcdefABCDEF.") != 0 || digits.starts_with("inf")) {
      return wrong_spelling(type, text);
    }
    Float value = 0;
    auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value,
                                         hexadecimal ? std::chars_format::hex : std::chars_format::general);
    if (status == std::errc::invalid_argument || end != digits.data() + digits.size()) {
      return wrong_spelling(type, text);
    }
    if (status == std::errc::result_out_of_range) {
      if (!is_tiny(digits, hexadecimal)) return too_large(type, text);
      value = 0;
    }
    if (std::isinf(value)) return too_large(type, text);
    bits = std::bit_cast<typename L::Bits>(value);
  }
  if (minus) bits |= typename L::Bits{1} << (sizeof(bits) * 8 - 1);
  return uint64_t{bits};
}

template <class Float>
std::string format_float(uint64_t slot) {
  using L = Layout<Float>;
  auto bits = static_cast<typename L::Bits>(slot);
  auto value = std::bit_cast<Float>(bits);
  char buffer[40];
  if (std::isnan(value)) {
    std::string text = std::signbit(value) ? "-nan" : "nan";
    uint64_t payload = bits & ((typename L::Bits{1} << L::kMantissaBits) - 1);
    if (payload == uint64_t{1} << (L::kMantissaBits - 1)) return text;
    auto end = std::to_chars(buffer, buffer + sizeof buffer, payload, 16).ptr;
    return text + ":0x" + std::string(buffer, end);
  }
  return std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

}  // namespace

std::string_view spelling(Scalar type) {
  switch (type) {
    case Scalar::I32:
      return "i32";
    case Scalar::I64:
      return "i64";
    case Scalar::F32:
      return "f32";
    case Scalar::F64:
      return "f64";
  }
  WAGO_UNREACHABLE("scalar type");
}

Result<uint64_t> parse_scalar(Scalar type, std::string_view text) {
  switch (type) {
    case Scalar::I32:
    case Scalar::I64:
      return parse_integer(type, text);
    case Scalar::F32:
      return parse_float<float>(type, text);
    case Scalar::F64:
      return parse_float<double>(type, text);
  }
  WAGO_UNREACHABLE("scalar type");
}

std::string format_scalar(Scalar type, uint64_t slot) {
  switch (type) {
    case Scalar::I32:
      return std::to_string(static_cast<int32_t>(slot));
    case Scalar::I64:
      return std::to_string(static_cast<int64_t>(slot));
    case Scalar::F32:
      return format_float<float>(slot);
    case Scalar::F64:
      return format_float<double>(slot);
  }
  WAGO_UNREACHABLE("scalar type");
}

}  // namespace wago::base
