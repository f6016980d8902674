// Multipliers that stand in for division by a constant.
#pragma once

#include <cstdint>

namespace wago::codegen {

// For every x: x / divisor == (high(x * multiplier) + (add ? x : 0)) >> shift, in 64-bit arithmetic; with
// `add` the sum is computed as ((x - high) >> 1) + high and the shift is one less, since it may carry. H. S.
// Warren, Hacker's Delight, 2nd edition, section 10-9. Precondition: divisor >= 2, no power of two.
struct UnsignedMagic64 {
  uint64_t multiplier = 0;
  uint32_t shift = 0;
  bool add = false;
};
UnsignedMagic64 unsigned_magic64(uint64_t divisor);

// For every x: q = high_signed(x * multiplier) + (adjust) * x; q >>= shift, arithmetically; q += sign bit of
// q; that is x / divisor. adjust is +1, 0 or -1. Ibid., section 10-1. Precondition: divisor is none of 0, +-1
// and the minimum.
struct SignedMagic64 {
  int64_t multiplier = 0;
  uint32_t shift = 0;
  int adjust = 0;
};
SignedMagic64 signed_magic64(int64_t divisor);

// For every 32-bit x: x / divisor == high(x * multiplier), the product taken in 128 bits. The multiplier is
// the ceiling of 2^64 / divisor; its excess over the quotient times x stays below 2^-32, less than the
// distance of x / divisor to the next integer. Precondition: divisor >= 2.
uint64_t unsigned_magic32(uint32_t divisor);

// For every 32-bit x: q = (x * multiplier) >> shift in 64-bit signed arithmetic, then q += sign bit of x;
// that is x / divisor for a positive divisor. Precondition: divisor >= 2.
struct SignedMagic32 {
  uint32_t multiplier = 0;
  uint32_t shift = 0;
};
SignedMagic32 signed_magic32(uint32_t divisor);

}  // namespace wago::codegen
