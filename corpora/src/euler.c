// Digits of e by a spigot: e - 2 = 1/2 (1 + 1/3 (1 + 1/4 (1 + ...))), carried from the innermost term
// outwards and multiplied by ten for each digit. Divisions by a different number at every step.
#include <stdint.h>

enum { kMaxDigits = 1000, kMaxTerms = 500 };

static uint32_t terms[kMaxTerms];

// Enough for `digits` digits: the terms' product must exceed 10^digits.
static int count_terms(int digits) {
  int terms_needed = 2;
  double logarithm = 0.0;  // to base two, rounded down
  while (logarithm < 3.33 * digits + 4.0) {
    ++terms_needed;
    for (int n = terms_needed; n > 1; n /= 2) logarithm += 1.0;
  }
  return terms_needed;
}

static __attribute__((noinline)) uint32_t next_digit(int count) {
  uint32_t carry = 0;
  for (int i = count - 1; i >= 0; --i) {
    uint32_t value = terms[i] * 10 + carry, divisor = (uint32_t)i + 2;
    terms[i] = value % divisor;
    carry = value / divisor;
  }
  return carry;
}

// A hash of the decimals of e, 1 <= digits <= kMaxDigits, times 2^32, plus the last nine of them as a number.
uint64_t euler(int32_t digits) {
  if (digits < 1 || digits > kMaxDigits) return 0;
  int count = count_terms(digits);
  if (count > kMaxTerms) return 0;
  for (int i = 0; i < count; ++i) terms[i] = 1;
  uint32_t hash = 0, last = 0;
  for (int i = 0; i < digits; ++i) {
    uint32_t digit = next_digit(count);
    hash = hash * 16777619 + digit;
    last = last % 100000000 * 10 + digit;
  }
  return (uint64_t)hash << 32 | last;
}
