#include "runtime/regions.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <vector>

namespace wago::runtime {
namespace {

constexpr uint64_t kAddress = uint64_t{40} << 40;
constexpr size_t kPage = 4096;

void* at(uint64_t address) {
  return reinterpret_cast<void*>(address);
}

class RegionsTest : public ::testing::Test {
 protected:
  RegionsTest() { place_region(Region::Code, kAddress); }
  ~RegionsTest() override { place_region(Region::Code, 0); }
};

TEST_F(RegionsTest, MappingsFollowOneAnother) {
  void* first = map_in_region(Region::Code, 2 * kPage, PROT_READ);
  void* second = map_in_region(Region::Code, kPage, PROT_READ);
  EXPECT_EQ(first, at(kAddress));
  EXPECT_EQ(second, at(kAddress + 2 * kPage));
  // Each region for itself.
  void* memory = map_in_region(Region::Memory, kPage, PROT_READ);
  EXPECT_NE(memory, at(kAddress + 3 * kPage));
  unmap_in_region(Region::Memory, memory, kPage);
  unmap_in_region(Region::Code, second, kPage);
  unmap_in_region(Region::Code, first, 2 * kPage);
}

TEST_F(RegionsTest, WhatIsGivenBackLastToFirstIsUsedAgain) {
  void* first = map_in_region(Region::Code, kPage, PROT_READ);
  void* second = map_in_region(Region::Code, kPage, PROT_READ);
  unmap_in_region(Region::Code, second, kPage);
  void* third = map_in_region(Region::Code, kPage, PROT_READ);
  EXPECT_EQ(third, second);
  unmap_in_region(Region::Code, first, kPage);
  void* fourth = map_in_region(Region::Code, kPage, PROT_READ);
  EXPECT_EQ(fourth, at(kAddress + 2 * kPage));
  unmap_in_region(Region::Code, third, kPage);
  unmap_in_region(Region::Code, fourth, kPage);
}

TEST_F(RegionsTest, FarEnoughOnTheyBeginAgain) {
  constexpr size_t kLot = size_t{1} << 40;
  std::vector<void*> mapped;
  for (int i = 0; i < 16; ++i) mapped.push_back(map_in_region(Region::Code, kLot, PROT_NONE, MAP_NORESERVE));
  EXPECT_EQ(mapped.back(), at(kAddress + 15 * kLot));
  unmap_in_region(Region::Code, mapped[0], kLot);
  mapped[0] = map_in_region(Region::Code, kLot, PROT_NONE, MAP_NORESERVE);
  EXPECT_EQ(mapped[0], at(kAddress));
  for (void* mapping : mapped) unmap_in_region(Region::Code, mapping, kLot);
}

TEST_F(RegionsTest, WhereSomethingIsTheKernelChooses) {
  void* in_the_way = mmap(at(kAddress), kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  ASSERT_EQ(in_the_way, at(kAddress));
  void* elsewhere = map_in_region(Region::Code, kPage, PROT_READ);
  ASSERT_NE(elsewhere, MAP_FAILED);
  EXPECT_NE(elsewhere, in_the_way);
  void* behind = map_in_region(Region::Code, kPage, PROT_READ);
  EXPECT_EQ(behind, at(kAddress + kPage));
  unmap_in_region(Region::Code, elsewhere, kPage);
  unmap_in_region(Region::Code, behind, kPage);
  munmap(in_the_way, kPage);
}

}  // namespace
}  // namespace wago::runtime
