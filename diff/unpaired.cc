#include "diff/unpaired.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/check.h"
#include "base/text.h"
#include "diff/places.h"
#include "diff/quantity.h"

namespace wago::diff {

namespace {

using capture::BenchmarkRuns;

// The runs of a benchmark in the files of a side that have it.
using Runs = std::vector<const BenchmarkRuns*>;

std::map<std::string, Runs> by_name(std::span<const ResultFile> files) {
  std::map<std::string, Runs> groups;
  for (const ResultFile& file : files) {
    for (const BenchmarkRuns& runs : file.results.benchmarks) groups[runs.name].push_back(&runs);
  }
  return groups;
}

UnpairedSide side_of(const Runs& all) {
  UnpairedSide side;
  std::vector<double> wall, cpu, medians;
  for (const BenchmarkRuns* runs : all) {
    // Of every file, or it would not be known how many there are.
    if (!runs->failure.empty()) side.failure += (side.failure.empty() ? "" : "; ") + runs->failure;
    if (runs->wall_ns.empty()) continue;
    medians.push_back(summarize(runs->wall_ns).median);
    wall.insert(wall.end(), runs->wall_ns.begin(), runs->wall_ns.end());
    cpu.insert(cpu.end(), runs->cpu_ns.begin(), runs->cpu_ns.end());
  }
  if (!cpu.empty() && cpu.size() == wall.size()) side.cpu_ns = summarize(std::move(cpu));
  side.wall_ns = summarize(std::move(wall));
  const auto [least, most] = std::minmax_element(medians.begin(), medians.end());
  if (medians.size() > 1 && *least > 0) side.between_files = *most / *least - 1;
  return side;
}

// Of one capture over its batches, of more over the captures' own figures.
UnpairedSide side_of(const ComparedSide& captures) {
  const Elapsed& first = captures.captures.front().elapsed;
  const bool single = captures.captures.size() == 1;
  UnpairedSide side;
  side.wall_ns = single ? first.wall_ns : captures.wall_ns;
  side.cpu_ns = single ? first.cpu_ns : captures.cpu_ns;
  if (!single && captures.wall_ns.min > 0)
    side.between_files = captures.wall_ns.max / captures.wall_ns.min - 1;
  if (side.wall_ns.n == 0) side.failure = "no iteration was timed";
  return side;
}

std::optional<double> change(const Summary& baseline, const Summary& candidate) {
  if (baseline.n == 0 || candidate.n == 0 || baseline.median <= 0) return std::nullopt;
  return candidate.median / baseline.median - 1;
}

UnpairedBenchmark compare_runs(const std::string& name, const Runs& baseline, const Runs& candidate) {
  UnpairedBenchmark result;
  result.name = name;
  result.baseline = side_of(baseline);
  result.candidate = side_of(candidate);
  result.wall_change = change(result.baseline.wall_ns, result.candidate.wall_ns);
  if (result.baseline.cpu_ns && result.candidate.cpu_ns)
    result.cpu_change = change(*result.baseline.cpu_ns, *result.candidate.cpu_ns);
  for (const auto& [side, who] :
       {std::pair(&result.baseline, "the baseline"), std::pair(&result.candidate, "the candidate")}) {
    if (side->failure.empty()) continue;
    result.reasons.push_back(
        who + std::string(side->wall_ns.n == 0 ? " has no runs: " : " is without some runs: ") +
        side->failure);
  }
  const double between =
      std::max(result.baseline.between_files.value_or(0), result.candidate.between_files.value_or(0));
  if (result.baseline.between_files || result.candidate.between_files) {
    result.reasons.push_back("files of one side differ among themselves by up to " + format_share(between));
  }
  return result;
}

// The tool that all files come from; an error where there are two.
base::Result<capture::BenchmarkTool> tool_of(std::span<const ResultFile> baseline,
                                             std::span<const ResultFile> candidate) {
  const ResultFile& first = baseline.front();
  for (std::span<const ResultFile> side : {baseline, candidate}) {
    for (const ResultFile& file : side) {
      if (file.results.tool == first.results.tool) continue;
      return base::usage_error("results of different tools cannot be compared: " + base::display(first.path) +
                               " is of " + std::string(name_of(first.results.tool)) + ", " +
                               base::display(file.path) + " of " + std::string(name_of(file.results.tool)));
    }
  }
  return first.results.tool;
}

}  // namespace

base::Result<std::vector<ResultFile>> load_results(std::span<const std::string> paths, base::Files& files) {
  Places places;
  std::vector<ResultFile> loaded;
  for (const std::string& path : paths) {
    if (auto is_new = places.add(path); !is_new) return is_new.error();
    auto results = capture::read_benchmarks(path, files);
    if (!results) return results.error();
    loaded.push_back({path, std::move(*results)});
  }
  return loaded;
}

UnpairedReport compare_captures(Comparison comparison, std::vector<std::string> baseline,
                                std::vector<std::string> candidate) {
  WAGO_CHECK(comparison.contract.empty());
  UnpairedReport report;
  report.baseline = std::move(baseline);
  report.candidate = std::move(candidate);
  report.baseline_only = std::move(comparison.baseline_only);
  report.candidate_only = std::move(comparison.candidate_only);
  for (WorkloadComparison& workload : comparison.workloads) {
    UnpairedBenchmark benchmark{.name = std::move(workload.workload),
                                .baseline = side_of(workload.baseline),
                                .candidate = side_of(workload.candidate),
                                .wall_change = workload.wall_change,
                                .cpu_change = workload.cpu_change,
                                .verdict = workload.verdict,
                                .reasons = std::move(workload.reasons),
                                .unit = std::move(workload.unit)};
    std::erase(benchmark.reasons, kWhyUnpaired);
    benchmark.exact = ExactLanes{std::move(workload.code), std::move(workload.counts)};
    report.benchmarks.push_back(std::move(benchmark));
  }
  return report;
}

bool is_conclusive(const UnpairedReport& report) {
  return report.baseline_only.empty() && report.candidate_only.empty() &&
         std::all_of(report.benchmarks.begin(), report.benchmarks.end(),
                     [](const UnpairedBenchmark& one) { return one.verdict == Verdict::SameCode; });
}

base::Result<UnpairedReport> compare_results(std::span<const ResultFile> baseline,
                                             std::span<const ResultFile> candidate) {
  WAGO_CHECK(!baseline.empty() && !candidate.empty());
  auto tool = tool_of(baseline, candidate);
  if (!tool) return tool.error();
  UnpairedReport report;
  report.tool = *tool;
  for (const ResultFile& file : baseline) report.baseline.push_back(file.path);
  for (const ResultFile& file : candidate) report.candidate.push_back(file.path);
  const std::map<std::string, Runs> left = by_name(baseline), right = by_name(candidate);
  if (left.size() == 1 && right.size() == 1) {
    const auto& [name, runs] = *left.begin();
    const auto& [other, other_runs] = *right.begin();
    report.benchmarks.push_back(compare_runs(name == other ? name : name + " / " + other, runs, other_runs));
    return report;
  }
  for (const auto& [name, runs] : left) {
    const auto other = right.find(name);
    if (other == right.end()) {
      report.baseline_only.push_back(name);
    } else {
      report.benchmarks.push_back(compare_runs(name, runs, other->second));
    }
  }
  for (const auto& [name, runs] : right) {
    if (!left.contains(name)) report.candidate_only.push_back(name);
  }
  if (report.benchmarks.empty()) return base::usage_error("the two sides have no benchmark in common");
  return report;
}

}  // namespace wago::diff
