// Pancake flipping over all permutations of n: as long as the first pancake is not number 1, the stack is
// turned over down to the pancake with the first one's number (Anderson and Rettig, "Performing Lisp Analysis of
// the FANNKUCH Benchmark", 1994). Counted are the greatest number of flips and a sum of flips with alternating
// sign.
#include <stdint.h>

enum { kMaxSize = 12 };

static uint8_t stack[kMaxSize];    // the permutation at hand
static uint8_t flipped[kMaxSize];  // what becomes of it
static uint8_t turns[kMaxSize];  // [i]: how often the first i + 1 pancakes were rotated since they were reset
static int32_t alternating_sum;

static __attribute__((noinline)) int32_t count_flips(int size) {
  for (int i = 0; i < size; ++i) flipped[i] = stack[i];
  int32_t flips = 0;
  for (int first = flipped[0]; first != 0; first = flipped[0]) {
    for (int low = 0, high = first; low < high; ++low, --high) {
      uint8_t pancake = flipped[low];
      flipped[low] = flipped[high];
      flipped[high] = pancake;
    }
    ++flips;
  }
  return flips;
}

// The next permutation: the shortest prefix that has a rotation left is rotated by one, and shorter ones
// start over. Returns 0 after the last.
static __attribute__((noinline)) int next_permutation(int size) {
  for (int last = 1; last < size; ++last) {
    uint8_t first = stack[0];
    for (int i = 0; i < last; ++i) stack[i] = stack[i + 1];
    stack[last] = first;
    if (turns[last] < last) {
      ++turns[last];
      return 1;
    }
    turns[last] = 0;
  }
  return 0;
}

// The greatest number of flips for 2 <= size <= kMaxSize.
int32_t fannkuch(int32_t size) {
  if (size < 2 || size > kMaxSize) return -1;
  for (int i = 0; i < size; ++i) {
    stack[i] = (uint8_t)i;
    turns[i] = 0;
  }
  alternating_sum = 0;
  int32_t most = 0, sign = 1;
  do {
    int32_t flips = count_flips(size);
    if (flips > most) most = flips;
    alternating_sum += sign * flips;
    sign = -sign;
  } while (next_permutation(size));
  return most;
}

// Of the last fannkuch(): flips of permutations number 0, 2, 4... minus those of 1, 3, 5...
int32_t checksum(void) {
  return alternating_sum;
}
