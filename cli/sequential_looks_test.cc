#include "cli/sequential_looks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

namespace wago::cli::profile {
namespace {

capture::Experiment two_workloads() {
  capture::Experiment experiment;
  experiment.sides[0].runner_id = "a";
  experiment.sides[1].runner_id = "b";
  experiment.workloads.resize(2);
  experiment.workloads[0].id = "first";
  experiment.workloads[1].id = "second";
  for (auto& workload : experiment.workloads) workload.code_sha256 = {"same", "same"};
  return experiment;
}

// Offsets agree with one another; what varies, varies from one four of them to the next.
// A pair in which the candidate takes `ratio` of the baseline's time.
capture::Pair pair_of(uint32_t workload, size_t number, double ratio) {
  capture::Pair pair;
  pair.workload = workload;
  pair.code_offset = static_cast<uint32_t>(number % 4) * 16;
  for (int turn = 0; turn < 9; ++turn) {
    pair.turns[0].push_back({.cpu_ns = 1'000'000});
    pair.turns[1].push_back({.cpu_ns = static_cast<uint64_t>(std::lround(1'000'000 * ratio))});
  }
  return pair;
}

void add(std::vector<capture::Pair>& pairs, uint32_t workload, size_t count, double ratio,
         double spread = 0) {
  for (size_t i = 0; i < count; ++i) {
    pairs.push_back(pair_of(workload, i, ratio + (i / 4 % 2 == 0 ? spread : -spread)));
  }
}

TEST(SequentialLooks, NothingIsJudgedBetweenLooks) {
  SequentialLooks rule({});
  std::vector<capture::Pair> pairs;
  auto demands = rule.demands(two_workloads(), pairs);
  ASSERT_EQ(demands.size(), 2u);
  EXPECT_EQ(demands[0].pairs, 8u);
  add(pairs, 0, 5, 2.0);
  add(pairs, 1, 9, 2.0);
  demands = rule.demands(two_workloads(), pairs);
  EXPECT_EQ(demands[0].pairs, 8u);
  EXPECT_EQ(demands[1].pairs, 12u) << "as clear as it is, it was on its way to a look";
}

// A budget that does not reach everybody reaches those that can have changed.
TEST(SequentialLooks, TheSameCodeWaits) {
  SequentialLooks rule({});
  capture::Experiment experiment = two_workloads();
  experiment.workloads[1].code_sha256[1] = "other";
  std::vector<capture::Pair> pairs;
  auto demands = rule.demands(experiment, pairs);
  EXPECT_LT(demands[0].urgency, demands[1].urgency);
  add(pairs, 0, 8, 1.1);
  add(pairs, 1, 8, 0.95);
  demands = rule.demands(experiment, pairs);
  EXPECT_LT(demands[0].urgency, demands[1].urgency);
}

TEST(SequentialLooks, WhatIsUnclearGetsMoreAndWhatIsSettledDoesNot) {
  SequentialLooks rule({});
  std::vector<capture::Pair> pairs;
  add(pairs, 0, 16, 1.0005, 0.0001);
  add(pairs, 1, 16, 1.05, 0.2);
  auto demands = rule.demands(two_workloads(), pairs);
  EXPECT_LE(demands[0].pairs, 16u);
  EXPECT_EQ(demands[1].pairs, 24u);
  EXPECT_GT(demands[1].urgency, demands[0].urgency);
  add(pairs, 1, 44, 1.05, 0.2);
  demands = rule.demands(two_workloads(), pairs);
  EXPECT_LE(demands[1].pairs, 60u) << "patience ends";
}

TEST(SequentialLooks, TheSameProgramOnTheSameModuleIsSettledAtTheFirstLook) {
  SequentialLooks rule({});
  capture::Experiment experiment = two_workloads();
  std::vector<capture::Pair> pairs;
  add(pairs, 0, 8, 1.0, 0.2);
  add(pairs, 1, 8, 1.0, 0.2);
  EXPECT_EQ(rule.demands(experiment, pairs)[0].pairs, 12u);
  experiment.sides[1].runner_id = "a";
  EXPECT_LE(rule.demands(experiment, pairs)[0].pairs, 8u);
  // A slowdown that was injected is no property of the code.
  experiment.sides[1].slowdown_ppm = 10'000;
  EXPECT_EQ(rule.demands(experiment, pairs)[0].pairs, 12u);
}

TEST(SequentialLooks, WhatIsWithinALearnedFloorIsSettledAsTheSame) {
  std::vector<capture::Pair> pairs;
  for (uint32_t workload : {0, 1}) add(pairs, workload, 8, 1.0005, 0.02);
  SequentialLooks by_default({});
  EXPECT_EQ(by_default.demands(two_workloads(), pairs)[0].pairs, 12u) << "too wide for a margin of 1 %";
  auto past = std::make_shared<std::vector<capture::HistoryExperiment>>(1);
  past->front().results.assign(20, {.control = true, .pairs = 12, .log_ratio = 0.2, .log_error = 0.001});
  SequentialLooks learned({.history = "h", .past = past});
  EXPECT_EQ(learned.demands(two_workloads(), pairs)[0].pairs, 0u) << "the same within a floor of 22 %";
}

TEST(SequentialLooks, WhatFailedIsLetBe) {
  SequentialLooks rule({});
  capture::Experiment experiment = two_workloads();
  experiment.workloads[0].state = capture::WorkloadState::Failed;
  std::vector<capture::Pair> pairs;
  add(pairs, 0, 8, 1.0);
  EXPECT_LE(rule.demands(experiment, pairs)[0].pairs, 8u);
}

}  // namespace
}  // namespace wago::cli::profile
