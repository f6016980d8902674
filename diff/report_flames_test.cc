#include "diff/report_flames.h"

#include <gtest/gtest.h>

#include "diff/report.h"
#include "diff/test_evidence.h"

namespace wago::diff {
namespace {

Report report_of_mix() {
  Report report;
  report.path = "a.wagoexp";
  report.experiment.workloads = {{.id = "mix"}};
  report.workloads.resize(1);
  return report;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(ReportFlames, CandidatesAreComparedPerUnitOfWork) {
  Evidence slower = mix_evidence("b.wagoprof");
  for (capture::Sample& sample : slower.samples->samples) sample.weight *= 2;
  const FlameGraph graph = flame_difference(mix_evidence("a.wagoprof"), slower, "mix");
  EXPECT_TRUE(graph.differential);
  EXPECT_TRUE(contains(graph.subtitle, "a.wagoprof") && contains(graph.subtitle, "b.wagoprof"))
      << graph.subtitle;
  ASSERT_FALSE(graph.frames.empty());
  EXPECT_TRUE(contains(graph.frames[0].info, "+100.00 %")) << graph.frames[0].info;
}

TEST(ReportFlames, ThePictureIsADocumentOfItsOwn) {
  Report report = report_of_mix();
  report.workloads[0].flames = std::make_shared<const FlameGraph>(
      flame_difference(mix_evidence("a.wagoprof"), mix_evidence("b.wagoprof"), "m\"><script>x"));
  const std::string html = to_html(report);
  EXPECT_TRUE(contains(html, "<iframe title=\"m&quot;&gt;&lt;script&gt;x\" sandbox=\"allow-scripts\""));
  EXPECT_TRUE(contains(html, "src=\"data:image/svg+xml,%3C%3Fxml%20version%3D%221.0%22"));
  EXPECT_TRUE(contains(html, "%26lt%3Bscript%26gt%3Bx"));
  EXPECT_FALSE(contains(html, "was not sampled"));
}

TEST(ReportFlames, WithoutSamplesTheCommandThatTakesThemIsSaid) {
  Report report = report_of_mix();
  base::MemoryFiles files;
  add_flame_graphs(report, files);
  EXPECT_FALSE(report.workloads[0].flames);
  EXPECT_TRUE(report.remarks.empty());
  const std::string html = to_html(report);
  EXPECT_FALSE(contains(html, "<iframe"));
  EXPECT_TRUE(contains(html,
                       "<code>wago-profile profile explain a.wagoexp mix --catalog FILE --baseline PROGRAM "
                       "--candidate PROGRAM</code>"))
      << html;
}

TEST(ReportFlames, WhatCannotBeReadIsARemark) {
  Report report = report_of_mix();
  base::MemoryFiles files;
  for (const char* side : {"baseline", "candidate"}) {
    const std::string directory = std::string("a.wagoexp/explain/mix.") + side + ".sampled.wagoprof";
    ASSERT_TRUE(files.create_directory(directory));
    ASSERT_TRUE(files.create(directory + "/manifest.json", base::as_bytes("{")));
  }
  add_flame_graphs(report, files);
  EXPECT_FALSE(report.workloads[0].flames);
  ASSERT_EQ(report.remarks.size(), 1u);
  EXPECT_TRUE(contains(report.remarks[0], "where the time of mix went is not shown: a.wagoexp/explain/mix."))
      << report.remarks[0];
}

}  // namespace
}  // namespace wago::diff
