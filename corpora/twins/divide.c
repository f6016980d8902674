#include <stdint.h>

int32_t quotients(int32_t n) {
  uint32_t sum = 0;
  for (int32_t d = 1; d <= n; ++d) sum += (uint32_t)(n / d) * (uint32_t)(n % d);
  return (int32_t)sum;
}
