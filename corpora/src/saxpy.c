// Vectors of numbers in single precision, four at a time: y += a * x, and the scalar product of x and y.
#include "vector.h"

enum { kMaxQuads = 4096 };

static f32x4 x[kMaxQuads];
static f32x4 y[kMaxQuads];

static void fill(int quads) {
  uint32_t state = 12345;
  for (int i = 0; i < quads; ++i) {
    for (int lane = 0; lane < 4; ++lane) {
      state = state * 1664525 + 1013904223;
      x[i][lane] = (float)(int32_t)(state >> 8 & 0xffff) / 65536.0f - 0.5f;
      y[i][lane] = (float)(int32_t)(state >> 16) / 65536.0f;
    }
  }
}

static __attribute__((noinline)) void saxpy(float a, int quads) {
  const f32x4 factor = {a, a, a, a};
  for (int i = 0; i < quads; ++i) y[i] += factor * x[i];
}

// In four sums of quads each, so that an addition need not wait for the one before.
static __attribute__((noinline)) float dot(int quads) {
  f32x4 sum0 = {0}, sum1 = {0}, sum2 = {0}, sum3 = {0};
  for (int i = 0; i < quads; i += 4) {
    sum0 += x[i] * y[i];
    sum1 += x[i + 1] * y[i + 1];
    sum2 += x[i + 2] * y[i + 2];
    sum3 += x[i + 3] * y[i + 3];
  }
  const f32x4 sum = (sum0 + sum1) + (sum2 + sum3);
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// The scalar product of two vectors of 16 * `count` numbers, after y += a * x for a = 1 / 1, 1 / 2, ..., 1 /
// `rounds`, and what every round made of it, added up.
float products(int32_t count, int32_t rounds) {
  if (count < 1 || count > kMaxQuads / 4) return -1.0f;
  const int quads = 4 * count;
  fill(quads);
  float sum = 0.0f;
  for (int32_t round = 1; round <= rounds; ++round) {
    saxpy(1.0f / (float)round, quads);
    sum += dot(quads);
  }
  return sum;
}
