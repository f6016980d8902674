#include "capture/benchmarks.h"

#include <gtest/gtest.h>

namespace wago::capture {
namespace {

using Times = std::vector<double>;

Benchmarks parse(std::string_view text) {
  auto parsed = parse_benchmarks(text, "r");
  EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().to_string());
  return parsed ? std::move(*parsed) : Benchmarks();
}

std::string refusal(std::string_view text, const BenchmarkLimits& limits = {}) {
  auto parsed = parse_benchmarks(text, "r", limits);
  if (parsed) return "accepted";
  EXPECT_EQ(parsed.error().kind, base::ErrorKind::Usage);
  return parsed.error().to_string();
}

// As Google Benchmark 1.8 writes it, shortened.
constexpr const char* kGoogle = R"({
  "context": {"date": "2026-01-01T00:00:00+00:00", "host_name": "h", "num_cpus": 2, "caches": [], "load_avg": [1,2,3]},
  "benchmarks": [
    {"name": "BM_copy/8", "family_index": 0, "run_name": "BM_copy/8", "run_type": "iteration", "repetitions": 2,
     "repetition_index": 0, "threads": 1, "iterations": 3, "real_time": 1.25e+02, "cpu_time": 120, "time_unit": "us", "bytes_per_second": 1e9},
    {"name": "BM_copy/8", "run_name": "BM_copy/8", "run_type": "iteration", "repetition_index": 1, "iterations": 3,
     "real_time": 0.5, "cpu_time": 0.25, "time_unit": "ms"},
    {"name": "BM_copy/8_mean", "run_name": "BM_copy/8", "run_type": "aggregate", "aggregate_name": "mean", "real_time": 9, "cpu_time": 9, "time_unit": "us"},
    {"name": "BM_second", "run_type": "iteration", "iterations": 1, "real_time": 2, "cpu_time": 1, "time_unit": "s"},
    {"name": "BM_plain", "iterations": 1, "real_time": 7, "cpu_time": 6},
    {"name": "BM_bad", "run_name": "BM_bad", "run_type": "iteration", "error_occurred": true, "error_message": "no file", "iterations": 0,
     "real_time": 0, "cpu_time": 0, "time_unit": "ns"},
    {"name": "BM_few_mean", "run_name": "BM_few", "run_type": "aggregate", "aggregate_name": "mean", "real_time": 9, "cpu_time": 9, "time_unit": "us"}
  ]})";

TEST(Benchmarks, GoogleBenchmarksUnitsAreNanosecondsAndItsAggregatesNoRuns) {
  const Benchmarks read = parse(kGoogle);
  EXPECT_EQ(read.tool, BenchmarkTool::GoogleBenchmark);
  ASSERT_EQ(read.benchmarks.size(), 5u);
  EXPECT_EQ(read.benchmarks[0].name, "BM_copy/8");
  EXPECT_EQ(read.benchmarks[0].wall_ns, (Times{125'000, 500'000}));
  EXPECT_EQ(read.benchmarks[0].cpu_ns, (Times{120'000, 250'000}));
  EXPECT_EQ(read.benchmarks[0].failure, "");
  EXPECT_EQ(read.benchmarks[1].name, "BM_second");
  EXPECT_EQ(read.benchmarks[1].wall_ns, (Times{2e9}));
  EXPECT_EQ(read.benchmarks[1].cpu_ns, (Times{1e9}));
  EXPECT_EQ(read.benchmarks[2].wall_ns, (Times{7}));  // nanoseconds, when no unit is said
  EXPECT_EQ(read.benchmarks[3].name, "BM_bad");
  EXPECT_EQ(read.benchmarks[3].failure, "1 of 1 run failed (no file)");
  EXPECT_TRUE(read.benchmarks[3].wall_ns.empty());
  EXPECT_EQ(read.benchmarks[4].name, "BM_few");
  EXPECT_EQ(read.benchmarks[4].failure, "only aggregates of it were kept");
}

