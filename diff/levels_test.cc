#include "diff/levels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "diff/student_t.h"

namespace wago::diff {
namespace {

TEST(Levels, ErrorsOfAChainAddUp) {
  const std::vector<MeasuredRatio> chain = {{0, 1, 0.01, 0.003}, {1, 2, -0.02, 0.004}};
  const Levels levels(3, chain, 0);
  EXPECT_NEAR(levels.level(2), -0.01, 1e-15);
  EXPECT_NEAR(levels.error_between(2, 0).standard, 0.005, 1e-15);
  EXPECT_NEAR(levels.error_between(2, 1).standard, 0.004, 1e-15);
  EXPECT_EQ(levels.level(0), 0);
  EXPECT_EQ(levels.error_between(1, 1).standard, 0);
}

// A direct ratio of 0.01 with error e and a way around of 0.03 with sqrt(2) e weigh 2 to 1. They disagree by
// less than their errors, which stay as they are.
TEST(Levels, ASkipLinkIsWeighedAgainstTheWayAround) {
  const double e = 0.1;
  const std::vector<MeasuredRatio> ratios = {{0, 2, 0.01, e}, {0, 1, 0.02, e}, {1, 2, 0.01, e}};
  const Levels levels(3, ratios, 0);
  EXPECT_NEAR(levels.level(2), (2 * 0.01 + 0.03) / 3, 1e-14);
  EXPECT_NEAR(levels.error_between(2, 0).standard, e * std::sqrt(2.0 / 3), 1e-14);
}

TEST(Levels, ContradictionEnlargesErrors) {
  const std::vector<MeasuredRatio> ratios = {{0, 1, 0.01, 0.001}, {0, 1, 0.03, 0.001}};
  const Levels levels(2, ratios, 0);
  EXPECT_NEAR(levels.level(1), 0.02, 1e-14);
  // Alone 0.001 / sqrt(2); chi squared is 200 with one degree of freedom.
  EXPECT_NEAR(levels.error_between(1, 0).standard, 0.001 / std::sqrt(2.0) * std::sqrt(200.0), 1e-12);
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
    EXPECT_NEAR(first.error_between(version, 33).standard, middle.error_between(version, 33).standard, 1e-12);
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

// Two errors of equal size with 7 and 15 degrees: 4 / (1/7 + 1/15); where an error is known, it has as good
// as infinitely many.
TEST(Levels, DegreesOfFreedomAreWelchs) {
  const std::vector<MeasuredRatio> chain = {{0, 1, 0.01, 0.002, 7}, {1, 2, 0, 0.002, 15}, {2, 3, 0, 0.001}};
  const Levels levels(4, chain, 0);
  EXPECT_NEAR(levels.error_between(1, 0).degrees, 7, 1e-9);
  EXPECT_NEAR(levels.error_between(2, 0).degrees, 4 / (1.0 / 7 + 1.0 / 15), 1e-9);
  EXPECT_NEAR(levels.error_between(2, 1).degrees, 15, 1e-9);
  EXPECT_NEAR(levels.error_between(3, 2).degrees, kKnownError, 1);
  EXPECT_NEAR(levels.error_between(0, 3).degrees, 81 / (16 / 7.0 + 16 / 15.0), 1e-3);
}

// What the errors of eight pairs are good for: intervals by Student's t hold the truth as often as they say,
// and those by the normal distribution do not.
TEST(Levels, IntervalsOfFewPairsHoldTheTruth) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal(0, 0.01);
  constexpr int kTrials = 4000, kPairs = 8;
  int by_t = 0, by_normal = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<MeasuredRatio> ratios;
    for (size_t to = 1; to <= 3; ++to) {
      double sum = 0, squares = 0;
      for (int i = 0; i < kPairs; ++i) {
        const double value = normal(random);
        sum += value;
        squares += value * value;
      }
      const double mean = sum / kPairs;
      const double error = std::sqrt((squares - sum * mean) / (kPairs - 1) / kPairs);
      ratios.push_back({to - 1, to, mean, error, kPairs - 1});
    }
    const Levels levels(4, ratios, 0);
    for (size_t version : {1, 3}) {
      const LevelError error = levels.error_between(version, 0);
      const double off = std::abs(levels.level(version)) / error.standard;
      by_t += off <= student_t_quantile(0.995, error.degrees) ? 1 : 0;
      by_normal += off <= 2.5758293 ? 1 : 0;
    }
  }
  EXPECT_NEAR(by_t / (2.0 * kTrials), 0.99, 0.004);
  EXPECT_LT(by_normal / (2.0 * kTrials), 0.98);
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
