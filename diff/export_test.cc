#include "diff/export.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "diff/test_evidence.h"

namespace wago::diff {
namespace {

using base::Json;

TEST(Speedscope, AProfileAThreadWithStacksFromTheRoot) {
  auto text = to_speedscope(mix_evidence());
  ASSERT_TRUE(text.ok());
  auto json = base::parse_json(*text, "speedscope");
  ASSERT_TRUE(json.ok()) << json.error().to_string();
  const auto frames = json->find("shared")->find("frames")->items();
  const auto profiles = json->find("profiles")->items();
  ASSERT_EQ(profiles.size(), 2u);
  const Json& recorder = profiles[0];
  EXPECT_EQ(recorder.find("name")->as_string(), "recorder (4711)");
  EXPECT_EQ(recorder.find("unit")->as_string(), "nanoseconds");
  EXPECT_EQ(recorder.find("endValue")->to_u64(), 900u);
  const auto samples = recorder.find("samples")->items();
  ASSERT_EQ(samples.size(), 9u);
  EXPECT_EQ(recorder.find("weights")->items().size(), 9u);
  std::string stack;
  for (const Json& frame : samples[3].items())
    stack += frames[*frame.to_u64()].find("name")->as_string() + ";";
  EXPECT_EQ(stack, "main;entry-adapter (i32) -> (i32);main;hot;inner;");
  EXPECT_EQ(profiles[1].find("name")->as_string(), "compile worker 1 (4712)");
  EXPECT_EQ(profiles[1].find("samples")->items().size(), 1u);
  for (const Json& frame : frames) {
    if (frame.find("name")->as_string() != "hot") continue;
    EXPECT_EQ(frame.find("file")->as_string(), "mix.c");
    EXPECT_EQ(frame.find("line")->to_u64(), 10u);
  }
}

TEST(Speedscope, DeepStacksAreWhole) {
  Evidence evidence = mix_evidence();
  capture::Samples& samples = *evidence.samples;
  capture::StackTable table(samples);
  std::vector<capture::Frame> frames(3000,
                                     {capture::Side::Host, capture::kNone, 0, table.symbol("rec", "b")});
  frames.push_back({capture::Side::Host, capture::kNone, 0, table.symbol("hot", "b")});
  samples.samples = {{1, 9, 0, table.stack(frames)}};
  auto json = base::parse_json(*to_speedscope(evidence), "speedscope");
  ASSERT_TRUE(json.ok()) << json.error().to_string();
  const auto names = json->find("shared")->find("frames")->items();
  const auto stack = json->find("profiles")->items()[0].find("samples")->items()[0].items();
  ASSERT_EQ(stack.size(), 3001u);
  EXPECT_EQ(names[*stack.back().to_u64()].find("name")->as_string(), "hot");
  EXPECT_EQ(names[*stack[2999].to_u64()].find("name")->as_string(), "rec");
}

TEST(Speedscope, WhatIsNotTimeHasNoUnitThere) {
  Evidence evidence = mix_evidence();
  evidence.samples->unit = "cycles";
  evidence.samples->symbols[0].name = "quote \" back \\ line \n";
  auto json = base::parse_json(*to_speedscope(evidence), "speedscope");
  ASSERT_TRUE(json.ok()) << json.error().to_string();
  EXPECT_EQ(json->find("profiles")->items()[0].find("unit")->as_string(), "none");
}

TEST(Speedscope, NoSamplesAreRefused) {
  EXPECT_EQ(to_speedscope(test_evidence()).error().to_string(),
            "a.wagoprof: has no samples: record with a backend that samples");
}

TEST(Benchfmt, TheWholeCaptureIsOneResult) {
  EXPECT_EQ(
      to_benchfmt(test_evidence()),
      "goos: linux\ngoarch: amd64\npkg: fib.wasm\ncpu: Test CPU\n"
      "wago-revision: 0123456789abcdef0123456789abcdef01234567\nwago-backend: none\nwago-bounds: signals\n"
      "wago-level: 1\nwago-interruptible: no\nBenchmarkFib/phase=execute/mode=public 100 1000 ns/op 900 "
      "cpu-ns/op\n");
}

TEST(Benchfmt, NamesAreOneWordAndRatesAreThoseOfTheWorkload) {
  Evidence evidence = test_evidence();
  evidence.manifest.workload = "9 lives\nof a cat";
  evidence.manifest.bytes_per_iteration = 2000;
  evidence.manifest.items_per_iteration = 3;
  for (auto& batch : evidence.iterations) batch.cpu_ns = 0;
  std::string text = to_benchfmt(evidence);
  EXPECT_NE(text.find("\nBenchmark9_lives\\x0aof_a_cat/phase=execute/mode=public 100 1000 ns/op 2000 MB/s "
                      "3000000 items/s\n"),
            std::string::npos)
      << text;
}

TEST(GoogleBenchmark, HasWhatItsReadersLookFor) {
  auto json = base::parse_json(to_google_benchmark(test_evidence()), "benchmark");
  ASSERT_TRUE(json.ok());
  const Json& benchmark = json->find("benchmarks")->items()[0];
  EXPECT_EQ(benchmark.find("name")->as_string(), "fib/phase=execute/mode=public");
  EXPECT_EQ(benchmark.find("run_type")->as_string(), "iteration");
  EXPECT_EQ(benchmark.find("real_time")->as_double(), 1000);
  EXPECT_EQ(benchmark.find("cpu_time")->as_double(), 900);
  EXPECT_EQ(benchmark.find("time_unit")->as_string(), "ns");
  EXPECT_EQ(benchmark.find("iterations")->to_u64(), 100u);
}

}  // namespace
}  // namespace wago::diff
