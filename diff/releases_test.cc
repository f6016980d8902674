#include "diff/releases.h"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>

#include "base/json.h"

namespace wago::diff {
namespace {

// Reports on experiments of two workloads, `steady` and `drifts`, the second of which takes longer by
// `change`.
class ReleaseReports {
 public:
  Report& add(const std::string& baseline, const std::string& candidate, double change) {
    Report& report = reports_.emplace_back();
    report.path = candidate + ".wagoexp";
    report.experiment.complete = true;
    report.experiment.start_unix_ns = 1'000'000'000 * reports_.size();
    report.experiment.target = "x86_64-linux";
    report.experiment.cpu_model = "Test CPU";
    const std::string* revisions[] = {&baseline, &candidate};
    for (size_t i = 0; i < 2; ++i) {
      report.experiment.sides[i] = {
          .program = "wago-profile", .revision = *revisions[i], .dirty = base::Dirty::Clean};
    }
    report.experiment.workloads = {{.id = "steady", .catalog = "c"}, {.id = "drifts", .catalog = "c"}};
    for (uint32_t i = 0; i < 2; ++i) {
      ReportedWorkload workload{.workload = i};
      workload.found.pairs = 12;
      workload.found.finding = Finding::Same;
      workload.found.change = i == 0 ? 0 : change;
      workload.found.interval = Interval{workload.found.change - 0.0005, workload.found.change + 0.0005};
      report.workloads.push_back(workload);
    }
    report.findings.suite = {.workloads = 2, .change = change / 2};
    return report;
  }
  // As named in this order.
  Releases together(std::initializer_list<size_t> order) const {
    std::vector<ReleaseReport> list;
    for (size_t i : order) list.push_back({"report " + std::to_string(i), &reports_[i]});
    return releases_of(list);
  }

