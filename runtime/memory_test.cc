#include "runtime/memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace wago::runtime {
namespace {

using base::Bounds;

TEST(Memory, GrowsToItsMaximumWithoutMovingAndIsZero) {
  for (Bounds bounds : {Bounds::Signals, Bounds::Explicit}) {
    auto memory = MemoryData::create({{1, 3}}, bounds).value();
    uint8_t* const base = memory->view()->base;
    EXPECT_EQ(memory->pages(), 1u);
    base[kPageBytes - 1] = 7;
    EXPECT_EQ(memory->grow(2), 1u);
    EXPECT_EQ(memory->view()->base, base);
    EXPECT_EQ(memory->view()->bytes, 3 * kPageBytes);
    EXPECT_EQ(base[kPageBytes - 1], 7);
    for (uint64_t i = kPageBytes; i < 3 * kPageBytes; ++i) ASSERT_EQ(base[i], 0);
    EXPECT_EQ(memory->grow(1), std::nullopt);
    EXPECT_EQ(memory->grow(~0u), std::nullopt);
    EXPECT_EQ(memory->grow(0), 3u);
    EXPECT_EQ(memory->type().limits.min, 1u);
    EXPECT_EQ(memory->current_type().limits.min, 3u);
  }
}

TEST(Memory, EmptyOnesHaveABaseToo) {
  for (Bounds bounds : {Bounds::Signals, Bounds::Explicit}) {
    auto memory = MemoryData::create({{0, 0}}, bounds).value();
    EXPECT_NE(memory->view()->base, nullptr);
    EXPECT_EQ(memory->grow(0), 0u);
    EXPECT_EQ(memory->grow(1), std::nullopt);
  }
}

TEST(Memory, WithoutAMaximumItGrowsToFourGibibytes) {
  auto memory = MemoryData::create({{0, {}}}, Bounds::Signals).value();
  EXPECT_EQ(memory->grow(kMaxPages), 0u);
  memory->view()->base[kMaxPages * kPageBytes - 1] = 1;
  EXPECT_EQ(memory->grow(1), std::nullopt);
}

TEST(Memory, OnlySignalsBoundsGuardTheWholeReach) {
  EXPECT_TRUE(MemoryData::create({{1, {}}}, Bounds::Signals).value()->guarded());
  EXPECT_FALSE(MemoryData::create({{1, {}}}, Bounds::Explicit).value()->guarded());
}

TEST(Memory, ARefusedReservationIsAnErrorThatNamesTheCure) {
  rlimit before;
  getrlimit(RLIMIT_AS, &before);
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "a sanitizer's shadow needs all the addresses there are";
#endif
  rlimit small = before;
  small.rlim_cur = rlim_t{4} << 30;
  setrlimit(RLIMIT_AS, &small);
  auto memory = MemoryData::create({{1, {}}}, Bounds::Signals);
  setrlimit(RLIMIT_AS, &before);
  ASSERT_FALSE(memory.ok());
  EXPECT_EQ(memory.error().kind, base::ErrorKind::Unmeasurable);
  EXPECT_EQ(
      memory.error().message,
      "cannot reserve 8590000128 bytes of addresses for a memory: Cannot allocate memory; allow more address "
      "space, or use explicit bounds");
}

}  // namespace
}  // namespace wago::runtime
