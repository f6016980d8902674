// By iteration.
#include <stdint.h>

int32_t fib(int32_t n) {
  int32_t a = 0, b = 1;
  for (; n > 0; --n) {
    int32_t next = a + b;
    a = b;
    b = next;
  }
  return a;
}
