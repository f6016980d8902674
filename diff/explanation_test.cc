#include "diff/explanation.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "diff/test_evidence.h"

namespace wago::diff {
namespace {

// One byte an instruction, which is its text.
std::vector<MachineInstruction> bytewise(std::span<const uint8_t> bytes, uint64_t) {
  std::vector<MachineInstruction> instructions;
  for (uint32_t at = 0; at < bytes.size(); ++at) {
    instructions.push_back({at, 1, "byte " + std::to_string(bytes[at])});
  }
  return instructions;
}

// An experiment of `mix`, whose candidate is 3 % slower.
Report mix_report() {
  Report report;
  report.path = "a.wagoexp";
  report.experiment.sides[0].program = report.experiment.sides[1].program = "wago-profile";
  capture::ExperimentWorkload workload;
  workload.id = "mix";
  workload.contract_sha256 = "22";
  workload.module_sha256 = {"11", "11"};
  report.experiment.workloads = {workload};
  ReportedWorkload reported;
  reported.found.finding = Finding::Regressed;
  reported.found.gated = true;
  reported.found.pairs = 12;
  reported.found.change = 0.03;
  report.workloads = {reported};
  return report;
}

// `main` got one byte longer, and `hot` loops more often.
BothSides slower() {
  BothSides both = {counted_mix({10, 10, 500, 10, 0}, "a.wagoprof"),
                    counted_mix({10, 10, 600, 10, 0}, "b.wagoprof")};
  capture::Image& image = both[1].images.images[0];
  image.functions[0].sha256 = digest_of("another");
  image.functions[0].size += 1;
  image.regions[0].size += 1;
  image.regions[1].begin += 1;
  image.regions[1].size -= 1;
  image.metadata.blocks[0] = {0, 12, 0, 6};
  (*both[1].code)[11] = 0x90;
  return both;
}

Explanation explained(const ExplainedCaptures& captures, const Report& report = mix_report()) {
  auto explanation = explain(report, 0, captures, bytewise);
  EXPECT_TRUE(explanation) << explanation.error().to_string();
  return explanation ? std::move(*explanation) : Explanation();
}

std::string refusal(const BothSides& exact, const Report& report = mix_report()) {
  auto explanation = explain(report, 0, {exact, {}}, bytewise);
  EXPECT_FALSE(explanation);
  return explanation ? "" : explanation.error().to_string();
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Explanation, FunctionsThatDifferMostCostlyFirst) {
  const Explanation about = explained({slower(), {}});
  ASSERT_EQ(about.functions.size(), 3u);
  const ExplainedFunction& hot = about.functions[0];
  EXPECT_EQ(hot.name, "hot");
  EXPECT_FALSE(hot.code) << "its code is the same";
  EXPECT_NEAR(hot.part, 400.0 / 2070, 1e-9)
      << "a hundred rounds of four instructions, of all of the baseline";
  ASSERT_TRUE(hot.instructions);
  EXPECT_EQ(differing_rows(*hot.instructions).size(), 10u) << "the bytes of the loop";
  const ExplainedFunction& grown = about.functions[1];
  EXPECT_EQ(grown.name, "main");
  ASSERT_TRUE(grown.code && grown.instructions);
  EXPECT_EQ(grown.code->fate, FunctionFate::Changed);
  const auto rows = differing_rows(*grown.instructions);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_FALSE(rows[0].baseline);
  EXPECT_EQ(grown.instructions->candidate.rows[*rows[0].candidate].assembly, "byte 144");
  EXPECT_EQ(about.functions[2].name, "inner");
  EXPECT_EQ(about.functions[2].part, 0) << "it was inlined: its own code did not run";
  ASSERT_TRUE(about.counts && about.counts->by_line);
  EXPECT_EQ(about.counts->by_line->lines.size(), 4u) << "three of the loop, and the last of main";
}

TEST(Explanation, WhatFailedIsSaidWithItsSideAndReason) {
  Report report = mix_report();
  report.workloads[0].found = {.finding = Finding::Failed,
                               .reason = "the candidate died of signal 11 (SIGSEGV)"};
  const std::string text = to_text(explained({}, report));
  EXPECT_TRUE(contains(text, "finding     failed: the candidate died of signal 11 (SIGSEGV)\n")) << text;
}

TEST(Explanation, TextNamesFunctionsLinesAndInstructions) {
  const std::string text = to_text(explained({slower(), {}}));
  EXPECT_TRUE(contains(text, "finding     regressed, +3.00 % CPU time per iteration, 12 pairs\n")) << text;
  EXPECT_TRUE(contains(text, "exact       a.wagoprof, b.wagoprof\nsampled     none\n")) << text;
  EXPECT_TRUE(contains(text, "changed  main (i32) -> (i32)")) << text;
  EXPECT_TRUE(contains(text, "mix.c:11  hot")) << text;
  EXPECT_TRUE(contains(text,
                       "\nhot (i32) -> (i32), a change of 19.3 % of all\n"
                       "  the same machine code; 242 machine instructions per invocation instead of 202\n"))
      << text;
  EXPECT_TRUE(
      contains(text,
               "\ninner (i32) -> (i32)\n"
               "  the same machine code; 120 wasm instructions per invocation instead of 100; its own code "
               "did not run: inlined into hot\n"))
      << text;
  EXPECT_TRUE(contains(text, "+  byte 144")) << text;
  EXPECT_FALSE(contains(text, "byte 85")) << "what main had before is no difference: " << text;
  EXPECT_TRUE(contains(to_text(explained({slower(), {}}), {.assembly = true}), "byte 85"));
}

TEST(Explanation, JsonHoldsTheSame) {
  const base::Json json = to_json(explained({slower(), {}}));
  EXPECT_EQ(json.find("workload")->as_string(), "mix");
  EXPECT_EQ(json.find("finding")->find("finding")->as_string(), "regressed");
  EXPECT_TRUE(json.find("sampled")->is_null());
  const auto& functions = json.find("functions")->items();
  ASSERT_EQ(functions.size(), 3u);
  EXPECT_EQ(functions[0].find("name")->as_string(), "hot");
  EXPECT_TRUE(functions[0].find("code")->is_null());
  EXPECT_EQ(functions[1].find("code")->as_string(), "changed");
  const auto& differing = functions[1].find("instructions")->find("differing")->items();
  ASSERT_EQ(differing.size(), 1u);
  EXPECT_TRUE(differing[0].find("baseline")->is_null());
  EXPECT_EQ(differing[0].find("candidate")->find("assembly")->as_string(), "byte 144");
  const base::Json whole = to_json(explained({slower(), {}}), {.assembly = true});
  EXPECT_EQ(whole.find("functions")->items()[1].find("instructions")->find("rows")->items().size(), 12u);
}

TEST(Explanation, WhatIsNotKnownIsSaid) {
  Explanation about = explained({});
  EXPECT_FALSE(about.code || about.counts || about.costs);
  std::string text = to_text(about);
  EXPECT_TRUE(contains(text, "of code and counts nothing is known")) << text;
  EXPECT_TRUE(contains(text, "nothing was sampled")) << text;
  EXPECT_TRUE(contains(text,
                       "to record more: wago-profile profile explain a.wagoexp mix --catalog FILE "
                       "--baseline PROGRAM --candidate PROGRAM\n"))
      << text;
  BothSides old = slower();
  for (Evidence& side : old) {
    side.manifest.backend = base::Backend::None;
    side.counts.reset();
  }
  text = to_text(explained({old, {}}));
  EXPECT_TRUE(contains(text, "nothing was counted: a side's program has no backend count\n")) << text;
  EXPECT_TRUE(contains(text, "main (i32) -> (i32)\n  machine code changed")) << text;
  BothSides without_maps = slower();
  for (Evidence& side : without_maps) side.manifest.effective_settings.source_maps = false;
  EXPECT_TRUE(contains(to_text(explained({without_maps, {}})), "not by source line: these captures have no"));
}

TEST(Explanation, TheSameCodeExecutedEquallyOftenIsNotTheCode) {
  const BothSides same = {counted_mix({10, 10, 500, 10, 0}, "a"), counted_mix({10, 10, 500, 10, 0}, "b")};
  const std::string text = to_text(explained({same, {}}));
  EXPECT_TRUE(contains(text, "no function differs")) << text;
  EXPECT_TRUE(contains(text, "both sides executed the same code equally often")) << text;
}

TEST(Explanation, SamplesBeyondTheirErrorPutAFunctionFirst) {
  BothSides sampled = {mix_evidence("s"), mix_evidence("t")};
  for (Evidence& side : sampled) {
    const std::vector<capture::Sample> once = side.samples->samples;
    for (int i = 0; i < 99; ++i)
      side.samples->samples.insert(side.samples->samples.end(), once.begin(), once.end());
  }
  for (capture::Sample& sample : sampled[1].samples->samples) sample.weight *= 2;
  const Explanation about = explained({{}, sampled});
  ASSERT_FALSE(about.functions.empty());
  EXPECT_EQ(about.functions[0].name, "hot");
  ASSERT_TRUE(about.functions[0].cost && about.functions[0].instructions);
  EXPECT_FALSE(about.functions[0].instructions->baseline.unit.empty()) << "its rows have shares of samples";
  EXPECT_TRUE(contains(to_text(about), " by samples\n")) << to_text(about);
}

TEST(Explanation, ASideWithoutASampleMakesNoFunctionCheaper) {
  BothSides sampled = {mix_evidence("s"), mix_evidence("t")};
  const std::vector<capture::Sample> once = sampled[0].samples->samples;
  for (int i = 0; i < 99; ++i)
    sampled[0].samples->samples.insert(sampled[0].samples->samples.end(), once.begin(), once.end());
  sampled[1].samples->samples.clear();
  const Explanation about = explained({{}, sampled});
  EXPECT_FALSE(about.costs.has_value());
  EXPECT_TRUE(about.functions.empty());
  EXPECT_TRUE(contains(to_text(about), "t: not one sample was taken, which does not mean")) << to_text(about);
}

TEST(Explanation, AFunctionOfOneSideIsShownWhole) {
  BothSides both = slower();
  both[1].images.images[0].functions[0].name = "start";
  const Explanation about = explained({both, {}});
  size_t one_sided = 0;
  for (const ExplainedFunction& function : about.functions) {
    if (!function.code) continue;
    ++one_sided;
    ASSERT_TRUE(function.instructions) << function.name;
    EXPECT_EQ(function.instructions->kept, 0u);
    EXPECT_EQ(function.instructions->baseline.rows.empty(), function.code->fate == FunctionFate::New);
  }
  EXPECT_EQ(one_sided, 2u);
}

TEST(Explanation, OnlyTheSettingThatTheExperimentIsAboutMayDiffer) {
  BothSides both = slower();
  both[1].manifest.effective_settings.engine.level = 0;
  EXPECT_EQ(refusal(both),
            "a.wagoprof: cannot be compared with b.wagoprof: they differ in effective_settings.level; "
            "`profile explain --catalog` records both sides again");
  Report report = mix_report();
  report.experiment.sides[1].setting = "--level 0";
  EXPECT_EQ(explained({both, {}}, report).functions.size(), 3u);
  both[1].manifest.effective_settings.engine.interruptible = true;
  EXPECT_TRUE(contains(refusal(both, report), "they differ in effective_settings.interruptible"));
}

TEST(Explanation, CapturesOfSomethingElseAreRefused) {
  BothSides both = slower();
  both[1].manifest.module_sha256 = "12";
  EXPECT_EQ(refusal(both),
            "b.wagoprof: is no capture of the experiment's candidate: its module is another; "
            "`profile explain --catalog` records both sides again");
  both = slower();
  both[0].manifest.contract_sha256 = "23";
  EXPECT_TRUE(contains(refusal(both), "it computes something else"));
  Report report = mix_report();
  report.experiment.workloads[0].code_sha256 = {"33", "34"};
  EXPECT_TRUE(contains(refusal(slower(), report),
                       "b.wagoprof: is no capture of the experiment's candidate: its code"));
}

}  // namespace
}  // namespace wago::diff
