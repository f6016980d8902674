// Sixteen bytes at a time, in WebAssembly and in a native build alike. A source that includes this is built
// with SIMD.
#pragma once

#include <stdint.h>

typedef float f32x4 __attribute__((vector_size(16)));
typedef uint32_t u32x4 __attribute__((vector_size(16)));
typedef uint8_t u8x16 __attribute__((vector_size(16)));
typedef int8_t i8x16 __attribute__((vector_size(16)));

static inline u8x16 splat(uint8_t byte) {
  return (u8x16){byte, byte, byte, byte, byte, byte, byte, byte,
                 byte, byte, byte, byte, byte, byte, byte, byte};
}

// table[indices[i]] for each i; 0 where that is beyond the table.
static inline u8x16 swizzle(u8x16 table, u8x16 indices) {
#ifdef __wasm__
  return (u8x16)__builtin_wasm_swizzle_i8x16((i8x16)table, (i8x16)indices);
#else
  u8x16 result;
  for (int i = 0; i < 16; ++i) result[i] = indices[i] < 16 ? table[indices[i]] : 0;
  return result;
#endif
}

static inline int any_true(u8x16 bytes) {
#ifdef __wasm__
  return __builtin_wasm_any_true_v128((i8x16)bytes);
#else
  int any = 0;
  for (int i = 0; i < 16; ++i) any |= bytes[i];
  return any != 0;
#endif
}

static inline u8x16 load(const uint8_t* from) {
  u8x16 bytes;
  __builtin_memcpy(&bytes, from, sizeof bytes);
  return bytes;
}

static inline void store(uint8_t* to, u8x16 bytes) {
  __builtin_memcpy(to, &bytes, sizeof bytes);
}
