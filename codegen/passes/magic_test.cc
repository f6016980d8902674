#include "codegen/passes/magic.h"

#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <vector>

namespace wago::codegen {
namespace {

// Boundaries of both widths and their neighbours, and numbers of every length.
std::vector<uint64_t> interesting() {
  std::vector<uint64_t> values;
  for (int bit = 0; bit < 64; ++bit) {
    for (int64_t d = -2; d <= 2; ++d) values.push_back((uint64_t{1} << bit) + static_cast<uint64_t>(d));
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 300; ++i) values.push_back(random() >> (random() % 64));
  for (uint64_t small : {3, 5, 6, 7, 9, 10, 11, 12, 25, 100, 125, 625, 641, 1000, 6700417})
    values.push_back(small);
  return values;
}

TEST(Magic, Unsigned64DividesEverything) {
  auto all = interesting();
  for (uint64_t d : all) {
    if (d < 2 || std::has_single_bit(d)) continue;
    UnsignedMagic64 m = unsigned_magic64(d);
    for (uint64_t base : all) {
      for (uint64_t x : {base, base * d, base * d - 1}) {
        uint64_t high = static_cast<uint64_t>((static_cast<unsigned __int128>(x) * m.multiplier) >> 64);
        uint64_t q = m.add ? (((x - high) >> 1) + high) >> (m.shift - 1) : high >> m.shift;
        ASSERT_EQ(q, x / d) << x << " / " << d;
      }
    }
  }
}

TEST(Magic, Signed64DividesEverything) {
  auto all = interesting();
  for (uint64_t bits : all) {
    int64_t d = static_cast<int64_t>(bits);
    if (d == 0 || d == 1 || d == -1 || d == INT64_MIN) continue;
    SignedMagic64 m = signed_magic64(d);
    for (uint64_t base : all) {
      for (uint64_t xb : {base, base * bits, base * bits - 1}) {
        int64_t x = static_cast<int64_t>(xb);
        uint64_t high = static_cast<uint64_t>((static_cast<__int128>(x) * m.multiplier) >> 64);
        int64_t q = static_cast<int64_t>(high + static_cast<uint64_t>(m.adjust) * xb) >> m.shift;
        q += static_cast<int64_t>(static_cast<uint64_t>(q) >> 63);
        ASSERT_EQ(q, x / d) << x << " / " << d;
      }
    }
  }
}

TEST(Magic, Unsigned32DividesEverything) {
  auto all = interesting();
  for (uint64_t bits : all) {
    uint32_t d = static_cast<uint32_t>(bits);
    if (d < 2) continue;
    uint64_t m = unsigned_magic32(d);
    for (uint64_t base : all) {
      for (uint64_t x64 : {base, base * d, base * d - 1}) {
        uint32_t x = static_cast<uint32_t>(x64);
        ASSERT_EQ(static_cast<uint32_t>((static_cast<unsigned __int128>(x) * m) >> 64), x / d)
            << x << " / " << d;
      }
    }
  }
}

TEST(Magic, Signed32DividesEverything) {
  auto all = interesting();
  for (uint64_t bits : all) {
    uint32_t d = static_cast<uint32_t>(bits) & 0x7fffffff;
    if (d < 2) continue;
    SignedMagic32 m = signed_magic32(d);
    for (uint64_t base : all) {
      for (uint64_t x64 : {base, base * d, base * d - 1, uint64_t{0x80000000}, uint64_t{0x7fffffff}}) {
        int32_t x = static_cast<int32_t>(x64);
        int32_t q = static_cast<int32_t>((int64_t{x} * m.multiplier) >> m.shift);
        q += static_cast<int32_t>(static_cast<uint32_t>(x) >> 31);
        ASSERT_EQ(q, x / static_cast<int32_t>(d)) << x << " / " << d;
      }
    }
  }
}

}  // namespace
}  // namespace wago::codegen
