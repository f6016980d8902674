#include "diff/statistics.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace wago::diff {

double Summary::relative_spread() const {
  return median == 0 ? 0 : (upper_quartile - lower_quartile) / median;
}

double quantile(const std::vector<double>& sorted, double p) {
  WAGO_CHECK(!sorted.empty() && p >= 0 && p <= 1);
  double position = p * static_cast<double>(sorted.size() - 1);
  auto below = static_cast<size_t>(position);
  size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], position - static_cast<double>(below));
}

Summary summarize(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  return {.n = values.size(),
          .median = quantile(values, 0.5),
          .lower_quartile = quantile(values, 0.25),
          .upper_quartile = quantile(values, 0.75),
          .min = values.front(),
          .max = values.back()};
}

}  // namespace wago::diff
