#include "diff/levels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace wago::diff {
namespace {

TEST(Levels, ErrorsOfAChainAddUp) {
  const std::vector<MeasuredRatio> chain = {{0, 1, 0.01, 0.003}, {1, 2, -0.02, 0.004}};
  const Levels levels(3, chain, 0);
  EXPECT_NEAR(levels.level(2), -0.01, 1e-15);
  EXPECT_NEAR(levels.error_between(2, 0), 0.005, 1e-15);
  EXPECT_NEAR(levels.error_between(2, 1), 0.004, 1e-15);
  EXPECT_EQ(levels.level(0), 0);
  EXPECT_EQ(levels.error_between(1, 1), 0);
}

// A direct ratio of 0.01 with error e and a way around of 0.03 with sqrt(2) e weigh 2 to 1. They disagree by
// less than their errors, which stay as they are.
TEST(Levels, ASkipLinkIsWeighedAgainstTheWayAround) {
  const double e = 0.1;
  const std::vector<MeasuredRatio> ratios = {{0, 2, 0.01, e}, {0, 1, 0.02, e}, {1, 2, 0.01, e}};
  const Levels levels(3, ratios, 0);
  EXPECT_NEAR(levels.level(2), (2 * 0.01 + 0.03) / 3, 1e-14);
  EXPECT_NEAR(levels.error_between(2, 0), e * std::sqrt(2.0 / 3), 1e-14);
}

TEST(Levels, ContradictionEnlargesErrors) {
  const std::vector<MeasuredRatio> ratios = {{0, 1, 0.01, 0.001}, {0, 1, 0.03, 0.001}};
  const Levels levels(2, ratios, 0);
  EXPECT_NEAR(levels.level(1), 0.02, 1e-14);
  // Alone 0.001 / sqrt(2); chi squared is 200 with one degree of freedom.
  EXPECT_NEAR(levels.error_between(1, 0), 0.001 / std::sqrt(2.0) * std::sqrt(200.0), 1e-12);
}

TEST(Levels, TheAnchorMovesLevelsAndNotDifferences) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal(0, 0.01);
  std::vector<MeasuredRatio> ratios;
  for (size_t to = 1; to < 40; ++to) {
    for (size_t back : {1, 2, 4, 8}) {
      if (back <= to) ratios.push_back({to - back, to, normal(random), 0.002 + 0.0001 * (to % 7)});
    }
  }
  const Levels first(40, ratios, 0), middle(40, ratios, 17);
  for (size_t version = 0; version < 40; ++version) {
    EXPECT_NEAR(first.level(version) - first.level(17), middle.level(version), 1e-12);
    EXPECT_NEAR(first.error_between(version, 33), middle.error_between(version, 33), 1e-12);
  }
}

// At the least squares no small change of any level makes the sum smaller.
TEST(Levels, NoOtherLevelsFitBetter) {
  const std::vector<MeasuredRatio> ratios = {{0, 1, 0.01, 0.002}, {1, 2, 0.02, 0.001}, {0, 2, 0.01, 0.003},
                                             {2, 3, 0.00, 0.002}, {1, 3, 0.03, 0.004}, {3, 0, -0.02, 0.002}};
  const Levels levels(4, ratios, 0);
  std::vector<double> at;
  for (size_t i = 0; i < 4; ++i) at.push_back(levels.level(i));
  auto squares = [&] {
    double sum = 0;
    for (const MeasuredRatio& ratio : ratios)
      sum += std::pow((ratio.log_ratio - at[ratio.to] + at[ratio.from]) / ratio.error, 2);
    return sum;
  };
  const double least = squares();
  for (size_t i = 1; i < 4; ++i) {
    for (double step : {-1e-4, 1e-4}) {
      at[i] += step;
      EXPECT_GT(squares(), least);
      at[i] -= step;
    }
  }
}

TEST(Levels, WhatNoRatioLeadsToIsNotKnown) {
  const std::vector<MeasuredRatio> ratios = {{0, 1, 0.01, 0.001}, {2, 3, 0.01, 0.001}};
  const Levels levels(5, ratios, 1);
  EXPECT_TRUE(levels.is_known(0) && levels.is_known(1));
  EXPECT_FALSE(levels.is_known(2) || levels.is_known(3) || levels.is_known(4));
  EXPECT_NEAR(levels.level(0), -0.01, 1e-15);
}

}  // namespace
}  // namespace wago::diff
