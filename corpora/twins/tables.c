// One switch instead of a table; the rotation is arithmetic on the operation's number.
#include <stdint.h>

static uint32_t apply(uint32_t operation, uint32_t a, uint32_t b) {
  switch (operation) {
    case 0:
      return a + b;
    case 1:
      return a - b;
    case 2:
      return a * (b | 1);
    case 3:
      return (a & b) + 0x1234567;
    case 4:
      return (a | b) ^ 0x7654321;
    case 5:
      return a ^ b;
    case 6:
      return b % 32 ? a << b % 32 | a >> (32 - b % 32) : a;
    default:
      return (a ^ a >> 15) * 0x2c1b3c6d;
  }
}

uint32_t tables(int32_t calls) {
  uint32_t value = 1, rotations = 0;
  for (uint32_t i = 0; i < (uint32_t)calls; ++i) {
    value = apply((i + rotations) % 8, value, i);
    if (i % 64 == 0) ++rotations;
  }
  return value;
}
