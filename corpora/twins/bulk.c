// Each bulk operation a byte at a time, copies by way of a second array.
#include <stdint.h>

enum { kPage = 65536 };

static const char kPattern[] = "WagoProfile measures what it has checked. ";
static uint8_t page[2 * kPage], kept[2 * kPage];

static void copy(uint32_t to, uint32_t from, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) kept[i] = page[from + i];
  for (uint32_t i = 0; i < count; ++i) page[to + i] = kept[i];
}

static void prepare(void) {
  for (uint32_t i = 0; i < 2 * kPage; ++i) page[i] = 0;
  for (uint32_t i = 0; i < 1050; ++i) page[i] = (uint8_t)kPattern[i % 42];
  for (uint32_t i = 1024; i < kPage; ++i) page[i] = page[i % 1024];
}

static void shuffle(uint32_t round) {
  copy(0, 65500, 36);
  copy(36, 0, 65500);
  copy(100, 101, 60000);
  uint32_t at = round * 7919 % kPage;
  for (uint32_t i = 0; i < 100; ++i) page[at + i] = (uint8_t)round;
}

uint64_t bulk(int32_t rounds) {
  prepare();
  for (; rounds; --rounds) shuffle((uint32_t)rounds);
  uint64_t sum = 0;
  for (uint32_t at = 0; at < kPage; at += 8) {
    uint64_t word = 0;
    for (int i = 7; i >= 0; --i) word = word << 8 | page[at + (uint32_t)i];
    sum = (sum ^ word) * 0x9e3779b97f4a7c15;
    sum ^= sum >> 32;
  }
  return sum;
}
