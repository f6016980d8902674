#include "runtime/table.h"

#include <gtest/gtest.h>

namespace wago::runtime {
namespace {

TEST(Table, GrowsToItsMaximumWithTheValueGiven) {
  auto table = TableData::create({ValueType::ExternRef, {2, 5}}, 9).value();
  EXPECT_EQ(table->entries()[1], 9u);
  EXPECT_EQ(table->grow(3, 4), 2u);
  EXPECT_EQ(table->size(), 5u);
  EXPECT_EQ(table->view()->size, 5u);
  EXPECT_EQ(table->view()->entries[1], 9u);
  EXPECT_EQ(table->view()->entries[4], 4u);
  EXPECT_EQ(table->grow(1, 0), std::nullopt);
  EXPECT_EQ(table->grow(~0u, 0), std::nullopt);
  EXPECT_EQ(table->size(), 5u);
}

TEST(Table, MoreEntriesThanTheLimitAreRefused) {
  auto table = TableData::create({ValueType::FuncRef, {kMaxTableEntries + 1, {}}}, 0);
  ASSERT_FALSE(table.ok());
  EXPECT_EQ(table.error().message,
            "a table of 10000001 entries exceeds the limit of 10000000 table entries; "
            "raise EngineLimits::table_entries");
  auto small = TableData::create({ValueType::FuncRef, {1, {}}}, 0).value();
  EXPECT_EQ(small->grow(kMaxTableEntries, 0), std::nullopt);
}

}  // namespace
}  // namespace wago::runtime
