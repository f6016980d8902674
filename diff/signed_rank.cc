#include "diff/signed_rank.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "diff/statistics.h"

namespace wago::diff {

namespace {

std::vector<double> walsh_averages(std::span<const double> values) {
  std::vector<double> averages;
  averages.reserve(values.size() * (values.size() + 1) / 2);
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t j = i; j < values.size(); ++j) averages.push_back(values[i] / 2 + values[j] / 2);
  }
  std::sort(averages.begin(), averages.end());
  return averages;
}

struct Ranked {
  std::vector<double> ranks;  // of absolute values; equal ones share the mean of theirs
  double positive = 0;        // sum of the ranks of positive values
};

Ranked rank(std::span<const double> values, double threshold) {
  std::vector<double> shifted;
  for (double value : values) {
    if (value != threshold) shifted.push_back(value - threshold);
  }
  std::sort(shifted.begin(), shifted.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
  Ranked ranked;
  for (size_t begin = 0, end; begin < shifted.size(); begin = end) {
    for (end = begin; end < shifted.size() && std::abs(shifted[end]) == std::abs(shifted[begin]);) ++end;
    const double shared = static_cast<double>(begin + 1 + end) / 2;
    for (size_t i = begin; i < end; ++i) {
      ranked.ranks.push_back(shared);
      if (shifted[i] > 0) ranked.positive += shared;
    }
  }
  return ranked;
}

}  // namespace

SignedRankDistribution::SignedRankDistribution(size_t n) {
  for (size_t rank = 1; rank <= n; ++rank) add(2 * rank);
}

SignedRankDistribution::SignedRankDistribution(std::span<const double> ranks) {
  for (double rank : ranks) {
    WAGO_CHECK(rank > 0 && rank * 2 == std::floor(rank * 2));
    add(static_cast<size_t>(rank * 2));
  }
}

void SignedRankDistribution::add(size_t twice_rank) {
  const size_t before = mass_.size();
  mass_.resize(before + twice_rank);
  for (size_t sum = mass_.size(); sum-- > 0;) {
    const double with = sum >= twice_rank ? mass_[sum - twice_rank] : 0;
    mass_[sum] = (mass_[sum] + with) / 2;
  }
}

double SignedRankDistribution::at_most(double v) const {
  double sum = 0;
  for (size_t i = 0; i < mass_.size() && static_cast<double>(i) <= 2 * v; ++i) sum += mass_[i];
  return std::min(sum, 1.0);
}

double SignedRankDistribution::at_least(double v) const {
  double sum = 0;
  for (size_t i = mass_.size(); i-- > 0 && static_cast<double>(i) >= 2 * v;) sum += mass_[i];
  return std::min(sum, 1.0);
}

double hodges_lehmann(std::span<const double> values) {
  WAGO_CHECK(!values.empty());
  return quantile(walsh_averages(values), 0.5);
}

std::optional<Interval> signed_rank_interval(std::span<const double> values, double confidence) {
  const SignedRankDistribution distribution(values.size());
  const double tail = (1 - confidence) / 2;
  // V counts the Walsh averages above the shift: the k outermost of them may go on either side.
  size_t cut = 0;
  while (distribution.at_most(static_cast<double>(cut)) <= tail) ++cut;
  if (cut == 0) return std::nullopt;
  const std::vector<double> averages = walsh_averages(values);
  return Interval{averages[cut - 1], averages[averages.size() - cut]};
}

double p_above(std::span<const double> values, double threshold) {
  const Ranked ranked = rank(values, threshold);
  return SignedRankDistribution(ranked.ranks).at_least(ranked.positive);
}

double p_below(std::span<const double> values, double threshold) {
  const Ranked ranked = rank(values, threshold);
  return SignedRankDistribution(ranked.ranks).at_most(ranked.positive);
}

}  // namespace wago::diff
