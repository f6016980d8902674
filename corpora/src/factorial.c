// Factorials as numbers of any length, in limbs to base 10^9: multiplication of 32 by 64 bits and division by
// a constant. The digits of 100! add up to 648 (OEIS A004152).
#include <stdint.h>

enum { kBase = 1000000000, kMaxLimbs = 300, kMaxNumber = 1000 };

static uint32_t limbs[kMaxLimbs];  // least significant first
static int used;

static __attribute__((noinline)) void multiply(uint32_t factor) {
  uint64_t carry = 0;
  for (int i = 0; i < used; ++i) {
    uint64_t value = (uint64_t)limbs[i] * factor + carry;
    limbs[i] = (uint32_t)(value % kBase);
    carry = value / kBase;
  }
  if (carry) limbs[used++] = (uint32_t)carry;
}

// The sum of the decimal digits of number!.
int32_t digit_sum(int32_t number) {
  if (number < 0 || number > kMaxNumber) return -1;
  limbs[0] = 1;
  used = 1;
  for (int32_t factor = 2; factor <= number; ++factor) multiply((uint32_t)factor);
  int32_t sum = 0;
  for (int i = 0; i < used; ++i) {
    for (uint32_t limb = limbs[i]; limb; limb /= 10) sum += (int32_t)(limb % 10);
  }
  return sum;
}
