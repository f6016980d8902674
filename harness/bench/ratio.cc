#include "harness/bench/ratio.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

namespace wago::harness::bench {

namespace {

// Linear interpolation between order statistics.
double quantile(const std::vector<double>& sorted, double p) {
  double at = p * static_cast<double>(sorted.size() - 1);
  auto below = static_cast<size_t>(at);
  size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

Spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  return {quantile(values, 0.5), quantile(values, 0.25), quantile(values, 0.75), values.size()};
}

Paired measure_pairs(size_t pairs, size_t warm_up, const std::function<double()>& a,
                     const std::function<double()>& b) {
  std::minstd_rand random(20260101);
  std::vector<double> as, bs, ratios;
  for (size_t i = 0; i < pairs + warm_up; ++i) {
    bool a_first = random() & 1;
    double first = a_first ? a() : b();
    double second = a_first ? b() : a();
    if (i < warm_up) continue;
    as.push_back(a_first ? first : second);
    bs.push_back(a_first ? second : first);
    ratios.push_back(as.back() / bs.back());
  }
  return {spread_of(as), spread_of(bs), spread_of(ratios)};
}

std::string to_string(const Spread& spread, const char* format) {
  auto one = [format](double value) {
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, format, value);
    return std::string(buffer);
  };
  return one(spread.median) + " [" + one(spread.low) + ", " + one(spread.high) +
         "] n=" + std::to_string(spread.n);
}

}  // namespace wago::harness::bench
