#include "diff/statistics.h"

#include <gtest/gtest.h>

namespace wago::diff {
namespace {

TEST(Statistics, NothingMeasuredIsNotZeroMeasured) {
  EXPECT_EQ(summarize({}).n, 0u);
}

TEST(Statistics, OneValueHasNoSpread) {
  Summary one = summarize({7});
  EXPECT_EQ(one, (Summary{1, 7, 7, 7, 7, 7}));
  EXPECT_EQ(one.relative_spread(), 0);
}

TEST(Statistics, MedianOfAnEvenNumberLiesBetween) {
  EXPECT_EQ(summarize({4, 1, 3, 2}).median, 2.5);
}

// quantile(c(1, 2, 4, 8, 16, 32), c(.25, .5, .75)) of R 4: 2.5 6.0 14.0
TEST(Statistics, QuartilesAreTheOnesOfR) {
  Summary s = summarize({32, 1, 8, 2, 16, 4});
  EXPECT_DOUBLE_EQ(s.lower_quartile, 2.5);
  EXPECT_DOUBLE_EQ(s.median, 6);
  EXPECT_DOUBLE_EQ(s.upper_quartile, 14);
  EXPECT_EQ(s.min, 1);
  EXPECT_EQ(s.max, 32);
  EXPECT_DOUBLE_EQ(s.relative_spread(), 11.5 / 6);
}

TEST(Statistics, AZeroMedianHasNoRelativeSpread) {
  EXPECT_EQ(summarize({0, 0, 5}).relative_spread(), 0);
}

TEST(Statistics, OneOutlierMovesNeitherMedianNorSpreadMuch) {
  std::vector<double> values(99, 100.0);
  values.push_back(1e9);
  Summary s = summarize(values);
  EXPECT_EQ(s.median, 100);
  EXPECT_EQ(s.relative_spread(), 0);
}

}  // namespace
}  // namespace wago::diff
