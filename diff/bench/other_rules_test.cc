#include "diff/bench/other_rules.h"

#include <gtest/gtest.h>

#include <cmath>

namespace wago::diff::bench {
namespace {

// Tables of U for samples of 3 and 4, and of 10 and 10: P(U <= 0) = 1 / C(7, 3); the critical value at 5 %
// two-sided for 10 and 10 is 23 (H. B. Mann and D. R. Whitney, 1947, and textbooks since).
TEST(MannWhitney, ExactProbabilities) {
  const std::vector<double> low = {1, 2, 3}, high = {4, 5, 6, 7};
  EXPECT_DOUBLE_EQ(mann_whitney_p(low, high), 2.0 / 35);
  EXPECT_DOUBLE_EQ(mann_whitney_p(high, low), 2.0 / 35);
  const std::vector<double> mixed = {1, 2, 5}, rest = {3, 4, 6, 7};  // U = 2: 4 of 35 are as low
  EXPECT_DOUBLE_EQ(mann_whitney_p(mixed, rest), 8.0 / 35);
}

// a has the ranks that give U = 23 or 24 against ten others.
TEST(MannWhitney, CriticalValueOfTenAndTen) {
  auto p_of = [](int u) {
    std::vector<double> a, b;
    for (int i = 0; i < 10; ++i) b.push_back(2 * i);
    for (int i = 0; i < 10; ++i) {
      const int below = std::min(u, 10);  // this one stands above so many of b
      u -= below;
      a.push_back(2 * below - 1 - 0.01 * (10 - i));
    }
    return mann_whitney_p(a, b);
  };
  EXPECT_LT(p_of(23), 0.05);
  EXPECT_GT(p_of(24), 0.05);
}

TEST(MannWhitney, TiesAreMiddleRanks) {
  const std::vector<double> a = {1, 1}, b = {1, 1};
  EXPECT_DOUBLE_EQ(mann_whitney_p(a, b), 1);
  const std::vector<double> c = {1, 2}, d = {2, 3};  // sums of two of {1, 2.5, 2.5, 4}: 3.5 twice of six
  EXPECT_DOUBLE_EQ(mann_whitney_p(c, d), 4.0 / 6);
}

TEST(Stretches, AreEqualAndInOrder) {
  const std::vector<double> values = {1, 3, 5, 7, 9, 11};
  EXPECT_EQ(means_of_stretches(values, 3), (std::vector<double>{2, 6, 10}));
  EXPECT_EQ(means_of_stretches(values, 10), values);
}

// Times around 100 with a spread of 1 and the candidate's moved by `change`.
TwoSides times(double change) {
  TwoSides sides;
  for (int i = 0; i < 1000; ++i) {
    const double wave = std::sin(i * 1.7) + 0.5 * std::sin(i * 0.31);
    sides.baseline.push_back(100 + wave);
    sides.candidate.push_back((100 + std::sin(i * 1.7 + 1) + 0.5 * std::sin(i * 0.31 + 2)) * (1 + change));
  }
  return sides;
}

TEST(OtherRules, ClaimWhatIsFarAndNotWhatIsNot) {
  for (const OtherRule& rule : other_rules()) {
    SCOPED_TRACE(rule.name);
    EXPECT_EQ(rule.claim(times(0)), Claim::None);
    EXPECT_EQ(rule.claim(times(0.08)), Claim::Slower);
    EXPECT_EQ(rule.claim(times(-0.08)), Claim::Faster);
  }
}

// Between their thresholds they differ: a gate of 5 % and a threshold of 1 % are blind to half a percent.
TEST(OtherRules, HaveTheirThresholds) {
  EXPECT_EQ(means_and_gate(times(0.04)), Claim::None);
  EXPECT_EQ(resampled(times(0.005)), Claim::None);
  EXPECT_EQ(resampled(times(0.03)), Claim::Slower);
  EXPECT_EQ(pooled_t(times(0.005)), Claim::Slower);
}

}  // namespace
}  // namespace wago::diff::bench
