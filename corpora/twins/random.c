#include <stdint.h>

uint64_t draw(int32_t n) {
  uint64_t state = 0x2545f4914f6cdd1d;
  uint32_t odd = 0, hash = 0;
  for (; n; --n) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    odd += state % 2;
    hash = hash * 16777619 + (uint32_t)(state >> 32);
  }
  return (uint64_t)odd << 32 | hash;
}
