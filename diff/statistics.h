// Statistics over measured values: pure functions, independent of what was measured.
//
// Quantiles interpolate linearly between order statistics (definition 7 of R. J. Hyndman and Y. Fan, "Sample
// quantiles in statistical packages", The American Statistician 50, 1996): the default of R and NumPy, so
// that others can repeat them.
#pragma once

#include <cstddef>
#include <vector>

namespace wago::diff {

// What is said of a set of values wherever one number is shown for them. All of the values' own unit.
struct Summary {
  size_t n = 0;
  double median = 0;
  double lower_quartile = 0;
  double upper_quartile = 0;
  double min = 0;
  double max = 0;

  // Interquartile range over the median, 0 where the median is 0: half of the values lie in a band this wide.
  double relative_spread() const;
  bool operator==(const Summary&) const = default;
};

// O(n log n). No values give a summary with n = 0.
Summary summarize(std::vector<double> values);

// Precondition: `sorted` ascending and not empty; 0 <= p <= 1.
double quantile(const std::vector<double>& sorted, double p);

}  // namespace wago::diff
