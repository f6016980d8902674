#include "diff/history.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "base/sha256.h"
#include "base/shell.h"
#include "base/text.h"
#include "diff/change_points.h"
#include "diff/floor.h"
#include "diff/levels.h"
#include "diff/report.h"
#include "diff/student_t.h"

namespace wago::diff {

namespace {

using capture::HistoryExperiment;
using capture::HistoryResult;

constexpr size_t kRevisionDigits = 12;
constexpr size_t kBuildDigits = 8;
constexpr double kExactError = 1e-6;  // of a ratio that is known: small beside any that is measured

base::Result<std::string> version_of(const capture::SideRecord& side, std::string_view flag) {
  const std::string name_it = ": name it with " + std::string(flag);
  if (side.revision.empty() || side.revision == "unknown") {
    return base::usage_error("the revision of " + base::display(side.program) + " is unknown" + name_it);
  }
  const std::string version = side.revision.substr(0, kRevisionDigits);
  if (side.dirty == base::Dirty::Clean) return version;
  // Other changes on top of one revision are another version. What follows "build-id:" tells builds apart.
  const std::string build = side.runner_id.substr(side.runner_id.find(':') + 1, kBuildDigits);
  if (build.empty() || side.runner_id == "unknown") {
    return base::usage_error("which build of " + base::display(side.program) + " ran is unknown" + name_it);
  }
  return version + "-dirty-" + build;
}

// Standard error of the estimate that an interval belongs to: all looks share the error of the interval.
double error_of(const Interval& logs, double confidence, size_t pairs) {
  const double level = (1 - confidence) / static_cast<double>(kLooks.size());
  const double reach = student_t_quantile(1 - level / 2, static_cast<double>(pairs - 1));
  return std::max((logs.high - logs.low) / 2 / reach, kExactError);
}

HistoryResult result_of(const Report& report, const ReportedWorkload& workload, bool control) {
  const capture::ExperimentWorkload& of = report.experiment.workloads[workload.workload];
  const WorkloadFinding& found = workload.found;
  HistoryResult result{.catalog = of.catalog,
                       .workload = of.id,
                       .labels = of.labels,
                       .contract_sha256 = of.contract_sha256,
                       .control = control,
                       .finding = std::string(spelling(found.finding)),
                       .gated = found.gated,
                       .pairs = found.pairs,
                       .cold_pairs = found.cold_pairs,
                       .log_ratio = std::log1p(found.change),
                       .p_value = found.p_value,
                       .holm = found.holm,
                       .layout_sensitive = found.layout_sensitive};
  if (found.interval && found.pairs > 1) {
    const Interval logs = {std::log1p(found.interval->low), std::log1p(found.interval->high)};
    result.log_low = logs.low;
    result.log_high = logs.high;
    result.log_error = error_of(logs, report.findings.settings.confidence, found.pairs);
  }
  if (workload.code) {
    result.same_code = workload.code->same_code;
    if (workload.code->instructions) {
      result.baseline_instructions = workload.code->instructions->machine[0];
      result.candidate_instructions = workload.code->instructions->machine[1];
    }
  }
  return result;
}

// Experiments contradict one another about which of two versions is older: whose sides were exchanged is not
// ours to say.
std::string circle_remark(std::span<const HistoryExperiment> experiments, const std::string& one,
                          const std::string& other) {
  auto measured = [&](const std::string& baseline, const std::string& candidate) {
    std::set<std::string> names;
    for (const HistoryExperiment& experiment : experiments) {
      if (experiment.sides[0].version == baseline && experiment.sides[1].version == candidate)
        names.insert(base::display(experiment.name));
    }
    const std::vector<std::string_view> words(names.begin(), names.end());
    return words.empty() ? "others, by way of further versions," : base::join_some(words);
  };
  return "which of " + base::display(one) + " and " + base::display(other) +
         " is older is not clear: " + measured(one, other) + " measured the second against the first, " +
         measured(other, one) +
         " the first against the second; the baseline is the older one, and where sides were exchanged "
         "changes are missed";
}

std::set<size_t> ancestors_of(size_t version, const std::vector<std::set<size_t>>& baselines) {
  std::set<size_t> ancestors;
  std::vector<size_t> open = {version};
  while (!open.empty()) {
    const size_t next = open.back();
    open.pop_back();
    for (size_t baseline : baselines[next]) {
      if (ancestors.insert(baseline).second) open.push_back(baseline);
    }
  }
  return ancestors;
}

// Of versions that all have baselines left the first that is in a circle which waits for nothing outside of
// it.
size_t first_of_a_circle(const std::set<size_t>& waiting, const std::vector<std::set<size_t>>& baselines) {
  for (size_t version : waiting) {
    const std::set<size_t> ancestors = ancestors_of(version, baselines);
    const bool closed = std::ranges::all_of(
        ancestors, [&](size_t ancestor) { return ancestors_of(ancestor, baselines).contains(version); });
    if (closed) return version;
  }
  return *waiting.begin();
}

// Versions in the order of time, each after all baselines it was measured against. Where that is a circle,
// the one that was measured first comes first, and it is remarked.
void put_in_order(History& history) {
  const std::span<const HistoryExperiment> experiments = history.experiments;
  std::vector<std::string> seen;
  std::map<std::string, size_t> index;
  std::vector<std::set<size_t>> baselines, candidates;  // of each version
  for (const HistoryExperiment& experiment : experiments) {
    std::array<size_t, 2> sides = {};
    for (size_t i = 0; i < 2; ++i) {
      const auto [at, is_new] = index.try_emplace(experiment.sides[i].version, seen.size());
      if (is_new) seen.push_back(at->first);
      sides[i] = at->second;
    }
    baselines.resize(seen.size());
    candidates.resize(seen.size());
    baselines[sides[1]].insert(sides[0]);
    candidates[sides[0]].insert(sides[1]);
  }
  std::set<size_t> waiting, ready;
  for (size_t i = 0; i < seen.size(); ++i) (baselines[i].empty() ? ready : waiting).insert(i);
  while (!ready.empty() || !waiting.empty()) {
    const size_t next = ready.empty() ? first_of_a_circle(waiting, baselines) : *ready.begin();
    (ready.empty() ? waiting : ready).erase(next);
    history.versions.push_back(seen[next]);
    for (size_t newer : baselines[next])
      history.remarks.push_back(circle_remark(experiments, seen[newer], seen[next]));
    for (size_t candidate : candidates[next]) {
      baselines[candidate].erase(next);
      if (baselines[candidate].empty() && waiting.erase(candidate) > 0) ready.insert(candidate);
    }
  }
}

// The ratio of a link, where it has one.
std::optional<MeasuredRatio> ratio_of(const HistoryLink& link, const HistoryResult& result) {
  if (result.same_code.value_or(false)) return MeasuredRatio{link.baseline, link.candidate, 0, kExactError};
  if (!result.log_error || *result.log_error <= 0 || result.pairs < 2) return std::nullopt;
  return MeasuredRatio{link.baseline, link.candidate, result.log_ratio, *result.log_error,
                       static_cast<double>(result.pairs - 1)};
}

// Half of the interval that holds a difference with kHistoryConfidence.
double reach_of(const LevelError& error) {
  return error.standard * student_t_quantile((1 + kHistoryConfidence) / 2, error.degrees);
}

// Makes a series of the links that have been put into it.
class SeriesMaker {
 public:
  SeriesMaker(const History& history, const HistoryOptions& options, HistorySeries& series)
      : history_(history), options_(options), series_(series), levels_(fit()) {}

