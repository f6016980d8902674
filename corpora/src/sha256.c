// SHA-256 after FIPS 180-4, section 6.2, and the messages for which its authors published digests.
#include <stdint.h>

static const uint32_t kRoundConstants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static const uint32_t kInitial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

static uint32_t state[8];
static uint8_t block[64];
static uint64_t length;  // in bytes, of what was added so far

static uint32_t rotate_right(uint32_t word, int bits) {
  return word >> bits | word << (32 - bits);
}

static void expand(uint32_t schedule[64]) {
  for (int t = 0; t < 16; ++t) {
    const uint8_t* bytes = &block[4 * t];
    schedule[t] = (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
  }
  for (int t = 16; t < 64; ++t) {
    uint32_t a = schedule[t - 15], b = schedule[t - 2];
    uint32_t sigma0 = rotate_right(a, 7) ^ rotate_right(a, 18) ^ a >> 3;
    uint32_t sigma1 = rotate_right(b, 17) ^ rotate_right(b, 19) ^ b >> 10;
    schedule[t] = sigma1 + schedule[t - 7] + sigma0 + schedule[t - 16];
  }
}

static __attribute__((noinline)) void compress(void) {
  uint32_t schedule[64];
  expand(schedule);
  uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
  uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
  for (int t = 0; t < 64; ++t) {
    uint32_t sum1 = rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25);
    uint32_t choice = (e & f) ^ (~e & g);
    uint32_t first = h + sum1 + choice + kRoundConstants[t] + schedule[t];
    uint32_t sum0 = rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22);
    uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + sum0 + majority;
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
  state[4] += e;
  state[5] += f;
  state[6] += g;
  state[7] += h;
}

static void start(void) {
  for (int i = 0; i < 8; ++i) state[i] = kInitial[i];
  length = 0;
}

static void add(uint8_t byte) {
  block[length++ % 64] = byte;
  if (length % 64 == 0) compress();
}

static void finish(void) {
  uint64_t bits = length * 8;
  add(0x80);
  while (length % 64 != 56) add(0);
  for (int shift = 56; shift >= 0; shift -= 8) add((uint8_t)(bits >> shift));
}

static void add_text(const char* text) {
  while (*text) add((uint8_t)*text++);
}

// Hashes published message number `which`: 0 the empty one, 1 "abc", 2 the one of 448 bits, 3 the one of 896.
void hash_vector(int32_t which) {
  start();
  if (which == 1) add_text("abc");
  if (which == 2) add_text("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq");
  if (which == 3) {
    add_text("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn");
    add_text("hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu");
  }
  finish();
}

// Hashes `count` letters a; a million of them are a published message too.
void hash_letters(int32_t count) {
  start();
  for (int32_t i = 0; i < count; ++i) add('a');
  finish();
}

// 64 bits of the digest at hand, 0 <= index < 4, in the order in which digests are written.
uint64_t digest_word(int32_t index) {
  index &= 3;
  return (uint64_t)state[2 * index] << 32 | state[2 * index + 1];
}
