#include "diff/top.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "diff/test_evidence.h"

namespace wago::diff {
namespace {

TEST(Top, SaysPlainlyThatThereAreNoSamples) {
  Top top = top_of(test_evidence());
  EXPECT_NE(to_text(top).find("no native samples are available"), std::string::npos);
  base::Json json = to_json(top);
  EXPECT_FALSE(json.find("samples")->find("available")->as_bool());
}

TEST(Top, StaticDataIsLabelledAsNotHotSpots) {
  Top top = top_of(test_evidence());
  EXPECT_NE(to_text(top).find("static compiler data, not hot spots: 2 functions"), std::string::npos)
      << to_text(top);
  EXPECT_FALSE(to_json(top).find("static_compiler_data")->find("hot_spots")->as_bool());
}

TEST(Top, ShowsPhasesAndTheMeasuredOne) {
  Top top = top_of(test_evidence());
  ASSERT_EQ(top.phases.size(), 2u);
  EXPECT_FALSE(top.phases[0].measured);
  EXPECT_TRUE(top.phases[1].measured);
  EXPECT_EQ(top.elapsed.wall_ns.median, 1000);
  std::string text = to_text(top);
  for (auto words : {"compile", "5 ms", "1,000 bytes", "execute", "100 invocations", "measured", "thread CPU",
                     "900 ns", "100 iterations after 5 of warm-up, 100 invocations, 1 us each"}) {
    EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
  }
}

TEST(Top, TheMeasuredPhaseIsDividedByWhatWasTimed) {
  Evidence evidence = test_evidence();
  evidence.manifest.phases[1].elapsed_ns = 700'000;
  Top top = top_of(evidence);
  EXPECT_EQ(top.phases[0].timed_ns, std::nullopt);
  EXPECT_EQ(top.phases[1].timed_ns, 100'000u);
  std::string text = to_text(top);
  EXPECT_NE(text.find("execute   700 us  100 us  100 invocations      1 us  measured"), std::string::npos)
      << text;
  EXPECT_NE(text.find("compile     5 ms       -      1,000 bytes      5 us\n"), std::string::npos) << text;
}

TEST(Top, OneBatchHasNoSpread) {
  Evidence evidence = test_evidence();
  evidence.iterations = {{0, 100'000, 90'000, 100}};
  EXPECT_NE(to_text(top_of(evidence)).find("wall              1 us       -    1 us    1 us  1\n"),
            std::string::npos)
      << to_text(top_of(evidence));
}

TEST(Top, TheLargestFunctionsComeFirstAndTheRestIsCounted) {
  Evidence evidence = test_evidence();
  evidence.images.images[0] =
      test_module({test_function(0, "small", "1", 16), test_function(1, "large", "2", 640),
                   test_function(2, "middle", "3", 64)});
  Top top = top_of(evidence, {.limit = 2});
  ASSERT_EQ(top.functions.size(), 2u);
  EXPECT_EQ(top.functions[0].name, "large");
  EXPECT_EQ(top.functions[1].name, "middle");
  EXPECT_EQ(top.function_count, 3u);
  EXPECT_EQ(top.code_bytes, 720u);
  EXPECT_NE(to_text(top).find("and 1 more; --limit lists more"), std::string::npos);
}

TEST(Top, LossesAndDiagnosticsAreNotKeptQuiet) {
  Evidence evidence = test_evidence();
  evidence.manifest.diagnostics = {"the clock stepped"};
  evidence.manifest.losses.spans = 3;
  std::string text = to_text(top_of(evidence));
  EXPECT_NE(text.find("the clock stepped"), std::string::npos);
  EXPECT_NE(text.find("3 spans were lost"), std::string::npos);
}

TEST(Top, FunctionsWithoutNamesGetOneHint) {
  Evidence evidence = test_evidence();
  EXPECT_TRUE(top_of(evidence).notes.empty());
  evidence.images.images[0] = test_module(
      {test_function(0, "func[0]", "1"), test_function(1, "func[1]", "2"), test_function(2, "f", "3")});
  ASSERT_EQ(top_of(evidence).notes.size(), 1u);
  EXPECT_EQ(top_of(evidence).notes[0],
            "2 of 3 functions have no names; compilers keep them with -g, wat2wasm with --debug-names");
}

TEST(Top, RatesAppearWhereTheWorkloadStatesThem) {
  Evidence evidence = test_evidence();
  EXPECT_EQ(to_text(top_of(evidence)).find("items"), std::string::npos);
  evidence.manifest.items_per_iteration = 1000;  // an item a nanosecond
  EXPECT_DOUBLE_EQ(top_of(evidence).items_per_second, 1e9);
  EXPECT_NE(to_text(top_of(evidence)).find("1 G/s"), std::string::npos);
}

TEST(Top, SamplesAreSpreadOverTheWorkThatWasDone) {
  Top top = top_of(mix_evidence(), {.limit = 2});
  std::string text = to_text(top);
  EXPECT_NE(text.find("samples   10 samples, 1 us in all\n"), std::string::npos) << text;
  EXPECT_NE(text.find("guest             50 ns  50.0 %        5\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n30 ns  30.0 %  50 ns  50.0 %        3  guest  hot (i32) -> (i32)\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("and 7 more; --limit lists more"), std::string::npos) << text;
  EXPECT_EQ(text.find("static compiler data"), std::string::npos) << text;
  base::Json json = to_json(top);
  EXPECT_TRUE(json.find("samples")->find("available")->as_bool());
  EXPECT_EQ(json.find("samples")->find("completed_work")->to_u64(), 10u);
  EXPECT_EQ(json.find("samples")->find("entries")->items()[0].find("self")->to_u64(), 300u);
}

TEST(Top, NoSamplesIsSaidAndNotShownAsNoCost) {
  Evidence evidence = mix_evidence();
  evidence.samples->samples.clear();
  std::string text = to_text(top_of(evidence));
  EXPECT_NE(text.find("not one sample was taken, which does not mean that there was no cost"),
            std::string::npos);
  EXPECT_EQ(text.find("guest  "), std::string::npos) << text;
}

TEST(Top, SamplesOfTheWholeProcessGiveNoCostOfAUnit) {
  Evidence evidence = mix_evidence();
  evidence.manifest.phase_isolation = "process";
  std::string text = to_text(top_of(evidence));
  EXPECT_NE(text.find("of the whole process and not of the measured phase alone"), std::string::npos);
  EXPECT_NE(text.find("300 ns  30.0 %  500 ns  50.0 %        3  guest    hot"), std::string::npos) << text;
  EXPECT_TRUE(to_json(top_of(evidence)).find("samples")->find("completed_work")->is_null());
}

TEST(Top, WithoutSourceMapsItSaysWhatIsCountedWhere) {
  Evidence evidence = mix_evidence();
  evidence.manifest.effective_settings.source_maps = false;
  EXPECT_NE(to_text(top_of(evidence)).find("recorded without --source-maps: inlined functions are counted"),
            std::string::npos);
}

TEST(Top, HostileNamesCannotSteerATerminal) {
  Evidence evidence = mix_evidence();
  evidence.images.images[0].functions[1].name = "hot\x1b[2J\nrow";
  evidence.samples->symbols[0].name = "ma\rin";
  std::string text = to_text(top_of(evidence));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\r'), std::string::npos);
}

TEST(Top, ACaptureWithoutIterationsStillReads) {
  Evidence evidence = test_evidence();
  evidence.iterations.clear();
  evidence.images.images.clear();
  EXPECT_NE(to_text(top_of(evidence)).find("0 functions"), std::string::npos);
}

}  // namespace
}  // namespace wago::diff
