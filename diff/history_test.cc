#include "diff/history.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/json.h"
#include "diff/report.h"

namespace wago::diff {
namespace {

using capture::HistoryExperiment;
using capture::HistoryResult;

HistoryResult result(const std::string& workload, double change, double error = 0.0005) {
  const double log_ratio = std::log1p(change);
  return {.catalog = "bundled",
          .workload = workload,
          .contract_sha256 = "0123456789abcdef",
          .finding = change > 0.005    ? "regressed"
                     : change < -0.005 ? "improved"
                                       : "same",
          .pairs = 12,
          .log_ratio = log_ratio,
          .log_low = log_ratio - 3 * error,
          .log_high = log_ratio + 3 * error,
          .log_error = error};
}

// Experiments begin an hour apart, the first one on 2026-01-01 at midnight.
HistoryExperiment experiment(int hour, const std::string& baseline, const std::string& candidate,
                             std::vector<HistoryResult> results) {
  return {.identity = std::to_string(hour),
          .name = "e" + std::to_string(hour) + ".wagoexp",
          .start_unix_ns = (1'767'225'600 + 3600 * static_cast<uint64_t>(hour)) * 1'000'000'000,
          .sides = {{{baseline, baseline, "wago-profile", "id-" + baseline},
                     {candidate, candidate, "wago-profile", "id-" + candidate}}},
          .target = "x86_64-linux",
          .cpu_model = "Test CPU",
          .results = std::move(results)};
}

History history(std::vector<HistoryExperiment> experiments, const HistoryOptions& options = {}) {
  auto made = history_of("h.wagohist", std::move(experiments), options);
  EXPECT_TRUE(made) << made.error().to_string();
  return made ? std::move(*made) : History{};
}

std::string version(size_t i) {
  return (i < 10 ? "v0" : "v") + std::to_string(i);
}

// Versions v00, v01, ... at these levels, each measured against the first one, with small known errors.
std::vector<HistoryExperiment> against_first(const std::vector<double>& levels) {
  std::vector<HistoryExperiment> experiments;
  for (size_t i = 1; i < levels.size(); ++i) {
    const double noise = 0.0001 * (static_cast<double>(i * 7 % 5) - 2);
    experiments.push_back(
        experiment(static_cast<int>(i), version(0), version(i), {result("fib", levels[i] + noise)}));
  }
  return experiments;
}

std::vector<double> step(size_t before, size_t after, double change) {
  std::vector<double> levels(before, 0);
  levels.resize(before + after, change);
  return levels;
}

TEST(Histories, VersionsComeAfterTheirBaselines) {
  // v25 was measured last, between v2 and v3.
  const History made =
      history({experiment(1, "v1", "v2", {}), experiment(2, "v2", "v3", {}), experiment(3, "v3", "v4", {}),
               experiment(4, "v2", "v25", {}), experiment(5, "v25", "v3", {})});
  EXPECT_EQ(made.versions, (std::vector<std::string>{"v1", "v2", "v25", "v3", "v4"}));
  EXPECT_TRUE(made.remarks.empty());
}

TEST(Histories, ACircleOfVersionsIsInTheOrderOfTime) {
  const History made = history({experiment(1, "a", "b", {}), experiment(2, "b", "c", {}),
                                experiment(3, "c", "a", {}), experiment(4, "c", "d", {})});
  EXPECT_EQ(made.versions, (std::vector<std::string>{"a", "b", "c", "d"}));
  ASSERT_EQ(made.remarks.size(), 1u);
  EXPECT_EQ(made.remarks[0].find("which of c and a is older is not clear: " + made.experiments[2].name +
                                 " measured the second against the first, others, by way of"),
            0u)
      << made.remarks[0];
  for (const std::string& text : {list_text(made), changes_text(made, {})})
    EXPECT_NE(text.find("note: " + made.remarks[0]), std::string::npos) << text;
}

// X was measured before B, and waits for A, which is in the circle.
TEST(Histories, WhatOnlyFollowsACircleIsNotInIt) {
  const History made = history({experiment(1, "p", "x", {}), experiment(2, "a", "b", {}),
                                experiment(3, "b", "a", {}), experiment(4, "a", "x", {})});
  EXPECT_EQ(made.versions, (std::vector<std::string>{"p", "a", "x", "b"}));
  ASSERT_EQ(made.remarks.size(), 1u);
  EXPECT_EQ(made.remarks[0].find("which of b and a is older"), 0u) << made.remarks[0];
}

TEST(Histories, LevelsAreRatiosToTheAnchor) {
  const std::vector<HistoryExperiment> experiments = {experiment(1, "v1", "v2", {result("fib", 0.02)}),
                                                      experiment(2, "v2", "v3", {result("fib", 0.05)})};
  const History made = history(experiments);
  ASSERT_EQ(made.series.size(), 1u);
  const HistorySeries& series = made.series[0];
  ASSERT_EQ(series.points.size(), 3u);
  EXPECT_EQ(series.points[0].level->change, 0);
  EXPECT_NEAR(series.points[1].level->change, 0.02, 1e-12);
  EXPECT_NEAR(series.points[2].level->change, 1.02 * 1.05 - 1, 1e-12);
  // Two errors of 12 pairs have 22 degrees of freedom.
  const double reach = 2.8187560606 * 0.0005 * std::sqrt(2.0);
  EXPECT_NEAR(series.points[2].level->interval.low, 1.02 * 1.05 * std::exp(-reach) - 1, 1e-12);
  EXPECT_NEAR(series.points[2].level->interval.high, 1.02 * 1.05 * std::exp(reach) - 1, 1e-12);

  const History other = history(experiments, {.anchor = "v2"});
  EXPECT_NEAR(other.series[0].points[0].level->change, 1 / 1.02 - 1, 1e-12);
  EXPECT_NEAR(other.series[0].points[2].level->change, 0.05, 1e-12);

  auto unknown = history_of("h.wagohist", experiments, {.anchor = "v9"});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().to_string(), "h.wagohist: the anchor 'v9' is not one of v1, v2, v3");
}

TEST(Histories, WhatRanTheSameCodeIsOnOneLevel) {
  HistoryResult same = result("fib", 0.03);
  same.same_code = true;
  same.finding = "same code";
  const History made = history({experiment(1, "v1", "v2", {same})});
  EXPECT_EQ(made.series[0].points[1].level->change, 0);
}

TEST(Histories, SeriesAreOfOneWorkloadContractAndProcessor) {
  HistoryResult other_contract = result("fib", 0.01);
  other_contract.contract_sha256 = "fedcba9876543210";
  HistoryResult control = result("sieve", 0.0001);
  control.control = true;
  HistoryExperiment other_processor = experiment(3, "v1", "v2", {result("fib", 0.01)});
  other_processor.cpu_model = "Other CPU";
  const History made =
      history({experiment(1, "v1", "v2", {result("fib", 0.01), result("sieve", 0.02), control}),
               experiment(2, "v2", "v3", {other_contract}), other_processor});
  ASSERT_EQ(made.series.size(), 4u);
  for (const HistorySeries& series : made.series) EXPECT_EQ(series.links.size(), 1u) << series.workload;
  auto fib = series_of(made, "bundled/fib");
  ASSERT_TRUE(fib);
  EXPECT_EQ(fib->size(), 3u);
  EXPECT_EQ(series_of(made, "sieve")->size(), 1u);
  auto unknown = series_of(made, "fab");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().to_string(), "h.wagohist: the workload 'fab' is not one of fib, sieve");
}

TEST(Histories, WhatDoesNotLeadToTheAnchorHasNoLevel) {
  HistoryResult failed = result("fib", 0);
  failed.finding = "failed";
  failed.pairs = 0;
  failed.log_error.reset();
  const History made =
      history({experiment(1, "v1", "v2", {failed}), experiment(2, "v2", "v3", {result("fib", 0.01)})});
  EXPECT_FALSE(made.series[0].points[1].level);
  EXPECT_FALSE(made.series[0].points[2].level);
  EXPECT_NE(series_text(made, made.series[0]).find("v2       not connected"), std::string::npos)
      << series_text(made, made.series[0]);
}

TEST(Histories, AStepIsProposedWithTheCommandThatDecides) {
  const History made = history(against_first(step(6, 5, 0.03)));
  const HistorySeries& series = made.series[0];
  ASSERT_EQ(series.changes.size(), 1u);
  const HistoryChange& change = series.changes[0];
  EXPECT_EQ(series.points[change.before].version, "v05");
  EXPECT_EQ(series.points[change.point].version, "v06");
  EXPECT_NEAR(change.change, 0.03, 0.0002);
  EXPECT_EQ(change.state, ChangeState::Proposed);
  EXPECT_EQ(confirmation_command(made, series, change, {}),
            "wago-profile profile experiment --catalog bundled.json --workload fib "
            "--baseline runners/v05/wago-profile --candidate runners/v06/wago-profile "
            "--out fib.v05.v06.wagoexp && wago-profile profile history add h.wagohist fib.v05.v06.wagoexp "
            "--baseline-as v05 --candidate-as v06");
  const std::string text = changes_text(made, {});
  EXPECT_EQ(text.find("1 proposed; "), 0u) << text;
  EXPECT_NE(text.find("proposed  bundled/fib  +3.0"), std::string::npos) << text;
  EXPECT_NE(text.find(" from v06 on, after v05  (p "), std::string::npos) << text;
}

TEST(Histories, TheCommandNamesModulesWhereTheProgramIsTheSame) {
  std::vector<HistoryExperiment> experiments = against_first(step(6, 5, 0.03));
  for (HistoryExperiment& one : experiments) {
    for (capture::HistorySide& side : one.sides) side.runner_id = "same";
  }
  const History made = history(experiments);
  EXPECT_EQ(confirmation_command(made, made.series[0], made.series[0].changes.at(0),
                                 {.catalog = "c.json", .runners = "kept"}),
            "wago-profile profile experiment --catalog c.json --workload fib --baseline wago-profile "
            "--baseline-modules kept/v05 --candidate wago-profile --candidate-modules kept/v06 "
            "--out fib.v05.v06.wagoexp && wago-profile profile history add h.wagohist fib.v05.v06.wagoexp "
            "--baseline-as v05 --candidate-as v06");
}

// Names come from experiments, and commands are pasted.
TEST(Histories, TheCommandIsSafeToPasteWhateverVersionsAreCalled) {
  const History made = history({experiment(1, "release/1.3", "$(id) 1", {result("-x;id", 0)})});
  EXPECT_EQ(confirmation_command(made, made.series[0], {.before = 0, .point = 1},
                                 {.catalog = "-c.json", .runners = "my runners"}),
            "wago-profile profile experiment --catalog ./-c.json --workload='-x;id'"
            " --baseline 'my runners/release/1.3/wago-profile'"
            " --candidate 'my runners/$(id) 1/wago-profile'"
            " --out './-x;id.release-1.3.$(id) 1.wagoexp'"
            " && wago-profile profile history add h.wagohist './-x;id.release-1.3.$(id) 1.wagoexp'"
            " --baseline-as release/1.3 --candidate-as '$(id) 1'");
}

TEST(Histories, AnExperimentOfBothNeighboursDecides) {
  std::vector<HistoryExperiment> experiments = against_first(step(6, 5, 0.03));
  const auto state_with = [&](HistoryExperiment more) {
    std::vector<HistoryExperiment> all = experiments;
    all.push_back(std::move(more));
    const History made = history(all);
    EXPECT_EQ(made.series[0].changes.size(), 1u);
    return made.series[0].changes.at(0).state;
  };
  EXPECT_EQ(state_with(experiment(20, "v05", "v06", {result("fib", 0.03)})), ChangeState::Confirmed);
  EXPECT_EQ(state_with(experiment(20, "v05", "v06", {result("fib", 0.001, 0.01)})), ChangeState::Refuted);
  EXPECT_EQ(state_with(experiment(20, "v05", "v06", {result("fib", -0.02, 0.02)})), ChangeState::Refuted);
  EXPECT_EQ(state_with(experiment(20, "v04", "v06", {result("fib", 0.03)})), ChangeState::Proposed);
  HistoryResult undecided = result("fib", 0.02, 0.02);
  undecided.finding = "inconclusive";
  EXPECT_EQ(state_with(experiment(20, "v05", "v06", {undecided})), ChangeState::Proposed);
}

TEST(Histories, NoStepNoChange) {
  EXPECT_TRUE(history(against_first(step(12, 0, 0))).series[0].changes.empty());
  // Below the floor, though it stands out from what is still smaller.
  EXPECT_TRUE(history(against_first(step(6, 6, 0.002))).series[0].changes.empty());
  EXPECT_EQ(history(against_first(step(6, 6, 0.002)), {.floor = 0.001}).series[0].changes.size(), 1u);
  EXPECT_EQ(changes_text(history(against_first(step(6, 0, 0))), {}).find("no changes in 1 series"), 0u);
}

// All versions of a side run the same code; only one link, and not a good one, leads from side to side.
TEST(Histories, AStepThatItsLinkDoesNotBearIsNone) {
  const auto with_error = [](double error) {
    std::vector<HistoryExperiment> experiments;
    for (size_t i = 1; i < 12; ++i) {
      HistoryResult one = result("fib", i == 6 ? 0.01 : 0, error);
      one.same_code = i != 6;
      experiments.push_back(experiment(static_cast<int>(i), version(i - 1), version(i), {one}));
    }
    return history(experiments).series[0].changes.size();
  };
  EXPECT_EQ(with_error(0.005), 0u);
  EXPECT_EQ(with_error(0.001), 1u);
}

TEST(Histories, ControlsRaiseTheFloor) {
  std::vector<HistoryExperiment> experiments = against_first(step(12, 12, 0.006));
  EXPECT_EQ(history(experiments).series[0].changes.size(), 1u);
  for (HistoryExperiment& one : experiments) {
    HistoryResult control = result("sieve", 0.008);
    control.control = true;
    one.results.push_back(control);
  }
  const History made = history(experiments);
  EXPECT_NEAR(made.series[0].floor, 0.008, 1e-12);
  EXPECT_TRUE(made.series[0].changes.empty());
}

TEST(Histories, ThePictureHasADotAVersionAndNoTextOnText) {
  const std::string small = history_svg(history(against_first(step(4, 3, 0.02))).series[0]);
  size_t dots = 0;
  for (size_t at = 0; (at = small.find("<circle", at)) != std::string::npos; ++at) ++dots;
  EXPECT_EQ(dots, 7u);
  EXPECT_NE(small.find(">-1.00 %</text>"), std::string::npos) << small;
  EXPECT_NE(small.find(">+0.00 %</text>"), std::string::npos);
  EXPECT_NE(small.find(" from v04 on, proposed</title>"), std::string::npos);
  const std::string large = history_svg(history(against_first(step(4, 3, 0.9))).series[0]);
  EXPECT_EQ(large.find(">-1.00 %</text>"), std::string::npos);
  EXPECT_NE(large.find(">+0.00 %</text>"), std::string::npos);
}

TEST(Histories, TextAndJsonSayTheSame) {
  std::vector<HistoryExperiment> experiments = against_first(step(4, 3, 0.03));
  experiments.push_back(experiment(9, "v03", "v04", {result("fib", 0.03)}));
  experiments.back().results[0].labels = {"short"};
  const History made = history(experiments);
  const std::string list = list_text(made);
  EXPECT_EQ(list.find("h.wagohist: 7 experiments, 7 versions, 1 workload\n"), 0u) << list;
  EXPECT_NE(list.find("2026-01-01 09:00 UTC  v03       v04        1 regressed  Test CPU  e9.wagoexp\n"),
            std::string::npos)
      << list;
  const base::Json json = list_json(made);
  EXPECT_EQ(json.find("experiments")->items().size(), 7u);
  EXPECT_EQ(json.find("versions")->items()[6].as_string(), "v06");
  const std::string text = series_text(made, made.series[0]);
  EXPECT_NE(text.find("+3.0"), std::string::npos);
  EXPECT_NE(text.find(" from here on, confirmed\n"), std::string::npos) << text;
  const base::Json series = series_json(made, made.series[0]);
  EXPECT_EQ(series.find("labels")->items()[0].as_string(), "short");
  EXPECT_EQ(series.find("points")->items().size(), 7u);
  EXPECT_EQ(series.find("links")->items().size(), 7u);
  const base::Json changes = changes_json(made, {});
  ASSERT_EQ(changes.find("changes")->items().size(), 1u);
  const base::Json& change = changes.find("changes")->items()[0];
  EXPECT_EQ(change.find("version")->as_string(), "v04");
  EXPECT_EQ(change.find("state")->as_string(), "confirmed");
  EXPECT_EQ(change.find("experiment")->as_string(), "e9.wagoexp");
  EXPECT_TRUE(change.find("command")->is_null());
}

Report report() {
  Report report;
  report.path = "nightly/release.wagoexp";
  report.experiment.complete = true;
  report.experiment.start_unix_ns = 5;
  report.experiment.sides[0] = {.program = "wago-profile",
                                .revision = "0123456789abcdef0123456789abcdef01234567",
                                .dirty = base::Dirty::Clean,
                                .runner_id = "build-id:deadbeef0123"};
  report.experiment.sides[1] = report.experiment.sides[0];
  report.experiment.sides[1].dirty = base::Dirty::Dirty;
  report.experiment.sides[1].runner_id = "build-id:cafebabe0123";
  report.experiment.workloads = {{.id = "fib", .catalog = "bundled", .labels = {"short"}},
                                 {.id = "fib", .catalog = "bundled", .control = true}};
  ReportedWorkload workload;
  workload.found.finding = Finding::Regressed;
  workload.found.pairs = 8;
  workload.found.change = 0.02;
  workload.found.interval = Interval{std::expm1(0.01), std::expm1(0.03)};
  workload.code = CodeLane{.instructions = InstructionLane{.machine = {100, 102}}};
  report.workloads = {workload};
  report.controls = {{.workload = 1}};
  return report;
}

TEST(HistoryEntries, HoldRatiosAndWhatTheyRestOn) {
  auto entry = history_entry(report());
  ASSERT_TRUE(entry) << entry.error().to_string();
  EXPECT_EQ(entry->name, "release.wagoexp");
  EXPECT_EQ(entry->sides[0].version, "0123456789ab");
  EXPECT_EQ(entry->sides[1].version, "0123456789ab-dirty-cafebabe");
  ASSERT_EQ(entry->results.size(), 2u);
  const HistoryResult& fib = entry->results[0];
  EXPECT_EQ(fib.finding, "regressed");
  EXPECT_NEAR(fib.log_ratio, std::log(1.02), 1e-15);
  // Student's t with 7 degrees of freedom at 1 - 0.01 / 6 / 2 (computed with another program: 4.944470).
  EXPECT_NEAR(*fib.log_error, 0.01 / 4.944470, 1e-6);
  EXPECT_EQ(fib.same_code, false);
  EXPECT_EQ(fib.candidate_instructions, 102);
  EXPECT_TRUE(entry->results[1].control);
  EXPECT_FALSE(entry->results[1].log_error);

  auto continued = report();
  continued.workloads[0].found.pairs = 12;
  EXPECT_EQ(history_entry(continued)->identity, entry->identity);
  auto another = report();
  another.experiment.seed = 1;
  EXPECT_NE(history_entry(another)->identity, entry->identity);
}

TEST(HistoryEntries, BuildsOfOneRevisionThatIsDirtyAreVersionsOfTheirOwn) {
  Report dirty = report();
  dirty.experiment.sides[0].dirty = base::Dirty::Unknown;
  for (const std::string how : {"build-id:", "sha256:", ""}) {
    dirty.experiment.sides[0].runner_id = how + "deadbeef0123";
    dirty.experiment.sides[1].runner_id = how + "cafebabe0123";
    auto entry = history_entry(dirty);
    ASSERT_TRUE(entry) << how << ": " << entry.error().to_string();
    EXPECT_EQ(entry->sides[0].version, "0123456789ab-dirty-deadbeef") << how;
    EXPECT_EQ(entry->sides[1].version, "0123456789ab-dirty-cafebabe") << how;
  }
}

TEST(HistoryEntries, WhatIsNoStepIsRefused) {
  const auto refusal = [](auto change, std::array<std::optional<std::string>, 2> names = {}) {
    Report changed = report();
    change(changed);
    auto entry = history_entry(changed, names);
    return entry ? std::string("none") : entry.error().to_string();
  };
  const std::string path = "nightly/release.wagoexp: ";
  EXPECT_EQ(refusal([](Report& r) { r.experiment.complete = false; }),
            path + "is not finished: the command that began it continues it");
  EXPECT_EQ(refusal([](Report& r) { r.experiment.sides[1].slowdown_ppm = 10'000; }),
            path + "is a self-test: one side was slowed down");
  EXPECT_EQ(refusal([](Report& r) { r.findings.invalid = {"control fib moved"}; }),
            path + "control fib moved");
  const auto unknown = [](Report& r) { r.experiment.sides[1].revision = "unknown"; };
  EXPECT_EQ(refusal(unknown), path + "the revision of wago-profile is unknown: name it with --candidate-as");
  EXPECT_EQ(refusal(unknown, {std::nullopt, "v2"}), "none");
  for (const char* id : {"unknown", "build-id:", ""}) {
    const auto some_build = [&](Report& r) { r.experiment.sides[1].runner_id = id; };
    EXPECT_EQ(refusal(some_build),
              path + "which build of wago-profile ran is unknown: name it with --candidate-as");
    EXPECT_EQ(refusal(some_build, {std::nullopt, "v2"}), "none");
  }
  const auto alike = [](Report& r) { r.experiment.sides[1].dirty = base::Dirty::Clean; };
  EXPECT_EQ(refusal(alike),
            path +
                "both sides are 0123456789ab: where something else differs, name them with --baseline-as and "
                "--candidate-as");
  EXPECT_EQ(refusal(alike, {"v1", "v2"}), "none");
  const auto setting = [](Report& r) { r.experiment.sides[1].setting = "level 0"; };
  EXPECT_EQ(refusal(setting).find(path + "compares a setting"), 0u);
  EXPECT_EQ(refusal(setting, {"v1", "v2"}), "none");
}

}  // namespace
}  // namespace wago::diff
