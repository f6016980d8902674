// Results of other tools on two sides -> what may honestly be said about them: their times, and that they do
// not decide. Whoever ran them did so one after the other, and identical code measured twice differs by more
// than most changes do.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "capture/benchmarks.h"
#include "diff/compare.h"
#include "diff/statistics.h"

namespace wago::base {
class Json;
}

namespace wago::diff {

// A file of results, as the user named it.
struct ResultFile {
  std::string path;
  capture::Benchmarks results;
};
// All or the first error. A file that is named twice is refused: it would count as two measurements.
base::Result<std::vector<ResultFile>> load_results(std::span<const std::string> paths,
                                                   base::Files& files = base::system_files());

struct UnpairedSide {
  Summary wall_ns;  // over the runs of all its files; n = 0: there are none
  std::optional<Summary> cpu_ns;
  std::optional<double> between_files;  // how far apart the files' medians are; nothing: only one has it
  std::string failure;                  // why there are no runs; empty where there are
};

struct UnpairedBenchmark {
  std::string name;
  UnpairedSide baseline;
  UnpairedSide candidate;
  std::optional<double> wall_change;  // ratio of medians, minus one
  std::optional<double> cpu_change;
  Verdict verdict = Verdict::Inconclusive;
  std::vector<std::string> reasons;  // sentences that are of this benchmark alone
};

struct UnpairedReport {
  capture::BenchmarkTool tool = capture::BenchmarkTool::GoogleBenchmark;
  std::vector<std::string> baseline, candidate;  // files
  std::string release, baseline_release;         // what the sides are called; empty: nothing was said
  std::vector<UnpairedBenchmark> benchmarks;     // by name
  std::vector<std::string> baseline_only;        // without a counterpart
  std::vector<std::string> candidate_only;
};

// Benchmarks are matched by name; where each side has a single one, they are matched whatever their names.
// Errors (Usage): nothing matches; the files come from different tools.
base::Result<UnpairedReport> compare_results(std::span<const ResultFile> baseline,
                                             std::span<const ResultFile> candidate);

// Why none of them is more than that, said once.
inline constexpr const char* kWhyUnpaired =
    "the sides did not run together, so their times differ by more than most changes do; a paired experiment "
    "decides";

// "3 inconclusive (unpaired)"
std::string headline(const UnpairedReport& report);

// The formats, as those of report.h.
std::string to_text(const UnpairedReport& report, bool colour = false);
base::Json to_json(const UnpairedReport& report);
std::string to_markdown(const UnpairedReport& report);
std::string to_junit(const UnpairedReport& report);
std::string to_annotations(const UnpairedReport& report);
std::string to_html(const UnpairedReport& report);

}  // namespace wago::diff
