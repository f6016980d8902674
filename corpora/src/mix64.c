// 64-bit arithmetic without memory: xorshift, multiplication, rotation and bit counts, each result going into
// the next step.
#include <stdint.h>

static uint64_t rotate_left(uint64_t word, uint32_t bits) {
  bits &= 63;
  return word << bits | word >> (-bits & 63);
}

static uint64_t finish(uint64_t word) {
  word ^= word >> 33;
  word *= 0xff51afd7ed558ccd;
  word ^= word >> 33;
  word *= 0xc4ceb9fe1a85ec53;
  return word ^ word >> 33;
}

uint64_t mix64(uint64_t seed, int32_t rounds) {
  uint64_t state = seed | 1, sum = 0;
  for (int32_t i = 0; i < rounds; ++i) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    uint64_t mixed = finish(state + (uint64_t)i);
    uint32_t bits = (uint32_t)(__builtin_popcountll(mixed) + __builtin_clzll(state) + __builtin_ctzll(state));
    sum = rotate_left(sum, bits) + mixed;
    sum ^= (uint64_t)((int64_t)mixed >> (bits & 31));
    sum += mixed % (state >> 40 | 3);
  }
  return sum;
}
