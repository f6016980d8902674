#include "diff/report.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/json.h"
#include "capture/test_parts.h"

namespace wago::diff {
namespace {

using capture::Experiment;
using capture::Pair;

Experiment example() {
  Experiment experiment;
  experiment.complete = true;
  experiment.sides[0] = {
      .program = "wago-profile", .program_version = "1.0", .revision = "aaaa", .dirty = base::Dirty::Clean};
  experiment.sides[1] = {
      .program = "wago-profile", .program_version = "1.1", .revision = "bbbb", .dirty = base::Dirty::Dirty};
  experiment.cpu_model = "Test CPU";
  experiment.os_version = "Linux 6.1";
  experiment.logical_cpus = 2;
  experiment.workloads = {{.id = "same", .catalog = "bundled"},
                          {.id = "slow|<b>", .catalog = "bundled"},
                          {.id = "wide", .catalog = "bundled"},
                          {.id = "dead",
                           .catalog = "bundled",
                           .state = capture::WorkloadState::Failed,
                           .diagnostic = "the candidate died of signal 11 (SIGSEGV)"},
                          {.id = "control", .catalog = "bundled", .control = true}};
  return experiment;
}

// Changes in a fixed pattern around `centre`.
void add(std::vector<Pair>& pairs, uint32_t workload, size_t count, double centre, double spread) {
  for (uint32_t i = 0; i < count; ++i) {
    Pair pair{.workload = workload, .round = i, .code_offset = i % 4 * 16};
    const double ratio = std::log1p(centre) + spread * (i % 3 == 0 ? -1 : i % 3 == 1 ? 0.2 : 0.9);
    pair.turns = {{{{.cpu_ns = 1'000'000}}, {{.cpu_ns = static_cast<uint64_t>(1e6 * std::exp(ratio))}}}};
    pairs.push_back(pair);
  }
}

std::string lines_of(const Experiment& experiment, const std::vector<Pair>& pairs) {
  capture::PairLines lines(experiment);
  std::string text;
  for (const Pair& pair : pairs) text += lines.next(pair);
  return text;
}

class Reports : public ::testing::Test {
 protected:
  Reports() {
    std::vector<Pair> pairs;
    add(pairs, 0, 12, 0, 0.001);
    add(pairs, 1, 16, 0.03, 0.002);
    add(pairs, 2, 8, 0, 0.05);
    add(pairs, 4, 12, 0, 0.001);
    write(example(), pairs);
  }
  void write(const Experiment& experiment, const std::vector<Pair>& pairs) {
    const std::string directory = "run" + std::to_string(++number_) + ".wagoexp";
    EXPECT_TRUE(files_.create_directory(directory));
    EXPECT_TRUE(files_.create(directory + "/experiment.json", base::as_bytes(to_json_text(experiment))));
    EXPECT_TRUE(files_.create(directory + "/pairs.jsonl", base::as_bytes(lines_of(experiment, pairs))));
    auto report = report_on(directory, {}, files_);
    ASSERT_TRUE(report) << report.error().to_string();
    report_ = std::move(*report);
  }

