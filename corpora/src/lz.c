// A small LZ77 compressor and its inverse.
//
// The compressed text is a sequence of tokens: a byte c < 128 and c + 1 literal bytes; or a byte c >= 128 and
// two of distance, least significant first: c - 124 bytes are repeated from that far back.
#include <stdint.h>

enum { kMaxText = 1 << 15, kHashBits = 12, kShortest = 4, kLongest = 131, kMaxLiterals = 128 };

static uint8_t text[kMaxText];
static uint8_t packed[2 * kMaxText];
static uint8_t unpacked[kMaxText];
static int32_t last_place[1 << kHashBits];  // of four bytes with this hash; -1 if there was none

static __attribute__((noinline)) void write_text(int count) {
  static const char kWords[8][10] = {"capture ", "module ", "the ",  "of ",
                                     "trap ",    "a ",      "runs ", "measured "};
  uint32_t state = 1;
  for (int at = 0; at < count;) {
    state = state * 1664525 + 1013904223;
    const char* word = kWords[state >> 29];
    for (int i = 0; i < 10 && word[i] && at < count; ++i) text[at++] = (uint8_t)word[i];
    if ((state >> 20 & 15) == 0 && at < count) text[at++] = (uint8_t)(state >> 8);
  }
}

static uint32_t hash_at(int at) {
  uint32_t four =
      text[at] | (uint32_t)text[at + 1] << 8 | (uint32_t)text[at + 2] << 16 | (uint32_t)text[at + 3] << 24;
  return four * 2654435761u >> (32 - kHashBits);
}

static __attribute__((noinline)) int match_length(int from, int at, int end) {
  int length = 0;
  while (length < kLongest && at + length < end && text[from + length] == text[at + length]) ++length;
  return length;
}

static __attribute__((noinline)) int put_literals(int from, int end, int out) {
  while (from < end) {
    int count = end - from < kMaxLiterals ? end - from : kMaxLiterals;
    packed[out++] = (uint8_t)(count - 1);
    for (int i = 0; i < count; ++i) packed[out++] = text[from++];
  }
  return out;
}

// How many bytes of packed[] it takes.
static __attribute__((noinline)) int pack(int count) {
  for (int i = 0; i < 1 << kHashBits; ++i) last_place[i] = -1;
  int out = 0, literals = 0;  // text from `literals` on is not yet written
  for (int at = 0; at + kShortest <= count;) {
    uint32_t hash = hash_at(at);
    int from = last_place[hash];
    last_place[hash] = at;
    int length = from < 0 ? 0 : match_length(from, at, count);
    if (length < kShortest) {
      ++at;
      continue;
    }
    out = put_literals(literals, at, out);
    int distance = at - from;
    packed[out++] = (uint8_t)(128 + length - kShortest);
    packed[out++] = (uint8_t)distance;
    packed[out++] = (uint8_t)(distance >> 8);
    at += length;
    literals = at;
  }
  return put_literals(literals, count, out);
}

// How many bytes of unpacked[] it makes.
static __attribute__((noinline)) int unpack(int size) {
  int out = 0;
  for (int at = 0; at < size;) {
    int token = packed[at++];
    if (token < 128) {
      for (int i = 0; i <= token; ++i) unpacked[out++] = packed[at++];
      continue;
    }
    int distance = packed[at] | packed[at + 1] << 8;
    at += 2;
    for (int i = 0; i < token - 128 + kShortest; ++i, ++out) unpacked[out] = unpacked[out - distance];
  }
  return out;
}

// Packs and unpacks `count` bytes of text. The packed size times 2^32, plus a hash of the packed bytes; 0 if
// the text did not come back.
uint64_t lz(int32_t count) {
  if (count < 1 || count > kMaxText) return 0;
  write_text(count);
  int size = pack(count);
  if (unpack(size) != count) return 0;
  for (int i = 0; i < count; ++i) {
    if (unpacked[i] != text[i]) return 0;
  }
  uint32_t hash = 0;
  for (int i = 0; i < size; ++i) hash = (hash ^ packed[i]) * 16777619;
  return (uint64_t)size << 32 | hash;
}
