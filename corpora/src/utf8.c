// UTF-8 after RFC 3629: every scalar value is encoded and decoded again, and malformed sequences are refused.
#include <stdint.h>

enum { kMaxText = 1 << 18, kMalformed = -1 };

static uint8_t text[kMaxText];

static __attribute__((noinline)) int encode(uint32_t point, uint8_t* out) {
  if (point < 0x80) {
    out[0] = (uint8_t)point;
    return 1;
  }
  if (point < 0x800) {
    out[0] = (uint8_t)(0xc0 | point >> 6);
    out[1] = (uint8_t)(0x80 | (point & 63));
    return 2;
  }
  if (point < 0x10000) {
    out[0] = (uint8_t)(0xe0 | point >> 12);
    out[1] = (uint8_t)(0x80 | (point >> 6 & 63));
    out[2] = (uint8_t)(0x80 | (point & 63));
    return 3;
  }
  out[0] = (uint8_t)(0xf0 | point >> 18);
  out[1] = (uint8_t)(0x80 | (point >> 12 & 63));
  out[2] = (uint8_t)(0x80 | (point >> 6 & 63));
  out[3] = (uint8_t)(0x80 | (point & 63));
  return 4;
}

// The scalar value that starts at *at, which moves behind it. Overlong forms, surrogates, values above
// U+10FFFF, stray and missing continuation bytes are kMalformed.
static __attribute__((noinline)) int32_t decode(const uint8_t* bytes, int end, int* at) {
  static const uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  uint32_t first = bytes[(*at)++];
  if (first < 0x80) return (int32_t)first;
  int length = first >= 0xf8 ? 0 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 0;
  if (!length || *at + length - 1 > end) return kMalformed;
  uint32_t point = first & (0x7fu >> length);
  for (int i = 1; i < length; ++i) {
    uint32_t next = bytes[(*at)++];
    if ((next & 0xc0) != 0x80) return kMalformed;
    point = point << 6 | (next & 63);
  }
  if (point < kSmallest[length] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) return kMalformed;
  return (int32_t)point;
}

// Writes every step-th scalar value, reads the text back and compares. How many there were times 2^32, plus a
// hash of the bytes; 0 if a value came back as another or the text does not fit.
uint64_t utf8(int32_t step) {
  int length = 0;
  for (uint32_t point = 0; point <= 0x10ffff; point += (uint32_t)step) {
    if (point >= 0xd800 && point < 0xe000) continue;
    if (length + 4 > kMaxText) return 0;
    length += encode(point, &text[length]);
  }
  uint32_t expected = 0, count = 0;
  for (int at = 0; at < length; ++count) {
    while (expected >= 0xd800 && expected < 0xe000) expected += (uint32_t)step;
    if (decode(text, length, &at) != (int32_t)expected) return 0;
    expected += (uint32_t)step;
  }
  uint32_t hash = 0;
  for (int i = 0; i < length; ++i) hash = (hash ^ text[i]) * 16777619;
  return (uint64_t)count << 32 | hash;
}

// How many of 2^16 two-byte texts are well-formed. By counting: 128 * 128 pairs of ASCII characters and 30 *
// 64 two-byte characters.
int32_t well_formed_pairs(void) {
  int32_t count = 0;
  for (uint32_t pair = 0; pair < 0x10000; ++pair) {
    uint8_t bytes[2] = {(uint8_t)(pair >> 8), (uint8_t)pair};
    int at = 0, good = 1;
    while (at < 2 && good) good = decode(bytes, 2, &at) != kMalformed;
    count += good;
  }
  return count;
}
