#include "diff/cost_changes.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/json.h"
#include "diff/test_evidence.h"

namespace wago::diff {
namespace {

CostComparison compare_two(const Evidence& a, const Evidence& b) {
  const Evidence* baseline[] = {&a};
  const Evidence* candidate[] = {&b};
  auto costs = compare_costs(baseline, candidate);
  EXPECT_TRUE(costs.has_value());
  return *costs;
}

const FunctionCost* find(const CostComparison& costs, std::string_view name, capture::Side side) {
  for (const FunctionCost& row : costs.functions) {
    if (row.name == name && row.side == side) return &row;
  }
  return nullptr;
}

// The samples of mix_evidence(), each `times` times.
Evidence longer(uint64_t times, std::string path = "b.wagoprof") {
  Evidence evidence = mix_evidence(std::move(path));
  const auto once = evidence.samples->samples;
  for (uint64_t i = 1; i < times; ++i) {
    evidence.samples->samples.insert(evidence.samples->samples.end(), once.begin(), once.end());
  }
  evidence.manifest.phases[1].completed_work *= times;
  return evidence;
}

TEST(CostChanges, TwiceAsLongIsTheSameCost) {
  CostComparison costs = compare_two(mix_evidence(), longer(2));
  EXPECT_TRUE(costs.per_work);
  EXPECT_EQ(costs.baseline_samples, 10u);
  EXPECT_EQ(costs.candidate_samples, 20u);
  for (const FunctionCost& row : costs.functions) {
    EXPECT_NEAR(row.change(), 0, 1e-9) << row.name;
    EXPECT_FALSE(row.beyond_sampling);
  }
  const FunctionCost* hot = find(costs, "hot", capture::Side::Guest);
  EXPECT_DOUBLE_EQ(hot->baseline.self, 30);
  EXPECT_DOUBLE_EQ(hot->candidate.total, 50);
  EXPECT_DOUBLE_EQ(costs.candidate_by_side[static_cast<size_t>(capture::Side::Unknown)].self, 20);
}

TEST(CostChanges, FunctionsAreJoinedByNameAndSignatureWhateverTheirIndex) {
  Evidence b = mix_evidence("b");
  auto& functions = b.images.images[0].functions;
  for (capture::Function& function : functions) function.index += 5;
  for (capture::Region& region : b.images.images[0].regions) {
    if (region.function != capture::kNoFunction) region.function += 5;
  }
  for (capture::InlineSite& site : b.images.images[0].metadata.inline_sites) site.callee += 5;
  CostComparison costs = compare_two(mix_evidence(), b);
  for (const FunctionCost& row : costs.functions) EXPECT_EQ(row.change(), 0) << row.name;
}

TEST(CostChanges, WhatNoSampleFoundOnASideIsSaidToBeJustThat) {
  Evidence b = mix_evidence("b");
  b.images.images[0].functions[1].name = "hotter";
  CostComparison costs = compare_two(mix_evidence(), b);
  EXPECT_FALSE(find(costs, "hot", capture::Side::Guest)->candidate.present);
  EXPECT_FALSE(find(costs, "hotter", capture::Side::Guest)->baseline.present);
  std::string text = to_text(costs, false);
  EXPECT_NE(text.find("   30 ns          -  not sampled  ~      3/0  guest    hot (i32) -> (i32)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("       -      30 ns  not sampled  ~      0/3  guest    hotter (i32) -> (i32)"),
            std::string::npos)
      << text;
}

TEST(CostChanges, KindsAreMarkedAsTheirFunctionsAre) {
  Evidence few = mix_evidence("b");
  for (capture::Sample& sample : few.samples->samples) sample.weight *= 2;
  const size_t guest = static_cast<size_t>(capture::Side::Guest);
  const CostComparison unclear = compare_two(mix_evidence(), few);
  EXPECT_FALSE(unclear.side_beyond_sampling[guest]);
  EXPECT_NE(to_text(unclear, false).find("+100.00 %  ~      5/5  guest    all"), std::string::npos)
      << to_text(unclear, false);
  Evidence before = longer(100), after = longer(100);
  for (capture::Sample& sample : after.samples->samples) sample.weight *= 2;
  const CostComparison clear = compare_two(before, after);
  EXPECT_TRUE(clear.side_beyond_sampling[guest]);
  EXPECT_TRUE(to_json(clear).find("kinds")->find("guest")->find("beyond_sampling")->as_bool());
}

TEST(CostChanges, FewSamplesSayNothingAndManyDo) {
  Evidence few = mix_evidence("b");
  for (capture::Sample& sample : few.samples->samples) sample.weight *= 2;
  EXPECT_FALSE(find(compare_two(mix_evidence(), few), "hot", capture::Side::Guest)->beyond_sampling);
  Evidence many = longer(100);
  for (capture::Sample& sample : many.samples->samples) sample.weight *= 2;
  CostComparison costs = compare_two(longer(100, "a"), many);
  EXPECT_TRUE(find(costs, "hot", capture::Side::Guest)->beyond_sampling);
  EXPECT_EQ(costs.functions[0].name, "hot");
  EXPECT_NE(to_text(costs, true).find("\x1b[31m"), std::string::npos);
}

TEST(CostChanges, WithoutSamplesOnBothSidesThereIsNothingToSay) {
  Evidence a = mix_evidence(), b = test_evidence();
  const Evidence* baseline[] = {&a};
  const Evidence* candidate[] = {&b};
  EXPECT_FALSE(compare_costs(baseline, candidate).has_value());
  EXPECT_FALSE(compare_costs(candidate, baseline).has_value());
}

// That nothing was seen is not that nothing was spent.
TEST(CostChanges, OfASideWithoutASampleNothingIsSaid) {
  Evidence a = mix_evidence(), none = mix_evidence("none.wagoprof");
  none.samples->samples.clear();
  const Evidence* seen[] = {&a};
  const Evidence* unseen[] = {&none};
  const Evidence* both[] = {&none, &a};
  const std::string sentence =
      "none.wagoprof: not one sample was taken, which does not mean that there was no cost: record for "
      "longer "
      "or at a higher rate";
  EXPECT_FALSE(compare_costs(seen, unseen).has_value());
  EXPECT_FALSE(compare_costs(unseen, seen).has_value());
  EXPECT_FALSE(compare_costs(unseen, unseen).has_value());
  EXPECT_EQ(why_no_costs(seen, unseen), sentence);
  EXPECT_EQ(why_no_costs(unseen, seen), sentence);
  EXPECT_TRUE(compare_costs(seen, both).has_value()) << "its work counts, with the samples of the other";
  EXPECT_EQ(why_no_costs(seen, both), "");
  Evidence other = test_evidence();
  const Evidence* unasked[] = {&other};
  EXPECT_EQ(why_no_costs(seen, unasked), "") << "nobody asked for samples";
}

TEST(CostChanges, OfWholeProcessesPartsAreCompared) {
  Evidence a = mix_evidence(), b = longer(3);
  a.manifest.phase_isolation = b.manifest.phase_isolation = "process";
  CostComparison costs = compare_two(a, b);
  EXPECT_FALSE(costs.per_work);
  EXPECT_DOUBLE_EQ(find(costs, "hot", capture::Side::Guest)->candidate.self, 0.3);
}

TEST(CostChanges, StacksWithoutTheirRootAreSaidToBe) {
  Evidence whole = mix_evidence();
  whole.samples->truncated_stacks = 0;
  EXPECT_EQ(to_text(compare_two(whole, whole), false).find("root"), std::string::npos);
  const CostComparison costs = compare_two(whole, mix_evidence());
  const std::string text = to_text(costs, false);
  EXPECT_NE(text.find("\nof the candidate the stacks of 1 sample do not reach their root\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("of the baseline"), std::string::npos) << text;
  EXPECT_EQ(to_json(costs).find("candidate_truncated_stacks")->to_u64(), 1u);
}

TEST(CostChanges, SetsAreAddedUp) {
  Evidence a = mix_evidence(), b = longer(3), c = longer(2, "c");
  const Evidence* baseline[] = {&a, &b};
  const Evidence* candidate[] = {&c};
  auto costs = compare_costs(baseline, candidate);
  ASSERT_TRUE(costs.has_value());
  EXPECT_EQ(costs->baseline_samples, 40u);
  EXPECT_DOUBLE_EQ(find(*costs, "inner", capture::Side::Guest)->baseline.self, 20);
  EXPECT_NEAR(find(*costs, "inner", capture::Side::Guest)->change(), 0, 1e-9);
  EXPECT_EQ(to_json(*costs).find("functions")->items().size(), costs->functions.size());
}

}  // namespace
}  // namespace wago::diff