  void make() {
    for (size_t i = 0; i < series_.points.size(); ++i) {
      if (!levels_.is_known(i)) continue;
      const double level = levels_.level(i);
      const double reach = reach_of(levels_.error_between(i, series_.anchor));
      series_.points[i].level =
          HistoryLevel{std::expm1(level), {std::expm1(level - reach), std::expm1(level + reach)}};
    }
    const PastControls past = past_controls(history_.experiments, series_.target, series_.cpu_model);
    series_.floor = std::max(options_.floor, past.moved.value_or(0));
    find_changes();
  }

 private:
  Levels fit() {
    for (size_t i = 0; i < series_.points.size(); ++i) {
      if (series_.points[i].version == options_.anchor) series_.anchor = i;
    }
    std::vector<MeasuredRatio> ratios;
    for (const HistoryLink& link : series_.links) {
      if (auto ratio = ratio_of(link, result_of(link))) ratios.push_back(*ratio);
    }
    return Levels(series_.points.size(), ratios, series_.anchor);
  }

  const HistoryResult& result_of(const HistoryLink& link) const {
    return history_.experiments[link.experiment].results[link.result];
  }

  void find_changes() {
    std::vector<size_t> known;
    std::vector<double> levels;
    for (size_t i = 0; i < series_.points.size(); ++i) {
      if (!levels_.is_known(i)) continue;
      known.push_back(i);
      levels.push_back(levels_.level(i));
    }
    for (const ChangePoint& point : change_points(levels)) {
      HistoryChange change{.before = known[point.index - 1],
                           .point = known[point.index],
                           .change = std::expm1(point.after - point.before),
                           .p_value = point.p_value};
      const double sure = reach_of(levels_.error_between(change.before, change.point));
      if (std::abs(change.change) <= series_.floor || std::abs(point.after - point.before) <= sure) continue;
      confirm(change);
      series_.changes.push_back(change);
    }
  }

