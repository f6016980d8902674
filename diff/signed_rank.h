// One sample of differences: where its centre lies, and how sure that is, by Wilcoxon's signed ranks (F.
// Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1, 1945) and the estimate that
// belongs to them (J. L. Hodges and E. L. Lehmann, "Estimates of location based on rank tests", Annals of
// Mathematical Statistics 34, 1963). Everything is exact: the distribution of the sum of signed ranks is
// counted, not approximated. All functions are pure.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace wago::diff {

// The distribution of V, the sum of the ranks of positive differences, if each sign is as likely as the
// other. Ranks may be halves, where differences tie; conditional on the ranks it is exact.
class SignedRankDistribution {
 public:
  // Ranks 1 to n.
  explicit SignedRankDistribution(size_t n);
  // Precondition: each rank is a multiple of one half. O(n sum of ranks).
  explicit SignedRankDistribution(std::span<const double> ranks);

  double at_most(double v) const;   // P(V <= v)
  double at_least(double v) const;  // P(V >= v)

 private:
  void add(size_t twice_rank);
  std::vector<double> mass_ = {1};  // by twice the sum
};

// Median of the Walsh averages (x_i + x_j) / 2, i <= j. Precondition: not empty. O(n^2 log n).
double hodges_lehmann(std::span<const double> values);

struct Interval {
  double low = 0;
  double high = 0;
  bool operator==(const Interval&) const = default;
};

// The interval of shifts that a two-sided signed-rank test at level 1 - `confidence` would not reject, bounds
// included; covers the centre of a symmetric distribution at least that often. Nothing: so few values cannot
// reach the level at all.
std::optional<Interval> signed_rank_interval(std::span<const double> values, double confidence);

// P-value of "the centre lies above `threshold`" against "at or below it". Values that equal the threshold
// are left out, as Wilcoxon does. No values left: 1.
double p_above(std::span<const double> values, double threshold);
// The same of "below".
double p_below(std::span<const double> values, double threshold);

}  // namespace wago::diff
