#include "diff/compare.h"

#include <algorithm>
#include <map>

#include "base/check.h"
#include "base/vocabulary.h"
#include "diff/quantity.h"

namespace wago::diff {

namespace {

using Captures = std::vector<const Evidence*>;

std::map<std::string, Captures> by_workload(std::span<const Evidence> captures) {
  std::map<std::string, Captures> groups;
  for (const Evidence& evidence : captures) groups[evidence.manifest.workload].push_back(&evidence);
  return groups;
}

// A side whose captures do not agree on what ran has no identity to compare.
std::optional<base::Error> mixed_code(const Captures& captures) {
  const Evidence& first = *captures.front();
  for (const Evidence* other : captures) {
    if (other->manifest.module_sha256 == first.manifest.module_sha256 &&
        other->manifest.code_sha256 == first.manifest.code_sha256) {
      continue;
    }
    return base::usage_error("the captures of one side hold different code: " + first.path + " has module " +
                             first.manifest.module_sha256 + " with code " + first.manifest.code_sha256 +
                             ", " + other->path + " has module " + other->manifest.module_sha256 +
                             " with code " + other->manifest.code_sha256);
  }
  return std::nullopt;
}

ComparedSide side_of(const Captures& captures) {
  ComparedSide side;
  const capture::Manifest& first = captures.front()->manifest;
  side.module_name = first.module_name;
  side.module_sha256 = first.module_sha256;
  side.code_sha256 = first.code_sha256;
  std::vector<double> elapsed, wall, cpu;
  for (const Evidence* evidence : captures) {
    Elapsed own = elapsed_of(*evidence);
    if (own.completed_work > 0) elapsed.push_back(own.total_ns);
    if (own.wall_ns.n > 0) wall.push_back(own.wall_ns.median);
    if (own.cpu_ns) cpu.push_back(own.cpu_ns->median);
    side.captures.push_back({evidence->path, evidence->manifest.revision,
                             base::to_string(evidence->manifest.dirty), std::move(own)});
  }
  side.elapsed_ns = summarize(std::move(elapsed));
  side.wall_ns = summarize(std::move(wall));
  if (!cpu.empty()) side.cpu_ns = summarize(std::move(cpu));
  return side;
}

std::optional<double> change(const Summary& baseline, const Summary& candidate) {
  if (baseline.n == 0 || candidate.n == 0 || baseline.median <= 0) return std::nullopt;
  return candidate.median / baseline.median - 1;
}

// Why lane 1 does not say `same code`, one sentence a cause; empty when it does.
std::vector<std::string> code_objections(base::Phase phase, const CodeComparison& code) {
  std::vector<std::string> objections;
  if (phase != base::Phase::Execute) {
    objections.push_back("what ran in phase " + std::string(base::spelling(phase)) +
                         " is the engine's own code, which is not compared");
  }
  if (!code.all_that_ran_same()) {
    objections.push_back("the code differs: " + format_plural(code.count(FunctionFate::Changed), "function") +
                         " changed, " + format_count(code.count(FunctionFate::New)) + " new, " +
                         format_count(code.count(FunctionFate::Vanished)) + " vanished");
  } else if (!code.modules_equal) {
    objections.push_back(code.differences.empty()
                             ? "the modules differ outside their functions' code, in data for instance"
                             : "the modules differ, though no function did whose code ran: in data for "
                               "instance");
  }
  if (code.adapters_different > 0) {
    objections.push_back(format_plural(code.adapters_different, "entry adapter") + " differ" +
                         (code.adapters_different == 1 ? "s" : ""));
  }
  if (code.helpers == HelperIdentity::Unknown) {
    objections.push_back(
        "the functions call runtime helpers, and the captures come from different builds of the recorder, "
        "whose helpers "
        "may differ");
  }
  return objections;
}

// How far apart captures of one side are: what a difference between the sides would have to exceed. Nothing
// where each side has one.
std::optional<double> spread_within_sides(const WorkloadComparison& comparison) {
  std::optional<double> widest;
  for (const ComparedSide* side : {&comparison.baseline, &comparison.candidate}) {
    const Summary& times = side->wall_ns;
    if (times.n < 2 || times.min <= 0) continue;
    widest = std::max(widest.value_or(0), times.max / times.min - 1);
  }
  return widest;
}

std::string same_code(const CodeComparison& code) {
  if (!code.differences.empty()) {
    return "all machine code that ran is the same, of functions and of adapters; " +
           format_plural(code.differences.size(), "function") + " whose own code did not run differ" +
           (code.differences.size() == 1 ? "s" : "") + ", by exact counts";
  }
  return std::string("every function and adapter is the same machine code") +
         (code.knows_what_ran ? "" : "; which functions ran is not known, so all were compared");
}

void judge(base::Phase phase, WorkloadComparison& result) {
  auto objections = code_objections(phase, result.code);
  if (objections.empty()) {
    result.verdict = Verdict::SameCode;
    result.reasons.push_back(same_code(result.code));
    if (result.counts && !result.counts->same()) {
      result.reasons.push_back(
          "yet " + format_plural(result.counts->functions.size(), "function") +
          " did not execute as often or as many instructions: what they were given differs");
    }
    if (result.code.helpers == HelperIdentity::NotCalled) {
      result.reasons.push_back("the recorders are different builds, but no function calls a runtime helper");
    }
    return;
  }
  result.verdict = Verdict::Inconclusive;
  result.reasons = std::move(objections);
  if (result.counts) {
    result.reasons.push_back(result.counts->same()
                                 ? "every function executed exactly as many instructions on both sides, "
                                   "which does not say how long they took"
                                 : format_plural(result.counts->functions.size(), "function") +
                                       " did not execute as often or as many instructions: that is exact, "
                                       "and how much time it takes is not said");
  }
  result.reasons.push_back(
      "the sides did not run together, so their times differ by more than most changes do; a paired "
      "experiment decides");
  if (auto spread = spread_within_sides(result)) {
    result.reasons.push_back("captures of one side differ among themselves by up to " +
                             format_share(*spread));
  }
}

WorkloadComparison compare_workload(const Captures& baseline, const Captures& candidate,
                                    const Disassemble& disassemble) {
  const capture::Manifest& manifest = baseline.front()->manifest;
  WorkloadComparison result;
  result.workload = manifest.workload;
  if (const std::string& other = candidate.front()->manifest.workload; other != result.workload) {
    result.workload += " / " + other;
  }
  result.phase = base::spelling(manifest.capture_phase);
  result.baseline = side_of(baseline);
  result.candidate = side_of(candidate);
  result.unit = result.baseline.captures.front().elapsed.unit;
  result.elapsed_change = change(result.baseline.elapsed_ns, result.candidate.elapsed_ns);
  result.wall_change = change(result.baseline.wall_ns, result.candidate.wall_ns);
  if (result.baseline.cpu_ns && result.candidate.cpu_ns) {
    result.cpu_change = change(*result.baseline.cpu_ns, *result.candidate.cpu_ns);
  }
  result.code = compare_code(*baseline.front(), *candidate.front());
  result.counts = compare_counts(*baseline.front(), *candidate.front(), disassemble);
  result.costs = compare_costs(baseline, candidate);
  result.why_no_costs = why_no_costs(baseline, candidate);
  judge(manifest.capture_phase, result);
  return result;
}

struct Matched {
  const Captures* baseline;
  const Captures* candidate;
};

std::vector<Matched> match(const std::map<std::string, Captures>& baseline,
                           const std::map<std::string, Captures>& candidate, Comparison& comparison) {
  if (baseline.size() == 1 && candidate.size() == 1) {
    return {{&baseline.begin()->second, &candidate.begin()->second}};
  }
  std::vector<Matched> pairs;
  for (const auto& [workload, captures] : baseline) {
    auto other = candidate.find(workload);
    if (other == candidate.end()) {
      comparison.baseline_only.push_back(workload);
    } else {
      pairs.push_back({&captures, &other->second});
    }
  }
  for (const auto& [workload, captures] : candidate) {
    if (!baseline.contains(workload)) comparison.candidate_only.push_back(workload);
  }
  return pairs;
}

}  // namespace

const char* to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::SameCode:
      return "same code";
    case Verdict::Inconclusive:
      return "inconclusive (unpaired)";
  }
  WAGO_UNREACHABLE("verdict");
}