TEST(Benchmarks, GosTextIsReadBetweenWhatTestsPrint) {
  const Benchmarks read = parse(
      "goos: linux\r\ngoarch: amd64\npkg: example.com/a\ncpu: Some CPU @ 2 GHz\n"
      "BenchmarkFib-8   \t     100\t  12345 ns/op\t  16 B/op\t 2 allocs/op\r\n"
      "BenchmarkFib-8 90 12355.5 ns/op\n"
      "BenchmarkStarted\n--- BENCH: BenchmarkStarted\nBenchmarkStarted said hello 3 times\n"
      "BenchmarkRate 10 5 MB/s\nbenchmarkNot 1 2 ns/op\nBenchmarking 1 2 ns/op\nPASS\nok  "
      "\texample.com/a\t1.2s\n"
      "Unit ns/op better=lower\npkg:\n\nBenchmarkOwn/mode=x 7 1.5e-3 sec/op 20 cpu-ns/op\n"
      "BenchmarkOwn/mode=x 7 2 ns/op 1 cpu-ns/op");
  EXPECT_EQ(read.tool, BenchmarkTool::Go);
  ASSERT_EQ(read.benchmarks.size(), 2u);
  EXPECT_EQ(read.benchmarks[0].name, "example.com/a.BenchmarkFib-8");
  EXPECT_EQ(read.benchmarks[0].wall_ns, (Times{12345, 12355.5}));
  EXPECT_TRUE(read.benchmarks[0].cpu_ns.empty());
  EXPECT_EQ(read.benchmarks[1].name, "BenchmarkOwn/mode=x");
  EXPECT_EQ(read.benchmarks[1].wall_ns, (Times{1.5e6, 2}));
  EXPECT_EQ(read.benchmarks[1].cpu_ns, (Times{20, 1}));
}

TEST(Benchmarks, HyperfinesSecondsAreOneValueARun) {
  const Benchmarks read = parse(R"({"results": [
    {"command": "sleep 0.1", "mean": 0.2, "stddev": null, "median": 0.2, "user": 0.001, "system": 0.002, "min": 0.1, "max": 0.3,
     "times": [0.125, 0.25], "exit_codes": [0, 0], "parameters": {"n": "1"}},
    {"command": "true", "times": [1], "exit_codes": [0], "parameters": {}}]})");
  EXPECT_EQ(read.tool, BenchmarkTool::Hyperfine);
  ASSERT_EQ(read.benchmarks.size(), 2u);
  EXPECT_EQ(read.benchmarks[0].name, "sleep 0.1 (n=1)");
  EXPECT_EQ(read.benchmarks[0].wall_ns, (Times{125e6, 250e6}));
  EXPECT_TRUE(read.benchmarks[0].cpu_ns.empty());  // a mean over runs is no run
  EXPECT_EQ(read.benchmarks[1].wall_ns, (Times{1e9}));
}

// hyperfine --command-name sort --parameter-list size 10,20 ...
TEST(Benchmarks, HyperfinesParametersTellResultsOfOneNameApart) {
  const Benchmarks read = parse(R"({"results": [
    {"command": "sort", "times": [1], "parameters": {"size": "10", "kind": "a b"}},
    {"command": "sort", "times": [2], "parameters": {"kind": "a b", "size": "20"}},
    {"command": "sort", "times": [3], "parameters": {"kind": "a b", "size": "10"}},
    {"command": "sort", "times": [4], "parameters": null}]})");
  ASSERT_EQ(read.benchmarks.size(), 3u);
  EXPECT_EQ(read.benchmarks[0].name, "sort (kind=a b, size=10)");
  EXPECT_EQ(read.benchmarks[0].wall_ns, (Times{1e9, 3e9}));
  EXPECT_EQ(read.benchmarks[1].name, "sort (kind=a b, size=20)");
  EXPECT_EQ(read.benchmarks[1].wall_ns, (Times{2e9}));
  EXPECT_EQ(read.benchmarks[2].name, "sort");
  EXPECT_EQ(refusal(R"({"results": [{"command": "a", "times": [1], "parameters": ["size"]}]})"),
            "r: results[0].parameters: must be an object");
}

