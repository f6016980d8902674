// Conway's game of life on a torus, started with an R-pentomino and a glider.
#include <stdint.h>

enum { kSize = 64 };

static uint8_t world[2][kSize][kSize];

static void set(int row, int column) {
  world[0][row][column] = 1;
}

static __attribute__((noinline)) void reset(void) {
  for (int row = 0; row < kSize; ++row) {
    for (int column = 0; column < kSize; ++column) world[0][row][column] = 0;
  }
  set(31, 32), set(31, 33), set(32, 31), set(32, 32), set(33, 32);
  set(4, 5), set(5, 6), set(6, 4), set(6, 5), set(6, 6);
}

static int neighbours(const uint8_t (*cells)[kSize], int row, int column) {
  const uint8_t* above = cells[(row + kSize - 1) % kSize];
  const uint8_t* here = cells[row];
  const uint8_t* below = cells[(row + 1) % kSize];
  int left = (column + kSize - 1) % kSize, right = (column + 1) % kSize;
  return above[left] + above[column] + above[right] + here[left] + here[right] + below[left] + below[column] +
         below[right];
}

static __attribute__((noinline)) void advance(const uint8_t (*from)[kSize], uint8_t (*to)[kSize]) {
  for (int row = 0; row < kSize; ++row) {
    for (int column = 0; column < kSize; ++column) {
      int alive = neighbours(from, row, column);
      to[row][column] = alive == 3 || (alive == 2 && from[row][column]);
    }
  }
}

// Cells alive after an even number of generations, times 2^32, plus a hash of where they are.
uint64_t life(int32_t generations) {
  reset();
  for (int32_t i = 0; i + 1 < generations; i += 2) {
    advance((const uint8_t(*)[kSize])world[0], world[1]);
    advance((const uint8_t(*)[kSize])world[1], world[0]);
  }
  uint32_t alive = 0, hash = 0;
  for (int row = 0; row < kSize; ++row) {
    for (int column = 0; column < kSize; ++column) {
      if (!world[0][row][column]) continue;
      ++alive;
      hash = (hash ^ (uint32_t)(row * kSize + column)) * 16777619;
    }
  }
  return (uint64_t)alive << 32 | hash;
}
