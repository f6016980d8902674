// By recursion: gcd(a, b) = gcd(b, a mod b), and the coefficients on the way back.
#include <stdint.h>

typedef struct {
  int64_t gcd, x, y;  // gcd = a * x + b * y
} Bezout;

static Bezout solve(int64_t a, int64_t b) {
  if (b == 0) return (Bezout){a, 1, 0};
  Bezout rest = solve(b, a % b);
  return (Bezout){rest.gcd, rest.y, rest.x - a / b * rest.y};
}

int64_t bezout(int32_t limit) {
  uint64_t sum = 0;
  for (int64_t a = 1; a <= limit; ++a) {
    for (int64_t b = 1; b <= limit; ++b) {
      Bezout result = solve(a, b);
      sum = sum * 3 + (uint64_t)result.gcd + (uint64_t)result.x * 31;
    }
  }
  return (int64_t)sum;
}
