// Conversions between integers and floats of both widths, rounding to integers in every direction, signs and
// comparisons. No value leaves the range of what it is converted to.
#include <stdint.h>

static uint64_t bits_of(double value) {
  union {
    double value;
    uint64_t bits;
  } both = {value};
  return both.bits;
}

static double rounded(double x, int direction) {
  switch (direction & 3) {
    case 0:
      return __builtin_floor(x);
    case 1:
      return __builtin_ceil(x);
    case 2:
      return __builtin_trunc(x);
    default:
      return __builtin_rint(x);
  }
}

// One step: a number becomes floats of both widths and comes back as integers of both signs.
static __attribute__((noinline)) uint64_t convert(int64_t number, int direction) {
  double wide = (double)number / 1024.0;
  float narrow = (float)number * 0.25f;
  int32_t from_narrow = (int32_t)(narrow / 1048576.0f);
  uint32_t from_wide = (uint32_t)__builtin_fabs(wide / 8192.0);
  int64_t back = (int64_t)rounded(wide, direction);
  uint64_t magnitude = (uint64_t)__builtin_fabsf(narrow);
  double signed_root = __builtin_copysign(__builtin_sqrt(__builtin_fabs(wide)), wide);
  double whole = (double)(uint64_t)back + (double)from_wide;
  uint64_t sum = (uint64_t)back + magnitude + (uint64_t)(int64_t)from_narrow;
  if (signed_root < (double)narrow) sum ^= 0x5555;
  return sum ^ bits_of(signed_root) ^ bits_of(whole) ^ bits_of((double)narrow);
}

uint64_t conversions(int32_t count) {
  uint64_t state = 88172645463325252, hash = 0;
  for (int32_t i = 0; i < count; ++i) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    hash = (hash ^ convert((int64_t)state >> 16, i)) * 0x100000001b3;
  }
  return hash;
}
