#include "base/punycode.h"

#include <algorithm>
#include <cstdint>

namespace wago::base {

namespace {

// Parameters and names are those of RFC 3492, section 5.
constexpr uint64_t kBase = 36, kTMin = 1, kTMax = 26, kSkew = 38, kDamp = 700;
constexpr uint64_t kInitialBias = 72, kInitialCodePoint = 0x80, kLastCodePoint = 0x10ffff;

// Section 6.1.
uint64_t adapted_bias(uint64_t delta, uint64_t points, bool first) {
  delta = first ? delta / kDamp : delta / 2;
  delta += delta / points;
  uint64_t k = 0;
  for (; delta > (kBase - kTMin) * kTMax / 2; k += kBase) delta /= kBase - kTMin;
  return k + (kBase - kTMin + 1) * delta / (delta + kSkew);
}

std::optional<uint64_t> digit_of(char c) {
  if (c >= 'a' && c <= 'z') return c - 'a';
  if (c >= '0' && c <= '9') return c - '0' + 26;
  return std::nullopt;
}

// One variable-length integer off the front of `text`. A sum that cannot be a position any more is refused
// before it can overflow.
std::optional<uint64_t> take_delta(std::string_view& text, uint64_t bias) {
  constexpr uint64_t kMax = uint64_t{1} << 32;
  uint64_t delta = 0, weight = 1;
  for (uint64_t k = kBase;; k += kBase) {
    if (text.empty()) return std::nullopt;
    const auto digit = digit_of(text.front());
    text.remove_prefix(1);
    if (!digit) return std::nullopt;
    delta += *digit * weight;
    if (delta > kMax) return std::nullopt;
    const uint64_t t = k <= bias ? kTMin : std::clamp(k - bias, kTMin, kTMax);
    if (*digit < t) return delta;
    weight *= kBase - t;
    if (weight > kMax) return std::nullopt;
  }
}

void append_utf8(std::string& text, uint32_t point) {
  const auto tail = [&](unsigned shift) { text += static_cast<char>(0x80 | ((point >> shift) & 0x3f)); };
  if (point < 0x80) {
    text += static_cast<char>(point);
  } else if (point < 0x800) {
    text += static_cast<char>(0xc0 | (point >> 6));
  } else if (point < 0x10000) {
    text += static_cast<char>(0xe0 | (point >> 12));
    tail(6);
  } else {
    text += static_cast<char>(0xf0 | (point >> 18));
    tail(12);
    tail(6);
  }
  if (point >= 0x80) tail(0);
}

}  // namespace

std::optional<std::string> decoded_punycode(std::string_view text, char delimiter) {
  std::u32string points;
  if (const size_t end = text.rfind(delimiter); end != text.npos) {
    for (char c : text.substr(0, end)) {
      if (static_cast<unsigned char>(c) >= 0x80) return std::nullopt;
      points += static_cast<char32_t>(c);
    }
    text.remove_prefix(end + 1);
  }
  uint64_t point = kInitialCodePoint, at = 0, bias = kInitialBias;
  for (bool first = true; !text.empty(); first = false) {
    const auto delta = take_delta(text, bias);
    if (!delta) return std::nullopt;
    at += *delta;
    const uint64_t count = points.size() + 1;
    bias = adapted_bias(*delta, count, first);
    point += at / count;
    at %= count;
    if (point > kLastCodePoint || (point >= 0xd800 && point < 0xe000)) return std::nullopt;
    points.insert(points.begin() + static_cast<std::ptrdiff_t>(at++), static_cast<char32_t>(point));
  }
  std::string decoded;
  for (char32_t c : points) append_utf8(decoded, c);
  return decoded;
}

}  // namespace wago::base
