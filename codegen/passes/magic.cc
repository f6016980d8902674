#include "codegen/passes/magic.h"

#include <bit>

#include "base/check.h"

namespace wago::codegen {

using Wide = unsigned __int128;

UnsignedMagic64 unsigned_magic64(uint64_t divisor) {
  WAGO_CHECK(divisor >= 2 && !std::has_single_bit(divisor));
  // The smallest p with 2^(64+p) / d rounded up accurate enough: p = ceil(log2 d) always is, with a 65-bit
  // multiplier whose top bit becomes `add`; a smaller p may do with 64 bits.
  const uint32_t log = 64 - static_cast<uint32_t>(std::countl_zero(divisor));
  for (uint32_t p = 0; p < log; ++p) {
    const Wide power = Wide{1} << (64 + p);
    const Wide multiplier = power / divisor + 1;
    const Wide excess = multiplier * divisor - power;  // in (0, divisor]
    if (multiplier >> 64 == 0 && excess <= Wide{1} << p) return {static_cast<uint64_t>(multiplier), p, false};
  }
  // 2^64 * (2^p - d) / d + 1 is the multiplier less 2^64.
  const Wide reduced = ((Wide{1} << log) - divisor) << 64;
  return {static_cast<uint64_t>(reduced / divisor) + 1, log, true};
}

SignedMagic64 signed_magic64(int64_t divisor) {
  const uint64_t magnitude = divisor < 0 ? -static_cast<uint64_t>(divisor) : static_cast<uint64_t>(divisor);
  WAGO_CHECK(magnitude >= 2 && magnitude <= static_cast<uint64_t>(INT64_MAX));
  // The smallest shift with 2^(64+s) > nc * (d - 2^(64+s) mod d), nc the largest x with x mod d = d - 1 on
  // the side of the divisor's sign.
  const Wide two63 = Wide{1} << 63;
  const Wide limit = two63 + (divisor < 0 ? 1 : 0);
  const Wide nc = limit - 1 - limit % magnitude;
  for (uint32_t shift = 0;; ++shift) {
    const Wide power = Wide{1} << (64 + shift);
    const Wide rest = magnitude - power % magnitude;
    WAGO_CHECK(shift < 63);
    if (power <= nc * rest) continue;
    const uint64_t multiplier = static_cast<uint64_t>((power + rest) / magnitude);
    SignedMagic64 magic;
    magic.multiplier = static_cast<int64_t>(divisor < 0 ? -multiplier : multiplier);
    magic.shift = shift;
    if (divisor > 0 && magic.multiplier < 0) magic.adjust = 1;
    if (divisor < 0 && magic.multiplier > 0) magic.adjust = -1;
    return magic;
  }
}

uint64_t unsigned_magic32(uint32_t divisor) {
  WAGO_CHECK(divisor >= 2);
  return static_cast<uint64_t>(((Wide{1} << 64) + divisor - 1) / divisor);
}

SignedMagic32 signed_magic32(uint32_t divisor) {
  WAGO_CHECK(divisor >= 2 && divisor <= uint32_t{1} << 31);
  // 2^(31+s) / d rounded up, s = ceil(log2 d): the excess is at most d, and |x| * d < 2^31 * 2^s.
  const uint32_t log = 32 - static_cast<uint32_t>(std::countl_zero(divisor - 1));
  const uint64_t power = uint64_t{1} << (31 + log);
  return {static_cast<uint32_t>(power / divisor + 1), 31 + log};
}

}  // namespace wago::codegen
