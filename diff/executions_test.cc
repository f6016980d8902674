#include "diff/executions.h"

#include <gtest/gtest.h>

#include "diff/test_evidence.h"

namespace wago::diff {
namespace {

using capture::kNone;

Evidence counted(const std::vector<capture::Unfinished>& unfinished = {}) {
  Evidence evidence = mix_evidence();
  evidence.samples.reset();
  evidence.counts = capture::Counts{{{10, 10, 5000, 10, 7}, {}}, unfinished};
  return evidence;
}

TEST(Executions, OfFunctionsByTheirCodeAndByTheirBodies) {
  const Executions all = executions_of(counted());
  // main: 10 x 5 machine and 10 x 3 wasm instructions; hot: 10 + 5000 x 4 + 10, and 10 + 5000 x 2 + 10; inner
  // has 7 x 2 of its own code, and 7 x 3 + 5000 x 2 of its body, which was inlined into hot.
  EXPECT_EQ(all.functions,
            (std::vector<FunctionExecutions>{
                {0, 1, 10, 20'020, 10'020, {}}, {0, 0, 10, 50, 30, {}}, {0, 2, 7, 14, 10'021, {1}}}));
  EXPECT_EQ(all.machine_instructions, 20'084u);
  EXPECT_EQ(all.wasm_instructions, 20'071u);
}

TEST(Executions, OfInstructions) {
  const Evidence evidence = counted();
  const InstructionExecutions module(evidence, 0);
  EXPECT_EQ(module.machine(0), 10u);
  EXPECT_EQ(module.machine(10), 10u);
  EXPECT_EQ(module.machine(11), std::nullopt);
  EXPECT_EQ(module.machine(66), 5000u);
  EXPECT_EQ(module.machine(75), 5000u);
  EXPECT_EQ(module.machine(76), 10u);
  EXPECT_EQ(module.wasm(1, 0), 10u);
  EXPECT_EQ(module.wasm(1, 2), 5000u);
  EXPECT_EQ(module.wasm(1, 6), 0u);
  EXPECT_EQ(module.wasm(2, 2), 5007u);
  EXPECT_EQ(module.wasm(3, 0), 0u);
  EXPECT_EQ(InstructionExecutions(evidence, 1).machine(0), std::nullopt);
}

// Of hot's loop, 20 rounds ended at its second instruction in the first range, and 3 at the last but in no
// later range.
TEST(Executions, BlocksThatWereLeftBeforeTheirEnd) {
  const Evidence evidence = counted({{0, 2, 74, 3, 2, 3}, {0, 2, 69, 1, 1, 20}});
  const Executions all = executions_of(evidence);
  EXPECT_EQ(all.functions[0],
            (FunctionExecutions{0, 1, 10, 10 + 4977 * 4 + 20 + 3 * 3 + 10, 10 + 5000 + 4977 + 10, {}}));
  EXPECT_EQ(all.functions[2], (FunctionExecutions{0, 2, 7, 14, 7 * 3 + 4980 * 2, {1}}));
  const InstructionExecutions module(evidence, 0);
  EXPECT_EQ(module.machine(66), 5000u);
  EXPECT_EQ(module.machine(69), 4980u);
  EXPECT_EQ(module.machine(74), 4977u);
  EXPECT_EQ(module.wasm(1, 2), 5000u);
  EXPECT_EQ(module.wasm(1, 8), 4977u);
}

TEST(Executions, WhatWasNotReachedWasInlinedNowhere) {
  Evidence evidence = counted();
  evidence.counts->entered[0][2] = 0;
  for (const FunctionExecutions& own : executions_of(evidence).functions)
    EXPECT_TRUE(own.inlined_into.empty());
}

TEST(Executions, SumsOfStrangersStayAtTheLargestNumber) {
  Evidence evidence = counted();
  evidence.counts->entered[0].assign(5, UINT64_MAX);
  const Executions all = executions_of(evidence);
  EXPECT_EQ(all.machine_instructions, UINT64_MAX);
  EXPECT_EQ(all.wasm_instructions, UINT64_MAX);
  EXPECT_EQ(all.functions[0].entered, UINT64_MAX);
}

}  // namespace
}  // namespace wago::diff
