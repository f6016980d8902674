// What verdicts are worth, from experiments in which the truth is known: a slowdown was injected, or none.
//
// A trial is what a user would have seen: consecutive pairs of one workload, looked at as an experiment
// looks, until there is a verdict. The next trial begins with the next pair, so that nothing is used twice.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "capture/experiment.h"
#include "diff/bench/other_rules.h"
#include "diff/verdict.h"

namespace wago::diff::bench {

struct Trial {
  std::string workload;
  Finding finding = Finding::Inconclusive;
  size_t pairs = 0;
  double seconds = 0;             // that many pairs took, starting and warming up included
  std::array<Claim, 5> others{};  // of other_rules(), on as many iterations
  bool others_judged = false;     // there were iterations enough
};

struct TrialOptions {
  size_t most_pairs = 24;  // then it is inconclusive; a trial begins only where so many are left
  // Instead: one trial of each workload, of all the pairs that the experiment gave it. Then the others, who
  // need twice as many, are not judged.
  bool as_run = false;
  VerdictSettings settings;
};

// Trials of every workload, controls included, which must be named as such: they are unchanged.
std::vector<Trial> trials_of(const capture::ExperimentContents& contents, bool controls,
                             const TrialOptions& options);

// An experiment as a whole, all its workloads judged together.
struct Suite {
  size_t claims = 0;        // findings of a change that are held over all workloads: a gate fails
  bool invalid = false;     // a control moved: nothing is claimed
  bool unfinished = false;  // the budget was spent before all was settled
  double seconds = 0;
};
Suite suite_of(const capture::ExperimentContents& contents, const VerdictSettings& settings);

// What was injected: the logarithm of candidate over baseline.
double injected(const capture::Experiment& experiment);

// Of blocks of `pairs` consecutive pairs, how many 99 % intervals of signed ranks hold `truth`.
struct Coverage {
  size_t blocks = 0;
  size_t covered = 0;
};
Coverage coverage_of(const capture::ExperimentContents& contents, bool controls, double truth, size_t pairs);

// E. B. Wilson's interval of a share at 95 % ("Probable inference, the law of succession, and statistical
// inference", Journal of the American Statistical Association 22, 1927).
Interval wilson(size_t hits, size_t of);

}  // namespace wago::diff::bench
