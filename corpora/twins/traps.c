#include <stdint.h>

int32_t still_seven(void) {
  return 7;
}
