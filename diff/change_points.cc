#include "diff/change_points.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/check.h"
#include "diff/student_t.h"

namespace wago::diff {

namespace {

double mean_of(std::span<const double> values) {
  double sum = 0;
  for (double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double variance_of(std::span<const double> values) {
  const double mean = mean_of(values);
  double squares = 0;
  for (double value : values) squares += (value - mean) * (value - mean);
  return squares / static_cast<double>(values.size() - 1);
}

double pairs_of(size_t n) {
  return static_cast<double>(n) * static_cast<double>(n - 1) / 2;
}

struct Division {
  size_t at = 0;
  double distance = 0;  // scaled energy distance of the two sides
};

// The division with the greatest distance. Moving one value from right to left changes three sums of absolute
// differences, so that all divisions together cost as much as one.
std::optional<Division> best_division(std::span<const double> values, size_t min_side) {
  const size_t n = values.size();
  if (n < 2 * min_side) return std::nullopt;
  double left = 0, across = 0, right = 0;
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = i + 1; j < n; ++j) right += std::abs(values[i] - values[j]);
  }
  std::optional<Division> best;
  for (size_t at = 1; at + min_side <= n; ++at) {
    const double moved = values[at - 1];
    double to_left = 0, to_right = 0;
    for (size_t i = 0; i + 1 < at; ++i) to_left += std::abs(moved - values[i]);
    for (size_t i = at; i < n; ++i) to_right += std::abs(moved - values[i]);
    right -= to_right;
    across += to_right - to_left;
    left += to_left;
    if (at < min_side) continue;
    const auto m = static_cast<double>(at), k = static_cast<double>(n - at);
    const double energy = 2 * across / (m * k) - left / pairs_of(at) - right / pairs_of(n - at);
    const double distance = m * k / (m + k) * energy;
    if (!best || distance > best->distance) best = Division{at, distance};
  }
  return best;
}

}  // namespace

double welch_p(std::span<const double> a, std::span<const double> b) {
  WAGO_CHECK(a.size() >= 2 && b.size() >= 2);
  const double error_a = variance_of(a) / static_cast<double>(a.size());
  const double error_b = variance_of(b) / static_cast<double>(b.size());
  const double difference = std::abs(mean_of(a) - mean_of(b));
  if (error_a + error_b == 0) return difference > 0 ? 0 : 1;
  const double degrees = (error_a + error_b) * (error_a + error_b) /
                         (error_a * error_a / static_cast<double>(a.size() - 1) +
                          error_b * error_b / static_cast<double>(b.size() - 1));
  return 2 * (1 - student_t_cdf(difference / std::sqrt(error_a + error_b), degrees));
}

std::vector<ChangePoint> change_points(std::span<const double> series, const ChangePointOptions& options) {
  const size_t min_side = std::max<size_t>(options.min_side, 2);
  std::vector<size_t> edges = {0, series.size()};
  std::vector<double> p_values = {1, 1};  // of the edges
  for (size_t i = 0; i + 1 < edges.size();) {
    const auto segment = series.subspan(edges[i], edges[i + 1] - edges[i]);
    const auto division = best_division(segment, min_side);
    const double p = division ? welch_p(segment.first(division->at), segment.subspan(division->at)) : 1;
    if (!division || p > options.max_p) {
      ++i;
      continue;
    }
    const auto at = static_cast<ptrdiff_t>(i) + 1;
    edges.insert(edges.begin() + at, edges[i] + division->at);
    p_values.insert(p_values.begin() + at, p);
  }
  std::vector<ChangePoint> found;
  for (size_t i = 1; i + 1 < edges.size(); ++i) {
    found.push_back({edges[i], mean_of(series.subspan(edges[i - 1], edges[i] - edges[i - 1])),
                     mean_of(series.subspan(edges[i], edges[i + 1] - edges[i])), p_values[i]});
  }
  return found;
}

}  // namespace wago::diff
