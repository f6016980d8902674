// CRC-32 as Ethernet, gzip and PNG use it (polynomial 0x04c11db7, reflected), a byte at a time by table.
#include <stdint.h>

enum { kMaxBytes = 1 << 18 };

static uint32_t table[256];
static uint8_t message[kMaxBytes];

// Builds the table and the message that crc32() reads. To be called once.
void prepare(void) {
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t remainder = byte;
    for (int bit = 0; bit < 8; ++bit) remainder = remainder >> 1 ^ (remainder & 1 ? 0xedb88320 : 0);
    table[byte] = remainder;
  }
  uint32_t state = 1;
  for (int i = 0; i < kMaxBytes; ++i) {
    state = state * 1664525 + 1013904223;
    message[i] = (uint8_t)(state >> 24);
  }
}

static __attribute__((noinline)) uint32_t update(uint32_t crc, const uint8_t* bytes, int count) {
  for (int i = 0; i < count; ++i) crc = table[(crc ^ bytes[i]) & 0xff] ^ crc >> 8;
  return crc;
}

// Of the nine digits "123456789", whose CRC is published as the check value: 0xcbf43926.
uint32_t check_value(void) {
  static const uint8_t kDigits[] = {'1', '2', '3', '4', '5', '6', '7', '8', '9'};
  return ~update(0xffffffff, kDigits, 9);
}

// Of the first `count` bytes of the message.
uint32_t crc32(int32_t count) {
  if (count < 0 || count > kMaxBytes) return 0;
  return ~update(0xffffffff, message, count);
}
