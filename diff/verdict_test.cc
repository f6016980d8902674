#include "diff/verdict.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace wago::diff {
namespace {

using capture::Experiment;
using capture::Pair;

// A machine: pairs whose turns scatter, whose pairs scatter a little more, and whose code offsets may matter.
struct Machine {
  double change = 0;
  double between_pairs = 0.002;
  double between_turns = 0.01;
  std::array<double, 4> offsets = {0, 0, 0, 0};  // further changes, by offset
  double warming_up = 0;                         // of the candidate's first turns
};

void measure(std::vector<Pair>& pairs, uint32_t workload, size_t count, const Machine& machine,
             uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  for (size_t i = 0; i < count; ++i) {
    Pair pair{.workload = workload, .code_offset = static_cast<uint32_t>(i % 4) * 16};
    pair.iterations_per_turn = 10;
    const double ratio = std::log1p(machine.change) + std::log1p(machine.offsets[i % 4]) +
                         machine.between_pairs * normal(random);
    constexpr size_t kTurns = 99;
    for (size_t turn = 0; turn < kTurns; ++turn) {
      const double shared = 300'000 * std::exp(0.05 * normal(random));
      const double cold = turn < kTurns / 3 ? 1 + machine.warming_up : 1;
      auto nanoseconds = [&](double factor) {
        return static_cast<uint64_t>(shared * factor * std::exp(machine.between_turns * normal(random)));
      };
      pair.turns[0].push_back({.cpu_ns = nanoseconds(1)});
      pair.turns[1].push_back({.cpu_ns = nanoseconds(std::exp(ratio) * cold)});
    }
    pairs.push_back(std::move(pair));
  }
}

Experiment experiment_of(size_t workloads) {
  Experiment experiment;
  for (size_t i = 0; i < workloads; ++i) experiment.workloads.push_back({.id = "w" + std::to_string(i)});
  return experiment;
}

WorkloadFinding one(size_t pairs, const Machine& machine, uint64_t seed = 1,
                    const VerdictSettings& settings = {}) {
  std::vector<Pair> measured;
  measure(measured, 0, pairs, machine, seed);
  return find(experiment_of(1), measured, settings).workloads[0];
}

TEST(Verdict, AChangeOfOnePercentIsFoundWithItsSize) {
  const WorkloadFinding found = one(12, {.change = 0.01});
  EXPECT_EQ(found.finding, Finding::Regressed) << found.reason;
  EXPECT_NEAR(found.change, 0.01, 0.002);
  ASSERT_TRUE(found.interval);
  EXPECT_LT(found.interval->low, 0.01);
  EXPECT_GT(found.interval->high, 0.01);
  EXPECT_TRUE(found.gated);
  EXPECT_NEAR(found.baseline_ns, 30'000, 1500);
  EXPECT_NEAR(found.candidate_ns / found.baseline_ns, 1.01, 0.005);
  EXPECT_EQ(one(12, {.change = -0.01}).finding, Finding::Improved);
}

TEST(Verdict, NoChangeIsAPositiveClaimWithinTheMargin) {
  const WorkloadFinding found = one(8, {});
  EXPECT_EQ(found.finding, Finding::Same) << found.reason;
  EXPECT_FALSE(found.gated);
  EXPECT_GT(found.p_value, 0.5);
}

TEST(Verdict, WhatIsTooWideIsInconclusiveAndSaysWhatWouldSettleIt) {
  const WorkloadFinding found = one(8, {.between_pairs = 0.02});
  EXPECT_EQ(found.finding, Finding::Inconclusive);
  ASSERT_TRUE(found.pairs_to_settle);
  EXPECT_GT(*found.pairs_to_settle, 8u);
  const std::string pairs_wanted = std::to_string(*found.pairs_to_settle);
  EXPECT_NE(found.reason.find(" is too wide; about " + pairs_wanted +
                              " pairs would settle it: `profile experiment "
                              "--pairs " +
                              pairs_wanted + "`"),
            std::string::npos)
      << found.reason;
  EXPECT_EQ(next_look(found), 12u);
  // At the floor itself nothing is ever settled.
  std::vector<Pair> pairs;
  for (uint32_t i = 0; i < 64; ++i) {
    Pair pair{.code_offset = i % 4 * 16};
    const double ratio = std::log1p(0.02) + (i / 4 % 2 ? 0.01 : -0.01) * (1 + i / 8);
    pair.turns = {{{{.cpu_ns = 1'000'000'000}}, {{.cpu_ns = static_cast<uint64_t>(1e9 * std::exp(ratio))}}}};
    pairs.push_back(pair);
  }
  const WorkloadFinding edge = find(experiment_of(1), pairs, {.floor = 0.02, .margin = 0.02}).workloads[0];
  EXPECT_EQ(edge.finding, Finding::Inconclusive);
  EXPECT_FALSE(edge.pairs_to_settle) << *edge.pairs_to_settle;
  EXPECT_NE(
      edge.reason.find(" is too wide, and 1,000 pairs would not settle it: raise --margin or lower --floor"),
      std::string::npos)
      << edge.reason;
  EXPECT_FALSE(next_look(edge));
}

// Pairs whose changes are around none, the same eight again and again.
std::vector<Pair> repeated(size_t count, double spread) {
  constexpr std::array<double, 8> kAround = {-1.2, 0.4, 0.8, -0.1, 0.1, -0.4, -0.8, 1.2};
  std::vector<Pair> pairs;
  for (size_t i = 0; i < count; ++i) {
    Pair pair{.code_offset = static_cast<uint32_t>(i % 4) * 16};
    const double candidate_ns = 1e9 * std::exp(spread * kAround[i % kAround.size()]);
    pair.turns = {{{{.cpu_ns = 1'000'000'000}}, {{.cpu_ns = static_cast<uint64_t>(candidate_ns)}}}};
    pairs.push_back(pair);
  }
  return pairs;
}

TEST(Verdict, SoManyPairsAsWouldSettleItDo) {
  const auto read = [](size_t pairs, double spread) {
    return find(experiment_of(1), repeated(pairs, spread)).workloads[0];
  };
  for (const double spread : {0.008, 0.012, 0.03}) {
    const WorkloadFinding first = read(8, spread);
    ASSERT_EQ(first.finding, Finding::Inconclusive) << first.reason;
    ASSERT_TRUE(first.pairs_to_settle);
    const size_t told = *first.pairs_to_settle;
    EXPECT_EQ(read((told * 5 / 4 + 7) / 8 * 8, spread).finding, Finding::Same) << told << " for " << spread;
    EXPECT_NE(read(told * 3 / 4 / 8 * 8, spread).finding, Finding::Same) << told << " for " << spread;
  }
  EXPECT_FALSE(read(8, 0.5).pairs_to_settle);
}

TEST(Verdict, FewPairsAreToldToBeFewAndNotHowManyAreNeeded) {
  for (const size_t pairs : {4, 5, 7}) {
    const WorkloadFinding found = one(pairs, {.between_pairs = 0.1});
    ASSERT_EQ(found.finding, Finding::Inconclusive);
    EXPECT_EQ(found.pairs_to_settle, 8u);
    EXPECT_TRUE(
        found.reason.ends_with(" of " + std::to_string(pairs) +
                               " pairs is too wide, and they are too few to tell how many would settle it: "
                               "`profile experiment --pairs 8` or a greater --budget measures more"))
        << found.reason;
  }
  EXPECT_EQ(one(1, {}).reason,
            "one pair has no interval: `profile experiment --pairs 8` or a greater --budget measures more");
  // The looks end with 60, whatever the budget.
  const WorkloadFinding many = find(experiment_of(1), repeated(8, 0.03)).workloads[0];
  ASSERT_GT(many.pairs_to_settle.value_or(0), 60u);
  EXPECT_EQ(many.reason.find("--budget"), std::string::npos) << many.reason;
}

TEST(Verdict, AMeanIsAsSureAsItsWorkloads) {
  std::vector<Pair> pairs;
  measure(pairs, 0, 12, {.change = 0.03}, 21);
  const ExperimentFindings alone = find(experiment_of(1), pairs);
  ASSERT_TRUE(alone.suite.interval);
  EXPECT_NEAR(alone.suite.interval->low, alone.workloads[0].interval->low, 1e-12) << "of one it is its own";
  EXPECT_NEAR(alone.suite.interval->high, alone.workloads[0].interval->high, 1e-12);
  measure(pairs, 1, 12, {}, 22);
  const ExperimentFindings both = find(experiment_of(2), pairs);
  ASSERT_TRUE(both.suite.interval);
  double squares = 0;
  for (const WorkloadFinding& found : both.workloads) {
    const double above = std::log1p(found.interval->high) - std::log1p(found.change);
    squares += above * above;
  }
  EXPECT_NEAR(std::log1p(both.suite.interval->high) - std::log1p(both.suite.change), std::sqrt(squares) / 2,
              1e-9);
  EXPECT_LT(both.suite.interval->high - both.suite.interval->low, 0.005)
      << "two workloads that differ by 3 % make the mean of the two no less sure";
  measure(pairs, 2, 1, {}, 23);
  const ExperimentFindings three = find(experiment_of(3), pairs);
  EXPECT_EQ(three.suite.workloads, 3u);
  EXPECT_FALSE(three.suite.interval) << "one pair has none";
}

// Over many experiments of three workloads the interval of the mean holds the true one as often as it says.
TEST(Verdict, TheIntervalOfAMeanCovers) {
  constexpr int kTrials = 300;
  int covered = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<Pair> pairs;
    for (uint32_t i = 0; i < 3; ++i) {
      measure(pairs, i, 8, {.change = 0.01 * i, .between_turns = 0.003},
              9000 + 3 * static_cast<uint64_t>(trial) + i);
    }
    const Interval interval = *find(experiment_of(3), pairs).suite.interval;
    const double truth = std::cbrt(1.01 * 1.02) - 1;
    covered += interval.low <= truth && truth <= interval.high;
  }
  EXPECT_GE(covered, kTrials * 98 / 100);
}

TEST(Verdict, SettingsAreReadingsOfTheSamePairs) {
  std::vector<Pair> pairs;
  measure(pairs, 0, 16, {.change = 0.01}, 5);
  const Experiment experiment = experiment_of(1);
  EXPECT_EQ(find(experiment, pairs).workloads[0].finding, Finding::Regressed);
  EXPECT_EQ(find(experiment, pairs, {.floor = 0.02, .margin = 0.02}).workloads[0].finding, Finding::Same);
  const auto narrow = find(experiment, pairs, {.confidence = 0.9}).workloads[0].interval;
  const auto wide = find(experiment, pairs, {.confidence = 0.999}).workloads[0].interval;
  EXPECT_LT(narrow->high - narrow->low, wide->high - wide->low);
}

TEST(Verdict, TheRuleOfAPValueGoesByTheNumberOfPairsAlone) {
  EXPECT_TRUE(std::exp2(1 - static_cast<double>(kSignedRankP)) <= 0.01 / kLooks.size() &&
              std::exp2(2 - static_cast<double>(kSignedRankP)) > 0.01 / kLooks.size());
  for (const size_t pairs : {8, 10, 11, 24}) {
    const WorkloadFinding found = one(pairs, {.change = 0.005});
    EXPECT_EQ(found.p_rule, pairs < kSignedRankP ? Rule::StudentT : Rule::SignedRank) << pairs;
    EXPECT_EQ(found.interval_rule, found.p_rule) << "at the default confidence, with " << pairs;
    for (const double confidence : {0.5, 0.9, 0.999, 0.99999}) {
      const WorkloadFinding other = one(pairs, {.change = 0.005}, 1, {.confidence = confidence});
      EXPECT_EQ(other.p_value, found.p_value) << pairs << " pairs at " << confidence;
      EXPECT_EQ(other.p_rule, found.p_rule);
    }
  }
  EXPECT_EQ(one(12, {}, 1, {.confidence = 0.99999}).interval_rule, Rule::StudentT);
  EXPECT_EQ(one(8, {}, 1, {.confidence = 0.9}).interval_rule, Rule::SignedRank);
}

TEST(Verdict, CodeOffsetsThatDisagreeAreAFindingOfTheirOwn) {
  const WorkloadFinding found = one(16, {.offsets = {0.2, 0, 0, -0.1}});
  EXPECT_TRUE(found.layout_sensitive);
  EXPECT_EQ(found.finding, Finding::LayoutSensitive) << found.reason;
  ASSERT_EQ(found.offsets.size(), 4u);
  EXPECT_NEAR(found.offsets[0].change, 0.2, 0.01);
  EXPECT_EQ(found.offsets[0].pairs, 4u);
  // All four agree on the direction.
  const WorkloadFinding all = one(16, {.offsets = {0.2, 0.05, 0.04, 0.1}});
  EXPECT_TRUE(all.layout_sensitive);
  EXPECT_EQ(all.finding, Finding::Regressed);
  EXPECT_FALSE(one(16, {.change = 0.02}).layout_sensitive);
}

// Pairs without scatter within them, whose changes are these in the order of the code offsets.
std::vector<Pair> exactly(std::span<const double> log_ratios) {
  std::vector<Pair> pairs;
  for (size_t i = 0; i < log_ratios.size(); ++i) {
    Pair pair{.code_offset = static_cast<uint32_t>(i % 4) * 16};
    const double candidate_ns = 1e9 * std::exp(log_ratios[i]);
    pair.turns = {{{{.cpu_ns = 1'000'000'000}}, {{.cpu_ns = static_cast<uint64_t>(candidate_ns)}}}};
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

TEST(Verdict, OffsetsDisagreeOnlyWhereEachWasMeasuredTwice) {
  // At the offsets 0 and 16 two pairs, at 32 and 48 one: whether 48 is another, no pair like it says.
  const std::array<double, 8> changes = {0.001, 0, 0, 0.2, -0.001, 0.001, 0.001, 0.201};
  const auto read = [&](size_t pairs) {
    return find(experiment_of(1), exactly(std::span(changes).first(pairs))).workloads[0];
  };
  for (const size_t pairs : {5, 6, 7}) EXPECT_FALSE(read(pairs).layout_sensitive) << pairs;
  EXPECT_TRUE(read(8).layout_sensitive);
  EXPECT_EQ(read(8).finding, Finding::LayoutSensitive);
  EXPECT_EQ(read(8).reason,
            "its code offsets disagree by more than chance explains: where the code lies in its cache line "
            "seems to decide, which more pairs do not settle");
  EXPECT_FALSE(is_unsettled(read(8)));
}

// The test of offsets is right at all looks together, whatever the pairs scatter by.
TEST(Verdict, OffsetsThatAgreeAreRarelySaidToDisagree) {
  constexpr int kTrials = 1000;
  std::mt19937_64 random(17);
  std::normal_distribution<double> normal;
  int alarms = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::array<double, kLooks.back()> changes;
    for (double& change : changes) change = 0.01 * normal(random);
    const std::vector<Pair> pairs = exactly(changes);
    alarms += std::any_of(kLooks.begin(), kLooks.end(), [&](size_t look) {
      return find(experiment_of(1), std::span(pairs).first(look), {.margin = 1e-9})
          .workloads[0]
          .layout_sensitive;
    });
  }
  EXPECT_LE(alarms, kTrials / 100);
  EXPECT_GT(alarms, 0);
}

TEST(Verdict, NothingIsHeldBeforeEveryCodeOffsetWasMeasured) {
  const WorkloadFinding early = one(3, {.change = 0.5});
  EXPECT_EQ(early.finding, Finding::Inconclusive);
  EXPECT_FALSE(early.gated);
  EXPECT_EQ(early.reason,
            "pairs at 3 of 4 code offsets are too few: `profile experiment --pairs 8` or a greater --budget "
            "measures more");
  EXPECT_EQ(one(4, {.change = 0.5}).finding, Finding::Regressed);
}

TEST(Verdict, PairsInWhichOneSideWarmedUpAreLeftOut) {
  std::vector<Pair> pairs;
  measure(pairs, 0, 8, {}, 6);
  measure(pairs, 0, 4, {.warming_up = 0.5}, 7);
  EXPECT_FALSE(is_cold(pairs[0]));
  EXPECT_TRUE(is_cold(pairs[9]));
  const WorkloadFinding found = find(experiment_of(1), pairs).workloads[0];
  EXPECT_EQ(found.pairs, 8u);
  EXPECT_EQ(found.cold_pairs, 4u);
  EXPECT_EQ(found.finding, Finding::Same);
  EXPECT_EQ(one(8, {.warming_up = 0.5}).reason,
            "one side alone was still warming up in each of 8 pairs: a greater `warmup` of the workload in "
            "its catalog "
            "helps");
}

// `--pairs` counts what is measured: what was cold must be measured again.
TEST(Verdict, WhatIsAdvisedMeasuresMoreThanThereIs) {
  for (const size_t cold : {1, 4}) {
    for (const size_t warm : {1, 3, 7, 8, 9}) {
      std::vector<Pair> pairs;
      measure(pairs, 0, warm, {.between_pairs = 0.1}, 31);
      measure(pairs, 0, cold, {.warming_up = 0.5}, 32);
      const WorkloadFinding found = find(experiment_of(1), pairs).workloads[0];
      ASSERT_EQ(found.cold_pairs, cold);
      ASSERT_EQ(found.finding, Finding::Inconclusive) << found.reason;
      ASSERT_TRUE(found.pairs_to_settle) << found.reason;
      if (warm < 8) {
        EXPECT_EQ(*found.pairs_to_settle, 8 + cold) << warm;
      }
      EXPECT_GT(*found.pairs_to_settle, warm + cold);
      EXPECT_NE(found.reason.find("--pairs " + std::to_string(*found.pairs_to_settle) + "`"),
                std::string::npos)
          << found.reason;
    }
  }
  // Offsets that were cold each time leave more than the first look without a verdict.
  std::vector<Pair> pairs;
  measure(pairs, 0, 12, {}, 33);
  for (Pair& pair : pairs) pair.code_offset %= 32;
  EXPECT_EQ(find(experiment_of(1), pairs).workloads[0].pairs_to_settle, 13u);
}

TEST(Verdict, TheSameCodeIsTheSameWhateverTheClockSays) {
  std::vector<Pair> pairs;
  measure(pairs, 0, 12, {.change = 0.05}, 8);
  const std::vector<CodeKnowledge> code = {{.same_code = true}};
  const ExperimentFindings findings = find(experiment_of(1), pairs, {}, code);
  EXPECT_EQ(findings.workloads[0].finding, Finding::SameCode);
  EXPECT_FALSE(findings.workloads[0].gated);
  EXPECT_EQ(exit_code(findings, FailOn::Change, true), 0);
}

TEST(Verdict, AControlThatMovesMakesAllInvalid) {
  Experiment experiment = experiment_of(2);
  experiment.workloads[1].control = true;
  std::vector<Pair> pairs;
  measure(pairs, 0, 12, {.change = 0.05}, 9);
  measure(pairs, 1, 12, {}, 10);
  EXPECT_EQ(exit_code(find(experiment, pairs), FailOn::Regression, false), 1);
  measure(pairs, 1, 12, {.change = 0.02}, 11);
  measure(pairs, 1, 24, {.change = 0.02}, 12);
  const ExperimentFindings findings = find(experiment, pairs);
  ASSERT_EQ(findings.invalid.size(), 1u);
  EXPECT_EQ(findings.invalid[0].rfind("control w1 moved by +", 0), 0u) << findings.invalid[0];
  EXPECT_EQ(exit_code(findings, FailOn::Never, false), 5);
}

TEST(Verdict, ManyWorkloadsAreHeldTogether) {
  constexpr size_t kWorkloads = 30;
  Experiment experiment = experiment_of(kWorkloads);
  std::vector<Pair> pairs;
  for (uint32_t i = 0; i < kWorkloads; ++i) measure(pairs, i, 12, {.change = i == 7 ? 0.03 : 0}, 100 + i);
  // The smallest p-value of twelve signed ranks is not small enough for thirty workloads.
  const WorkloadFinding early = find(experiment, pairs).workloads[7];
  EXPECT_EQ(early.finding, Finding::Regressed);
  EXPECT_FALSE(early.gated);
  EXPECT_EQ(next_look(early), 16u);
  EXPECT_TRUE(is_unsettled(early));
  const std::string wanted =
      " among them, 0.050 is wanted): `profile experiment --pairs 16` or a greater "
      "--budget measures more";
  EXPECT_NE(early.reason.find("lies beyond the floor of 0.25 %; it is not held over all workloads (p "),
            std::string::npos)
      << early.reason;
  EXPECT_TRUE(early.reason.ends_with(wanted)) << early.reason;
  // Neither that it regressed nor that it did not is settled.
  const ExperimentFindings not_held = find(experiment, pairs);
  ASSERT_EQ(not_held.count(Finding::Inconclusive), 0u);
  EXPECT_EQ(exit_code(not_held, FailOn::Regression, false), 0);
  EXPECT_EQ(exit_code(not_held, FailOn::Change, false), 0);
  EXPECT_EQ(exit_code(not_held, FailOn::Inconclusive, false), 1);
  EXPECT_EQ(exit_code(not_held, FailOn::Regression, true), 3);
  EXPECT_EQ(exit_code(not_held, FailOn::Never, true), 3);
  measure(pairs, 7, 4, {.change = 0.03}, 150);
  const ExperimentFindings findings = find(experiment, pairs);
  EXPECT_FALSE(next_look(findings.workloads[7]));
  EXPECT_EQ(findings.count(Finding::Regressed), 1u);
  EXPECT_TRUE(findings.workloads[7].gated);
  EXPECT_FALSE(is_unsettled(findings.workloads[7]));
  EXPECT_TRUE(findings.workloads[7].reason.ends_with("lies beyond the floor of 0.25 %"))
      << findings.workloads[7].reason;
  EXPECT_GE(findings.workloads[7].holm, findings.workloads[7].benjamini_hochberg);
  EXPECT_EQ(findings.suite.workloads, kWorkloads);
  EXPECT_NEAR(findings.suite.change, 0.001, 0.001);
  EXPECT_FALSE(findings.suspect);
  pairs.clear();
  for (uint32_t i = 0; i < kWorkloads; ++i) measure(pairs, i, 12, {.change = 0.05}, 200 + i);
  EXPECT_EQ(find(experiment, pairs).suspect,
            "30 of 30 findings point one way: suspect the environment before the code");
}

TEST(Verdict, ExitCodesSayWhatWasAskedFor) {
  Experiment experiment = experiment_of(1);
  auto code = [&](const Machine& machine, size_t pairs, FailOn fail_on, bool strict = false) {
    std::vector<Pair> measured;
    measure(measured, 0, pairs, machine, 13);
    return exit_code(find(experiment, measured), fail_on, strict);
  };
  EXPECT_EQ(code({.change = 0.03}, 12, FailOn::Regression), 1);
  EXPECT_EQ(code({.change = 0.03}, 12, FailOn::Never), 0);
  EXPECT_EQ(code({.change = -0.03}, 12, FailOn::Regression), 0);
  EXPECT_EQ(code({.change = -0.03}, 12, FailOn::Change), 1);
  EXPECT_EQ(code({.between_pairs = 0.03}, 8, FailOn::Regression), 0);
  EXPECT_EQ(code({.between_pairs = 0.03}, 8, FailOn::Regression, true), 3);
  EXPECT_EQ(code({.between_pairs = 0.03}, 8, FailOn::Inconclusive), 1);
  // That the layout decides is settled.
  EXPECT_EQ(code({.offsets = {0.2, 0, 0, -0.1}}, 16, FailOn::Inconclusive, true), 0);
  experiment.workloads[0] = {.id = "w0", .state = capture::WorkloadState::Failed, .diagnostic = "crashed"};
  EXPECT_EQ(code({}, 12, FailOn::Regression), 1);
  experiment.sides[1].sanitized = true;
  EXPECT_EQ(code({}, 12, FailOn::Regression), 5);
}

// What verdicts promise, on a machine that scatters as the model above does: a false alarm in at most 1 % of
// unchanged workloads at a look, and the interval covers the change as often as it says.
TEST(Verdict, FalseAlarmsAreRarerThanTheLevelAndIntervalsCover) {
  constexpr int kTrials = 400;
  int alarms = 0, covered = 0, found = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const WorkloadFinding same = one(12, {.between_turns = 0.003}, 1000 + static_cast<uint64_t>(trial));
    alarms += same.finding == Finding::Regressed || same.finding == Finding::Improved;
    const WorkloadFinding changed =
        one(16, {.change = 0.01, .between_turns = 0.003}, 5000 + static_cast<uint64_t>(trial));
    found += changed.finding == Finding::Regressed;
    covered += changed.interval->low <= 0.01 && 0.01 <= changed.interval->high;
  }
  EXPECT_LE(alarms, 4);
  EXPECT_GE(found, kTrials * 99 / 100);
  EXPECT_GE(covered, kTrials * 98 / 100);
}

TEST(Verdict, NothingMeasuredIsSaid) {
  const ExperimentFindings findings = find(experiment_of(1), {});
  EXPECT_EQ(findings.workloads[0].finding, Finding::Inconclusive);
  EXPECT_EQ(findings.workloads[0].reason,
            "there are no pairs: `profile experiment --pairs 8` or a greater --budget measures them");
  EXPECT_EQ(findings.workloads[0].pairs_to_settle, 8u);
  EXPECT_EQ(next_look(findings.workloads[0]), 8u);
  EXPECT_FALSE(findings.suite.interval);
}

}  // namespace
}  // namespace wago::diff
