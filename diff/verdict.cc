#include "diff/verdict.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/check.h"
#include "diff/multiple_testing.h"
#include "diff/quantity.h"
#include "diff/statistics.h"
#include "diff/student_t.h"

namespace wago::diff {

namespace {

using capture::Pair;
using capture::Turn;

constexpr size_t kSignedRankPairs = 8;  // from which on ranks are used
constexpr double kColdChange = 0.05;
constexpr double kLayoutLevel = 0.01;  // of the test whether code offsets disagree, all looks together
constexpr size_t kPairsAtOffset = 2;   // at each: one pair says nothing of how far its like scatter
constexpr size_t kManyFindings = 10;
constexpr double kOneWay = 0.8;  // a greater share of many findings in one direction is suspect
constexpr size_t kMostPairs = 1000;

double change_of(double log_ratio) {
  return std::expm1(log_ratio);
}

// What gives a workload so many pairs, cold ones counted. The looks end at the last of them, whatever the
// budget.
std::string measured_by(size_t pairs) {
  return "`profile experiment --pairs " + std::to_string(pairs) + "`" +
         (pairs <= kLooks.back() ? " or a greater --budget" : "") + " measures ";
}

// How many must be measured for so many that count: those that were cold are among what was measured.
size_t with_cold(size_t pairs, const WorkloadFinding& found) {
  return std::max(pairs, found.pairs + 1) + found.cold_pairs;
}

// A pair as far as verdicts need it.
struct PairRatio {
  double log_ratio = 0;
  uint32_t code_offset = 0;
};

double median_cpu_ns(const Pair& pair, size_t side) {
  std::vector<double> times;
  for (const Turn& turn : pair.turns[side]) {
    times.push_back(static_cast<double>(turn.cpu_ns) / static_cast<double>(pair.iterations_per_turn));
  }
  return summarize(std::move(times)).median;
}

double mean_cpu(std::span<const Turn> turns) {
  double sum = 0;
  for (const Turn& turn : turns) sum += static_cast<double>(turn.cpu_ns);
  return sum / static_cast<double>(turns.size());
}

bool drifts(const std::vector<Turn>& turns) {
  const size_t third = turns.size() / 3;
  if (third == 0) return false;
  const double first = mean_cpu(std::span(turns).first(third)), last = mean_cpu(std::span(turns).last(third));
  return first > 0 && last > 0 && std::abs(first / last - 1) > kColdChange;
}

// One-way analysis of variance: whether the means of the groups differ more than chance would have it.
double groups_p(const std::map<uint32_t, std::vector<double>>& groups) {
  double sum = 0, n = 0;
  for (const auto& [offset, values] : groups) {
    for (double value : values) sum += value;
    n += static_cast<double>(values.size());
  }
  double between = 0, within = 0;
  for (const auto& [offset, values] : groups) {
    double group = 0;
    for (double value : values) group += value;
    group /= static_cast<double>(values.size());
    between += static_cast<double>(values.size()) * (group - sum / n) * (group - sum / n);
    for (double value : values) within += (value - group) * (value - group);
  }
  const double groups_free = static_cast<double>(groups.size()) - 1,
               free = n - static_cast<double>(groups.size());
  if (groups_free < 1 || free < 1) return 1;
  if (within == 0) return between > 0 ? 0 : 1;
  const double f = (between / groups_free) / (within / free);
  // P(F > f), by the incomplete beta function (Abramowitz and Stegun 26.6.2).
  return incomplete_beta(free / (free + groups_free * f), free / 2, groups_free / 2);
}

class Judge {
 public:
  Judge(const VerdictSettings& settings) : settings_(settings) {}

  void judge(std::span<const PairRatio> pairs, WorkloadFinding& found) const {
    std::vector<double> ratios;
    for (const PairRatio& pair : pairs) ratios.push_back(pair.log_ratio);
    found.pairs = ratios.size();
    if (ratios.empty()) {
      nothing_measured(found);
      return;
    }
    estimate(ratios, found);
    look_at_offsets(pairs, found);
    decide(found);
  }

