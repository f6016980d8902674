// The sieve of Eratosthenes over odd numbers: byte stores with growing strides, then a scan.
#include <stdint.h>

enum { kLimit = 1 << 18 };

static uint8_t composite[kLimit / 2];  // [i] stands for 2 * i + 1

static __attribute__((noinline)) void strike_multiples(uint32_t prime, uint32_t limit) {
  for (uint32_t n = prime * prime; n < limit; n += 2 * prime) composite[n / 2] = 1;
}

// How many primes are below limit (at most kLimit), times 2^32, plus their sum modulo 2^32.
uint64_t sieve(uint32_t limit) {
  if (limit > kLimit || limit < 3) return 0;
  for (uint32_t i = 0; i < limit / 2; ++i) composite[i] = 0;
  for (uint32_t n = 3; n * n < limit; n += 2) {
    if (!composite[n / 2]) strike_multiples(n, limit);
  }
  uint32_t count = 1, sum = 2;
  for (uint32_t n = 3; n < limit; n += 2) {
    if (composite[n / 2]) continue;
    ++count;
    sum += n;
  }
  return (uint64_t)count << 32 | sum;
}