bool Comparison::conclusive() const {
  if (!baseline_only.empty() || !candidate_only.empty()) return false;
  return std::none_of(workloads.begin(), workloads.end(),
                      [](const auto& workload) { return workload.verdict == Verdict::Inconclusive; });
}

base::Result<Comparison> compare(std::span<const Evidence> baseline, std::span<const Evidence> candidate,
                                 const Disassemble& disassemble) {
  WAGO_CHECK(!baseline.empty() && !candidate.empty());
  Comparison comparison;
  auto left = by_workload(baseline);
  auto right = by_workload(candidate);
  auto pairs = match(left, right, comparison);
  if (pairs.empty()) return base::usage_error("the two sides have no workload in common");
  for (const Matched& pair : pairs) {
    Captures all = *pair.baseline;
    all.insert(all.end(), pair.candidate->begin(), pair.candidate->end());
    auto differences = contract_differences(all);
    comparison.contract.insert(comparison.contract.end(), differences.begin(), differences.end());
  }
  if (!comparison.contract.empty()) return comparison;
  for (const Matched& pair : pairs) {
    if (auto error = mixed_code(*pair.baseline)) return *error;
    if (auto error = mixed_code(*pair.candidate)) return *error;
    comparison.workloads.push_back(compare_workload(*pair.baseline, *pair.candidate, disassemble));
  }
  return comparison;
}

}  // namespace wago::diff
