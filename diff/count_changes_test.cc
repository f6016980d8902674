#include "diff/count_changes.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "diff/test_evidence.h"

namespace wago::diff {
namespace {

Evidence counted(std::vector<uint64_t> entered, uint64_t work = 10, std::string path = "a.wagoprof") {
  Evidence evidence = mix_evidence(std::move(path));
  evidence.samples.reset();
  evidence.counts = capture::Counts{};
  evidence.counts->entered = {std::move(entered), {}};
  evidence.manifest.phases[1].completed_work = work;
  return evidence;
}

TEST(CountChanges, MoreOfTheSameWorkIsTheSame) {
  auto counts = compare_counts(counted({10, 10, 500, 10, 0}), counted({30, 30, 1500, 30, 0}, 30));
  ASSERT_TRUE(counts.has_value());
  EXPECT_TRUE(counts->same());
  EXPECT_EQ(counts->functions_same, 3u);
}

TEST(CountChanges, OneMoreTimeRoundALoopIsNamed) {
  auto counts = compare_counts(counted({1'000'000, 1'000'000, 500'000'000, 1'000'000, 0}, 1'000'000),
                               counted({1'000'000, 1'000'000, 500'000'001, 1'000'000, 0}, 1'000'000));
  ASSERT_TRUE(counts.has_value());
  ASSERT_EQ(counts->functions.size(), 2u);
  const FunctionCountChange& hot = counts->functions[0];
  EXPECT_EQ(hot.name, "hot");
  EXPECT_EQ(hot.machine.candidate - hot.machine.baseline, 4u);
  EXPECT_FALSE(counts->differs(hot.entered));
  ASSERT_EQ(hot.blocks.size(), 2u);
  EXPECT_EQ(hot.blocks[0].wasm_begin, 2u);
  EXPECT_EQ(hot.blocks[0].line, "mix.c:11");
  EXPECT_EQ(hot.blocks[0].executed.candidate, 500'000'001u);
  EXPECT_EQ(counts->functions[1].name, "inner") << "which is inlined in that loop";
  std::string text = to_text(*counts);
  EXPECT_NE(text.find("1 function executed the same, 2 not"), std::string::npos) << text;
  EXPECT_NE(text.find("+2e-07 %"), std::string::npos) << "a change too small to show is one: " << text;
  EXPECT_NE(text.find("wasm 2..5  mix.c:11"), std::string::npos) << text;
}

TEST(CountChanges, WhatIsInlinedSaysWhere) {
  auto counts = compare_counts(counted({10, 10, 500, 10, 0}), counted({10, 10, 600, 10, 0}));
  ASSERT_EQ(counts->functions.size(), 2u);
  EXPECT_EQ(counts->functions[1].inlined_into, std::vector<std::string>{"hot"});
  EXPECT_FALSE(counts->functions[1].own_code_ran());
  std::string text = to_text(*counts);
  EXPECT_NE(text.find("inner (i32) -> (i32); its own code did not run: inlined into hot\n"),
            std::string::npos)
      << text;
  const base::Json json = to_json(*counts);
  EXPECT_EQ(json.find("functions")->items()[1].find("inlined_into")->items()[0].as_string(), "hot");
  // On one side its own code ran as well.
  text = to_text(*compare_counts(counted({10, 10, 500, 10, 0}), counted({10, 10, 600, 10, 1})));
  EXPECT_EQ(text.find("did not run"), std::string::npos) << text;
}

TEST(CountChanges, FunctionsThatCameAndWentAreShown) {
  Evidence b = counted({10, 10, 500, 10, 0}, 10, "b");
  b.images.images[0].functions[0].name = "start";
  auto counts = compare_counts(counted({10, 10, 500, 10, 0}), b);
  ASSERT_EQ(counts->functions.size(), 2u);
  std::string text = to_text(*counts);
  EXPECT_NE(text.find("start (i32) -> (i32), new"), std::string::npos) << text;
  EXPECT_NE(text.find("main (i32) -> (i32), no longer executed"), std::string::npos) << text;
}

TEST(CountChanges, BlocksThatAreNotTheSameOnBothSidesAreNotJoined) {
  Evidence b = counted({10, 10, 600, 10, 0}, 10, "b");
  b.images.images[0].metadata.block_ranges[2].wasm_end = 6;
  auto counts = compare_counts(counted({10, 10, 500, 10, 0}), b);
  EXPECT_FALSE(counts->functions[0].blocks_joined);
  EXPECT_TRUE(counts->functions[0].blocks.empty());
  base::Json json = to_json(*counts);
  EXPECT_FALSE(json.find("same")->as_bool());
  EXPECT_FALSE(json.find("functions")->items()[0].find("machine_instructions")->find("same")->as_bool());
}

// One byte an instruction: a disassembler that needs no code to be right.
std::vector<MachineInstruction> bytewise(std::span<const uint8_t> bytes, uint64_t) {
  std::vector<MachineInstruction> instructions;
  for (uint32_t at = 0; at < bytes.size(); ++at) instructions.push_back({at, 1, "op"});
  return instructions;
}

TEST(CountChanges, LinesAreJoinedWhereBlocksAreNot) {
  Evidence b = counted({10, 10, 600, 10, 0}, 10, "b");
  b.images.images[0].metadata.block_ranges[2].wasm_end = 6;
  auto counts = compare_counts(counted({10, 10, 500, 10, 0}), b, bytewise);
  ASSERT_TRUE(counts->by_line.has_value());
  // Of the loop at 66: three bytes of line 11, three inlined from step.c, four of no known line.
  const std::vector<LineCountChange> expected = {{"hot", "line not known", {4 * 500 + 10, 4 * 600 + 10}},
                                                 {"mix.c:11", "hot", {3 * 500, 3 * 600}},
                                                 {"step.c:7", "step", {3 * 500, 3 * 600}}};
  EXPECT_EQ(counts->by_line->lines, expected);
  EXPECT_EQ(counts->by_line->same, 4u) << "mix.c:10, 20, 21 and 22";
  std::string text = to_text(*counts);
  EXPECT_NE(
      text.find("lines      exact, machine instructions per invocation: 4 lines executed the same, 3 not"),
      std::string::npos)
      << text;
  const base::Json json = to_json(*counts);
  EXPECT_EQ(json.find("by_line")->find("lines")->items()[1].find("line")->as_string(), "mix.c:11");
}

TEST(CountChanges, LinesNeedSourceMapsWithLinesAndCodeOnBothSides) {
  const Evidence whole = counted({10, 10, 500, 10, 0});
  Evidence without_code = counted({10, 10, 500, 10, 0});
  without_code.code.reset();
  Evidence without_maps = counted({10, 10, 500, 10, 0});
  without_maps.manifest.effective_settings.source_maps = false;
  Evidence without_lines = counted({10, 10, 500, 10, 0});
  without_lines.images.images[0].metadata.source_frames.clear();
  without_lines.images.images[0].metadata.source_ranges.clear();
  for (const Evidence* other : {&without_code, &without_maps, &without_lines}) {
    EXPECT_FALSE(compare_counts(whole, *other, bytewise)->by_line.has_value());
    EXPECT_FALSE(compare_counts(*other, whole, bytewise)->by_line.has_value());
    EXPECT_TRUE(to_json(*compare_counts(whole, *other, bytewise)).find("by_line")->is_null());
  }
  EXPECT_TRUE(compare_counts(whole, whole, bytewise)->by_line.has_value());
}

TEST(CountChanges, WithoutCountsOnBothSidesThereIsNothingToSay) {
  EXPECT_FALSE(compare_counts(counted({10, 10, 500, 10, 0}), mix_evidence()).has_value());
}

}  // namespace
}  // namespace wago::diff
