#include "diff/student_t.h"

#include <cmath>
#include <limits>

#include "base/check.h"

namespace wago::diff {

namespace {

struct Moments {
  double mean = 0;
  double standard_error = 0;
};

std::optional<Moments> moments_of(std::span<const double> values) {
  if (values.size() < 2) return std::nullopt;
  const auto n = static_cast<double>(values.size());
  double sum = 0;
  for (double value : values) sum += value;
  const double mean = sum / n;
  double squares = 0;
  for (double value : values) squares += (value - mean) * (value - mean);
  return Moments{mean, std::sqrt(squares / (n - 1) / n)};
}

// The continued fraction of 26.5.8 by the modified method of Lentz; converges for x < (a + 1) / (a + b + 2).
double beta_fraction(double x, double a, double b) {
  constexpr double kTiny = 1e-300;
  constexpr int kMaxTerms = 10'000;
  auto away_from_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), result = d;
  for (int m = 1; m < kMaxTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double last = 1;
    for (double term : {even, odd}) {
      d = 1 / away_from_zero(1 + term * d);
      c = away_from_zero(1 + term / c);
      last = c * d;
      result *= last;
    }
    if (std::abs(last - 1) < std::numeric_limits<double>::epsilon()) break;
  }
  return result;
}

}  // namespace

double incomplete_beta(double x, double a, double b) {
  WAGO_CHECK(x >= 0 && x <= 1 && a > 0 && b > 0);
  if (x == 0 || x == 1) return x;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(x, a, b) / a;
  return 1 - front * beta_fraction(1 - x, b, a) / b;
}

double student_t_cdf(double t, double degrees) {
  if (std::isinf(t)) return t > 0 ? 1 : 0;
  const double tail = incomplete_beta(degrees / (degrees + t * t), degrees / 2, 0.5) / 2;
  return t > 0 ? 1 - tail : tail;
}

double student_t_quantile(double p, double degrees) {
  WAGO_CHECK(p > 0 && p < 1);
  if (p < 0.5) return -student_t_quantile(1 - p, degrees);
  double low = 0, high = 1;
  while (student_t_cdf(high, degrees) < p) high *= 2;
  for (int i = 0; i < 200 && low < high; ++i) {
    const double middle = low + (high - low) / 2;
    if (middle == low || middle == high) break;
    (student_t_cdf(middle, degrees) < p ? low : high) = middle;
  }
  return high;
}

std::optional<Interval> student_t_interval(std::span<const double> values, double confidence) {
  const auto moments = moments_of(values);
  if (!moments) return std::nullopt;
  const double reach = student_t_quantile(1 - (1 - confidence) / 2, static_cast<double>(values.size() - 1)) *
                       moments->standard_error;
  return Interval{moments->mean - reach, moments->mean + reach};
}

double t_p_above(std::span<const double> values, double threshold) {
  const auto moments = moments_of(values);
  if (!moments) return 1;
  const double distance = moments->mean - threshold;
  if (moments->standard_error == 0) return distance > 0 ? 0 : 1;
  return 1 - student_t_cdf(distance / moments->standard_error, static_cast<double>(values.size() - 1));
}

double t_p_below(std::span<const double> values, double threshold) {
  const auto moments = moments_of(values);
  if (!moments) return 1;
  const double distance = moments->mean - threshold;
  if (moments->standard_error == 0) return distance < 0 ? 0 : 1;
  return student_t_cdf(distance / moments->standard_error, static_cast<double>(values.size() - 1));
}

}  // namespace wago::diff
