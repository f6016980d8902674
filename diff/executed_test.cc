#include "diff/executed.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "diff/test_evidence.h"
#include "diff/top.h"

namespace wago::diff {
namespace {

// Two bytes an instruction: a disassembler that needs no code to be right.
std::vector<MachineInstruction> pairs(std::span<const uint8_t> bytes, uint64_t) {
  std::vector<MachineInstruction> instructions;
  for (uint32_t at = 0; at < bytes.size(); at += 2) {
    instructions.push_back({at, std::min<uint32_t>(2, static_cast<uint32_t>(bytes.size()) - at), "op"});
  }
  return instructions;
}

// `main` ran ten times, and `hot` with it, whose loop was entered 500 times.
Evidence counted() {
  Evidence evidence = mix_evidence();
  evidence.samples.reset();
  evidence.manifest.backend = base::Backend::Count;
  evidence.counts = capture::Counts{};
  evidence.counts->entered = {{10, 10, 500, 10, 0}, {}};
  return evidence;
}

TEST(Executed, FunctionsHaveTheirCodeAndTheirBodyWhereverThatIs) {
  Executed all = executed(counted(), Grouping::Function, {});
  ASSERT_EQ(all.rows.size(), 3u);
  EXPECT_EQ(all.rows[0].label.name, "hot");
  EXPECT_EQ(all.rows[0].machine, 10u * 1 + 500 * 4 + 10 * 1);
  EXPECT_EQ(all.rows[0].wasm, 10u * 1 + 500 * (1 + 1) + 10 * 1);
  EXPECT_EQ(all.rows[0].entered, 10u);
  EXPECT_EQ(all.rows[1].label.name, "main");
  EXPECT_EQ(all.rows[1].machine, 50u);
  EXPECT_EQ(all.rows[2].label.name, "inner");
  EXPECT_EQ(all.rows[2].machine, 0u);
  EXPECT_EQ(all.rows[2].wasm, 1000u);
  EXPECT_EQ(all.machine, 2070u);
}

TEST(Executed, LinesAreOfSingleInstructions) {
  Executed all = executed(counted(), Grouping::Line, pairs);
  uint64_t sum = 0, load = 0;
  for (const ExecutedRow& row : all.rows) {
    sum += row.machine;
    if (row.label.name == "mix.c:11") load = row.machine;
  }
  EXPECT_EQ(load, 2u * 500);  // at 66 and 68
  // main: six of eleven bytes; hot: one and five and one of 2, 10 and 1.
  EXPECT_EQ(sum, 6u * 10 + 10 + 5 * 500 + 10);
}

TEST(Executed, WhatItNeedsIsSaid) {
  Evidence evidence = counted();
  EXPECT_EQ(expect_counts(evidence, Grouping::Kind).error().to_string(),
            "mix.wagoprof: --by kind needs samples: counts are of the guest's code alone");
  EXPECT_TRUE(expect_counts(evidence, Grouping::Site).ok());
  evidence.code.reset();
  EXPECT_EQ(expect_counts(evidence, Grouping::Site).error().to_string(),
            "mix.wagoprof: --by site of counts needs the machine code: record with --include-code");
  EXPECT_TRUE(expect_counts(evidence, Grouping::Function).ok());
  EXPECT_FALSE(expect_counts(mix_evidence(), Grouping::Function).ok());
}

TEST(Executed, TopShowsThemPerUnitOfWork) {
  Top top = top_of(counted());
  std::string text = to_text(top);
  EXPECT_NE(text.find("executed per invocation, exactly: 207 machine instructions"), std::string::npos)
      << text;
  EXPECT_NE(text.find("    202  97.6 %   102"), std::string::npos) << text;
  EXPECT_NE(text.find("backend count counts instead, exactly"), std::string::npos) << text;
  base::Json json = to_json(top);
  EXPECT_EQ(json.find("counts")->find("machine_instructions")->to_u64(), 2070u);
  EXPECT_EQ(json.find("counts")->find("entries")->items().size(), 3u);
  EXPECT_TRUE(to_json(top_of(mix_evidence())).find("counts")->is_null());
}

}  // namespace
}  // namespace wago::diff