  // The last experiment of the two neighbours that came to a conclusion.
  void confirm(HistoryChange& change) const {
    for (size_t i = 0; i < series_.links.size(); ++i) {
      const HistoryLink& link = series_.links[i];
      if (link.baseline != change.before || link.candidate != change.point) continue;
      const std::string& finding = result_of(link).finding;
      const bool up = finding == spelling(Finding::Regressed), down = finding == spelling(Finding::Improved);
      const bool same = finding == spelling(Finding::Same) || finding == spelling(Finding::SameCode);
      if (!up && !down && !same) continue;
      const bool as_proposed = !same && up == (change.change > 0);
      change.state = as_proposed ? ChangeState::Confirmed : ChangeState::Refuted;
      change.link = i;
    }
  }

  const History& history_;
  const HistoryOptions& options_;
  HistorySeries& series_;
  const Levels levels_;
};

// Links in the order of time, versions in the order of the history.
std::vector<HistorySeries> series_of(const History& history) {
  std::map<std::string, size_t> rank;
  for (size_t i = 0; i < history.versions.size(); ++i) rank[history.versions[i]] = i;
  using Key = std::tuple<std::string, std::string, std::string, std::string, std::string>;
  std::map<Key, HistorySeries> all;
  std::map<Key, std::map<size_t, uint64_t>> versions;  // by rank, when each was measured first
  for (size_t e = 0; e < history.experiments.size(); ++e) {
    const HistoryExperiment& experiment = history.experiments[e];
    for (size_t r = 0; r < experiment.results.size(); ++r) {
      const HistoryResult& result = experiment.results[r];
      if (result.control) continue;
      const Key key = {result.catalog, result.workload, experiment.target, experiment.cpu_model,
                       result.contract_sha256};
      HistorySeries& series = all[key];
      series.catalog = result.catalog;
      series.workload = result.workload;
      series.labels = result.labels;
      series.contract_sha256 = result.contract_sha256;
      series.target = experiment.target;
      series.cpu_model = experiment.cpu_model;
      const size_t baseline = rank[experiment.sides[0].version];
      const size_t candidate = rank[experiment.sides[1].version];
      series.links.push_back({baseline, candidate, e, r});
      for (size_t version : {baseline, candidate})
        versions[key].try_emplace(version, experiment.start_unix_ns);
    }
  }
  std::vector<HistorySeries> list;
  for (auto& [key, series] : all) {
    std::map<size_t, size_t> index;  // from rank to point
    for (const auto& [version, first] : versions[key]) {
      index[version] = series.points.size();
      series.points.push_back({history.versions[version], first, {}});
    }
    for (HistoryLink& link : series.links) {
      link.baseline = index[link.baseline];
      link.candidate = index[link.candidate];
    }
    list.push_back(std::move(series));
  }
  return list;
}

}  // namespace

std::string identity_of(const capture::Experiment& experiment) {
  base::Sha256 hash;
  hash.update_u64(experiment.start_unix_ns);
  hash.update_u64(experiment.seed);
  hash.update_field(experiment.cpu_model);
  for (const capture::SideRecord& side : experiment.sides) {
    hash.update_field(side.revision);
    hash.update_field(side.runner_id);
    hash.update_field(side.setting);
  }
  return base::to_hex(hash.finish());
}

base::Result<HistoryExperiment> history_entry(const Report& report,
                                              const std::array<std::optional<std::string>, 2>& versions,
                                              const std::array<std::string_view, 2>& flags) {
  const capture::Experiment& experiment = report.experiment;
  const base::Place place = {.file = report.path};
  auto refuse = [&](std::string why) { return base::usage_error(std::move(why), place); };
  if (!experiment.complete) return refuse("is not finished: the command that began it continues it");
  for (const capture::SideRecord& side : experiment.sides) {
    if (side.slowdown_ppm) return refuse("is a self-test: one side was slowed down");
  }
  if (!report.findings.invalid.empty()) return base::unmeasurable(report.findings.invalid[0], place);
  HistoryExperiment entry{.identity = identity_of(experiment),
                          .name = base::base_name(report.path),
                          .start_unix_ns = experiment.start_unix_ns,
                          .target = experiment.target,
                          .cpu_model = experiment.cpu_model,
                          .os_version = experiment.os_version,
                          .logical_cpus = experiment.logical_cpus,
                          .confidence = report.findings.settings.confidence,
                          .floor = report.findings.settings.floor,
                          .margin = report.findings.settings.margin};
  const std::string both = std::string(flags[0]) + " and " + std::string(flags[1]);
  const bool named = versions[0] && versions[1];
  if (experiment.sides[0].setting != experiment.sides[1].setting && !named) {
    return refuse("compares a setting, which is no step from one version to the next: name the sides with " +
                  both + " if it is one");
  }
  for (size_t i = 0; i < 2; ++i) {
    const capture::SideRecord& side = experiment.sides[i];
    auto version = versions[i] ? base::Result<std::string>(*versions[i]) : version_of(side, flags[i]);
    if (!version) return base::usage_error(version.error().message, place);
    entry.sides[i] = {*version, side.revision, side.program, side.runner_id};
  }
  if (entry.sides[0].version == entry.sides[1].version) {
    return refuse("both sides are " + base::display(entry.sides[0].version) +
                  ": where something else differs, name them with " + both);
  }
  for (const ReportedWorkload& workload : report.workloads)
    entry.results.push_back(result_of(report, workload, false));
  for (const ReportedWorkload& control : report.controls)
    entry.results.push_back(result_of(report, control, true));
  return entry;
}

std::string_view spelling(ChangeState state) {
  constexpr std::array<std::string_view, 3> kWords = {"proposed", "confirmed", "refuted"};
  return kWords[static_cast<size_t>(state)];
}

base::Result<History> history_of(const std::string& path, std::vector<HistoryExperiment> experiments,
                                 const HistoryOptions& options) {
  History history{.path = path, .experiments = std::move(experiments)};
  put_in_order(history);
  if (options.anchor && std::find(history.versions.begin(), history.versions.end(), *options.anchor) ==
                            history.versions.end()) {
    const std::vector<std::string_view> words(history.versions.begin(), history.versions.end());
    return base::usage_error("the anchor " + base::not_among(*options.anchor, words), {.file = path});
  }
  history.series = series_of(history);
  for (HistorySeries& series : history.series) SeriesMaker(history, options, series).make();
  return history;
}

base::Result<std::vector<const HistorySeries*>> series_of(const History& history,
                                                          const std::string& workload) {
  std::vector<const HistorySeries*> found;
  std::set<std::string_view> names;
  for (const HistorySeries& series : history.series) {
    names.insert(series.workload);
    if (workload == series.workload || workload == series.catalog + "/" + series.workload)
      found.push_back(&series);
  }
  if (!found.empty()) return found;
  const std::vector<std::string_view> words(names.begin(), names.end());
  return base::usage_error("the workload " + base::not_among(workload, words), {.file = history.path});
}

std::string confirmation_command(const History& history, const HistorySeries& series,
                                 const HistoryChange& change, const ConfirmationPaths& paths) {
  const std::array<std::string, 2> versions = {series.points[change.before].version,
                                               series.points[change.point].version};
  // What ran as a version, as far as experiments have it.
  std::array<const capture::HistorySide*, 2> sides = {};
  for (const HistoryExperiment& experiment : history.experiments) {
    for (const capture::HistorySide& side : experiment.sides) {
      for (size_t i = 0; i < 2; ++i) {
        if (side.version == versions[i]) sides[i] = &side;
      }
    }
  }
  const std::string runners = paths.runners.empty() ? "runners" : paths.runners;
  // The same program on both sides: modules are what differs.
  const bool modules = !sides[0]->runner_id.empty() && sides[0]->runner_id == sides[1]->runner_id;
  // In one folder, whatever versions are called: "release/1.4".
  std::string out = series.workload + "." + versions[0] + "." + versions[1] + ".wagoexp";
  std::ranges::replace(out, '/', '-');
  std::string command = "wago-profile profile experiment";
  auto add_file = [&](const std::string& flag, const std::string& path) {
    command += " " + flag + " " + base::shell_path(path);
  };
  add_file("--catalog", paths.catalog.empty() ? series.catalog + ".json" : paths.catalog);
  command += " " + base::shell_flag("--workload", series.workload);
  for (size_t i = 0; i < 2; ++i) {
    const std::string flag = i == 0 ? "--baseline" : "--candidate";
    const std::string place = base::join_path(runners, versions[i]);
    add_file(flag, modules ? sides[i]->program : base::join_path(place, sides[i]->program));
    if (modules) add_file(flag + "-modules", place);
  }
  add_file("--out", out);
  command +=
      " && wago-profile profile history add " + base::shell_path(history.path) + " " + base::shell_path(out);
  for (size_t i = 0; i < 2; ++i)
    command += " " + base::shell_flag(i == 0 ? "--baseline-as" : "--candidate-as", versions[i]);
  return command;
}

}  // namespace wago::diff
