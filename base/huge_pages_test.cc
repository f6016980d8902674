#include "base/huge_pages.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace wago::base {
namespace {

TEST(HugePages, ReservingKeepsWhatIsThereAndMakesRoom) {
  for (size_t count :
       {size_t{0}, size_t{10}, kWorthHugePages / 4 - 1, kWorthHugePages / 4, kWorthHugePages}) {
    std::vector<uint32_t> vector = {1, 2, 3};
    reserve_large(vector, count);
    EXPECT_GE(vector.capacity(), count);
    EXPECT_EQ(vector, (std::vector<uint32_t>{1, 2, 3}));
    const uint32_t* begin = vector.data();
    while (vector.size() < count) vector.push_back(static_cast<uint32_t>(vector.size()));
    EXPECT_TRUE(count < 3 || vector.data() == begin);
    EXPECT_EQ(vector.back(), count > 3 ? count - 1 : 3);
  }
}

TEST(HugePages, AWishForAnyRangeDoesNoHarm) {
  std::vector<uint8_t> bytes(5 << 20, 7);
  for (size_t begin : {size_t{0}, size_t{1}, size_t{4096}, bytes.size()})
    prefer_huge_pages(bytes.data() + begin, bytes.size() - begin);
  for (uint8_t byte : bytes) ASSERT_EQ(byte, 7);
}

}  // namespace
}  // namespace wago::base
