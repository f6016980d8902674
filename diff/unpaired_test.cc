#include "diff/unpaired.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/json.h"
#include "base/testing/scratch_folder.h"
#include "diff/test_evidence.h"

namespace wago::diff {
namespace {

ResultFile file(const std::string& path, std::string_view text) {
  auto results = capture::parse_benchmarks(text, path);
  EXPECT_TRUE(results) << (results ? "" : results.error().to_string());
  return {path, results ? std::move(*results) : capture::Benchmarks()};
}

std::vector<ResultFile> old_files() {
  return {file("old1",
               "BenchmarkA 1 100 ns/op 10 cpu-ns/op\nBenchmarkA 1 110 ns/op 12 cpu-ns/op\nBenchmarkGone 1 1 "
               "ns/op\n"),
          file("old2", "BenchmarkA 1 120 ns/op 14 cpu-ns/op\nBenchmarkB<| 1 3e6 ns/op\n")};
}
std::vector<ResultFile> new_files() {
  return {
      file("new", "BenchmarkA 1 55 ns/op 12 cpu-ns/op\nBenchmarkB<| 1 6e6 ns/op\nBenchmarkNew 1 1 ns/op\n")};
}

UnpairedReport compared() {
  const auto before = old_files(), after = new_files();
  auto report = compare_results(before, after);
  EXPECT_TRUE(report) << (report ? "" : report.error().to_string());
  return std::move(*report);
}

std::string refusal(const std::vector<ResultFile>& before, const std::vector<ResultFile>& after) {
  auto report = compare_results(before, after);
  return report ? "accepted" : report.error().to_string();
}

TEST(Unpaired, RunsOfAllFilesAreOneSide) {
  const UnpairedReport report = compared();
  ASSERT_EQ(report.benchmarks.size(), 2u);
  const UnpairedBenchmark& a = report.benchmarks[0];
  EXPECT_EQ(a.name, "BenchmarkA");
  EXPECT_EQ(a.baseline.wall_ns.n, 3u);
  EXPECT_EQ(a.baseline.wall_ns.median, 110);
  EXPECT_EQ(a.baseline.wall_ns.min, 100);
  EXPECT_EQ(a.baseline.wall_ns.max, 120);
  ASSERT_TRUE(a.baseline.cpu_ns);
  EXPECT_EQ(a.baseline.cpu_ns->median, 12);
  EXPECT_DOUBLE_EQ(a.wall_change.value(), -0.5);
  EXPECT_DOUBLE_EQ(a.cpu_change.value(), 0);
  EXPECT_EQ(a.verdict, Verdict::Inconclusive);
  // Medians of 105 and 120.
  EXPECT_DOUBLE_EQ(a.baseline.between_files.value(), 120.0 / 105 - 1);
  EXPECT_EQ(a.reasons,
            (std::vector<std::string>{"files of one side differ among themselves by up to 14.3 %"}));
  EXPECT_DOUBLE_EQ(report.benchmarks[1].wall_change.value(), 1);
  EXPECT_FALSE(report.benchmarks[1].cpu_change);
  EXPECT_EQ(report.baseline_only, (std::vector<std::string>{"BenchmarkGone"}));
  EXPECT_EQ(report.candidate_only, (std::vector<std::string>{"BenchmarkNew"}));
}

TEST(Unpaired, SingleBenchmarksAreMatchedWhateverTheirNames) {
  const std::vector<ResultFile> before = {
      file("a", "{\"results\": [{\"command\": \"old -x\", \"times\": [0.5]}]}")};
  const std::vector<ResultFile> after = {
      file("b", "{\"results\": [{\"command\": \"new -x\", \"times\": [0.25]}]}")};
  auto report = compare_results(before, after);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->benchmarks[0].name, "old -x / new -x");
  EXPECT_EQ(report->benchmarks[0].baseline.wall_ns.median, 5e8);
  EXPECT_DOUBLE_EQ(report->benchmarks[0].wall_change.value(), -0.5);
}

TEST(Unpaired, ABenchmarkThatFailedSaysSo) {
  const std::string good = "{\"name\": \"b\", \"real_time\": 1, \"cpu_time\": 1}";
  const std::vector<ResultFile> before = {
      file("a", "{\"benchmarks\": [{\"name\": \"a\", \"real_time\": 0, \"cpu_time\": 0}, " + good + "]}")};
  const std::vector<ResultFile> after = {file(
      "b", "{\"benchmarks\": [{\"name\": \"a\", \"error_occurred\": true, \"error_message\": \"no file\"}, " +
               good + "]}")};
  auto report = compare_results(before, after);
  ASSERT_TRUE(report);
  ASSERT_EQ(report->benchmarks.size(), 2u);
  EXPECT_FALSE(report->benchmarks[0].wall_change);
  EXPECT_EQ(report->benchmarks[0].reasons,
            (std::vector<std::string>{"the candidate has no runs: 1 of 1 run failed (no file)"}));
  EXPECT_NE(to_text(*report).find("a: the candidate has no runs: 1 of 1 run failed (no file)\n"),
            std::string::npos);
}

TEST(Unpaired, RunsThatFailedAreSaid) {
  const std::vector<ResultFile> before = {
      file("a", R"({"results": [{"command": "x", "times": [1, 9], "exit_codes": [0, 1]}]})"),
      file("b", R"({"results": [{"command": "x", "times": [1, 9, 9], "exit_codes": [0, null, 1]}]})")};
  const std::vector<ResultFile> after = {
      file("c", R"({"results": [{"command": "x", "times": [2], "exit_codes": [0]}]})")};
  auto report = compare_results(before, after);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->benchmarks[0].baseline.wall_ns.n, 2u);
  EXPECT_DOUBLE_EQ(report->benchmarks[0].wall_change.value(), 1);
  EXPECT_EQ(report->benchmarks[0].reasons,
            (std::vector<std::string>{"the baseline is without some runs: 1 of 2 runs failed (exit code 1); "
                                      "2 of 3 runs failed (died of a signal)",
                                      "files of one side differ among themselves by up to 0.0 %"}));
}