 private:
  std::deque<Report> reports_;  // which stay where they are
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Releases, ManyStepsThatAreNoneAddUp) {
  ReleaseReports reports;
  for (int i = 0; i < 6; ++i) reports.add("v" + std::to_string(i), "v" + std::to_string(i + 1), 0.005);
  const Releases releases = reports.together({2, 0, 1, 5, 4, 3});
  ASSERT_EQ(releases.columns.size(), 6u);
  EXPECT_EQ(releases.columns[0].baseline, "v0") << "in the order of time";
  EXPECT_EQ(releases.columns[5].candidate, "v6");
  EXPECT_TRUE(releases.remarks.empty());
  ASSERT_EQ(releases.rows.size(), 2u);
  EXPECT_EQ(releases.rows[0].workload, "drifts");
  ASSERT_EQ(releases.rows[0].series.size(), 1u);
  EXPECT_NEAR(releases.rows[0].series[0]->points[6].level->change, std::pow(1.005, 6) - 1, 1e-6);
  ASSERT_TRUE(releases.suite);
  EXPECT_EQ(releases.suite_workloads, 2u);
  const HistoryLevel& suite = *releases.suite->points[6].level;
  EXPECT_NEAR(suite.change, std::pow(1.005, 3) - 1, 1e-6) << "half of it in logarithms";
  EXPECT_FALSE(contains(history_svg(*releases.suite), "opacity")) << "a level that nobody looked for";
  const HistoryLevel& one = *releases.rows[0].series[0]->points[6].level;
  EXPECT_NEAR(suite.interval.high - suite.interval.low, (one.interval.high - one.interval.low) / std::sqrt(2),
              1e-4);
  EXPECT_TRUE(contains(to_text(releases), "v6 against v0")) << to_text(releases);
  EXPECT_TRUE(contains(to_text(releases), "+3.04 % [")) << to_text(releases);
}

TEST(Releases, WhatWasNotMeasuredIsLeftEmpty) {
  ReleaseReports reports;
  reports.add("v0", "v1", 0.01);
  reports.add("v1", "v2", 0.01).workloads.pop_back();
  const Releases releases = reports.together({0, 1});
  EXPECT_NE(releases.rows[0].cells[0], nullptr);
  EXPECT_EQ(releases.rows[0].cells[1], nullptr);
  EXPECT_EQ(releases.suite_workloads, 1u) << "of the one that every version has";
  EXPECT_TRUE(to_json(releases).find("workloads")->items()[0].find("results")->items()[1].is_null());
  // Its last version is v1, and the last column is v2 against v0.
  const std::string text = to_text(releases);
  const size_t row = text.find("\ndrifts") + 1;
  EXPECT_EQ(text[text.find('\n', row) - 1], '-') << text;
}

// What fails a gate stands in the document on all of them, too.
TEST(Releases, FailuresOfTheInstructionGateAreSaid) {
  ReleaseReports reports;
  Report& slower = reports.add("v0", "v1", 0);
  slower.workloads[1].code = CodeLane{.instructions = InstructionLane{.machine = {1000, 1500}}};
  slower.instruction_floor = 0.01;
  reports.add("v1", "v2", 0);
  const Releases releases = reports.together({0, 1});
  for (const std::string& text : {to_text(releases), to_markdown(releases), to_html(releases)}) {
    EXPECT_TRUE(contains(text, "drifts executes +50.00 % machine instructions, exactly; the floor is 1 %"))
        << text;
  }
}

TEST(Releases, ExperimentsWithoutVersionsAreInTheTableAlone) {
  ReleaseReports reports;
  reports.add("v0", "v1", 0.01);
  reports.add("v1", "v2", 0.01).experiment.complete = false;
  reports.add("v1", "v1", 0).findings.invalid = {"control fib moved"};
  const Releases releases = reports.together({0, 1, 2});
  EXPECT_EQ(releases.columns.size(), 3u);
  ASSERT_EQ(releases.remarks.size(), 2u);
  EXPECT_TRUE(contains(releases.remarks[0], "not in the picture: v2.wagoexp: is not finished"))
      << releases.remarks[0];
  EXPECT_EQ(releases.rows[0].series[0]->points.size(), 2u);
  EXPECT_TRUE(contains(to_text(releases), "v1 to v1: nothing is claimed: control fib moved"));
}

TEST(Releases, TheHeadlineSaysWhatWasFound) {
  ReleaseReports reports;
  ReportedWorkload& slower = reports.add("v0", "v1", 0.02).workloads[1];
  slower.found.finding = Finding::Regressed;
  slower.found.gated = true;
  reports.add("v1", "v2", 0.02).workloads[1].found.finding = Finding::Regressed;
  reports.add("v2", "v3", 0);
  const std::string found = "3 experiments of 2 workloads: 2 regressed (1 held over all), 4 same";
  EXPECT_EQ(headline(reports.together({0, 1, 2})), found);
  EXPECT_TRUE(contains(to_html(reports.together({0, 1, 2})), "<h1>" + found + "</h1>"));
  reports.add("v3", "v4", 0).findings.invalid = {"control fib moved"};
  EXPECT_EQ(headline(reports.together({2, 3})), "2 experiments of 2 workloads: 2 same; 1 experiment invalid");
}

TEST(Releases, WhatIsAdvisedAreFlagsOfReports) {
  ReleaseReports reports;
  reports.add("v0", "v1", 0.01).experiment.sides[1].setting = "--level 0";
  reports.add("v1", "unknown", 0.01);
  reports.add("v2", "v2", 0.01);
  const Releases releases = reports.together({0, 1, 2});
  ASSERT_EQ(releases.remarks.size(), 3u);
  EXPECT_EQ(
      releases.remarks[0],
      "not in the picture: v1.wagoexp: compares a setting, which is no step from one version to the next: "
      "name the sides with --baseline-release and --release if it is one");
  EXPECT_EQ(
      releases.remarks[1],
      "not in the picture: unknown.wagoexp: the revision of wago-profile is unknown: name it with --release");
  EXPECT_EQ(releases.remarks[2],
            "not in the picture: v2.wagoexp: both sides are v2: where something else differs, name them with "
            "--baseline-release and --release");
}

TEST(Releases, NamesOfReleasesAreThoseThatWereGiven) {
  ReleaseReports reports;
  for (int i = 0; i < 2; ++i) {
    Report& report = reports.add("same", "same", 0.01);
    report.baseline_release = "1." + std::to_string(i);
    report.release = "1." + std::to_string(i + 1);
  }
  const Releases releases = reports.together({0, 1});
  EXPECT_TRUE(releases.remarks.empty());
  EXPECT_EQ(releases.history->versions, (std::vector<std::string>{"1.0", "1.1", "1.2"}));
}

TEST(Releases, APageHasTheTableThePictureAndLinks) {
  ReleaseReports reports;
  reports.add("v<0>", "v1", 0.01);
  reports.add("v1", "v2", -0.01).findings.suspect = "12 of 12 findings point one way";
  const Releases releases = reports.together({0, 1});
  const std::string html = to_html(releases, ".html");
  EXPECT_TRUE(contains(html, "<h2>CPU time against v&lt;0&gt;, geometric mean of 2 workloads</h2><svg"));
  EXPECT_TRUE(contains(html, "<a href=\"report%200.html\">report 0</a>")) << html;
  EXPECT_TRUE(contains(html, "<button>v&lt;0&gt; to v1</button>"));
  EXPECT_TRUE(contains(html, "v1 to v2: 12 of 12 findings point one way"));
  EXPECT_FALSE(contains(html, "v<0>"));
  EXPECT_FALSE(contains(to_html(releases), "href=\"report"));
  const std::string markdown = to_markdown(releases, ".md");
  EXPECT_TRUE(contains(markdown, "\n| drifts | same +1.00 % | same -1.00 % |")) << markdown;
  EXPECT_TRUE(contains(markdown, "[v1 to v2](report%201.md): ")) << markdown;
  const base::Json json = to_json(releases);
  EXPECT_EQ(json.find("experiments")->items()[1].find("candidate")->as_string(), "v2");
  EXPECT_EQ(json.find("suite")->find("points")->items().size(), 3u);
}

}  // namespace
}  // namespace wago::diff
