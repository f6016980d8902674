// Student's t: the mean of a small sample of roughly normal values, and how sure it is ("The probable error
// of a mean", Biometrika 6, 1908). The distribution is computed from the regularised incomplete beta function
// by its continued fraction (M. Abramowitz and I. Stegun, Handbook of Mathematical Functions, 26.5.8
// and 26.7.1).
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "diff/signed_rank.h"

namespace wago::diff {

// P(T <= t) with that many degrees of freedom, at least 1.
double student_t_cdf(double t, double degrees);
// The t with P(T <= t) = p. Precondition: 0 < p < 1.
double student_t_quantile(double p, double degrees);

// Of the mean. Nothing: fewer than two values.
std::optional<Interval> student_t_interval(std::span<const double> values, double confidence);
// P-values of "the mean lies above (below) `threshold`"; 1 for fewer than two values.
double t_p_above(std::span<const double> values, double threshold);
double t_p_below(std::span<const double> values, double threshold);

// I_x(a, b). Precondition: 0 <= x <= 1, a > 0, b > 0.
double incomplete_beta(double x, double a, double b);

}  // namespace wago::diff