 private:
  static void nothing_measured(WorkloadFinding& found) {
    if (found.cold_pairs > 0) {
      found.reason = "one side alone was still warming up in each of " +
                     format_plural(found.cold_pairs, "pair") +
                     ": a greater `warmup` of the workload in its catalog helps";
      return;
    }
    found.pairs_to_settle = kLooks.front();
    found.reason = "there are no pairs: " + measured_by(kLooks.front()) + "them";
  }

  double level() const { return (1 - settings_.confidence) / static_cast<double>(kLooks.size()); }

  void estimate(const std::vector<double>& ratios, WorkloadFinding& found) const {
    found.change = change_of(hodges_lehmann(ratios));
    std::optional<Interval> interval;
    bool ranks = ratios.size() >= kSignedRankPairs;
    if (ranks) {
      interval = signed_rank_interval(ratios, 1 - level());
      ranks = interval.has_value();
    }
    if (!ranks) interval = student_t_interval(ratios, 1 - level());
    found.interval_rule = ranks ? Rule::SignedRank : Rule::StudentT;
    if (interval) found.interval = Interval{change_of(interval->low), change_of(interval->high)};
    const double up = std::log1p(settings_.floor), down = std::log1p(-settings_.floor);
    found.p_rule = ratios.size() >= kSignedRankP ? Rule::SignedRank : Rule::StudentT;
    const double p = found.p_rule == Rule::SignedRank
                         ? std::min(p_above(ratios, up), p_below(ratios, down))
                         : std::min(t_p_above(ratios, up), t_p_below(ratios, down));
    found.p_value = std::min(1.0, 2 * p * static_cast<double>(kLooks.size()));
  }

  void look_at_offsets(std::span<const PairRatio> pairs, WorkloadFinding& found) const {
    std::map<uint32_t, std::vector<double>> groups;
    for (const PairRatio& pair : pairs) groups[pair.code_offset].push_back(pair.log_ratio);
    double least = INFINITY, most = -INFINITY;
    bool enough = groups.size() == capture::kCodeOffsets;
    for (const auto& [offset, values] : groups) {
      const double change = change_of(hodges_lehmann(values));
      found.offsets.push_back({offset, values.size(), change});
      least = std::min(least, change);
      most = std::max(most, change);
      enough &= values.size() >= kPairsAtOffset;
    }
    found.layout_sensitive = enough && most - least > settings_.margin &&
                             groups_p(groups) <= kLayoutLevel / static_cast<double>(kLooks.size());
  }

  bool all_offsets(const WorkloadFinding& found, bool above) const {
    return std::all_of(found.offsets.begin(), found.offsets.end(), [&](const OffsetChange& offset) {
      return above ? offset.change > settings_.floor : offset.change < -settings_.floor;
    });
  }

  void decide(WorkloadFinding& found) const {
    const size_t first_look = with_cold(kLooks.front(), found);
    if (!found.interval) {
      found.reason = "one pair has no interval: " + measured_by(first_look) + "more";
      found.pairs_to_settle = first_look;
      return;
    }
    // One offset may be slower where the others are not: nothing is held before each was seen.
    if (found.offsets.size() < capture::kCodeOffsets) {
      found.reason = "pairs at " + std::to_string(found.offsets.size()) + " of " +
                     std::to_string(capture::kCodeOffsets) +
                     " code offsets are too few: " + measured_by(first_look) + "more";
      found.pairs_to_settle = first_look;
      return;
    }
    const auto [low, high] = *found.interval;
    if (low > settings_.floor || high < -settings_.floor) {
      const bool up = low > settings_.floor;
      found.finding = up ? Finding::Regressed : Finding::Improved;
      if (found.layout_sensitive && !all_offsets(found, up)) found.finding = Finding::LayoutSensitive;
    } else if (low >= -settings_.margin && high <= settings_.margin) {
      found.finding = Finding::Same;
    } else if (found.layout_sensitive) {
      found.finding = Finding::LayoutSensitive;
    } else {
      found.finding = Finding::Inconclusive;
      if (const auto pairs = to_settle(found)) found.pairs_to_settle = with_cold(*pairs, found);
    }
    found.reason = sentence(found);
  }

