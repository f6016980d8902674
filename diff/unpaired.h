// Results of other tools, or captures, on two sides -> what may honestly be said about them: their times, and
// that they do not decide. Whoever ran them did so one after the other, and identical code measured twice
// differs by more than most changes do. What is exact in captures - their code, what was executed - is
// compared in full (compare.h) and stands beside the times.
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
  std::string failure;                  // why there are no runs, or not all; empty: there are all
};

// What is exact, of captures.
struct ExactLanes {
  CodeComparison code;
  std::optional<CountComparison> counts;  // nothing: not both counted
};

struct UnpairedBenchmark {
  std::string name;
  UnpairedSide baseline;
  UnpairedSide candidate;
  std::optional<double> wall_change;  // ratio of medians, minus one
  std::optional<double> cpu_change;
  Verdict verdict = Verdict::Inconclusive;
  std::vector<std::string> reasons;  // sentences that are of this benchmark alone
  std::string unit;                  // of captures, what times are divided by: "invocation"
  std::optional<ExactLanes> exact;   // of captures
};

struct UnpairedReport {
  std::optional<capture::BenchmarkTool> tool;    // nothing: captures
  std::vector<std::string> baseline, candidate;  // files, or captures
  std::string release, baseline_release;         // what the sides are called; empty: nothing was said
  std::vector<UnpairedBenchmark> benchmarks;     // by name
  std::vector<std::string> baseline_only;        // without a counterpart
  std::vector<std::string> candidate_only;
  std::optional<double> instruction_floor;  // as that of a Report
};

// Benchmarks are matched by name; where each side has a single one, they are matched whatever their names.
// Errors (Usage): nothing matches; the files come from different tools.
base::Result<UnpairedReport> compare_results(std::span<const ResultFile> baseline,
                                             std::span<const ResultFile> candidate);

// Of captures whose contracts agree: `comparison.contract` is empty. Counts are those of the first capture of
// each side.
UnpairedReport compare_captures(Comparison comparison, std::vector<std::string> baseline,
                                std::vector<std::string> candidate);

// Why none of them is more than that, said once.
inline constexpr const char* kWhyUnpaired =
    "the sides did not run together, so their times differ by more than most changes do; a paired experiment "
    "decides";

// "1 same code, 3 inconclusive (unpaired)"
std::string headline(const UnpairedReport& report);

// Everything was compared, and all of it is the same code.
bool is_conclusive(const UnpairedReport& report);

// The formats, as those of report.h.
std::string to_text(const UnpairedReport& report, bool colour = false);
base::Json to_json(const UnpairedReport& report);
std::string to_markdown(const UnpairedReport& report);
std::string to_junit(const UnpairedReport& report, const std::string& name);
std::string to_annotations(const UnpairedReport& report);
std::string to_html(const UnpairedReport& report);

}  // namespace wago::diff
