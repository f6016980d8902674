// An experiment's pairs -> what may be said of each workload, and of all together. Pure functions of what was
// recorded: other settings need no new run.
//
// Per pair: the median over its turns of log(candidate's CPU time / baseline's), turn by turn. Per workload:
// the Hodges-Lehmann estimate over pairs, with an interval that holds at `confidence` over all looks
// together, the error spent over them equally: exact signed ranks from eight pairs on where they can reach
// the level, else Student's t. With the floor f and the margin m
//
//   regressed      the interval lies above +f
//   improved       it lies below -f
//   same           it lies inside -m..+m: a positive claim
//   inconclusive   neither; what would settle it is said
//
// The p-value is that of |change| <= f, times the number of looks; by which rule depends on the number of
// pairs alone, so that no setting but the floor changes it. Over workloads, Holm's procedure decides
// which findings count as such (the gate), Benjamini and Hochberg's orders them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "capture/experiment.h"
#include "diff/signed_rank.h"

namespace wago::diff {

// Pairs after which a look is taken; each balances the four code offsets.
inline constexpr std::array<size_t, 6> kLooks = {8, 12, 16, 24, 40, 60};

enum class Rule : uint8_t { StudentT, SignedRank };
std::string_view spelling(Rule rule);  // "student t", "signed rank"

// p-values are by signed ranks from so many pairs on: the fewest of which all in one direction reach the
// level of a look at 99 %, 2^(1-n) <= 0.01 / 6.
inline constexpr size_t kSignedRankP = 11;
inline constexpr std::string_view kHowP =
    "of a change beyond the floor, all looks counted; by exact signed ranks from 11 pairs on, below by "
    "Student's t";

struct VerdictSettings {
  double confidence = 0.99;  // of the intervals, over all looks together
  double floor = 0.0025;     // changes up to this are not told from none
  double margin = 0.01;      // "same" is within it
  double gate_level = 0.05;  // of Holm's and of Benjamini and Hochberg's procedure
  bool operator==(const VerdictSettings&) const = default;
};

enum class Finding : uint8_t {
  SameCode,  // the machine code that ran is the same: the pairs measure the machine
  Same,      // within the margin
  Improved,
  Regressed,
  LayoutSensitive,  // code offsets disagree, and not all of them moved the same way; see is_unsettled()
  Inconclusive,
  Failed,  // a side crashed, hung, trapped or was wrong
};
// "same code", "same", "improved", "regressed", "layout-sensitive", "inconclusive", "failed"
std::string_view spelling(Finding finding);

// Changes are ratios minus one: +0.01 is 1 % slower.
struct OffsetChange {
  uint32_t code_offset = 0;
  size_t pairs = 0;
  double change = 0;
};

struct WorkloadFinding {
  uint32_t workload = 0;  // index into Experiment::workloads
  Finding finding = Finding::Inconclusive;
  size_t pairs = 0;                  // that the estimate rests on
  size_t cold_pairs = 0;             // left out: one side was still warming up
  double change = 0;                 // 0 without pairs
  std::optional<Interval> interval;  // of the change
  Rule interval_rule = Rule::StudentT;
  double p_value = 1;  // of |change| <= floor, looks accounted for
  Rule p_rule = Rule::StudentT;
  double holm = 1;  // among all workloads that are compared
  double benjamini_hochberg = 1;
  bool gated = false;  // regressed or improved, and held by Holm's procedure
  std::vector<OffsetChange> offsets;
  bool layout_sensitive = false;
  double baseline_ns = 0;  // CPU time of an iteration, median over pairs
  double candidate_ns = 0;
  std::optional<size_t> pairs_to_settle;  // of an inconclusive one: about how many in all, cold ones counted;
                                          // nothing: not even a thousand
  std::string reason;                     // a sentence
};

struct SuiteChange {
  size_t workloads = 0;
  double change = 0;                 // of the geometric mean
  std::optional<Interval> interval;  // from theirs, as of independent errors; nothing: one has none
};

struct ExperimentFindings {
  VerdictSettings settings;
  std::vector<WorkloadFinding> workloads;  // that are compared, in the order of the experiment
  std::vector<WorkloadFinding> controls;   // the baseline on both sides
  SuiteChange suite;
  std::vector<std::string> invalid;    // sentences: why nothing may be claimed; empty: all is well
  std::optional<std::string> suspect;  // a sentence: most of many findings point one way

  size_t count(Finding finding) const;
};

// What is known of a workload's code from elsewhere.
struct CodeKnowledge {
  bool same_code = false;
};
// By workload, from what the experiment itself says: the same program runs the same code of the same module,
// whatever its setting is. A self-test's slowdown is not in the code.
std::vector<CodeKnowledge> known_code(const capture::Experiment& experiment);

// log(candidate / baseline) of a pair; nothing: it has no turns.
std::optional<double> log_ratio(const capture::Pair& pair);
// Whether one side alone was still getting faster or slower: first third of its turns against the last third,
// by more than 5 %.
bool is_cold(const capture::Pair& pair);

// `code`: by workload of the experiment; shorter or empty: nothing is known.
ExperimentFindings find(const capture::Experiment& experiment, std::span<const capture::Pair> pairs,
                        const VerdictSettings& settings = {}, std::span<const CodeKnowledge> code = {});

// Whether neither a change nor its absence is held: it is inconclusive, or a change that is not held over all
// workloads. What is layout-sensitive is a finding of its own, and more pairs do not settle it.
bool is_unsettled(const WorkloadFinding& finding);

// The next number of pairs that a workload should have: the first look that it has not reached. Nothing: it
// is settled, failed, or has had its last look.
std::optional<size_t> next_look(const WorkloadFinding& finding);

enum class FailOn : uint8_t {
#define WAGO_FAIL_ON(name, spelling) name,
#include "base/reports.def"
};
// 0, 1 where what `fail_on` names was found (of `inconclusive`: something is unsettled; of `instructions`
// what time says, as of `regression`: instruction_gate.h has the rest), 3 where `strict` and something is
// unsettled, 5 where nothing may be claimed.
int exit_code(const ExperimentFindings& findings, FailOn fail_on, bool strict);

}  // namespace wago::diff