  // How far an interval reaches, in standard deviations of a pair: of ranks as of means of very many.
  double reach(size_t pairs, Rule rule) const {
    const auto n = static_cast<double>(pairs);
    const double root = std::sqrt(n);
    return rule == Rule::SignedRank ? 1 / root : student_t_quantile(1 - level() / 2, n - 1) / root;
  }

  // Of an interval that is as wide as by the spread of so many pairs. How far fewer pairs than those of the
  // first look scatter is not known well enough to say more than that they are too few.
  std::optional<size_t> to_settle(const WorkloadFinding& found) const {
    if (found.pairs < kLooks.front()) return kLooks.front();
    const double half = (found.interval->high - found.interval->low) / 2;
    const double size = std::abs(found.change);
    const double room = std::max(size - settings_.floor, settings_.margin - size);
    if (room <= 0 || half <= 0) return std::nullopt;
    const Rule rule = found.interval_rule;
    const double wanted = reach(found.pairs, rule) * room / half;
    if (reach(kMostPairs, rule) > wanted) return std::nullopt;
    size_t too_few = found.pairs, enough = std::max(kMostPairs, found.pairs + 1);
    while (enough - too_few > 1) {
      const size_t middle = too_few + (enough - too_few) / 2;
      (reach(middle, rule) > wanted ? too_few : enough) = middle;
    }
    return enough;
  }

  std::string sentence(const WorkloadFinding& found) const {
    const std::string interval =
        format_change(found.interval->low) + " to " + format_change(found.interval->high);
    switch (found.finding) {
      case Finding::Regressed:
      case Finding::Improved:
        return "the interval " + interval + " lies beyond the floor of " + format_setting(settings_.floor);
      case Finding::Same:
        return "the interval " + interval + " lies within the margin of " + format_setting(settings_.margin);
      case Finding::LayoutSensitive:
        return "its code offsets disagree by more than chance explains: where the code lies in its cache "
               "line seems to decide, which more pairs do not settle";
      default:
        break;
    }
    const std::string text = "the interval " + interval;
    if (found.pairs < kLooks.front()) {
      return text + " of " + format_plural(found.pairs, "pair") +
             " is too wide, and they are too few to tell how many would settle it: " +
             measured_by(*found.pairs_to_settle) + "more";
    }
    if (found.pairs_to_settle) {
      return text + " is too wide; about " + format_plural(*found.pairs_to_settle, "pair") +
             " would settle it: " + measured_by(*found.pairs_to_settle) + "them";
    }
    return text + " is too wide, and " + format_plural(kMostPairs, "pair") +
           " would not settle it: raise --margin or lower --floor";
  }

