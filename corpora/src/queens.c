// In how many ways `size` queens can stand on a board without attacking each other: backtracking over sets of
// bits. OEIS A000170 lists 92 for 8, 352 for 9, 724 for 10.
#include <stdint.h>

// Places a queen in every row left; columns and diagonals that are attacked in this row are given as bits.
static int32_t place(uint32_t all, uint32_t columns, uint32_t left, uint32_t right) {
  if (columns == all) return 1;
  int32_t ways = 0;
  for (uint32_t free = all & ~(columns | left | right); free; free &= free - 1) {
    uint32_t queen = free & -free;
    ways += place(all, columns | queen, (left | queen) << 1, (right | queen) >> 1);
  }
  return ways;
}

int32_t queens(int32_t size) {
  return size < 1 || size > 16 ? 0 : place((1u << size) - 1, 0, 0, 0);
}
