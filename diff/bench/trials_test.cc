#include "diff/bench/trials.h"

#include <gtest/gtest.h>

#include <cmath>

namespace wago::diff::bench {
namespace {

// Pairs of one turn a side, of which the candidate's takes the baseline's 1 ms times its ratio.
capture::ExperimentContents contents(const std::vector<double>& ratios, uint64_t slowdown_ppm = 0) {
  capture::ExperimentContents made;
  capture::ExperimentWorkload workload;
  workload.id = "w";
  made.experiment.workloads = {workload};
  made.experiment.sides[1].slowdown_ppm = slowdown_ppm;
  made.experiment.elapsed_ns = 2'000'000'000 * ratios.size();
  for (size_t i = 0; i < ratios.size(); ++i) {
    capture::Pair pair;
    pair.code_offset = static_cast<uint32_t>(i % 4 * 16);
    for (size_t side = 0; side < 2; ++side) {
      capture::Turn turn;
      turn.cpu_ns = turn.wall_ns = static_cast<uint64_t>(std::llround(1e6 * (side ? ratios[i] : 1.0)));
      pair.turns[side] = {turn};
    }
    made.pairs.push_back(pair);
  }
  return made;
}

// A small spread, so that no two are alike.
std::vector<double> around(double ratio, size_t n) {
  std::vector<double> ratios;
  for (size_t i = 0; i < n; ++i)
    ratios.push_back(ratio * (1 + 1e-4 * std::sin(static_cast<double>(i) * 2.3)));
  return ratios;
}

TEST(Trials, FollowOneAnotherAndUseNothingTwice) {
  const auto trials = trials_of(contents(around(1, 40)), false, {});
  ASSERT_EQ(trials.size(), 3u) << "8 pairs each, while 24 are left";
  for (const Trial& trial : trials) {
    EXPECT_EQ(trial.finding, Finding::Same);
    EXPECT_EQ(trial.pairs, 8u);
    EXPECT_DOUBLE_EQ(trial.seconds, 16);
    ASSERT_TRUE(trial.others_judged);
    EXPECT_EQ(trial.others[0], Claim::None);
  }
}

TEST(Trials, FindWhatWasInjected) {
  const auto slower = contents(around(1.08, 24), 80'000);
  const auto trials = trials_of(slower, false, {});
  ASSERT_EQ(trials.size(), 1u);
  EXPECT_EQ(trials[0].finding, Finding::Regressed);
  for (Claim claim : trials[0].others) EXPECT_EQ(claim, Claim::Slower);
  EXPECT_NEAR(injected(slower.experiment), std::log(1.08), 1e-15);
}

// As the experiment left it: with however many pairs, and with none.
TEST(Trials, AsRunEachWorkloadIsOneTrial) {
  auto made = contents(around(1.08, 13), 80'000);
  made.experiment.workloads.push_back(made.experiment.workloads[0]);
  made.experiment.workloads[1].id = "unreached";
  const auto trials = trials_of(made, false, {.as_run = true});
  ASSERT_EQ(trials.size(), 2u);
  EXPECT_EQ(trials[0].finding, Finding::Regressed);
  EXPECT_EQ(trials[0].pairs, 13u);
  EXPECT_DOUBLE_EQ(trials[0].seconds, 26);
  EXPECT_FALSE(trials[0].others_judged);
  EXPECT_EQ(trials[1].finding, Finding::Inconclusive);
  EXPECT_EQ(trials[1].pairs, 0u);
  EXPECT_TRUE(trials_of(made, true, {.as_run = true}).empty());
}

TEST(Trials, ASuiteIsWhatAGateWouldSay) {
  const Suite same = suite_of(contents(around(1, 8)), {});
  EXPECT_EQ(same.claims, 0u);
  EXPECT_FALSE(same.invalid || same.unfinished);
  EXPECT_DOUBLE_EQ(same.seconds, 16);
  auto made = contents(around(1.08, 8));
  EXPECT_EQ(suite_of(made, {}).claims, 1u);
  made.experiment.workloads[0].control = true;
  EXPECT_TRUE(suite_of(made, {}).invalid) << "a control that moved";
  EXPECT_TRUE(suite_of(contents(around(1, 3)), {}).unfinished);
}

TEST(Trials, ControlsAreApart) {
  auto made = contents(around(1, 24));
  EXPECT_TRUE(trials_of(made, true, {}).empty());
  made.experiment.workloads[0].control = true;
  EXPECT_TRUE(trials_of(made, false, {}).empty());
  EXPECT_EQ(trials_of(made, true, {}).size(), 1u);
}

TEST(Trials, CoverageCountsBlocksThatHoldTheTruth) {
  auto ratios = around(1, 12);
  const auto moved = around(1.05, 12);
  ratios.insert(ratios.end(), moved.begin(), moved.end());
  const Coverage coverage = coverage_of(contents(ratios), false, 0, 12);
  EXPECT_EQ(coverage.blocks, 2u);
  EXPECT_EQ(coverage.covered, 1u);
}

// Wilson's own way: 0 of 10 leaves room up to 0.2775; 5 of 10 is 0.2366 to 0.7634 (A. Agresti and B. A.
// Coull, The American Statistician 52, 1998, have the formula).
TEST(Trials, WilsonIntervals) {
  EXPECT_NEAR(wilson(0, 10).high, 0.2775, 5e-5);
  EXPECT_NEAR(wilson(5, 10).low, 0.2366, 5e-5);
  EXPECT_NEAR(wilson(5, 10).high, 0.7634, 5e-5);
  EXPECT_EQ(wilson(0, 0), (Interval{0, 1}));
}

}  // namespace
}  // namespace wago::diff::bench
