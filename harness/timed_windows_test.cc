#include "harness/timed_windows.h"

#include <gtest/gtest.h>

namespace wago::harness {
namespace {

TEST(TimedWindows, WithoutBatchesTheyAreAllTimes) {
  EXPECT_TRUE(TimedWindows().contains(0));
  EXPECT_TRUE(TimedWindows().contains(UINT64_MAX));
}

TEST(TimedWindows, WhatLiesBetweenBatchesIsOutside) {
  const std::vector<capture::IterationBatch> batches = {{10, 5, 5, 1}, {30, 100, 90, 8}};
  const TimedWindows windows(batches, 1000);
  for (uint64_t in : {1010, 1015, 1030, 1100, 1130}) EXPECT_TRUE(windows.contains(in)) << in;
  for (uint64_t out : {0, 999, 1000, 1009, 1016, 1029, 1131, 5000})
    EXPECT_FALSE(windows.contains(out)) << out;
  EXPECT_EQ(windows.share_of(10, 1017), 5u);   // from 1007
  EXPECT_EQ(windows.share_of(3, 1014), 3u);    // from 1011
  EXPECT_EQ(windows.share_of(50, 1040), 15u);  // from 990, over both
  EXPECT_EQ(windows.share_of(9, 1026), 0u);    // from 1017
  EXPECT_EQ(windows.share_of(5000, 1130), 105u);
  EXPECT_EQ(windows.share_of(5000, 900), 0u);
  EXPECT_EQ(TimedWindows().share_of(10, 5), 10u);
  EXPECT_FALSE(TimedWindows({}, 1000).contains(1000)) << "a phase without a batch";
}

}  // namespace
}  // namespace wago::harness