// hyperfine --ignore-failure
TEST(Benchmarks, RunsThatFailedAreNoTimes) {
  const Benchmarks read = parse(R"({"results": [
    {"command": "a", "times": [1, 2, 3, 4], "exit_codes": [0, 3, null, 0]},
    {"command": "b", "times": [1, 2], "exit_codes": [null, 1]},
    {"command": "c", "times": [1], "exit_codes": [0]}]})");
  ASSERT_EQ(read.benchmarks.size(), 3u);
  EXPECT_EQ(read.benchmarks[0].wall_ns, (Times{1e9, 4e9}));
  EXPECT_EQ(read.benchmarks[0].failure, "2 of 4 runs failed (exit code 3)");
  EXPECT_TRUE(read.benchmarks[1].wall_ns.empty());
  EXPECT_EQ(read.benchmarks[1].failure, "2 of 2 runs failed (died of a signal)");
  EXPECT_EQ(read.benchmarks[2].failure, "");
  EXPECT_EQ(refusal(R"({"results": [{"command": "a", "times": [1], "exit_codes": [1]}]})"),
            "r: holds no run of a: 1 of 1 run failed (exit code 1)");
  EXPECT_EQ(refusal(R"({"results": [{"command": "a", "times": [1], "exit_codes": []}]})"),
            "r: results[0].exit_codes: must be an array of 1, as `times` is");
  EXPECT_EQ(refusal(R"({"results": [{"command": "a", "times": [1], "exit_codes": ["0"]}]})"),
            "r: results[0].exit_codes: must hold whole numbers and null only");
  EXPECT_EQ(refusal(R"({"benchmarks": [{"name": "a", "error_occurred": true, "error_message": "no file"}]})"),
            "r: holds no run of a: 1 of 1 run failed (no file)");
  // Of Google Benchmark a repetition that failed, too.
  const Benchmarks google = parse(R"({"benchmarks": [
    {"name": "a", "real_time": 1, "cpu_time": 1},
    {"name": "a", "error_occurred": true, "error_message": "no file"},
    {"name": "a_mean", "run_name": "a", "run_type": "aggregate"}]})");
  ASSERT_EQ(google.benchmarks.size(), 1u);
  EXPECT_EQ(google.benchmarks[0].wall_ns, (Times{1}));
  EXPECT_EQ(google.benchmarks[0].failure, "1 of 2 runs failed (no file)");
}

// Google Benchmark's SkipWithMessage: the times are there, and nought.
TEST(Benchmarks, SkippedRunsAreNoTimes) {
  const Benchmarks read = parse(R"({"benchmarks": [
    {"name": "a", "real_time": 1, "cpu_time": 1},
    {"name": "a", "skipped": true, "skip_message": "no AVX", "iterations": 0, "real_time": 0, "cpu_time": 0, "time_unit": "ns"},
    {"name": "a", "error_occurred": true, "error_message": "no file", "iterations": 0, "real_time": 0, "cpu_time": 0, "time_unit": "ns"},
    {"name": "a", "error_occurred": true, "error_message": "no room", "iterations": 0, "real_time": 0, "cpu_time": 0, "time_unit": "ns"},
    {"name": "b", "skipped": true, "skip_message": "", "iterations": 0, "real_time": 0, "cpu_time": 0, "time_unit": "ns"},
    {"name": "c", "skipped": false, "real_time": 0, "cpu_time": 0}]})");
  ASSERT_EQ(read.benchmarks.size(), 3u);
  EXPECT_EQ(read.benchmarks[0].wall_ns, (Times{1}));
  EXPECT_EQ(read.benchmarks[0].failure, "2 of 4 runs failed (no file), 1 skipped (no AVX)");
  EXPECT_TRUE(read.benchmarks[1].wall_ns.empty());
  EXPECT_EQ(read.benchmarks[1].failure, "1 of 1 run skipped");
  EXPECT_EQ(read.benchmarks[2].wall_ns, (Times{0}));
  EXPECT_EQ(refusal(R"({"benchmarks": [{"name": "a", "skipped": true, "skip_message": "no AVX"}]})"),
            "r: holds no run of a: 1 of 1 run skipped (no AVX)");
}

// What ->Complexity() adds.
TEST(Benchmarks, FitsOverSeveralBenchmarksAreNone) {
  const std::string fits =
      R"({"name": "BM_a_BigO", "run_name": "BM_a", "run_type": "aggregate", "aggregate_name": "BigO",
          "cpu_coefficient": 1.5, "real_coefficient": 1.5, "big_o": "N", "time_unit": "ns"},
         {"name": "BM_a_RMS", "run_name": "BM_a", "run_type": "aggregate", "aggregate_name": "RMS", "rms": 0.1},
         {"name": "BM_b_BigO", "cpu_coefficient": 1, "real_coefficient": 1, "big_o": "lgN", "time_unit": "ns"},
         {"name": "BM_b_RMS", "rms": 0.1})";
  const Benchmarks read =
      parse(R"({"benchmarks": [{"name": "BM_a/8", "real_time": 1, "cpu_time": 1, "rms": 7},)" + fits + "]}");
  ASSERT_EQ(read.benchmarks.size(), 1u);
  EXPECT_EQ(read.benchmarks[0].name, "BM_a/8");
  EXPECT_EQ(read.benchmarks[0].wall_ns, (Times{1}));
  EXPECT_EQ(refusal("{\"benchmarks\": [" + fits + "]}"), "r: holds no result");
}

