#include "diff/student_t.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace wago::diff {
namespace {

// With 1, 2 and 3 degrees the distribution has closed forms.
TEST(StudentT, ClosedFormsAgree) {
  for (double t : {-40.0, -3.0, -1.0, -0.1, 0.0, 0.5, 1.0, 2.0, 12.0, 1000.0}) {
    EXPECT_NEAR(student_t_cdf(t, 1), 0.5 + std::atan(t) / std::numbers::pi, 1e-12) << t;
    EXPECT_NEAR(student_t_cdf(t, 2), 0.5 + t / (2 * std::sqrt(2 + t * t)), 1e-12) << t;
    const double u = t / std::sqrt(3.0);
    EXPECT_NEAR(student_t_cdf(t, 3), 0.5 + (u / (1 + u * u) + std::atan(u)) / std::numbers::pi, 1e-12) << t;
  }
}

// The table of the NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2.
TEST(StudentT, QuantilesAreThePublishedOnes) {
  const struct {
    double degrees, at_95, at_975, at_995;
  } kPublished[] = {{1, 6.314, 12.706, 63.657}, {2, 2.920, 4.303, 9.925},  {4, 2.132, 2.776, 4.604},
                    {7, 1.895, 2.365, 3.499},   {10, 1.812, 2.228, 3.169}, {30, 1.697, 2.042, 2.750},
                    {60, 1.671, 2.000, 2.660},  {100, 1.660, 1.984, 2.626}};
  for (const auto& row : kPublished) {
    EXPECT_NEAR(student_t_quantile(0.95, row.degrees), row.at_95, 6e-4) << row.degrees;
    EXPECT_NEAR(student_t_quantile(0.975, row.degrees), row.at_975, 6e-4) << row.degrees;
    EXPECT_NEAR(student_t_quantile(0.995, row.degrees), row.at_995, 6e-4) << row.degrees;
    EXPECT_NEAR(student_t_quantile(0.05, row.degrees), -row.at_95, 6e-4) << row.degrees;
  }
}

TEST(StudentT, QuantileInvertsTheDistribution) {
  for (double degrees : {1.0, 3.0, 7.5, 59.0}) {
    for (double p : {1e-6, 0.01, 0.3, 0.5, 0.9, 1 - 1e-6}) {
      EXPECT_NEAR(student_t_cdf(student_t_quantile(p, degrees), degrees), p, 1e-12) << degrees << " " << p;
    }
  }
}

// Student's own data (1908): additional hours of sleep with the second soporific.
TEST(StudentT, StudentsSleepData) {
  const std::vector<double> extra = {1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4};
  const auto interval = student_t_interval(extra, 0.95);
  ASSERT_TRUE(interval);
  EXPECT_NEAR(interval->low, 0.7001142, 1e-6);
  EXPECT_NEAR(interval->high, 2.4598858, 1e-6);
  EXPECT_NEAR(2 * t_p_above(extra, 0), 0.00283289, 1e-7);
  EXPECT_NEAR(t_p_below(extra, 0), 1 - t_p_above(extra, 0), 1e-12);
}

TEST(StudentT, TooFewOrEqualValuesSayWhatTheyCan) {
  EXPECT_FALSE(student_t_interval(std::vector<double>{1}, 0.99));
  EXPECT_EQ(t_p_above(std::vector<double>{1}, 0), 1);
  EXPECT_EQ(*student_t_interval(std::vector<double>{2, 2, 2}, 0.99), (Interval{2, 2}));
  EXPECT_EQ(t_p_above(std::vector<double>{2, 2, 2}, 2), 1);
}

}  // namespace
}  // namespace wago::diff
