// Rules in common use for saying whether two sets of times differ, restated here to be held against this
// project's own on the same recorded iterations. Pure functions; what a tool does beside its rule (outlier
// warnings, warm-up) is not part of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace wago::diff::bench {

// Nanoseconds of iterations, in the order in which they were measured.
struct TwoSides {
  std::vector<double> baseline, candidate;
};

enum class Claim : uint8_t { None, Slower, Faster };  // of the candidate

// One mean a side, and a gate of 5 %.
Claim means_and_gate(const TwoSides& times);
// Mann and Whitney's U over the means of ten repetitions a side, two-sided at 5 %: what compare.py of Google
// Benchmark does, and benchstat.
Claim mann_whitney(const TwoSides& times);
// The 99 % interval of the difference of means, Welch's t over all iterations of all processes: Sightglass.
Claim pooled_t(const TwoSides& times);
// The ratio of the means of ten runs, further from one than its standard deviation: hyperfine.
Claim one_sigma(const TwoSides& times);
// A hundred samples a side, resampled: p < 0.05 of their means' difference, and the 95 % interval of the
// ratio beyond a threshold of 1 %: criterion.
Claim resampled(const TwoSides& times);

struct OtherRule {
  std::string_view name;
  Claim (*claim)(const TwoSides&);
  bool shuffled = false;  // its processes alternate; others measure one side after the other
};
std::span<const OtherRule> other_rules();

// P(U <= u) and P(U >= u) where the first sample of those has rank sum minus n (n + 1) / 2 = u, exact and
// conditional on ties. The two-sided p-value: twice the smaller, at most 1.
double mann_whitney_p(std::span<const double> a, std::span<const double> b);

// The means of `count` stretches of equal length; as many as there are values if these are fewer.
std::vector<double> means_of_stretches(std::span<const double> values, size_t count);

}  // namespace wago::diff::bench