TEST(Benchmarks, WhatIsDamagedIsRefusedWithItsPlace) {
  EXPECT_EQ(refusal(""), "r: is empty");
  EXPECT_EQ(refusal(" \n"), "r: is empty");
  EXPECT_EQ(
      refusal("name,iterations,real_time\n"),
      "r: is no result of a benchmark that is known here: Google Benchmark's and hyperfine's JSON and Go's "
      "benchmark text are");
  EXPECT_EQ(refusal("{}"),
            "r: is JSON, but neither of Google Benchmark (\"benchmarks\") nor of hyperfine (\"results\")");
  EXPECT_EQ(refusal("{\"benchmarks\": []}"), "r: holds no result");
  EXPECT_EQ(refusal("{\"benchmarks\": 3}"), "r: benchmarks: must be an array, not an integer");
  EXPECT_EQ(refusal("{\"benchmarks\": [{\"real_time\": 1}]}"),
            "r: benchmarks[0].name: is missing; it must be a string");
  EXPECT_EQ(refusal("{\"benchmarks\": [{\"name\": \"a\", \"real_time\": -1, \"cpu_time\": 1}]}"),
            "r: benchmarks[0].real_time: is -1, which is no measured time");
  EXPECT_EQ(refusal("{\"benchmarks\": [{\"name\": \"a\", \"real_time\": 1, \"cpu_time\": 1e18, "
                    "\"time_unit\": \"us\"}]}"),
            "r: benchmarks[0].cpu_time: is 1e+18, which is no measured time");
  EXPECT_EQ(
      refusal(
          "{\"benchmarks\": [{\"name\": \"a\", \"real_time\": 1, \"cpu_time\": 1, \"time_unit\": \"h\"}]}"),
      "r: benchmarks[0].time_unit: 'h' is not one of ns, us, ms, s");
  EXPECT_EQ(
      refusal("{\"benchmarks\": [{\"name\": \"a\", \"run_type\": \"aggregate\", \"real_time\": 1}]}"),
      "r: holds no run of a: only aggregates of it were kept; leave out --benchmark_report_aggregates_only");
  EXPECT_TRUE(refusal("{\"benchmarks\": [").starts_with("r: ")) << refusal("{\"benchmarks\": [");
  EXPECT_EQ(
      refusal("{\"results\": [{\"command\": \"a\", \"mean\": 1}]}"),
      "r: results[0].times: the times of single runs are missing: export them with hyperfine --export-json");
  EXPECT_EQ(refusal("{\"results\": [{\"command\": \"a\", \"times\": [1, null]}]}"),
            "r: results[0].times[1]: is no measured time in seconds");
  EXPECT_EQ(refusal("PASS\nBenchmarkA 5 12\n"),
            "r: line 2: a result is a name, iterations, and pairs of a value and its unit");
  EXPECT_EQ(refusal("BenchmarkA 5 fast ns/op\n"), "r: line 1: fast is not a number");
  EXPECT_EQ(refusal("BenchmarkA 5 nan ns/op\n"), "r: line 1: nan is no measured time");
  EXPECT_EQ(refusal("BenchmarkA 5 -1 ns/op\n"), "r: line 1: -1 is no measured time");
  EXPECT_EQ(refusal("BenchmarkA 5 3 MB/s\n"), "r: has no times: of Go's units ns/op and sec/op are read");
}

TEST(Benchmarks, SizesAreLimited) {
  const std::string two = "BenchmarkA 1 1 ns/op\nBenchmarkB 1 1 ns/op\n";
  EXPECT_EQ(refusal(two, {.benchmarks = 1}), "r: line 2: has more than 1 benchmarks");
  EXPECT_EQ(refusal(two, {.runs = 1}), "r: line 2: has more than 1 runs");
  EXPECT_EQ(refusal(two, {.name_bytes = 9}), "r: line 1: a name is longer than 9 bytes");
  EXPECT_EQ(refusal("{\"results\": [{\"command\": \"a\", \"times\": [1, 2]}]}", {.runs = 1}),
            "r: results[0].times[1]: has more than 1 runs");
  EXPECT_EQ(refusal("{\"results\": [{\"command\": \"abc\", \"times\": [1]}]}", {.name_bytes = 2}),
            "r: results[0].times[0]: a name is longer than 2 bytes");
}

TEST(Benchmarks, FilesMayBeCompressed) {
  base::MemoryFiles files;
  const std::vector<uint8_t> packed = base::gzip(base::as_bytes("BenchmarkA 1 2 ns/op\n"));
  ASSERT_TRUE(files.create("a.gz", packed));
  auto read = read_benchmarks("a.gz", files);
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(read->benchmarks[0].wall_ns, (Times{2}));
  EXPECT_FALSE(read_benchmarks("a.gz", files, {.bytes = 20}));
  EXPECT_FALSE(read_benchmarks("gone", files));
}

}  // namespace
}  // namespace wago::capture