  const VerdictSettings& settings_;
};

void adjust(ExperimentFindings& findings) {
  std::vector<double> p_values;
  for (const WorkloadFinding& found : findings.workloads) p_values.push_back(found.p_value);
  const std::vector<double> by_holm = holm(p_values), by_hochberg = benjamini_hochberg(p_values);
  for (size_t i = 0; i < p_values.size(); ++i) {
    WorkloadFinding& found = findings.workloads[i];
    found.holm = by_holm[i];
    found.benjamini_hochberg = by_hochberg[i];
    if (found.finding != Finding::Regressed && found.finding != Finding::Improved) continue;
    found.gated = found.holm <= findings.settings.gate_level;
    if (found.gated) continue;
    const size_t measured = found.pairs + found.cold_pairs;
    found.reason += "; it is not held over all workloads (p " + format_p(found.holm) + " among them, " +
                    format_p(findings.settings.gate_level) +
                    " is wanted): " + measured_by(next_look(found).value_or(2 * measured)) + "more";
  }
}

// The mean of these workloads, not of all that might have been chosen: it is as sure as they are, and errors
// of independent ones add up as squares.
void sum_up(ExperimentFindings& findings) {
  double sum = 0, below = 0, above = 0, count = 0;
  bool all_have_intervals = true;
  for (const WorkloadFinding& found : findings.workloads) {
    if (found.pairs == 0 || found.finding == Finding::Failed) continue;
    const double ratio = std::log1p(found.change);
    sum += ratio;
    ++count;
    all_have_intervals &= found.interval.has_value();
    if (!found.interval) continue;
    const double down = ratio - std::log1p(found.interval->low),
                 up = std::log1p(found.interval->high) - ratio;
    below += down * down;
    above += up * up;
  }
  findings.suite.workloads = static_cast<size_t>(count);
  if (count == 0) return;
  findings.suite.change = change_of(sum / count);
  if (!all_have_intervals) return;
  findings.suite.interval =
      Interval{change_of((sum - std::sqrt(below)) / count), change_of((sum + std::sqrt(above)) / count)};
}

void doubt(const capture::Experiment& experiment, ExperimentFindings& findings) {
  for (const WorkloadFinding& control : findings.controls) {
    if (control.finding != Finding::Regressed && control.finding != Finding::Improved) continue;
    findings.invalid.push_back(
        "control " + experiment.workloads[control.workload].id + " moved by " +
        format_change(control.change) +
        ", though both its sides are the baseline: the machine changed while it measured");
  }
  for (capture::ExperimentSide side : capture::kExperimentSides) {
    if (!experiment.sides[index_of(side)].sanitized) continue;
    findings.invalid.push_back("the " + std::string(spelling(side)) +
                               " runs under a sanitizer, whose time says nothing of the program's");
  }
  // What the clock says claims nothing then; what is exact, or failed, still is so.
  if (!findings.invalid.empty()) {
    for (WorkloadFinding& found : findings.workloads) {
      if (found.finding == Finding::SameCode || found.finding == Finding::Failed) continue;
      found.finding = Finding::Inconclusive;
      found.gated = false;
      found.pairs_to_settle.reset();
      found.reason = "nothing is claimed: " + findings.invalid.front();
    }
    findings.suite = {};
  }
  const size_t up = findings.count(Finding::Regressed), down = findings.count(Finding::Improved);
  const auto one_way = static_cast<double>(std::max(up, down));
  if (up + down >= kManyFindings && one_way > kOneWay * static_cast<double>(up + down)) {
    findings.suspect = std::to_string(std::max(up, down)) + " of " + std::to_string(up + down) +
                       " findings point one way: suspect the environment before the code";
  }
}

}  // namespace

std::string_view spelling(Finding finding) {
  constexpr std::array<std::string_view, 7> kWords = {
      "same code", "same", "improved", "regressed", "layout-sensitive", "inconclusive", "failed"};
  return kWords.at(static_cast<size_t>(finding));
}

std::string_view spelling(Rule rule) {
  return rule == Rule::SignedRank ? "signed rank" : "student t";
}

size_t ExperimentFindings::count(Finding finding) const {
  return static_cast<size_t>(std::count_if(workloads.begin(), workloads.end(),
                                           [&](const auto& found) { return found.finding == finding; }));
}

std::vector<CodeKnowledge> known_code(const capture::Experiment& experiment) {
  const auto& [baseline, candidate] = experiment.sides;
  const bool same_program =
      baseline.runner_id == candidate.runner_id && baseline.slowdown_ppm == candidate.slowdown_ppm;
  std::vector<CodeKnowledge> code;
  for (const capture::ExperimentWorkload& workload : experiment.workloads) {
    code.push_back({.same_code = same_program && !workload.code_sha256[0].empty() &&
                                 workload.module_sha256[0] == workload.module_sha256[1] &&
                                 workload.code_sha256[0] == workload.code_sha256[1]});
  }
  return code;
}

std::optional<double> log_ratio(const Pair& pair) {
  std::vector<double> ratios;
  for (size_t i = 0; i < pair.turns[0].size(); ++i) {
    const auto baseline = static_cast<double>(pair.turns[0][i].cpu_ns);
    const auto candidate = static_cast<double>(pair.turns[1][i].cpu_ns);
    if (baseline > 0 && candidate > 0) ratios.push_back(std::log(candidate / baseline));
  }
  if (ratios.empty()) return std::nullopt;
  return summarize(std::move(ratios)).median;
}

bool is_cold(const Pair& pair) {
  return drifts(pair.turns[0]) != drifts(pair.turns[1]);
}

ExperimentFindings find(const capture::Experiment& experiment, std::span<const Pair> pairs,
                        const VerdictSettings& settings, std::span<const CodeKnowledge> code) {
  struct Measured {
    std::vector<PairRatio> ratios;
    std::vector<double> baseline_ns, candidate_ns;
    size_t cold = 0;
  };
  std::vector<Measured> measured(experiment.workloads.size());
  for (const Pair& pair : pairs) {
    WAGO_CHECK(pair.workload < measured.size());
    Measured& of = measured[pair.workload];
    const auto ratio = log_ratio(pair);
    if (!ratio) continue;
    if (is_cold(pair)) {
      ++of.cold;
      continue;
    }
    of.ratios.push_back({*ratio, pair.code_offset});
    of.baseline_ns.push_back(median_cpu_ns(pair, 0));
    of.candidate_ns.push_back(median_cpu_ns(pair, 1));
  }
  ExperimentFindings findings;
  findings.settings = settings;
  for (uint32_t i = 0; i < experiment.workloads.size(); ++i) {
    const capture::ExperimentWorkload& workload = experiment.workloads[i];
    WorkloadFinding found{.workload = i, .cold_pairs = measured[i].cold};
    Judge(findings.settings).judge(measured[i].ratios, found);
    found.baseline_ns = summarize(measured[i].baseline_ns).median;
    found.candidate_ns = summarize(measured[i].candidate_ns).median;
    if (workload.state == capture::WorkloadState::Failed) {
      found.finding = Finding::Failed;
      found.reason = workload.diagnostic;
      found.p_value = 1;
    } else if (!workload.control && i < code.size() && code[i].same_code) {
      found.finding = Finding::SameCode;
      found.reason = "the same machine code ran on both sides: whatever the clock says is placement or noise";
      found.p_value = 1;
    }
    (workload.control ? findings.controls : findings.workloads).push_back(std::move(found));
  }
  adjust(findings);
  sum_up(findings);
  doubt(experiment, findings);
  return findings;
}

bool is_unsettled(const WorkloadFinding& found) {
  const bool moved = found.finding == Finding::Regressed || found.finding == Finding::Improved;
  return moved ? !found.gated : found.finding == Finding::Inconclusive;
}

std::optional<size_t> next_look(const WorkloadFinding& found) {
  if (!is_unsettled(found) && (found.pairs >= kLooks.front() || found.finding == Finding::Failed))
    return std::nullopt;
  for (size_t look : kLooks) {
    if (look > found.pairs + found.cold_pairs) return look;
  }
  return std::nullopt;
}

int exit_code(const ExperimentFindings& findings, FailOn fail_on, bool strict) {
  if (!findings.invalid.empty()) return 5;
  const bool failed = findings.count(Finding::Failed) > 0;
  auto gated = [&](Finding finding) {
    return std::any_of(findings.workloads.begin(), findings.workloads.end(),
                       [&](const auto& found) { return found.gated && found.finding == finding; });
  };
  const bool regressed = gated(Finding::Regressed), improved = gated(Finding::Improved);
  const bool unsettled = std::any_of(findings.workloads.begin(), findings.workloads.end(), is_unsettled);
  switch (fail_on) {
    case FailOn::Regression:
    case FailOn::Instructions:
      if (failed || regressed) return 1;
      break;
    case FailOn::Change:
      if (failed || regressed || improved) return 1;
      break;
    case FailOn::Inconclusive:
      if (failed || regressed || unsettled) return 1;
      break;
    case FailOn::Never:
      break;
  }
  return strict && unsettled ? 3 : 0;
}

}  // namespace wago::diff