TEST(Unpaired, WhatHasNothingInCommonIsRefused) {
  const ResultFile go = file("go.txt", "BenchmarkA 1 1 ns/op\nBenchmarkB 1 1 ns/op\n");
  const ResultFile other = file("other.txt", "BenchmarkC 1 1 ns/op\nBenchmarkD 1 1 ns/op\n");
  const ResultFile json = file("h.json", "{\"results\": [{\"command\": \"a\", \"times\": [1]}]}");
  EXPECT_EQ(refusal({go}, {other}), "the two sides have no benchmark in common");
  EXPECT_EQ(refusal({go}, {json}),
            "results of different tools cannot be compared: go.txt is of Go, h.json of hyperfine");
}

TEST(Unpaired, AFileCountsOnce) {
  base::MemoryFiles files;
  files.put("a.txt", "BenchmarkA 1 1 ns/op\n");
  const std::vector<std::string> once = {"a.txt"}, twice = {"a.txt", "a.txt"};
  EXPECT_TRUE(load_results(once, files));
  EXPECT_EQ(load_results(twice, files).error().to_string(),
            "a.txt: is named twice on one side, and would count as two measurements");
}

TEST(Unpaired, AFileCountsOnceHoweverItIsNamed) {
  const base::testing::ScratchFolder scratch;
  const std::string path = scratch.file("a.txt");
  ASSERT_TRUE(base::system_files().create(path, base::as_bytes("BenchmarkA 1 1 ns/op\n")));
  std::filesystem::create_symlink(path, scratch.file("b.txt"));
  for (const std::string& other : {scratch.file("./a.txt"), scratch.file("b.txt")}) {
    const std::vector<std::string> twice = {path, other};
    EXPECT_EQ(load_results(twice).error().to_string(),
              other + ": is named twice on one side, and would count as two measurements");
  }
}

