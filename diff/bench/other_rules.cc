#include "diff/bench/other_rules.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>

#include "diff/student_t.h"

namespace wago::diff::bench {

namespace {

constexpr size_t kRepetitions = 10;
constexpr size_t kSamples = 100;
constexpr size_t kResamples = 1000;

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Of the population that the values are a sample of.
double variance_of(std::span<const double> values) {
  if (values.size() < 2) return 0;
  const double mean = mean_of(values);
  double sum = 0;
  for (double value : values) sum += (value - mean) * (value - mean);
  return sum / static_cast<double>(values.size() - 1);
}

Claim direction(double difference) {
  return difference > 0 ? Claim::Slower : Claim::Faster;
}

TwoSides repetitions(const TwoSides& times, size_t count) {
  return {means_of_stretches(times.baseline, count), means_of_stretches(times.candidate, count)};
}

// Ranks from 1, ties in their middle, doubled: whole numbers.
std::vector<size_t> twice_ranks(std::span<const double> values) {
  std::vector<size_t> order(values.size()), ranks(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (size_t i = begin; i < end; ++i) ranks[order[i]] = begin + end + 1;
    begin = end;
  }
  return ranks;
}

double resampled_mean(std::span<const double> values, std::mt19937_64& random) {
  double sum = 0;
  for (size_t i = 0; i < values.size(); ++i) sum += values[random() % values.size()];
  return sum / static_cast<double>(values.size());
}

}  // namespace

std::vector<double> means_of_stretches(std::span<const double> values, size_t count) {
  count = std::min(count, values.size());
  std::vector<double> means;
  for (size_t i = 0; i < count; ++i) {
    const size_t begin = values.size() * i / count, end = values.size() * (i + 1) / count;
    means.push_back(mean_of(values.subspan(begin, end - begin)));
  }
  return means;
}

double mann_whitney_p(std::span<const double> a, std::span<const double> b) {
  std::vector<double> all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  const std::vector<size_t> ranks = twice_ranks(all);
  const size_t seen = std::accumulate(ranks.begin(), ranks.begin() + static_cast<long>(a.size()), size_t{0});
  const size_t most = std::accumulate(ranks.begin(), ranks.end(), size_t{0});
  // ways[k][s]: choices of k of the values whose doubled ranks sum to s.
  std::vector<std::vector<double>> ways(a.size() + 1, std::vector<double>(most + 1));
  ways[0][0] = 1;
  for (size_t rank : ranks) {
    for (size_t k = a.size(); k > 0; --k) {
      for (size_t s = most; s >= rank; --s) ways[k][s] += ways[k - 1][s - rank];
    }
  }
  const std::vector<double>& sums = ways[a.size()];
  const double total = std::accumulate(sums.begin(), sums.end(), 0.0);
  const auto at = sums.begin() + static_cast<long>(seen);
  const double at_most = std::accumulate(sums.begin(), at + 1, 0.0);
  const double at_least = std::accumulate(at, sums.end(), 0.0);
  return std::min(1.0, 2 * std::min(at_most, at_least) / total);
}

Claim means_and_gate(const TwoSides& times) {
  const double change = mean_of(times.candidate) / mean_of(times.baseline) - 1;
  return std::abs(change) > 0.05 ? direction(change) : Claim::None;
}

Claim mann_whitney(const TwoSides& times) {
  const TwoSides runs = repetitions(times, kRepetitions);
  if (mann_whitney_p(runs.baseline, runs.candidate) >= 0.05) return Claim::None;
  return direction(mean_of(runs.candidate) - mean_of(runs.baseline));
}

// B. L. Welch, "The generalization of Student's problem when several different population variances are
// involved", Biometrika 34, 1947.
Claim pooled_t(const TwoSides& times) {
  const auto n_a = static_cast<double>(times.baseline.size()),
             n_b = static_cast<double>(times.candidate.size());
  if (n_a < 2 || n_b < 2) return Claim::None;
  const double a = variance_of(times.baseline) / n_a, b = variance_of(times.candidate) / n_b;
  const double difference = mean_of(times.candidate) - mean_of(times.baseline);
  if (a + b == 0) return difference == 0 ? Claim::None : direction(difference);
  const double degrees = (a + b) * (a + b) / (a * a / (n_a - 1) + b * b / (n_b - 1));
  const double half = student_t_quantile(0.995, degrees) * std::sqrt(a + b);
  return std::abs(difference) > half ? direction(difference) : Claim::None;
}

Claim one_sigma(const TwoSides& times) {
  const TwoSides runs = repetitions(times, kRepetitions);
  const double a = mean_of(runs.baseline), b = mean_of(runs.candidate), ratio = b / a;
  const double sigma =
      ratio * std::sqrt(variance_of(runs.baseline) / (a * a) + variance_of(runs.candidate) / (b * b));
  return std::abs(ratio - 1) > sigma ? direction(ratio - 1) : Claim::None;
}

Claim resampled(const TwoSides& times) {
  constexpr double kThreshold = 0.01;
  const TwoSides samples = repetitions(times, kSamples);
  std::vector<double> both = samples.baseline;
  both.insert(both.end(), samples.candidate.begin(), samples.candidate.end());
  const double seen = mean_of(samples.candidate) - mean_of(samples.baseline);
  std::mt19937_64 random(1);
  std::vector<double> changes;
  size_t as_far = 0;
  for (size_t i = 0; i < kResamples; ++i) {
    changes.push_back(resampled_mean(samples.candidate, random) / resampled_mean(samples.baseline, random) -
                      1);
    // If there were no difference: both sides drawn from all.
    double a = 0, b = 0;
    for (size_t k = 0; k < samples.baseline.size(); ++k) a += both[random() % both.size()];
    for (size_t k = 0; k < samples.candidate.size(); ++k) b += both[random() % both.size()];
    const double chance =
        b / static_cast<double>(samples.candidate.size()) - a / static_cast<double>(samples.baseline.size());
    as_far += std::abs(chance) >= std::abs(seen);
  }
  if (static_cast<double>(as_far) >= 0.05 * static_cast<double>(kResamples)) return Claim::None;
  std::sort(changes.begin(), changes.end());
  const double low = changes[kResamples * 25 / 1000], high = changes[kResamples * 975 / 1000];
  return low > kThreshold || high < -kThreshold ? direction(seen) : Claim::None;
}

std::span<const OtherRule> other_rules() {
  static constexpr std::array<OtherRule, 5> kRules = {{
      {"one pair of means, 5 % gate", means_and_gate},
      {"Mann-Whitney over 10 repetitions (compare.py, benchstat)", mann_whitney},
      {"99 % t interval over pooled iterations (Sightglass)", pooled_t, true},
      {"one sigma of 10 runs (hyperfine)", one_sigma},
      {"resampled means, 1 % threshold (criterion)", resampled},
  }};
  return kRules;
}

}  // namespace wago::diff::bench
