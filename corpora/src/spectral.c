// The spectral norm of the infinite matrix a(i,j) = 1 / ((i+j)(i+j+1)/2 + i + 1), cut off at size, by ten
// steps of power iteration on its square (SIAM "Hundred-Dollar, Hundred-Digit" challenge, problem 3; the
// limit is 1.274224152...).
#include <stdint.h>

enum { kMaxSize = 256 };

static double u[kMaxSize], v[kMaxSize], between[kMaxSize];

static double element(int row, int column) {
  int diagonal = row + column;
  return 1.0 / (double)(diagonal * (diagonal + 1) / 2 + row + 1);
}

static __attribute__((noinline)) void multiply(int size, const double* from, double* to) {
  for (int row = 0; row < size; ++row) {
    double sum = 0.0;
    for (int column = 0; column < size; ++column) sum += element(row, column) * from[column];
    to[row] = sum;
  }
}

static __attribute__((noinline)) void multiply_transposed(int size, const double* from, double* to) {
  for (int row = 0; row < size; ++row) {
    double sum = 0.0;
    for (int column = 0; column < size; ++column) sum += element(column, row) * from[column];
    to[row] = sum;
  }
}

static __attribute__((noinline)) double dot(int size, const double* a, const double* b) {
  double sum = 0.0;
  for (int i = 0; i < size; ++i) sum += a[i] * b[i];
  return sum;
}

double spectral_norm(int32_t size) {
  if (size < 1 || size > kMaxSize) return -1.0;
  for (int i = 0; i < size; ++i) u[i] = 1.0;
  for (int step = 0; step < 10; ++step) {
    multiply(size, u, between);
    multiply_transposed(size, between, v);
    multiply(size, v, between);
    multiply_transposed(size, between, u);
  }
  return __builtin_sqrt(dot(size, u, v) / dot(size, v, v));
}
