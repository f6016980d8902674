// ChaCha20 after RFC 8439, section 2, a row of its matrix at a time, and the block published there.
#include "vector.h"

enum { kMaxBlocks = 2048 };

static uint8_t buffer[64 * kMaxBlocks];

static inline u32x4 rotate_bits(u32x4 row, int bits) {
  return row << bits | row >> (32 - bits);
}

// By whole bytes.
static inline u32x4 rotate_16(u32x4 row) {
  const u8x16 bytes = (u8x16)row;
  return (u32x4)__builtin_shufflevector(bytes, bytes, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
}
static inline u32x4 rotate_8(u32x4 row) {
  const u8x16 bytes = (u8x16)row;
  return (u32x4)__builtin_shufflevector(bytes, bytes, 3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14);
}

// Four quarter rounds side by side.
static inline void quarter_rounds(u32x4 row[4]) {
  row[0] += row[1];
  row[3] = rotate_16(row[3] ^ row[0]);
  row[2] += row[3];
  row[1] = rotate_bits(row[1] ^ row[2], 12);
  row[0] += row[1];
  row[3] = rotate_8(row[3] ^ row[0]);
  row[2] += row[3];
  row[1] = rotate_bits(row[1] ^ row[2], 7);
}

static inline void double_round(u32x4 row[4]) {
  quarter_rounds(row);
  row[1] = __builtin_shufflevector(row[1], row[1], 1, 2, 3, 0);
  row[2] = __builtin_shufflevector(row[2], row[2], 2, 3, 0, 1);
  row[3] = __builtin_shufflevector(row[3], row[3], 3, 0, 1, 2);
  quarter_rounds(row);
  row[1] = __builtin_shufflevector(row[1], row[1], 3, 0, 1, 2);
  row[2] = __builtin_shufflevector(row[2], row[2], 2, 3, 0, 1);
  row[3] = __builtin_shufflevector(row[3], row[3], 1, 2, 3, 0);
}

static inline void add_keystream(uint8_t* bytes, const u32x4 state[4]) {
  u32x4 row[4] = {state[0], state[1], state[2], state[3]};
  for (int i = 0; i < 10; ++i) double_round(row);
  for (int i = 0; i < 4; ++i) store(bytes + 16 * i, load(bytes + 16 * i) ^ (u8x16)(row[i] + state[i]));
}

// The key is 0, 1, ..., 31, the nonce 00:00:00:09:00:00:00:4a:00:00:00:00, and the first block has number 1.
static __attribute__((noinline)) void encrypt(int32_t blocks) {
  u32x4 state[4] = {
      {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574},
      {0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c},
      {0x13121110, 0x17161514, 0x1b1a1918, 0x1f1e1d1c},
      {1, 0x09000000, 0x4a000000, 0},
  };
  for (int32_t i = 0; i < blocks; ++i) {
    add_keystream(&buffer[64 * i], state);
    state[3][0] += 1;
  }
}

// Encrypts `blocks` blocks of zeros: the exclusive or of all 64-bit words of the result, each rotated by its
// number.
uint64_t zeros(int32_t blocks) {
  if (blocks < 1 || blocks > kMaxBlocks) return 0;
  __builtin_memset(buffer, 0, 64 * (uint32_t)blocks);
  encrypt(blocks);
  uint64_t sum = 0;
  for (int32_t i = 0; i < 8 * blocks; ++i) {
    uint64_t word;
    __builtin_memcpy(&word, &buffer[8 * i], 8);
    sum = (sum << 1 | sum >> 63) ^ word;
  }
  return sum;
}

// Words of the first block of what was encrypted, 0 <= index < 8, first byte lowest.
uint64_t first_block(int32_t index) {
  uint64_t word;
  __builtin_memcpy(&word, &buffer[8 * (index & 7)], 8);
  return word;
}
