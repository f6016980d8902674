// The edit distance (Levenshtein) of two texts by dynamic programming over two rows.
#include <stdint.h>

enum { kMaxLength = 1024 };

static uint8_t first[kMaxLength], second[kMaxLength];
static int32_t rows[2][kMaxLength + 1];

static int32_t least(int32_t a, int32_t b, int32_t c) {
  int32_t least = a < b ? a : b;
  return c < least ? c : least;
}

static __attribute__((noinline)) int32_t distance(const uint8_t* a, int a_length, const uint8_t* b,
                                                  int b_length) {
  int32_t *above = rows[0], *here = rows[1];
  for (int j = 0; j <= b_length; ++j) above[j] = j;
  for (int i = 1; i <= a_length; ++i) {
    here[0] = i;
    for (int j = 1; j <= b_length; ++j) {
      int32_t replaced = above[j - 1] + (a[i - 1] != b[j - 1]);
      here[j] = least(replaced, above[j] + 1, here[j - 1] + 1);
    }
    int32_t* filled = here;
    here = above;
    above = filled;
  }
  return above[b_length];
}

// Of "kitten" and "sitting": 3.
int32_t kitten(void) {
  static const uint8_t kKitten[] = {'k', 'i', 't', 't', 'e', 'n'};
  static const uint8_t kSitting[] = {'s', 'i', 't', 't', 'i', 'n', 'g'};
  return distance(kKitten, 6, kSitting, 7);
}

// Of two pseudo-random texts over four letters, times 2^32, plus a hash of the last row.
uint64_t random_texts(int32_t length) {
  if (length < 1 || length > kMaxLength) return 0;
  uint32_t state = 7;
  for (int i = 0; i < length; ++i) {
    state = state * 1664525 + 1013904223;
    first[i] = (uint8_t)('a' + (state >> 30));
    second[i] = (uint8_t)('a' + (state >> 20 & 3));
  }
  int32_t result = distance(first, length, second, length);
  const int32_t* last = rows[length % 2];
  uint32_t hash = 0;
  for (int j = 0; j <= length; ++j) hash = (hash ^ (uint32_t)last[j]) * 16777619;
  return (uint64_t)(uint32_t)result << 32 | hash;
}
