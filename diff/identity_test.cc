#include "diff/identity.h"

#include <gtest/gtest.h>

#include <chrono>

#include "diff/test_evidence.h"

namespace wago::diff {
namespace {

TEST(Identity, EqualCodeIsTheSameWhateverTheOrder) {
  Evidence a = test_evidence(), b = test_evidence();
  b.images.images[0] =
      test_module({test_function(0, "main", "main code"), test_function(1, "fib", "fib code")});
  std::swap(b.images.images[0], b.images.images[1]);
  CodeComparison code = compare_code(a, b);
  EXPECT_TRUE(code.same());
  EXPECT_EQ(code.functions_same, 2u);
  EXPECT_EQ(code.adapters_same, 1u);
  EXPECT_EQ(code.helpers, HelperIdentity::Equal);
}

TEST(Identity, ChangedNewAndVanishedFunctionsAreListedWithTheirSizes) {
  Evidence a = test_evidence(), b = test_evidence();
  b.images.images[0] =
      test_module({test_function(0, "fib", "other code", 80), test_function(1, "extra", "extra", 16)});
  CodeComparison code = compare_code(a, b);
  EXPECT_FALSE(code.same());
  ASSERT_EQ(code.differences.size(), 3u);
  EXPECT_EQ(code.differences[0].fate, FunctionFate::Changed);
  EXPECT_EQ(code.differences[0].name, "fib");
  EXPECT_EQ(code.differences[0].baseline_bytes, 64u);
  EXPECT_EQ(code.differences[0].candidate_bytes, 80u);
  EXPECT_EQ(code.differences[0].baseline_instructions, 16u);
  EXPECT_EQ(code.differences[0].candidate_instructions, 20u);
  EXPECT_EQ(code.differences[1].fate, FunctionFate::New);
  EXPECT_EQ(code.differences[1].name, "extra");
  EXPECT_EQ(code.differences[1].baseline_bytes, 0u);
  EXPECT_EQ(code.differences[2].fate, FunctionFate::Vanished);
  EXPECT_EQ(code.differences[2].name, "main");
  EXPECT_EQ(code.functions_same, 0u);
}

TEST(Identity, ASignatureIsPartOfWhoAFunctionIs) {
  Evidence a = test_evidence(), b = test_evidence();
  b.images.images[0].functions[0].signature = "(i64) -> (i32)";
  CodeComparison code = compare_code(a, b);
  EXPECT_EQ(code.count(FunctionFate::New), 1u);
  EXPECT_EQ(code.count(FunctionFate::Vanished), 1u);
  EXPECT_EQ(code.count(FunctionFate::Changed), 0u);
}

TEST(Identity, FunctionsOfOneNamePairEqualCodeFirst) {
  Evidence a = test_evidence(), b = test_evidence();
  a.images.images[0] =
      test_module({test_function(0, "f", "1"), test_function(1, "f", "2"), test_function(2, "f", "3")});
  b.images.images[0] =
      test_module({test_function(0, "f", "3"), test_function(1, "f", "changed"), test_function(2, "f", "1")});
  CodeComparison code = compare_code(a, b);
  EXPECT_EQ(code.functions_same, 2u);
  ASSERT_EQ(code.differences.size(), 1u);
  EXPECT_EQ(code.differences[0].fate, FunctionFate::Changed);
}

TEST(Identity, AModuleThatDiffersInDataOnlyIsNotTheSame) {
  Evidence a = test_evidence(), b = test_evidence();
  b.manifest.module_sha256 = "other";
  CodeComparison code = compare_code(a, b);
  EXPECT_TRUE(code.differences.empty());
  EXPECT_FALSE(code.same());
}

TEST(Identity, AChangedAdapterCountsOnceAndAMissingOneToo) {
  Evidence a = test_evidence(), b = test_evidence();
  b.images.images[1] = test_adapter("(i32) -> (i32)", "other adapter");
  EXPECT_EQ(compare_code(a, b).adapters_different, 1u);
  EXPECT_FALSE(compare_code(a, b).same());
  b.images.images.pop_back();
  EXPECT_EQ(compare_code(a, b).adapters_different, 1u);
  EXPECT_EQ(compare_code(b, a).adapters_different, 1u);
}

TEST(Identity, HelpersOfAnotherBuildMatterWhereTheyAreCalled) {
  Evidence a = test_evidence(), b = test_evidence();
  b.manifest.runner_id = "runner-2";
  EXPECT_EQ(compare_code(a, b).helpers, HelperIdentity::NotCalled);
  EXPECT_TRUE(compare_code(a, b).same());
  a.images.images[0].functions[0].statistics.helper_calls = 1;
  b.images.images[0].functions[0].statistics.helper_calls = 1;
  EXPECT_EQ(compare_code(a, b).helpers, HelperIdentity::Unknown);
  EXPECT_FALSE(compare_code(a, b).same());
}

TEST(Identity, RunnersThatDoNotKnowWhoTheyAreAreNotTakenForEqual) {
  Evidence a = test_evidence(), b = test_evidence();
  a.manifest.runner_id = b.manifest.runner_id = "";
  a.images.images[0].functions[0].statistics.helper_calls = 1;
  EXPECT_EQ(compare_code(a, b).helpers, HelperIdentity::Unknown);
}

TEST(Identity, ARepeatedImageIsCountedOnce) {
  Evidence a = test_evidence(), b = test_evidence();
  for (int i = 0; i < 5; ++i) a.images.images.push_back(a.images.images[0]);
  CodeComparison code = compare_code(a, b);
  EXPECT_TRUE(code.same());
  EXPECT_EQ(code.functions_same, 2u);
}

// A capture comes from a stranger: a hundred thousand functions of one name must not cost their square.
TEST(Identity, ManyFunctionsOfOneNameAreCheap) {
  std::vector<capture::Function> functions, others;
  for (uint32_t i = 0; i < 100'000; ++i) {
    functions.push_back(test_function(i, "f", std::to_string(i)));
    others.push_back(test_function(i, "f", std::to_string(i + 50'000)));
  }
  Evidence a = test_evidence(), b = test_evidence();
  a.images.images = {test_module(std::move(functions))};
  b.images.images = {test_module(std::move(others))};
  auto start = std::chrono::steady_clock::now();
  CodeComparison code = compare_code(a, b);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  EXPECT_EQ(code.functions_same, 50'000u);
  EXPECT_EQ(code.count(FunctionFate::Changed), 50'000u);
}

}  // namespace
}  // namespace wago::diff
