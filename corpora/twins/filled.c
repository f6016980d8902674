#include <stdint.h>

enum { kCount = 262144 / 8 };

static uint64_t numbers[kCount];

void fill(void) {
  uint64_t state = 0x853c49e6748fea9b;
  for (int i = 0; i < kCount; ++i) {
    state = state * 6364136223846793005 + 1442695040888963407;
    numbers[i] = state;
  }
}

uint64_t scan(void) {
  uint64_t hash = 0;
  for (int i = 0; i < kCount; ++i) hash = ((hash << 5 | hash >> 59) ^ numbers[i]) * 0x100000001b3;
  return hash;
}
