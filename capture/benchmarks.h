// Results of other benchmark programs: Google Benchmark's JSON, Go's benchmark text, hyperfine's JSON. Which
// it is, the content says.
//
// Sources: https://github.com/google/benchmark/blob/main/docs/user_guide.md (output formats),
// https://go.googlesource.com/proposal/+/master/design/14313-benchmark-format.md, and hyperfine's
// --export-json. All times are nanoseconds here; what a tool adds up or averages itself is not read, so that
// every value is of one run.
//
// They come from strangers: sizes are limited, and every error names file and line or JSON path.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace wago::capture {

enum class BenchmarkTool : uint8_t { GoogleBenchmark, Go, Hyperfine };
// "Google Benchmark", "Go", "hyperfine"
std::string_view name_of(BenchmarkTool tool);

// The runs of one benchmark, in the order of the file.
struct BenchmarkRuns {
  std::string name;             // as the tool names it; of Go, behind its package and a full stop
  std::vector<double> wall_ns;  // of an iteration (of hyperfine, of the command), one a run
  std::vector<double> cpu_ns;   // of the same runs; empty: not of every one
  std::string failure;          // a sentence: why there are no runs, or not all of them; empty: there are all
};

struct Benchmarks {
  BenchmarkTool tool = BenchmarkTool::GoogleBenchmark;
  std::vector<BenchmarkRuns> benchmarks;  // at least one, names differ
};

struct BenchmarkLimits {
  uint64_t bytes = uint64_t{64} << 20;
  uint64_t benchmarks = 100'000;
  uint64_t runs = 5'000'000;  // of all benchmarks together
  uint64_t name_bytes = 65'536;
};

// Errors (Usage): not one of these files, damaged, over a limit, without any result.
base::Result<Benchmarks> parse_benchmarks(std::string_view text, const std::string& file,
                                          const BenchmarkLimits& limits = {});
// The same of a file, which may be gzip.
base::Result<Benchmarks> read_benchmarks(const std::string& path, base::Files& files = base::system_files(),
                                         const BenchmarkLimits& limits = {});

}  // namespace wago::capture
