// The Mandelbrot set on a grid over [-2, 1] x [-1.2, 1.2].
#include <stdint.h>

static __attribute__((noinline)) uint32_t iterations_at(double real, double imaginary, uint32_t limit) {
  double x = 0.0, y = 0.0;
  uint32_t count = 0;
  while (count < limit) {
    double x2 = x * x, y2 = y * y;
    if (x2 + y2 > 4.0) break;
    y = 2.0 * x * y + imaginary;
    x = x2 - y2 + real;
    ++count;
  }
  return count;
}

// How many points of width x height stay bounded for `limit` iterations, times 2^32, plus a hash of the
// iterations of every point.
uint64_t mandelbrot(int32_t width, int32_t height, int32_t limit) {
  uint32_t inside = 0, hash = 0;
  for (int32_t row = 0; row < height; ++row) {
    double imaginary = -1.2 + 2.4 * (double)row / (double)height;
    for (int32_t column = 0; column < width; ++column) {
      double real = -2.0 + 3.0 * (double)column / (double)width;
      uint32_t count = iterations_at(real, imaginary, (uint32_t)limit);
      if (count == (uint32_t)limit) ++inside;
      hash = hash * 16777619 + count;
    }
  }
  return (uint64_t)inside << 32 | hash;
}
