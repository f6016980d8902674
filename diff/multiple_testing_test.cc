#include "diff/multiple_testing.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace wago::diff {
namespace {

void expect_near(const std::vector<double>& seen, const std::vector<double>& wanted) {
  ASSERT_EQ(seen.size(), wanted.size());
  for (size_t i = 0; i < seen.size(); ++i) EXPECT_NEAR(seen[i], wanted[i], 1e-12) << i;
}

TEST(MultipleTesting, HolmStepsDown) {
  expect_near(holm(std::vector<double>{0.01, 0.04, 0.03, 0.005}), {0.03, 0.06, 0.06, 0.02});
  expect_near(holm(std::vector<double>{0.9, 0.8}), {1, 1});
  expect_near(holm({}), {});
}

// The fifteen p-values of Benjamini and Hochberg's own example (1995, section 4.2): at 5 % Bonferroni's
// procedure rejects three hypotheses, theirs four.
TEST(MultipleTesting, BenjaminiAndHochbergsExample) {
  const std::vector<double> p = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                                 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000};
  auto at_or_below = [](const std::vector<double>& adjusted) {
    return std::count_if(adjusted.begin(), adjusted.end(), [](double value) { return value <= 0.05; });
  };
  EXPECT_EQ(at_or_below(benjamini_hochberg(p)), 4);
  EXPECT_EQ(at_or_below(holm(p)), 3);
  EXPECT_NEAR(benjamini_hochberg(p)[3], 15 * 0.0095 / 4, 1e-12);
}

TEST(MultipleTesting, BenjaminiAndHochbergStepsUpInTheOrderGiven) {
  expect_near(benjamini_hochberg(std::vector<double>{0.04, 0.01, 0.03, 0.9}),
              {0.16 / 3, 0.04, 0.16 / 3, 0.9});
}

}  // namespace
}  // namespace wago::diff
