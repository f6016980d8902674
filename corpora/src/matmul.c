// The product of two matrices of doubles, row by row.
#include <stdint.h>

enum { kMaxSize = 128 };

static double left[kMaxSize][kMaxSize];
static double right[kMaxSize][kMaxSize];
static double product[kMaxSize][kMaxSize];

static __attribute__((noinline)) void fill(int size) {
  for (int row = 0; row < size; ++row) {
    for (int column = 0; column < size; ++column) {
      left[row][column] = (double)(row * 7 + column * 3 + 1) / (double)(size + row);
      right[row][column] = (double)(row - 2 * column) / (double)(size + column);
    }
  }
}

static __attribute__((noinline)) void multiply(int size) {
  for (int row = 0; row < size; ++row) {
    for (int column = 0; column < size; ++column) product[row][column] = 0.0;
    for (int k = 0; k < size; ++k) {
      double factor = left[row][k];
      for (int column = 0; column < size; ++column) product[row][column] += factor * right[k][column];
    }
  }
}

// The sum of all elements, each weighted by its place. size is at most kMaxSize.
double matmul(int32_t size) {
  if (size < 0 || size > kMaxSize) return -1.0;
  fill(size);
  multiply(size);
  double sum = 0.0;
  for (int row = 0; row < size; ++row) {
    for (int column = 0; column < size; ++column)
      sum += product[row][column] * (double)(row + 2 * column + 1);
  }
  return sum;
}
