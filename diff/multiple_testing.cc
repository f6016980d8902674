#include "diff/multiple_testing.h"

#include <algorithm>
#include <numeric>

namespace wago::diff {

namespace {

// Indices of ascending values; equal ones keep their order.
std::vector<size_t> ascending(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  return order;
}

}  // namespace

std::vector<double> holm(std::span<const double> p_values) {
  const std::vector<size_t> order = ascending(p_values);
  std::vector<double> adjusted(p_values.size());
  double so_far = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const auto tests_left = static_cast<double>(order.size() - i);
    so_far = std::max(so_far, std::min(1.0, tests_left * p_values[order[i]]));
    adjusted[order[i]] = so_far;
  }
  return adjusted;
}

std::vector<double> benjamini_hochberg(std::span<const double> p_values) {
  const std::vector<size_t> order = ascending(p_values);
  std::vector<double> adjusted(p_values.size());
  double so_far = 1;
  for (size_t i = order.size(); i-- > 0;) {
    const double scaled = p_values[order[i]] * static_cast<double>(order.size()) / static_cast<double>(i + 1);
    so_far = std::min(so_far, scaled);
    adjusted[order[i]] = so_far;
  }
  return adjusted;
}

}  // namespace wago::diff
