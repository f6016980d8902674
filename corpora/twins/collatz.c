// By recursion.
#include <stdint.h>

static int64_t steps(uint64_t n) {
  return n == 1 ? 0 : 1 + steps(n % 2 ? 3 * n + 1 : n / 2);
}

int64_t collatz(int32_t limit) {
  return limit < 1 ? 0 : steps((uint64_t)limit) + collatz(limit - 1);
}
