#include "diff/floor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "base/json.h"

namespace wago::diff {
namespace {

using capture::HistoryExperiment;

// An experiment whose controls moved by `changes`, up and down in turn, beside a workload that moved a lot.
HistoryExperiment experiment_of(const std::vector<double>& changes, const std::string& cpu_model = "CPU") {
  HistoryExperiment experiment{.target = "x86_64-linux", .cpu_model = cpu_model};
  experiment.results.push_back({.workload = "fib", .pairs = 60, .log_ratio = 0.5, .log_error = 0.001});
  for (double change : changes) {
    const double sign = experiment.results.size() % 2 == 0 ? -1 : 1;
    experiment.results.push_back(
        {.workload = "control", .control = true, .pairs = 8, .log_ratio = std::log1p(sign * change)});
  }
  return experiment;
}

// 0.1 %, 0.2 %, ... of `count` controls, two in each experiment.
std::vector<HistoryExperiment> steps(size_t count) {
  std::vector<HistoryExperiment> experiments;
  for (size_t i = 0; i < count; i += 2) {
    const auto step = static_cast<double>(i);
    experiments.push_back(experiment_of({0.001 * (step + 1), 0.001 * (step + 2)}));
  }
  return experiments;
}

std::shared_ptr<const std::vector<HistoryExperiment>> shared(std::vector<HistoryExperiment> experiments) {
  return std::make_shared<const std::vector<HistoryExperiment>>(std::move(experiments));
}

ReadBy read(const ReadSettings& settings) {
  auto by = read_by(settings, "x86_64-linux", "CPU");
  EXPECT_TRUE(by) << by.error().to_string();
  return by ? *by : ReadBy();
}

TEST(Floor, NineteenOfTwentyControlsDoNotExceedIt) {
  const PastControls past = past_controls(steps(20), "x86_64-linux", "CPU");
  EXPECT_EQ(past.controls, 20u);
  ASSERT_TRUE(past.moved);
  // Between the 19th and the 20th of twenty: 0.95 * 19 = 18.05 steps beyond the first.
  EXPECT_NEAR(*past.moved, 0.001 * 19.05, 1e-12);
}

TEST(Floor, FewControlsTeachNothingNorDoOtherProcessors) {
  EXPECT_FALSE(past_controls(steps(18), "x86_64-linux", "CPU").moved);
  EXPECT_EQ(past_controls(steps(18), "x86_64-linux", "CPU").controls, 18u);
  EXPECT_EQ(past_controls(steps(20), "x86_64-linux", "another").controls, 0u);
  EXPECT_EQ(past_controls(steps(20), "riscv64-linux", "CPU").controls, 0u);
  std::vector<HistoryExperiment> unmeasured = steps(20);
  for (HistoryExperiment& experiment : unmeasured) {
    for (auto& result : experiment.results) result.pairs = 0;
  }
  EXPECT_EQ(past_controls(unmeasured, "x86_64-linux", "CPU").controls, 0u);
}

TEST(Floor, ControlsOfFewPairsDoNotSetIt) {
  std::vector<HistoryExperiment> past(20, experiment_of({0.004}));
  // What one, two or seven pairs say of a machine is mostly how few they are.
  for (const uint64_t pairs : {1, 2, 7}) {
    HistoryExperiment begun = experiment_of({0.3, 0.4, 0.5});
    for (auto& result : begun.results) result.pairs = pairs;
    past.push_back(begun);
  }
  const PastControls controls = past_controls(past, "x86_64-linux", "CPU");
  EXPECT_EQ(controls.controls, 20u);
  ASSERT_TRUE(controls.moved);
  EXPECT_NEAR(*controls.moved, 0.004, 1e-5);
  for (auto& result : past.back().results) result.pairs = 8;
  EXPECT_EQ(past_controls(past, "x86_64-linux", "CPU").controls, 23u);
}

TEST(Floor, TheOrderOfExperimentsDoesNotMatter) {
  std::vector<HistoryExperiment> experiments = steps(30), reversed(experiments.rbegin(), experiments.rend());
  EXPECT_EQ(past_controls(experiments, "x86_64-linux", "CPU").moved,
            past_controls(reversed, "x86_64-linux", "CPU").moved);
}

TEST(Floor, WhatWasLearnedRaisesTheDefaultAndTheMarginWithIt) {
  const auto past = shared(steps(20));
  const ReadBy by = read({.history = "perf.wagohist", .past = past});
  EXPECT_NEAR(by.verdicts.floor, 0.01905, 1e-9);
  EXPECT_EQ(by.verdicts.margin, by.verdicts.floor);
  EXPECT_EQ(to_text(by.floor),
            "1.905 %, learned: 95 % of 20 controls of 8 pairs or more on this kind of processor in "
            "perf.wagohist moved by no more");
  EXPECT_EQ(to_json(by.floor).find("from")->as_string(), "history");
  EXPECT_EQ(to_json(by.floor).find("controls")->to_u64(), 20u);
}

TEST(Floor, QuietControlsDoNotLowerTheDefault) {
  const std::vector<HistoryExperiment> past(20, experiment_of({0.0004}));
  const ReadBy by = read({.history = "h", .past = shared(past)});
  EXPECT_EQ(by.verdicts, VerdictSettings());
  EXPECT_EQ(to_text(by.floor),
            "0.25 %, the default: 95 % of 20 controls of 8 pairs or more on this kind of processor in h "
            "moved by no more than "
            "0.04 %");
}

TEST(Floor, WhoNamesOneHasIt) {
  const auto past = shared(steps(20));
  const ReadBy by = read({.verdicts = {.floor = 0.004}, .floor_given = true, .history = "h", .past = past});
  EXPECT_EQ(by.verdicts.floor, 0.004);
  EXPECT_EQ(to_text(by.floor), "0.4 %, as given");
  EXPECT_EQ(by.verdicts.margin, 0.01);
  const ReadBy wide = read({.verdicts = {.floor = 0.05}, .floor_given = true});
  EXPECT_EQ(wide.verdicts.margin, 0.05) << "raised, as to one that was learned";
}

TEST(Floor, WhereNothingWasLearnedThatIsSaid) {
  EXPECT_EQ(to_text(read({}).floor), "0.25 %, the default");
  const auto past = shared(steps(2));
  EXPECT_EQ(to_text(read({.history = "h", .past = past}).floor),
            "0.25 %, the default: 2 controls of 8 pairs or more on this kind of processor in h, and 20 teach "
            "a floor");
  EXPECT_EQ(to_text(read({.history = "h"}).floor),
            "0.25 %, the default: 0 controls of 8 pairs or more on this kind of processor in h, and 20 teach "
            "a floor");
}

TEST(Floor, AMarginThatIsGivenMustNotBeBelowIt) {
  const auto past = shared(steps(20));
  auto by = read_by({.verdicts = {.margin = 0.01}, .margin_given = true, .history = "h", .past = past},
                    "x86_64-linux", "CPU");
  ASSERT_FALSE(by);
  EXPECT_EQ(by.error().message.find("--margin: 1 % is below the floor of 1.905 %, learned"), 0u)
      << by.error().message;
  by = read_by({.verdicts = {.floor = 0.02, .margin = 0.01}, .floor_given = true, .margin_given = true}, "",
               "");
  ASSERT_FALSE(by);
  EXPECT_EQ(by.error().message,
            "--margin: 1 % is below the floor of 2 %, as given; raise --margin or lower --floor");
  by = read_by({.verdicts = {.margin = 0.001}, .margin_given = true}, "", "");
  ASSERT_FALSE(by);
  EXPECT_EQ(by.error().message,
            "--margin: 0.1 % is below the floor of 0.25 %, the default; raise --margin or lower --floor");
}

}  // namespace
}  // namespace wago::diff