TEST(Unpaired, EveryFormatSaysThatNothingIsDecided) {
  UnpairedReport report = compared();
  report.release = "2";
  EXPECT_TRUE(to_text(report).starts_with(
      "release 2: 2 inconclusive (unpaired)\nbaseline old1, old2; candidate new; Go\n"))
      << to_text(report);
  EXPECT_NE(to_text(report).find("verdict    inconclusive (unpaired)\n"), std::string::npos);
  const std::string markdown = to_markdown(report);
  EXPECT_NE(markdown.find("| BenchmarkA | 110 ns | n 3, spread 9.1 % | 55 ns | n 1 | -50.00 % | +0.00 % |\n"),
            std::string::npos)
      << markdown;
  EXPECT_NE(markdown.find("| BenchmarkB\\<\\| | 3 ms | n 1 | 6 ms | n 1 | +100.00 % | - |\n"),
            std::string::npos)
      << markdown;
  EXPECT_NE(markdown.find("Nothing is decided: the sides did not run together"), std::string::npos)
      << markdown;
  EXPECT_NE(to_junit(report, "new").find("tests=\"2\" failures=\"0\" errors=\"0\" skipped=\"2\""),
            std::string::npos);
  EXPECT_NE(to_junit(report, "new")
                .find("<skipped message=\"inconclusive (unpaired): 3 ms before, 6 ms after, +100.00 %\"/>"),
            std::string::npos);
  EXPECT_NE(to_junit(report, "new").find("<testsuite name=\"new\" "), std::string::npos);
  EXPECT_NE(to_junit(report, "new").find("<property name=\"baseline\" value=\"old2\"/>"), std::string::npos);
  EXPECT_TRUE(
      to_annotations(report).starts_with("::notice title=2 inconclusive (unpaired)::the sides did not"));
  const std::string html = to_html(report);
  EXPECT_NE(html.find("<td>BenchmarkB&lt;|</td><td class=\"n\" data-key=\"3e+06\">3 ms</td>"),
            std::string::npos)
      << html;
  EXPECT_EQ(html.find("http"), std::string::npos);
  const base::Json json = to_json(report);
  EXPECT_FALSE(json.find("conclusive")->as_bool());
  EXPECT_EQ(json.find("benchmarks")->items()[1].find("wall_change")->as_double(), 1);
  EXPECT_EQ(json.find("benchmarks")->items()[0].find("verdict")->as_string(), "inconclusive (unpaired)");
}

UnpairedReport of_captures(const std::vector<Evidence>& before, const std::vector<Evidence>& after) {
  auto comparison = compare(before, after);
  EXPECT_TRUE(comparison) << (comparison ? "" : comparison.error().to_string());
  return compare_captures(std::move(*comparison), {"a", "b"}, {"c"});
}

TEST(Unpaired, OfCapturesWhatIsExactStandsBesideTheTimes) {
  Evidence other = counted_mix({10, 10, 600, 10, 0}, "c");
  other.images.images[0].functions[1].sha256 = digest_of("another");
  const UnpairedReport report =
      of_captures({counted_mix({10, 10, 500, 10, 0}, "a"), counted_mix({10, 10, 500, 10, 0}, "b")}, {other});
  ASSERT_EQ(report.benchmarks.size(), 1u);
  const UnpairedBenchmark& mix = report.benchmarks[0];
  EXPECT_EQ(mix.verdict, Verdict::Inconclusive);
  EXPECT_EQ(mix.baseline.wall_ns.n, 2u) << "captures";
  EXPECT_EQ(mix.baseline.between_files, 0.0);
  ASSERT_TRUE(mix.exact && mix.exact->counts);
  EXPECT_FALSE(is_conclusive(report));
  EXPECT_EQ(headline(report), "1 inconclusive (unpaired)");
  // 400 more machine instructions of 2070.
  const std::string html = to_html(report), text = to_text(report), markdown = to_markdown(report);
  for (const std::string& one : {html, text, markdown}) {
    EXPECT_NE(one.find("+19.32 %"), std::string::npos) << one;
    EXPECT_NE(one.find("1 function"), std::string::npos) << one;
    EXPECT_NE(one.find(kWhyUnpaired), std::string::npos) << one;
  }
  EXPECT_EQ(text.find(kWhyUnpaired), text.rfind(kWhyUnpaired)) << "once: " << text;
  EXPECT_NE(html.find("<pre>code "), std::string::npos) << html;
  EXPECT_NE(to_junit(report, "new").find("skipped=\"1\""), std::string::npos);
  EXPECT_NE(to_annotations(report).find("machine instructions +19.32 %25, exact"), std::string::npos)
      << to_annotations(report);
  const base::Json json = to_json(report);
  EXPECT_TRUE(json.find("tool")->is_null());
  EXPECT_FALSE(json.find("benchmarks")->items()[0].find("counts")->is_null());
}

TEST(Unpaired, CapturesOfTheSameCodeAreDecided) {
  const UnpairedReport report = of_captures({test_evidence("a"), test_evidence("b")}, {test_evidence("c")});
  EXPECT_EQ(headline(report), "1 same code");
  EXPECT_TRUE(is_conclusive(report));
  const std::string junit = to_junit(report, "new");
  EXPECT_NE(junit.find("skipped=\"0\""), std::string::npos) << junit;
  EXPECT_NE(junit.find("<system-out>same code"), std::string::npos) << junit;
  EXPECT_NE(to_text(report).find("per invocation"), std::string::npos);
  EXPECT_TRUE(to_json(report).find("conclusive")->as_bool());
}

}  // namespace
}  // namespace wago::diff
