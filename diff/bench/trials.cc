#include "diff/bench/trials.h"

#include <cmath>
#include <span>

namespace wago::diff::bench {

namespace {

using capture::ExperimentSide;
using capture::Pair;

// The pairs of each workload that is a control or is none, in order.
std::vector<std::vector<Pair>> by_workload(const capture::ExperimentContents& contents, bool controls) {
  std::vector<std::vector<Pair>> pairs(contents.experiment.workloads.size());
  for (const Pair& pair : contents.pairs) {
    if (contents.experiment.workloads[pair.workload].control == controls)
      pairs[pair.workload].push_back(pair);
  }
  return pairs;
}

// As if there were no other workload.
capture::Experiment experiment_of(const capture::Experiment& whole, size_t workload) {
  capture::Experiment one = whole;
  one.workloads = {whole.workloads[workload]};
  one.workloads[0].control = false;
  return one;
}

void append(std::vector<double>& times, const Pair& pair, ExperimentSide side) {
  for (const capture::Turn& turn : pair.turns[index_of(side)]) {
    times.push_back(static_cast<double>(turn.wall_ns) / static_cast<double>(pair.iterations_per_turn));
  }
}

// Twice as many pairs as the trial took, one side of each: the same number of iterations.
TwoSides two_sides(std::span<const Pair> pairs, bool shuffled) {
  TwoSides times;
  for (size_t i = 0; i < pairs.size(); ++i) {
    const bool baseline = shuffled ? i % 2 == 0 : i < pairs.size() / 2;
    append(baseline ? times.baseline : times.candidate, pairs[i],
           baseline ? ExperimentSide::Baseline : ExperimentSide::Candidate);
  }
  return times;
}

WorkloadFinding find_one(const capture::Experiment& experiment, std::span<const Pair> pairs,
                         const VerdictSettings& settings) {
  return find(experiment, pairs, settings).workloads.at(0);
}

Trial trial_at(const capture::Experiment& experiment, std::span<const Pair> left,
               const TrialOptions& options) {
  Trial trial{.workload = experiment.workloads[0].id};
  for (size_t look : kLooks) {
    if (look > options.most_pairs) break;
    trial.pairs = look;
    const WorkloadFinding found = find_one(experiment, left.first(look), options.settings);
    trial.finding = found.finding;
    if (!next_look(found)) break;
  }
  if (left.size() >= 2 * trial.pairs) {
    trial.others_judged = true;
    const std::span<const OtherRule> rules = other_rules();
    for (size_t i = 0; i < rules.size(); ++i) {
      trial.others.at(i) = rules[i].claim(two_sides(left.first(2 * trial.pairs), rules[i].shuffled));
    }
  }
  return trial;
}

Trial trial_as_run(const capture::Experiment& experiment, std::span<const Pair> pairs,
                   const TrialOptions& options) {
  return {.workload = experiment.workloads[0].id,
          .finding = find_one(experiment, pairs, options.settings).finding,
          .pairs = pairs.size()};
}

}  // namespace

std::vector<Trial> trials_of(const capture::ExperimentContents& contents, bool controls,
                             const TrialOptions& options) {
  const double seconds_each = static_cast<double>(contents.experiment.elapsed_ns) / 1e9 /
                              static_cast<double>(std::max<size_t>(1, contents.pairs.size()));
  std::vector<Trial> trials;
  std::vector<std::vector<Pair>> all = by_workload(contents, controls);
  for (size_t workload = 0; workload < all.size(); ++workload) {
    const capture::Experiment experiment = experiment_of(contents.experiment, workload);
    std::vector<Pair>& pairs = all[workload];
    for (Pair& pair : pairs) pair.workload = 0;
    if (options.as_run) {
      if (contents.experiment.workloads[workload].control != controls) continue;
      trials.push_back(trial_as_run(experiment, pairs, options));
      trials.back().seconds = seconds_each * static_cast<double>(pairs.size());
      continue;
    }
    for (std::span<const Pair> left = pairs; left.size() >= options.most_pairs;) {
      Trial trial = trial_at(experiment, left, options);
      trial.seconds = seconds_each * static_cast<double>(trial.pairs);
      left = left.subspan(trial.pairs);
      trials.push_back(std::move(trial));
    }
  }
  return trials;
}

Suite suite_of(const capture::ExperimentContents& contents, const VerdictSettings& settings) {
  const ExperimentFindings findings = find(contents.experiment, contents.pairs, settings);
  Suite suite{.invalid = !findings.invalid.empty(),
              .seconds = static_cast<double>(contents.experiment.elapsed_ns) / 1e9};
  for (const WorkloadFinding& finding : findings.workloads) {
    suite.claims += finding.gated;
    suite.unfinished |= next_look(finding).has_value();
  }
  return suite;
}

double injected(const capture::Experiment& experiment) {
  auto of = [&](ExperimentSide side) {
    return std::log1p(static_cast<double>(experiment.sides[index_of(side)].slowdown_ppm) / 1e6);
  };
  return of(ExperimentSide::Candidate) - of(ExperimentSide::Baseline);
}

Coverage coverage_of(const capture::ExperimentContents& contents, bool controls, double truth, size_t pairs) {
  Coverage coverage;
  for (const std::vector<Pair>& of_workload : by_workload(contents, controls)) {
    std::vector<double> ratios;
    for (const Pair& pair : of_workload) {
      if (auto ratio = log_ratio(pair); ratio && !is_cold(pair)) ratios.push_back(*ratio);
    }
    for (size_t begin = 0; begin + pairs <= ratios.size(); begin += pairs) {
      const auto interval = signed_rank_interval(std::span(ratios).subspan(begin, pairs), 0.99);
      if (!interval) continue;
      ++coverage.blocks;
      coverage.covered += interval->low <= truth && truth <= interval->high;
    }
  }
  return coverage;
}

Interval wilson(size_t hits, size_t of) {
  if (of == 0) return {0, 1};
  constexpr double z = 1.959963984540054;
  const auto n = static_cast<double>(of);
  const double p = static_cast<double>(hits) / n;
  const double centre = (p + z * z / (2 * n)) / (1 + z * z / n);
  const double half = z / (1 + z * z / n) * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
  return {std::max(0.0, centre - half), std::min(1.0, centre + half)};
}

}  // namespace wago::diff::bench
