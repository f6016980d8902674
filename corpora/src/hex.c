// Hexadecimal text (RFC 4648, section 8), sixteen bytes at a time: digits are looked up in a register.
#include "vector.h"

enum { kMaxBytes = 1 << 15 };

static uint8_t data[kMaxBytes];
static uint8_t text[2 * kMaxBytes];
static uint8_t decoded[kMaxBytes];

static void generate(int32_t count) {
  uint32_t state = 2463534242;
  for (int32_t i = 0; i < count; ++i) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    data[i] = (uint8_t)(state >> 11);
  }
}

// `count` is a multiple of 16 in all of these.
static __attribute__((noinline)) void encode(int32_t count) {
  const u8x16 digits = {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F'};
  for (int32_t i = 0; i < count; i += 16) {
    const u8x16 bytes = load(&data[i]);
    const u8x16 high = swizzle(digits, bytes >> 4);
    const u8x16 low = swizzle(digits, bytes & splat(15));
    store(&text[2 * i],
          __builtin_shufflevector(high, low, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23));
    store(&text[2 * i + 16],
          __builtin_shufflevector(high, low, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31));
  }
}

// Values of digits; bytes that are none set bits of *wrong.
static inline u8x16 values(u8x16 letters, u8x16* wrong) {
  const u8x16 number = letters - splat('0');
  const u8x16 letter = letters - splat('A');
  const u8x16 is_number = (u8x16)(number < splat(10));
  const u8x16 is_letter = (u8x16)(letter < splat(6));
  *wrong |= ~(is_number | is_letter);
  return (number & is_number) | ((letter + splat(10)) & is_letter);
}

// Whether the text was hexadecimal.
static __attribute__((noinline)) int decode(int32_t count) {
  u8x16 wrong = splat(0);
  for (int32_t i = 0; i < count; i += 16) {
    const u8x16 first = values(load(&text[2 * i]), &wrong);
    const u8x16 second = values(load(&text[2 * i + 16]), &wrong);
    const u8x16 high =
        __builtin_shufflevector(first, second, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const u8x16 low =
        __builtin_shufflevector(first, second, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    store(&decoded[i], high << 4 | low);
  }
  return !any_true(wrong);
}

static __attribute__((noinline)) int same(int32_t count) {
  u8x16 differing = splat(0);
  for (int32_t i = 0; i < count; i += 16) differing |= load(&data[i]) ^ load(&decoded[i]);
  return !any_true(differing);
}

static uint32_t hash_text(int32_t count) {
  uint32_t hash = 2166136261;
  for (int32_t i = 0; i < 2 * count; i += 61) hash = (hash ^ text[i]) * 16777619;
  return hash;
}

// Writes `count` bytes as text and reads them back: a hash of every 61st digit, or 0 if other bytes came
// back.
uint32_t round_trip(int32_t count) {
  if (count < 16 || count > kMaxBytes || count % 16 != 0) return 0;
  generate(count);
  encode(count);
  return decode(count) && same(count) ? hash_text(count) : 0;
}

// Eight digits of "foobar" in text, whose base 16 is published, from digit 8 * index on.
uint64_t vector(int32_t index) {
  __builtin_memset(data, 0, 16);
  __builtin_memcpy(data, "foobar", 6);
  encode(16);
  uint64_t digits = 0;
  for (int i = 0; i < 8; ++i) digits = digits << 8 | text[(8 * index & 31) + i];
  return digits;
}

// Whether text with one byte in it that is no digit is read all the same.
int32_t lenient(int32_t count, int32_t place, int32_t byte) {
  if (count < 16 || count > kMaxBytes || count % 16 != 0 || place < 0 || place >= 2 * count) return -1;
  generate(count);
  encode(count);
  text[place] = (uint8_t)byte;
  return decode(count);
}
