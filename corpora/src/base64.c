// Base64 after RFC 4648, both ways.
#include <stdint.h>

enum { kMaxBytes = 3 << 14 };

static const char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static uint8_t original[kMaxBytes];
static uint8_t encoded[kMaxBytes / 3 * 4];
static uint8_t decoded[kMaxBytes];

static __attribute__((noinline)) int encode(const uint8_t* bytes, int count, uint8_t* text) {
  int length = 0;
  for (int i = 0; i < count; i += 3) {
    int here = count - i < 3 ? count - i : 3;
    uint32_t group = (uint32_t)bytes[i] << 16;
    if (here > 1) group |= (uint32_t)bytes[i + 1] << 8;
    if (here > 2) group |= bytes[i + 2];
    text[length++] = (uint8_t)kAlphabet[group >> 18];
    text[length++] = (uint8_t)kAlphabet[group >> 12 & 63];
    text[length++] = here > 1 ? (uint8_t)kAlphabet[group >> 6 & 63] : '=';
    text[length++] = here > 2 ? (uint8_t)kAlphabet[group & 63] : '=';
  }
  return length;
}

// 0..63, or 64 for what is not in the alphabet.
static uint32_t digit(uint8_t letter) {
  if (letter >= 'A' && letter <= 'Z') return letter - 'A';
  if (letter >= 'a' && letter <= 'z') return letter - 'a' + 26u;
  if (letter >= '0' && letter <= '9') return letter - '0' + 52u;
  if (letter == '+') return 62;
  return letter == '/' ? 63 : 64;
}

// How many bytes; -1 if the text is malformed.
static __attribute__((noinline)) int decode(const uint8_t* text, int length, uint8_t* bytes) {
  int count = 0;
  if (length % 4) return -1;
  for (int i = 0; i < length; i += 4) {
    int padding = 0;
    if (i + 4 == length) padding = text[i + 3] != '=' ? 0 : text[i + 2] != '=' ? 1 : 2;
    uint32_t group = 0;
    for (int k = 0; k < 4; ++k) {
      uint32_t value = k < 4 - padding ? digit(text[i + k]) : 0;
      if (value > 63) return -1;
      group = group << 6 | value;
    }
    for (int k = 0; k < 3 - padding; ++k) bytes[count++] = (uint8_t)(group >> (16 - 8 * k));
  }
  return count;
}

// The encoding of the first `count` (at most 6) letters of "foobar", as its characters read as one big-endian
// number: the test vectors of the RFC, section 10.
uint64_t vector(int32_t count) {
  static const uint8_t kText[] = {'f', 'o', 'o', 'b', 'a', 'r'};
  if (count < 0 || count > 6) return 0;
  uint8_t text[8];
  int length = encode(kText, count, text);
  uint64_t number = 0;
  for (int i = 0; i < length; ++i) number = number << 8 | text[i];
  return number;
}

// Encodes `count` pseudo-random bytes, decodes them again and compares. A hash of the text; 0 if the bytes
// differ.
uint64_t round_trip(int32_t count) {
  if (count < 0 || count > kMaxBytes) return 0;
  uint32_t state = 1;
  for (int i = 0; i < count; ++i) {
    state = state * 1664525 + 1013904223;
    original[i] = (uint8_t)(state >> 24);
  }
  int length = encode(original, count, encoded);
  if (decode(encoded, length, decoded) != count) return 0;
  for (int i = 0; i < count; ++i) {
    if (original[i] != decoded[i]) return 0;
  }
  uint64_t hash = (uint64_t)length;
  for (int i = 0; i < length; ++i) hash = (hash ^ encoded[i]) * 0x100000001b3;
  return hash;
}
