#include "diff/signed_rank.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace wago::diff {
namespace {

// Every pattern of signs, counted.
double counted_at_most(const std::vector<double>& ranks, double v) {
  uint64_t within = 0;
  const uint64_t patterns = uint64_t{1} << ranks.size();
  for (uint64_t signs = 0; signs < patterns; ++signs) {
    double sum = 0;
    for (size_t i = 0; i < ranks.size(); ++i) sum += (signs >> i & 1) ? ranks[i] : 0;
    within += sum <= v;
  }
  return static_cast<double>(within) / static_cast<double>(patterns);
}

TEST(SignedRank, DistributionIsThatOfAllSignPatterns) {
  const std::vector<double> plain = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
                            tied = {1.5, 1.5, 3, 5, 5, 5, 7, 8.5, 8.5};
  for (const std::vector<double>& ranks : {plain, tied}) {
    const SignedRankDistribution distribution(ranks);
    for (double v = 0; v <= 55; v += 0.5) {
      EXPECT_NEAR(distribution.at_most(v), counted_at_most(ranks, v), 1e-12) << v;
      EXPECT_NEAR(distribution.at_least(v), 1 - counted_at_most(ranks, v - 0.5), 1e-12) << v;
    }
  }
}

// Two-sided critical values: F. Wilcoxon, S. K. Katti and R. A. Wilcox, "Critical values and probability
// levels for the Wilcoxon rank sum test and the Wilcoxon signed rank test", 1970: the largest T with P(V <=
// T) at or below half the level.
TEST(SignedRank, CriticalValuesAreThePublishedOnes) {
  const struct {
    size_t n;
    int at_5, at_1;  // percent, two-sided; -1: cannot be reached
  } kPublished[] = {{6, 0, -1},   {7, 2, -1},   {8, 3, 0},    {9, 5, 1},      {10, 8, 3},     {12, 13, 7},
                    {15, 25, 15}, {20, 52, 37}, {25, 89, 68}, {30, 137, 109}, {40, 264, 220}, {50, 434, 373}};
  auto critical = [](size_t n, double tail) {
    const SignedRankDistribution distribution(n);
    int v = -1;
    while (distribution.at_most(v + 1) <= tail) ++v;
    return v;
  };
  for (const auto& row : kPublished) {
    EXPECT_EQ(critical(row.n, 0.025), row.at_5) << row.n;
    EXPECT_EQ(critical(row.n, 0.005), row.at_1) << row.n;
  }
}

// M. Hollander and D. A. Wolfe, "Nonparametric Statistical Methods", 1973, table 3.1: Hamilton depression
// scale factor IV of nine patients before and after treatment. Their estimate of the effect and their
// interval.
const std::vector<double> kDepression = {0.878 - 1.83, 0.647 - 0.50, 0.598 - 1.62, 2.05 - 2.48, 1.06 - 1.68,
                                         1.29 - 1.88,  1.06 - 1.55,  3.14 - 3.06,  1.29 - 1.30};

TEST(SignedRank, HollanderAndWolfesExample) {
  EXPECT_NEAR(hodges_lehmann(kDepression), -0.46, 0.001);
  const auto interval = signed_rank_interval(kDepression, 1 - 2 * 0.02);
  ASSERT_TRUE(interval);
  EXPECT_NEAR(interval->low, -0.786, 0.001);
  EXPECT_NEAR(interval->high, -0.010, 0.001);
  EXPECT_NEAR(p_below(kDepression, 0), 0.01953125, 1e-9);
  EXPECT_NEAR(p_above(kDepression, 0), 1 - 0.01367188, 1e-8);
}

TEST(SignedRank, AnIntervalNeedsEnoughValues) {
  std::vector<double> values = {1, 2, 3, 4, 5, 6, 7};
  EXPECT_FALSE(signed_rank_interval(values, 0.99));  // 2 / 2^7 > 1 %
  values.push_back(8);
  const auto interval = signed_rank_interval(values, 0.99);
  ASSERT_TRUE(interval);
  EXPECT_EQ(*interval, (Interval{1, 8}));
}

TEST(SignedRank, TheIntervalHoldsWhatTheTestWouldNotReject) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal(0.3, 1);
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<double> values(11 + trial % 5);
    for (double& value : values) value = normal(random);
    const auto interval = signed_rank_interval(values, 0.95);
    ASSERT_TRUE(interval);
    const double step = 1e-9;
    EXPECT_LE(p_above(values, interval->low - step), 0.025);
    EXPECT_GT(p_above(values, interval->low + step), 0.025);
    EXPECT_LE(p_below(values, interval->high + step), 0.025);
    EXPECT_GT(p_below(values, interval->high - step), 0.025);
  }
}

TEST(SignedRank, ValuesAtTheThresholdSayNothing) {
  EXPECT_EQ(p_above(std::vector<double>{2, 2, 2}, 2), 1);
  EXPECT_EQ(p_above({}, 0), 1);
  EXPECT_DOUBLE_EQ(p_above(std::vector<double>{2, 3, 4, 5}, 2), 1.0 / 8);
}

TEST(SignedRank, CoversTheCentreAsOftenAsItSays) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal(0.01, 0.004);
  int covered = 0;
  constexpr int kTrials = 2000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> values(16);
    for (double& value : values) value = normal(random);
    const auto interval = signed_rank_interval(values, 0.99);
    covered += interval->low <= 0.01 && 0.01 <= interval->high;
  }
  // Five standard deviations of a binomial around 99 %.
  EXPECT_GT(covered, 0.99 * kTrials - 5 * std::sqrt(0.0099 * kTrials));
}

}  // namespace
}  // namespace wago::diff
