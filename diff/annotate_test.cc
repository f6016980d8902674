#include "diff/annotate.h"

#include <gtest/gtest.h>

#include <map>

#include "base/json.h"
#include "diff/test_evidence.h"

namespace wago::diff {
namespace {

using capture::kNone;

// The instructions of mix_module(), by where they are: what any disassembler would say.
std::vector<MachineInstruction> disassemble_mix(std::span<const uint8_t> bytes, uint64_t address) {
  static const std::map<uint32_t, std::pair<uint32_t, const char*>> kInstructions = {
      {0, {1, "push rbp"}},
      {1, {3, "mov rbp, rsp"}},
      {4, {5, "call 0x40"}},
      {9, {1, "pop rbp"}},
      {10, {1, "ret"}},
      {64, {2, "xor eax, eax"}},
      {66, {3, "add eax, [rdi]"}},
      {69, {3, "add eax, 1"}},
      {72, {2, "cmp eax, esi"}},
      {74, {2, "jb 0x42"}},
      {76, {1, "ret"}},
      {128, {3, "lea eax, [rdi + 1]"}},
      {131, {1, "ret"}}};
  std::vector<MachineInstruction> instructions;
  for (uint32_t at = 0; at < bytes.size(); at += instructions.back().size) {
    const auto& [size, text] = kInstructions.at(static_cast<uint32_t>(address) + at);
    instructions.push_back({at, size, text});
  }
  return instructions;
}

Annotation annotation_of(const Evidence& evidence, std::string_view function,
                         SourceFiles* sources = nullptr) {
  auto choice = choose_function(evidence, function);
  EXPECT_TRUE(choice.ok()) << choice.error().to_string();
  auto result = annotate(evidence, *choice, disassemble_mix, sources, false);
  EXPECT_TRUE(result.ok());
  return *result;
}

TEST(Annotate, SamplesStandAtTheInstructionsTheyWereTakenAt) {
  Annotation hot = annotation_of(mix_evidence(), "hot");
  ASSERT_EQ(hot.rows.size(), 6u);
  EXPECT_EQ(hot.self, 500u);
  EXPECT_EQ(hot.total, 500u);
  EXPECT_EQ(hot.rows[1].assembly, "add eax, [rdi]");
  EXPECT_EQ(hot.rows[1].self, 200u);
  EXPECT_EQ(hot.rows[1].wasm, "i32.load");
  EXPECT_EQ(hot.rows[1].source, (std::vector<SourceLine>{{"hot", "mix.c", 11}}));
  EXPECT_EQ(hot.rows[1].site, capture::SiteKind::BoundsCheck);
  EXPECT_EQ(hot.rows[2].site, std::nullopt);
  EXPECT_EQ(hot.rows[2].samples, 2u);
  EXPECT_EQ(hot.rows[2].places, (std::vector<WasmPlace>{{2, 2}, {1, 5}}));
  EXPECT_EQ(hot.rows[4].samples, 0u);
}

TEST(Annotate, WithoutASampleNoCostIsShown) {
  Evidence evidence = mix_evidence();
  evidence.samples->samples.clear();
  const Annotation inner = annotation_of(evidence, "inner");
  const std::string text = to_text(inner);
  EXPECT_NE(
      text.find(
          "\nsamples   not one sample was taken, which does not mean that there was no cost: record for "
          "longer or at a higher rate\n"),
      std::string::npos)
      << text;
  EXPECT_EQ(text.find("0 ns"), std::string::npos) << text;
  EXPECT_EQ(text.find("share"), std::string::npos) << text;
  EXPECT_TRUE(to_json(inner).find("samples")->is_null());
  EXPECT_EQ(to_json(inner).find("rows")->items()[0].find("self"), nullptr);
}

TEST(Annotate, ASampleInsideAnInstructionIsThatInstructions) {
  Evidence evidence = mix_evidence();
  for (capture::Frame& frame : evidence.samples->frames) {
    if (frame.offset == 66) frame.offset = 68;
  }
  EXPECT_EQ(annotation_of(evidence, "hot").rows[1].self, 200u);
}

TEST(Annotate, InliningIsSaidOnBothSides) {
  Annotation hot = annotation_of(mix_evidence(), "hot");
  ASSERT_EQ(hot.inlined.size(), 1u);
  EXPECT_EQ(hot.inlined[0].name, "inner");
  EXPECT_EQ(hot.inlined[0].call_pc, 5u);
  EXPECT_TRUE(hot.inlined_into.empty());
  Annotation inner = annotation_of(mix_evidence(), "inner");
  EXPECT_EQ(inner.inlined_into, std::vector<std::string>{"hot"});
  EXPECT_EQ(inner.self, 0u);
  EXPECT_EQ(inner.elsewhere, 200u);
  EXPECT_EQ(inner.total, 200u);
}

TEST(Annotate, CountsSayWhetherItsOwnCodeRan) {
  const Evidence counted = counted_mix({10, 10, 500, 10, 0}, "counted.wagoprof");
  const std::string inner = to_text(annotation_of(counted, "inner"));
  EXPECT_NE(inner.find(
                "\nexecuted  100 wasm instructions per invocation where it was inlined; its own code did not "
                "run\n"),
            std::string::npos)
      << inner;
  EXPECT_NE(inner.find("\ninlined   into hot\n"), std::string::npos) << inner;
  const Annotation hot = annotation_of(counted, "hot");
  EXPECT_EQ(hot.counts.machine_instructions, 2020u);
  EXPECT_EQ(hot.counts.entered, 10u);
  EXPECT_NE(
      to_text(hot).find("\nexecuted  202 machine instructions per invocation of its own code, with what was "
                        "inlined into it; 102 wasm instructions of its body, wherever that is\n"),
      std::string::npos)
      << to_text(hot);
  EXPECT_EQ(to_json(hot).find("counts")->find("wasm_instructions")->to_u64(), 1020u);
  EXPECT_TRUE(to_json(annotation_of(mix_evidence(), "hot")).find("counts")->is_null());
  const std::string idle = to_text(annotation_of(counted_mix({10, 10, 0, 10, 0}, "idle.wagoprof"), "inner"));
  EXPECT_NE(idle.find("\nexecuted  nothing of it\n"), std::string::npos) << idle;
}

// mix, as if the call in `main` had been refused and the load in `hot` had no check of its own.
Evidence decided_evidence() {
  using base::DecisionKind;
  Evidence evidence = mix_evidence();
  capture::CodeMetadata& m = evidence.images.images[0].metadata;
  m.decisions = {{0, DecisionKind::NotInlinedLarge, 2, kNone, 1},
                 {1, DecisionKind::BoundsCheckImplied, 2},
                 {1, DecisionKind::Inlined, 5, kNone, 2},
                 {1, DecisionKind::StrengthReduced, 2, 0},
                 {1, DecisionKind::Simplified, 2, 0}};
  m.origins = {{0, 7, 0}, {1, 12, 3}};
  EXPECT_TRUE(capture::check(evidence.images));
  return evidence;
}

TEST(Annotate, DecisionsStandAtTheInstructionsTheyAreAbout) {
  const Annotation hot = annotation_of(decided_evidence(), "hot");
  ASSERT_EQ(hot.decided.instructions.size(), 4u);
  EXPECT_EQ(hot.rows[1].decided, std::vector<uint32_t>{0});
  EXPECT_EQ(hot.rows[2].decided, (std::vector<uint32_t>{2, 3}));  // of inner, where it is in hot
  const std::string text = to_text(hot);
  EXPECT_NE(text.find("built     12 ir instructions of its body, 3 of inlined ones"), std::string::npos)
      << text;
  EXPECT_NE(text.find("decided   1 inlined, 1 bounds-check-implied, 1 simplified, 1 strength-reduced\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("bounds-check  no bounds check: an earlier one implies it  mix.c:11"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("by cheaper operations"), std::string::npos) << text;
  EXPECT_EQ(text.find("simplified away"), std::string::npos) << text;
}

TEST(Annotate, ARefusedCallSaysWhyAtItsCallInstruction) {
  Evidence evidence = decided_evidence();
  // The argument's move belongs to the call as well.
  evidence.images.images[0].metadata.positions[1].offset = 1;
  const Annotation main = annotation_of(evidence, "main");
  ASSERT_EQ(main.rows[2].target, "hot");
  EXPECT_TRUE(main.rows[1].decided.empty());
  EXPECT_EQ(main.rows[2].decided, std::vector<uint32_t>{0});
  EXPECT_NE(to_text(main).find("not inlined: too large"), std::string::npos) << to_text(main);
  const base::Json json = to_json(main);
  EXPECT_EQ(json.find("decisions")->dump(),
            R"([{"kind":"not-inlined-large","wasm_pc":2,"inline_site":null,"callee":1,"name":"hot"}])");
  EXPECT_EQ(json.find("built")->dump(), R"({"own":7,"inlined":0})");
  EXPECT_EQ(json.find("rows")->items()[2].find("decided")->dump(), R"(["not-inlined-large"])");
  evidence.code.reset();
  const Annotation without_code = annotation_of(evidence, "main");
  EXPECT_EQ(without_code.rows[1].decided, std::vector<uint32_t>{0});
}

TEST(Annotate, CapturesWithoutDecisionsSayNothingOfThem) {
  const Annotation hot = annotation_of(mix_evidence(), "hot");
  EXPECT_EQ(to_text(hot).find("decided"), std::string::npos);
  EXPECT_TRUE(to_json(hot).find("built")->is_null());
  EXPECT_TRUE(to_json(hot).find("decisions")->items().empty());
}

TEST(Annotate, CallsSayWhomTheyCall) {
  Annotation main = annotation_of(mix_evidence(), "0");
  EXPECT_EQ(main.rows[2].target, "hot");
  EXPECT_NE(to_text(main).find("call 0x40 <hot>"), std::string::npos) << to_text(main);
}

TEST(Annotate, CountsAreThoseOfTheBlockOfAnInstruction) {
  Evidence evidence = mix_evidence();
  evidence.samples.reset();
  evidence.counts = capture::Counts{{{10, 10, 5000, 10, 0}, {}}};
  Annotation hot = annotation_of(evidence, "hot");
  EXPECT_TRUE(hot.counted);
  EXPECT_EQ(hot.rows[0].executed, 10u);
  for (int i = 1; i <= 4; ++i) EXPECT_EQ(hot.rows[i].executed, 5000u) << i;
  EXPECT_EQ(hot.rows[5].executed, 10u);
  std::string text = to_text(hot);
  EXPECT_NE(text.find("samples   none are available"), std::string::npos) << text;
  EXPECT_NE(text.find("5,000"), std::string::npos) << text;
}

TEST(Annotate, WithoutCodeRowsAreWhatIsKnown) {
  Evidence evidence = mix_evidence();
  evidence.code.reset();
  Annotation hot = annotation_of(evidence, "hot");
  ASSERT_EQ(hot.rows.size(), 5u);  // 64, 66, 69, 72, 76: positions; the one site is at one of them
  EXPECT_EQ(hot.rows[1].self, 200u);
  EXPECT_EQ(hot.rows[3].size, 4u);
  EXPECT_NE(to_text(hot).find("assembly  not in the capture; --include-code keeps it"), std::string::npos);
  auto refused = annotate(evidence, *choose_function(evidence, "hot"), disassemble_mix, nullptr, true);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().to_string(),
            "mix.wagoprof: the capture does not hold its machine code: record with --include-code");
}

TEST(Annotate, ACaptureOfElapsedTimeStillHasStatistics) {
  Evidence evidence = test_evidence();
  evidence.images.images[0].size = 128;
  Annotation fib = annotation_of(evidence, "fib");
  EXPECT_TRUE(fib.rows.empty());
  std::string text = to_text(fib);
  EXPECT_NE(text.find("static    16 machine instructions"), std::string::npos) << text;
  evidence.images.images[0].functions[0].statistics = {
      .machine_instructions = 1, .stack_checks = 1, .calls = 2};
  EXPECT_NE(to_text(annotation_of(evidence, "fib"))
                .find("static    1 machine instruction, 1 stack check, 2 calls\n"),
            std::string::npos);
  EXPECT_NE(text.find("nothing is known of single instructions: record with --source-maps"),
            std::string::npos);
}

TEST(Annotate, SourcesAreShownWhereTheyCanBeRead) {
  base::MemoryFiles files;
  files.put("src/mix.c", "1\n2\n\tinner\n\n\n\n\n\n\nx = 0;\r\nx += \x1b[31ma[i];\n" + std::string(20, '\n'));
  SourceFiles sources("src", files);
  Annotation hot = annotation_of(mix_evidence(), "hot", &sources);
  EXPECT_EQ(hot.rows[0].source_text, "x = 0;");
  EXPECT_EQ(hot.rows[2].source_text, std::nullopt);
  EXPECT_EQ(hot.missing_sources, std::vector<std::string>{"step.c"});
  std::string text = to_text(hot);
  EXPECT_NE(text.find("mix.c:10  x = 0;"), std::string::npos) << text;
  EXPECT_NE(text.find("sources   not found, or not for sure: step.c; --sources DIR says where they lie"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

// `main` names line 21 of it: what has fewer is another file, whichever function is looked at.
TEST(Annotate, AFileIsHeldAgainstAllThatTheModuleNames) {
  base::MemoryFiles files;
  files.put("src/mix.c", std::string(20, '\n'));
  SourceFiles sources("src", files);
  const Annotation hot = annotation_of(mix_evidence(), "hot", &sources);
  EXPECT_EQ(hot.rows[0].source_text, std::nullopt);
  EXPECT_EQ(hot.missing_sources, (std::vector<std::string>{"mix.c", "step.c"}));
}

TEST(Annotate, HotRowsAreColouredOnTerminalsOnly) {
  Annotation hot = annotation_of(mix_evidence(), "hot");
  EXPECT_EQ(to_text(hot, false).find("\x1b["), std::string::npos);
  std::string text = to_text(hot, true);
  EXPECT_NE(text.find("\x1b[31m"), std::string::npos);
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      i = text.find('m', i);
    } else {
      plain += text[i];
    }
  }
  EXPECT_EQ(plain, to_text(hot, false));
}

TEST(Annotate, FunctionsAreChosenByNameOrIndex) {
  Evidence evidence = mix_evidence();
  evidence.images.images[0].functions[1].name = "_ZN4core3hotE";
  EXPECT_EQ(choose_function(evidence, "core::hot")->function->index, 1u);
  EXPECT_EQ(choose_function(evidence, "_ZN4core3hotE")->function->index, 1u);
  EXPECT_EQ(choose_function(evidence, "2")->function->name, "inner");
  evidence.images.images[0].exports = {{1, "run"}, {1, "inner"}, {2, "1"}, {9, "imported"}};
  EXPECT_EQ(choose_function(evidence, "run")->function->index, 1u);
  EXPECT_EQ(choose_function(evidence, "1")->function->index, 2u) << "a name comes before a number";
  EXPECT_FALSE(choose_function(evidence, "imported"));
  // Which of them is meant is not ours to say.
  EXPECT_EQ(choose_function(evidence, "inner").error().to_string(),
            "mix.wagoprof: 2 functions are called inner or exported so: name one by its index, 2, 1");
  EXPECT_EQ(choose_function(evidence, "ru").error().to_string(),
            "mix.wagoprof: no function is called ru; did you mean run");
  evidence.images.images[0].exports.clear();
  EXPECT_EQ(choose_function(evidence, "in").error().to_string(),
            "mix.wagoprof: no function is called in; did you mean main, inner");
  EXPECT_EQ(choose_function(evidence, "nothing").error().to_string(),
            "mix.wagoprof: no function is called nothing; there are main, core::hot, inner");
  evidence.images.images[0].functions[2].name = "main";
  EXPECT_EQ(choose_function(evidence, "main").error().to_string(),
            "mix.wagoprof: 2 functions are called main or exported so: name one by its index, 0, 2");
}

// A module's name may fill screens.
TEST(Annotate, FunctionsOfLongNamesAreNamedByTheirIndex) {
  Evidence evidence = mix_evidence();
  evidence.images.images[0].functions[1].name = std::string(60'000, 'x');
  EXPECT_EQ(choose_function(evidence, "nothing").error().to_string(),
            "mix.wagoprof: no function is called nothing; there are main, 1, inner");
  EXPECT_EQ(choose_function(evidence, "xxx").error().to_string(),
            "mix.wagoprof: no function is called xxx; did you mean 1");
  EXPECT_LT(choose_function(evidence, std::string(70'000, 'y')).error().to_string().size(), 300u);
}

TEST(Annotate, JsonSaysTheSame) {
  base::Json json = to_json(annotation_of(mix_evidence(), "hot"));
  const base::Json& row = json.find("rows")->items()[2];
  EXPECT_EQ(row.find("samples")->to_u64(), 2u);
  EXPECT_EQ(row.find("places")->items()[1].find("wasm_pc")->to_u64(), 5u);
  EXPECT_EQ(row.find("source")->items()[0].find("file")->as_string(), "step.c");
  EXPECT_EQ(json.find("samples")->find("self")->to_u64(), 500u);
}

}  // namespace
}  // namespace wago::diff