  base::MemoryFiles files_;
  int number_ = 0;
  Report report_;
};

TEST_F(Reports, WhatNeedsEyesComesFirst) {
  std::vector<std::string> order;
  for (const ReportedWorkload& workload : report_.workloads)
    order.push_back(report_.experiment.workloads[workload.workload].id);
  EXPECT_EQ(order, (std::vector<std::string>{"dead", "slow|<b>", "wide", "same"}));
  EXPECT_EQ(headline(report_), "1 failed, 1 regressed, 1 inconclusive, 1 same");
  ASSERT_EQ(report_.controls.size(), 1u);
}

TEST_F(Reports, TextHasTheTableAndTheReasons) {
  const std::string text = to_text(report_);
  EXPECT_NE(text.find("1 failed, 1 regressed, 1 inconclusive, 1 same\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\nregressed "), std::string::npos) << text;
  EXPECT_NE(text.find("dead: the candidate died of signal 11 (SIGSEGV)\n"), std::string::npos) << text;
  EXPECT_NE(text.find(" pairs would settle it: `profile experiment --pairs "), std::string::npos) << text;
  EXPECT_NE(text.find("over all looks; margin 1 %;"), std::string::npos) << text;
  EXPECT_NE(text.find("\nfloor: 0.25 %, the default\n"), std::string::npos) << text;
  EXPECT_NE(
      text.find("\np: of a change beyond the floor, all looks counted; by exact signed ranks from 11 pairs"),
      std::string::npos)
      << text;
}

TEST_F(Reports, JsonCarriesWhatTheVerdictRestsOn) {
  const base::Json json = to_json(report_);
  const base::Json& slow = json.find("workloads")->items()[1];
  EXPECT_EQ(slow.find("workload")->as_string(), "slow|<b>");
  EXPECT_EQ(slow.find("finding")->as_string(), "regressed");
  EXPECT_TRUE(slow.find("gated")->as_bool());
  EXPECT_NEAR(slow.find("change")->as_double(), 0.03, 0.002);
  EXPECT_EQ(slow.find("pair_changes")->items().size(), 16u);
  EXPECT_EQ(slow.find("interval")->items().size(), 2u);
  EXPECT_EQ(slow.find("p_rule")->as_string(), "signed rank");
  EXPECT_EQ(json.find("workloads")->items()[2].find("p_rule")->as_string(), "student t") << "of 8 pairs";
}

TEST_F(Reports, EveryFormatForReadersSaysWhereTheFloorIsFrom) {
  auto past = std::make_shared<std::vector<capture::HistoryExperiment>>(1);
  past->front().target = report_.experiment.target;
  past->front().cpu_model = "Test CPU";
  const capture::HistoryResult control = {
      .control = true, .pairs = 8, .log_ratio = std::log1p(0.006), .log_error = 0.001};
  past->front().results.assign(24, control);
  auto report = report_on("run1.wagoexp", {.history = "perf.wagohist", .past = past}, files_);
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_NEAR(report->findings.settings.floor, 0.006, 1e-12);
  const std::string floor =
      "0.6 %, learned: 95 % of 24 controls of 8 pairs or more on this kind of processor in perf.wagohist "
      "moved by no more";
  for (const std::string& text : {to_text(*report), to_markdown(*report), to_html(*report)})
    EXPECT_NE(text.find(floor), std::string::npos) << text;
  const base::Json json = to_json(*report);
  EXPECT_EQ(json.find("floor")->find("from")->as_string(), "history");
  EXPECT_EQ(json.find("floor")->find("history")->as_string(), "perf.wagohist");
}

TEST_F(Reports, MarkdownEscapesNames) {
  const std::string text = to_markdown(report_);
  EXPECT_EQ(text.rfind("## 1 failed, 1 regressed, 1 inconclusive, 1 same\n", 0), 0u);
  EXPECT_NE(text.find("| regressed | slow\\|\\<b> | +2.99 %"), std::string::npos) << text;
  EXPECT_NE(text.find("<details><summary>1 workload unchanged</summary>"), std::string::npos) << text;
}

TEST_F(Reports, JunitSaysFailureErrorAndSkipped) {
  const std::string text = to_junit(report_, "run");
  EXPECT_NE(text.find("tests=\"4\" failures=\"1\" errors=\"1\" skipped=\"1\""), std::string::npos) << text;
  EXPECT_NE(text.find("<testsuite name=\"run\" "), std::string::npos)
      << "not its path, which may differ: " << text;
  EXPECT_NE(text.find("<property name=\"experiment\" value=\"run1.wagoexp\"/>"), std::string::npos) << text;
  EXPECT_NE(text.find("name=\"slow|&lt;b&gt;\""), std::string::npos);
  EXPECT_NE(text.find("<failure type=\"regressed\" message=\"+2.99 %"), std::string::npos);
}

TEST_F(Reports, AnnotationsAreErrorsOnlyWhereTheGateHolds) {
  const std::string text = to_annotations(report_);
  EXPECT_NE(text.find("::error title=slow|<b> regressed::+2.99 %25"), std::string::npos) << text;
  EXPECT_NE(text.find("::error title=dead failed::"), std::string::npos) << text;
  EXPECT_NE(text.find("::warning title=wide inconclusive::"), std::string::npos) << text;
  EXPECT_EQ(text.find("%\n"), std::string::npos) << "percent signs are escaped";
  EXPECT_NE(text.find(" %25"), std::string::npos);
}

TEST_F(Reports, AnExperimentWithoutSealsIsRemarked) {
  EXPECT_EQ(report_.remarks, std::vector<std::string>{});
  Experiment experiment = example();
  experiment.version = 1;
  std::vector<Pair> pairs;
  add(pairs, 0, 8, 0, 0.001);
  write(experiment, pairs);
  EXPECT_EQ(report_.remarks, std::vector<std::string>{
                                 "experiments of version 1 are not sealed: that nothing was changed since it "
                                 "was measured is not known"});
}

TEST_F(Reports, CommandsAreSafeToPasteWhateverIsNamedHow) {
  report_.path = "-x $HOME;id.wagoexp";
  capture::ExperimentWorkload& of = report_.experiment.workloads[report_.workloads[0].workload];
  of.id = "it's";
  report_.workloads[0].explainable = true;
  EXPECT_EQ(command_for(report_, report_.workloads[0]),
            "wago-profile profile explain './-x $HOME;id.wagoexp' 'it'\\''s'");
  of.id = "--baseline=evil";
  EXPECT_EQ(command_for(report_, report_.workloads[0]),
            "wago-profile profile explain -- './-x $HOME;id.wagoexp' --baseline=evil");
  EXPECT_EQ(recording_command(report_, report_.workloads[0]),
            "wago-profile profile explain --catalog FILE --baseline PROGRAM --candidate PROGRAM -- "
            "'./-x $HOME;id.wagoexp' --baseline=evil");
}

TEST_F(Reports, EveryFindingCarriesTheCommandThatExplainsIt) {
  const std::string records =
      "wago-profile profile explain run1.wagoexp wide --catalog FILE --baseline PROGRAM";
  for (const std::string& text : {to_text(report_), to_markdown(report_), to_annotations(report_),
                                  to_html(report_), to_json(report_).dump()}) {
    EXPECT_NE(text.find(records), std::string::npos) << text;
  }
  EXPECT_NE(to_junit(report_, "run").find("\">wago-profile profile explain run1.wagoexp "),
            std::string::npos);
  Report with_captures = report_;
  for (ReportedWorkload& workload : with_captures.workloads) {
    workload.explainable = true;
  }
  const std::string text = to_text(with_captures);
  EXPECT_NE(text.find("  wago-profile profile explain run1.wagoexp wide\n"), std::string::npos) << text;
}

TEST_F(Reports, ControlsHaveNothingToExplain) {
  const base::Json json = to_json(report_);
  EXPECT_TRUE(json.find("controls")->items()[0].find("explain")->is_null());
  EXPECT_FALSE(json.find("workloads")->items()[0].find("explain")->is_null());
  EXPECT_EQ(to_html(report_).find("explain run1.wagoexp control"), std::string::npos);
  EXPECT_EQ(to_html(report_).find("Look closer"), std::string::npos) << "what records it is said above";
}

// A question mark wherever the finding is.
TEST_F(Reports, WhatIsNotHeldIsMarkedInEveryFormat) {
  for (ReportedWorkload& workload : report_.workloads) workload.found.gated = false;
  EXPECT_NE(to_text(report_).find("\nregressed?  "), std::string::npos) << to_text(report_);
  EXPECT_NE(to_markdown(report_).find("\n| regressed? | slow"), std::string::npos) << to_markdown(report_);
  EXPECT_NE(to_markdown(report_).find("; \"?\": not held over all workloads;"), std::string::npos);
  EXPECT_NE(to_annotations(report_).find("::warning title=slow|<b> regressed?::+2.99 %25"), std::string::npos)
      << to_annotations(report_);
  const std::string html = to_html(report_);
  EXPECT_NE(html.find("<summary><span class=\"bad\">regressed?</span> slow"), std::string::npos);
  const std::string junit = to_junit(report_, "run");
  EXPECT_NE(junit.find("failures=\"0\" errors=\"1\" skipped=\"2\""), std::string::npos) << junit;
  EXPECT_NE(junit.find("message=\"regressed?: +2.99 %"), std::string::npos) << junit;
}

TEST_F(Reports, EveryFormatSaysWhatIsNotFinished) {
  EXPECT_TRUE(report_.remarks.empty());
  Experiment experiment = example();
  experiment.complete = false;
  std::vector<Pair> pairs;
  add(pairs, 0, 12, 0, 0.001);
  write(experiment, pairs);
  const std::string sentence = "the experiment is not finished: the command that began it continues it";
  for (const std::string& text : {to_text(report_), to_markdown(report_), to_annotations(report_),
                                  to_html(report_), to_junit(report_, "run"), to_json(report_).dump()}) {
    EXPECT_NE(text.find(sentence), std::string::npos) << text;
  }
  EXPECT_NE(to_annotations(report_).find("\n::warning title=regression report::" + sentence),
            std::string::npos)
      << "behind what was found: " << to_annotations(report_);
}

TEST_F(Reports, HtmlIsOneDocumentWithNothingFromElsewhere) {
  const std::string text = to_html(report_);
  EXPECT_EQ(text.rfind("<!doctype html>", 0), 0u);
  for (const char* outside : {"http:", "https:", "src=", "<link", "@import", "url("}) {
    EXPECT_EQ(text.find(outside), std::string::npos) << outside;
  }
  EXPECT_EQ(text.find("slow|<b>"), std::string::npos);
  EXPECT_NE(text.find("slow|&lt;b&gt;"), std::string::npos);
  size_t dots = 0;
  for (size_t at = 0; (at = text.find("<title>pair ", at)) != std::string::npos; ++at) ++dots;
  EXPECT_EQ(dots, 12u + 16 + 8 + 12);
}

TEST_F(Reports, ReleasesAreNamedWhereTheyAreKnown) {
  EXPECT_EQ(releases_text(report_.release, report_.baseline_release), "");
  EXPECT_TRUE(to_markdown(report_).starts_with("## 1 failed")) << to_markdown(report_);
  EXPECT_TRUE(to_text(report_).starts_with("experiment ")) << to_text(report_);
  report_.baseline_release = "1.0";
  EXPECT_EQ(releases_text(report_.release, report_.baseline_release), "candidate against 1.0");
  report_.release = "1.1<\n";
  EXPECT_TRUE(to_text(report_).starts_with("release 1.1<\\x0a against 1.0\nexperiment ")) << to_text(report_);
  EXPECT_TRUE(to_markdown(report_).starts_with("## release 1.1\\<\\\\x0a against 1.0: 1 failed"))
      << to_markdown(report_);
  EXPECT_NE(to_html(report_).find("<title>Regression report of release 1.1&lt;\\x0a against 1.0: 1 failed"),
            std::string::npos);
  EXPECT_EQ(to_json(report_).find("baseline_release")->as_string(), "1.0");
  report_.baseline_release.clear();
  EXPECT_EQ(releases_text(report_.release, report_.baseline_release), "release 1.1<\n");
}

TEST_F(Reports, AnInvalidEnvironmentClaimsNothing) {
  Experiment experiment = example();
  std::vector<Pair> pairs;
  add(pairs, 1, 16, 0.03, 0.002);
  add(pairs, 4, 16, 0.03, 0.002);
  write(experiment, pairs);
  EXPECT_EQ(headline(report_), "environment invalid: nothing is claimed");
  EXPECT_NE(to_junit(report_, "run").find("failures=\"0\" errors=\"4\""), std::string::npos)
      << to_junit(report_, "run");
  EXPECT_EQ(to_html(report_).find("regressed?"), std::string::npos) << "a control is held by itself";
  EXPECT_EQ(
      to_annotations(report_).rfind("::error title=environment invalid::control control moved by +2.99", 0),
      0u);
}

// fib, whose block of five instructions is entered so often in an iteration; without `entered` a capture of
// the same that nothing was counted in.
void counted(base::Files& files, const std::string& directory, std::optional<uint64_t> entered, uint8_t code,
             int level = 1) {
  capture::testing::Parts parts = capture::testing::consistent_parts();
  parts.images.images[0].functions[0].sha256.fill(code);
  parts.images.images[0].metadata.blocks = {{0, 16, 0, 5}};
  if (entered) parts.manifest.backend = base::Backend::Count;
  parts.manifest.effective_settings.engine.level = level;
  parts.manifest.code_sha256 = base::to_hex(code_sha256(parts.images));
  capture::Manifest first = parts.manifest;
  first.complete = false;
  first.files.clear();
  auto writer = capture::CaptureWriter::create(directory, first, files);
  ASSERT_TRUE(writer) << writer.error().to_string();
  capture::Counts counts;
  counts.entered = {{entered.value_or(0) * parts.manifest.completed_iterations}};
  ASSERT_TRUE(writer->write(capture::kImagesFile, base::as_bytes(to_json_text(parts.images))));
  ASSERT_TRUE(writer->write(capture::kIterationsFile, capture::encode_iterations(parts.iterations)));
  if (entered) {
    ASSERT_TRUE(writer->write(capture::kCountsFile, base::as_bytes(to_json_text(counts))));
  }
  auto done = writer->finish(first);
  ASSERT_TRUE(done) << done.error().to_string();
}

TEST_F(Reports, CapturesInTheExperimentAreTheExactLanes) {
  Experiment experiment = example();
  experiment.workloads.resize(2);
  experiment.workloads[0].captures = {"captures/same.baseline.wagoprof", "captures/same.candidate.wagoprof"};
  experiment.workloads[1].captures = {"captures/slow.baseline.wagoprof", "captures/slow.candidate.wagoprof"};
  const capture::Manifest measured = capture::testing::consistent_parts().manifest;
  for (capture::ExperimentWorkload& workload : experiment.workloads) {
    workload.contract_sha256 = measured.contract_sha256;
    workload.module_sha256 = {measured.module_sha256, measured.module_sha256};
  }
  ASSERT_TRUE(files_.create_directory("run2.wagoexp"));
  ASSERT_TRUE(files_.create_directory("run2.wagoexp/captures"));
  const std::string in = "run2.wagoexp/captures/";
  counted(files_, in + "same.baseline.wagoprof", 1000, 1);
  counted(files_, in + "same.candidate.wagoprof", 1000, 1);
  counted(files_, in + "slow.baseline.wagoprof", 1000, 1);
  counted(files_, in + "slow.candidate.wagoprof", 1025, 2);
  std::vector<Pair> pairs;
  add(pairs, 0, 12, 0.02, 0.001);
  add(pairs, 1, 16, 0.03, 0.002);
  ASSERT_TRUE(files_.create("run2.wagoexp/experiment.json", base::as_bytes(to_json_text(experiment))));
  ASSERT_TRUE(files_.create("run2.wagoexp/pairs.jsonl", base::as_bytes(lines_of(experiment, pairs))));
  auto report = report_on("run2.wagoexp", {}, files_);
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_EQ(report->findings.workloads[0].finding, Finding::SameCode);
  EXPECT_EQ(report->findings.workloads[1].finding, Finding::Regressed);
  const ReportedWorkload& slow = report->workloads[0];
  ASSERT_TRUE(slow.code && slow.code->instructions);
  EXPECT_EQ(slow.code->instructions->machine, (std::array<double, 2>{5000, 5125}));
  EXPECT_EQ(instructions_text(slow), "+2.50 %");
  EXPECT_EQ(instructions_text(report->workloads[1]), "equal");
  ASSERT_EQ(slow.code->differences.size(), 1u);
  EXPECT_EQ(code_text(slow), "1 function");
  EXPECT_EQ(code_text(report->workloads[1]), "same");
  EXPECT_EQ(code_text({.code = CodeLane{.functions_same = 2}}), "helpers may differ");
  EXPECT_EQ(code_text({}), "not known");
  EXPECT_NE(to_text(*report).find("code differs in fib (changed)\n"), std::string::npos) << to_text(*report);

  // Captures of another module than the pairs say nothing of them.
  experiment.workloads[0].module_sha256[1] = std::string(64, 'f');
  ASSERT_TRUE(files_.publish("run2.wagoexp/experiment.json", base::as_bytes(to_json_text(experiment))));
  auto exchanged = report_on("run2.wagoexp", {}, files_);
  ASSERT_TRUE(exchanged) << exchanged.error().to_string();
  EXPECT_NE(exchanged->findings.workloads[0].finding, Finding::SameCode);
  ASSERT_FALSE(exchanged->remarks.empty());
  EXPECT_NE(exchanged->remarks[0].find("is no capture of the experiment's candidate: its module is another"),
            std::string::npos)
      << exchanged->remarks[0];
}

// One workload, slower by 3 %, with captures of both sides: the candidate's of level 0 and another code.
class ReportsOfSettings : public Reports {
 protected:
  ReportsOfSettings() {
    experiment_.workloads.erase(experiment_.workloads.begin() + 1, experiment_.workloads.end());
    experiment_.sides[1].setting = "--level 0";
    experiment_.workloads[0].captures = {"captures/a.wagoprof", "captures/b.wagoprof"};
    experiment_.workloads[0].contract_sha256 = capture::testing::consistent_parts().manifest.contract_sha256;
    EXPECT_TRUE(files_.create_directory("s.wagoexp"));
    EXPECT_TRUE(files_.create_directory("s.wagoexp/captures"));
  }
  ReportedWorkload reported() {
    std::vector<Pair> pairs;
    add(pairs, 0, 16, 0.03, 0.002);
    EXPECT_TRUE(files_.publish("s.wagoexp/experiment.json", base::as_bytes(to_json_text(experiment_))));
    EXPECT_TRUE(files_.publish("s.wagoexp/pairs.jsonl", base::as_bytes(lines_of(experiment_, pairs))));
    auto report = report_on("s.wagoexp", {}, files_);
    EXPECT_TRUE(report) << report.error().to_string();
    if (!report) return {};
    report_ = std::move(*report);
    return report_.workloads[0];
  }
  Experiment experiment_ = example();
};

TEST_F(ReportsOfSettings, CodeAndCountsAreComparedAsInAnyOther) {
  counted(files_, "s.wagoexp/captures/a.wagoprof", 1000, 1);
  counted(files_, "s.wagoexp/captures/b.wagoprof", 1300, 2, 0);
  const ReportedWorkload slow = reported();
  EXPECT_EQ(slow.found.finding, Finding::Regressed);
  EXPECT_EQ(instructions_text(slow), "+30.00 %");
  EXPECT_EQ(code_text(slow), "1 function");
  EXPECT_NE(to_text(report_).find("code differs in fib (changed)\n"), std::string::npos) << to_text(report_);
  const base::Json json = to_json(report_);
  const base::Json* code = json.find("workloads")->items()[0].find("code");
  EXPECT_EQ(code->find("instructions")->find("candidate_machine")->as_double(), 6500);
  EXPECT_NE(to_markdown(report_).find("| +30.00 % | 1 function |"), std::string::npos)
      << to_markdown(report_);
  EXPECT_NE(to_html(report_).find("+30.00 %</td><td>1 function</td>"), std::string::npos);
}

TEST_F(ReportsOfSettings, ASettingThatChangesNoCodeIsTheSameCode) {
  counted(files_, "s.wagoexp/captures/a.wagoprof", 1000, 1);
  counted(files_, "s.wagoexp/captures/b.wagoprof", 1000, 1, 0);
  const ReportedWorkload same = reported();
  EXPECT_EQ(same.found.finding, Finding::SameCode) << same.found.reason;
  EXPECT_EQ(instructions_text(same), "equal");
  EXPECT_EQ(code_text(same), "same");
}

TEST_F(ReportsOfSettings, CapturesThatDifferInMoreAreLeftOutAndItIsSaid) {
  counted(files_, "s.wagoexp/captures/a.wagoprof", 1000, 1);
  counted(files_, "s.wagoexp/captures/b.wagoprof", 1300, 2, 0);
  experiment_.sides[1].setting = "--bounds explicit";
  EXPECT_EQ(code_text(reported()), "not known");
  ASSERT_FALSE(report_.remarks.empty());
  EXPECT_EQ(
      report_.remarks[0],
      "what ran of same is not known: s.wagoexp/captures/a.wagoprof: cannot be compared with "
      "s.wagoexp/captures/b.wagoprof: they differ in effective_settings.level; `profile explain --catalog` "
      "records both sides again");
}

// What cannot be read explains nothing: the command is the one that records, and what it leaves is read.
TEST_F(ReportsOfSettings, CapturesThatAreMissingOrDamagedAreRecordedAgain) {
  const std::string records =
      "wago-profile profile explain s.wagoexp same --catalog FILE --baseline PROGRAM --candidate PROGRAM";
  counted(files_, "s.wagoexp/captures/a.wagoprof", 1000, 1);
  EXPECT_EQ(code_text(reported()), "not known");
  EXPECT_EQ(command_for(report_, report_.workloads[0]), records);
  counted(files_, "s.wagoexp/captures/b.wagoprof", 1300, 2, 0);
  EXPECT_EQ(code_text(reported()), "1 function");
  EXPECT_EQ(command_for(report_, report_.workloads[0]), "wago-profile profile explain s.wagoexp same");
  ASSERT_TRUE(files_.publish("s.wagoexp/captures/b.wagoprof/manifest.json", base::as_bytes("{}")));
  EXPECT_EQ(code_text(reported()), "not known");
  EXPECT_EQ(report_.remarks.size(), 1u);
  EXPECT_EQ(command_for(report_, report_.workloads[0]), records);

  ASSERT_TRUE(files_.create_directory("s.wagoexp/explain"));
  counted(files_, "s.wagoexp/explain/same.baseline.exact.wagoprof", 1000, 1);
  EXPECT_EQ(code_text(reported()), "not known") << "one side alone";
  counted(files_, "s.wagoexp/explain/same.candidate.exact.wagoprof", 1300, 2, 0);
  EXPECT_EQ(code_text(reported()), "1 function");
  EXPECT_EQ(instructions_text(report_.workloads[0]), "+30.00 %");
  EXPECT_TRUE(report_.remarks.empty());
  EXPECT_EQ(command_for(report_, report_.workloads[0]), "wago-profile profile explain s.wagoexp same");
  // Of an experiment without captures, too.
  experiment_.workloads[0].captures = {};
  EXPECT_EQ(code_text(reported()), "not known");
  EXPECT_EQ(command_for(report_, report_.workloads[0]), "wago-profile profile explain s.wagoexp same");
}

TEST_F(ReportsOfSettings, ASideThatCannotCountStillHasItsCode) {
  counted(files_, "s.wagoexp/captures/a.wagoprof", std::nullopt, 1);
  counted(files_, "s.wagoexp/captures/b.wagoprof", 1300, 2, 0);
  const ReportedWorkload slow = reported();
  EXPECT_EQ(instructions_text(slow), "-");
  EXPECT_EQ(code_text(slow), "1 function");
}

TEST_F(Reports, ThePictureOfPairsHasAScale) {
  const std::string text = to_html(report_);
  // 3 % slower with a margin of 1 %: lines at 1 and 2 and 3 %.
  const size_t slow = text.find("aria-label=\"change of each pair\"", text.find("slow|&lt;b&gt; +"));
  const std::string picture = text.substr(slow, text.find("</svg>", slow) - slow);
  for (const char* label : {">+3 %</text>", ">+2 %</text>", ">+1 %</text>", ">0 %</text>", ">-3 %</text>"})
    EXPECT_NE(picture.find(label), std::string::npos) << label << " of " << picture;
  for (ReportedWorkload& workload : report_.workloads) {
    for (double& change : workload.changes) change *= 300;
  }
  EXPECT_NE(to_html(report_).find(">+500 %</text>"), std::string::npos);
}

TEST_F(Reports, AHistoryIsShownBesideItsWorkload) {
  std::vector<capture::HistoryExperiment> experiments;
  for (uint64_t i = 1; i <= 5; ++i) {
    const double log_ratio = i < 3 ? 0.0001 * static_cast<double>(i) : 0.03;
    capture::HistoryResult result{.catalog = "bundled", .workload = "same", .finding = "same", .pairs = 8};
    result.log_ratio = log_ratio;
    result.log_error = 0.0002;
    capture::HistoryExperiment experiment{.start_unix_ns = i, .cpu_model = "Test CPU", .results = {result}};
    experiment.sides[0].version = "<first>";
    experiment.sides[1].version = "v" + std::to_string(i);
    experiments.push_back(experiment);
    experiment.cpu_model = "Other CPU";
    experiments.push_back(experiment);
  }
  auto history = history_of("h.wagohist", experiments);
  ASSERT_TRUE(history);
  EXPECT_TRUE(to_json(report_).find("workloads")->items()[0].find("history")->is_null());
  add_history(report_, std::make_shared<const History>(std::move(*history)));
  const base::Json json = to_json(report_);
  const base::Json* known = json.find("workloads")->items()[3].find("history");
  EXPECT_EQ(known->find("cpu_model")->as_string(), "Test CPU");
  EXPECT_EQ(known->find("points")->items().size(), 6u);
  EXPECT_TRUE(json.find("workloads")->items()[0].find("history")->is_null());
  const std::string text = to_html(report_);
  EXPECT_NE(text.find("<h2>History, against &lt;first&gt;</h2><svg "), std::string::npos);
  EXPECT_NE(text.find("<title>&lt;first&gt;: +0.00 % [+0.00 %, +0.00 %], first measured 1970-01-01</title>"),
            std::string::npos);
  EXPECT_NE(text.find("<title>v3: +3.05 % ["), std::string::npos);
  EXPECT_NE(text.find(" from v3 on, proposed</title><line "), std::string::npos);
  EXPECT_EQ(text.find("<first>"), std::string::npos);
}

TEST_F(Reports, WhatIsNoExperimentIsSaid) {
  auto report = report_on("nothing.wagoexp", {}, files_);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().to_string(), "nothing.wagoexp: there is no such experiment");
}

}  // namespace
}  // namespace wago::diff
