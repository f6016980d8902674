#include "diff/change_points.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace wago::diff {
namespace {

std::vector<double> levels(std::vector<std::pair<size_t, double>> parts, double noise, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, noise);
  std::vector<double> series;
  for (auto [count, level] : parts) {
    for (size_t i = 0; i < count; ++i) series.push_back(level + normal(random));
  }
  return series;
}

TEST(ChangePoints, AStepIsFoundWhereItIs) {
  const auto found = change_points(levels({{20, 1.0}, {15, 1.05}}, 0.005, 1));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].index, 20u);
  EXPECT_NEAR(found[0].before, 1.0, 0.005);
  EXPECT_NEAR(found[0].after, 1.05, 0.005);
  EXPECT_LT(found[0].p_value, 1e-9);
}

TEST(ChangePoints, SeveralStepsAreFoundInOrder) {
  const auto found = change_points(levels({{12, 1.0}, {10, 1.1}, {3, 1.0}, {20, 0.9}}, 0.004, 2));
  std::vector<size_t> at;
  for (const ChangePoint& point : found) at.push_back(point.index);
  EXPECT_EQ(at, (std::vector<size_t>{12, 22, 25}));
}

TEST(ChangePoints, NoiseAndOutliersAreNoChange) {
  int found = 0;
  for (uint64_t seed = 0; seed < 200; ++seed)
    found += !change_points(levels({{30, 1.0}}, 0.01, seed)).empty();
  EXPECT_LE(found, 10);
  auto series = levels({{30, 1.0}}, 0.01, 3);
  series[14] = 5;
  EXPECT_TRUE(change_points(series).empty());
}

TEST(ChangePoints, EachSideHasThreeValues) {
  EXPECT_TRUE(change_points(std::vector<double>{1, 1, 2, 2, 2}).empty());
  const auto found = change_points(std::vector<double>{1, 1, 1, 2, 2, 2});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].index, 3u);
  EXPECT_TRUE(change_points({}).empty());
}

// Two values a side of equal variance are two degrees of freedom, where Student's distribution has a closed
// form; a side without variance leaves the degrees of the other.
TEST(ChangePoints, WelchsTest) {
  const double t = 5 / std::sqrt(2.0);
  EXPECT_NEAR(welch_p(std::vector<double>{0, 2}, std::vector<double>{5, 7}),
              2 * (0.5 - t / (2 * std::sqrt(2 + t * t))), 1e-12);
  EXPECT_NEAR(welch_p(std::vector<double>{0, 1, 2}, std::vector<double>{4, 4, 4}),
              2 * (0.5 - std::sqrt(27.0) / (2 * std::sqrt(2 + 27.0))), 1e-12);
  EXPECT_EQ(welch_p(std::vector<double>{1, 1}, std::vector<double>{1, 1}), 1);
  EXPECT_EQ(welch_p(std::vector<double>{1, 1}, std::vector<double>{2, 2}), 0);
}

}  // namespace
}  // namespace wago::diff
