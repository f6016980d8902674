#include "diff/instruction_gate.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "diff/compare.h"

namespace wago::diff {
namespace {

using Sentences = std::vector<std::string>;

Report report_of(std::vector<std::pair<std::string, std::optional<InstructionLane>>> workloads,
                 std::optional<double> floor = 0.0025) {
  Report report;
  report.instruction_floor = floor;
  for (auto& [id, lane] : workloads) {
    ReportedWorkload workload;
    workload.workload = static_cast<uint32_t>(report.experiment.workloads.size());
    capture::ExperimentWorkload of;
    of.id = id;
    of.catalog = "c";
    report.experiment.workloads.push_back(of);
    workload.code = CodeLane{.instructions = lane};
    report.workloads.push_back(std::move(workload));
  }
  return report;
}

InstructionLane lane(double baseline, double candidate) {
  return {.machine = {baseline, candidate}};
}

TEST(InstructionGate, MoreThanTheFloorFails) {
  const GatedInstructions gated = gate_instructions(report_of({{"equal", lane(1000, 1000)},
                                                               {"fewer", lane(1000, 500)},
                                                               {"within", lane(10000, 10025)},
                                                               {"beyond", lane(10000, 10026)}}));
  EXPECT_EQ(gated.failures,
            Sentences{"beyond executes +0.26 % machine instructions, exactly; the floor is 0.25 %"});
  EXPECT_EQ(gated.known, 4u);
  EXPECT_TRUE(gated.unknown.empty());
}

TEST(InstructionGate, WithoutAFloorASingleInstructionFails) {
  EXPECT_EQ(gate_instructions(report_of({{"one", lane(1e9, 1e9 + 1)}}, 0.0)).failures.size(), 1u);
  EXPECT_TRUE(gate_instructions(report_of({{"one", lane(1e9, 1e9)}}, 0.0)).failures.empty());
}

TEST(InstructionGate, WhatIsNotKnownIsRemarkedAndTheSameCodeNeedsNoCount) {
  Report report = report_of({{"same", {}}, {"uncounted", {}}});
  report.workloads[0].code->same_code = true;
  set_instruction_gate(report, 0.01);
  const GatedInstructions gated = gate_instructions(report);
  EXPECT_EQ(gated.known, 1u);
  const Sentences wanted = {"uncounted is not gated: executed instructions were not counted on both sides"};
  EXPECT_EQ(gated.unknown, wanted);
  EXPECT_TRUE(gated.failures.empty());
  EXPECT_EQ(report.remarks, wanted);
}

TEST(InstructionGate, WithoutAGateCountsFailNothing) {
  const Report report = report_of({{"more", lane(1, 2)}}, std::nullopt);
  EXPECT_TRUE(gate_instructions(report).failures.empty());
  EXPECT_EQ(to_text(report).find("executes"), std::string::npos);
  EXPECT_TRUE(to_json(report, report.workloads[0]).find("instruction_failure")->is_null());
}

// A failure that only an exit code knew would be looked for in vain.
TEST(InstructionGate, EveryFormatOfAReportSaysIt) {
  const Report report = report_of({{"more", lane(1000, 1500)}});
  const std::string wanted = "executes +50.00 % machine instructions, exactly; the floor is 0.25 %";
  for (const std::string& text : {to_text(report), to_markdown(report), to_html(report),
                                  to_junit(report, "s"), to_json(report).dump()}) {
    EXPECT_NE(text.find(wanted), std::string::npos) << text;
  }
  EXPECT_NE(to_junit(report, "s").find("failures=\"1\""), std::string::npos);
  EXPECT_EQ(to_annotations(report).find("::error title=more instructions::"), 0u) << to_annotations(report);
}

UnpairedReport unpaired(uint64_t baseline, uint64_t candidate, uint64_t candidate_work = 1) {
  UnpairedBenchmark benchmark{.name = "w"};
  CountComparison counts;
  counts.baseline_work = 1;
  counts.candidate_work = candidate_work;
  counts.machine = {baseline, candidate};
  counts.functions.emplace_back();
  benchmark.exact = ExactLanes{{}, counts};
  UnpairedReport report;
  report.benchmarks.push_back(std::move(benchmark));
  report.instruction_floor = 0.01;
  return report;
}

TEST(InstructionGate, CapturesAreGatedOverTheSameWork) {
  EXPECT_EQ(gate_instructions(unpaired(1000, 1011)).failures,
            Sentences{"w executes +1.10 % machine instructions, exactly; the floor is 1 %"});
  EXPECT_TRUE(gate_instructions(unpaired(1000, 1010)).failures.empty());
  EXPECT_EQ(gate_instructions(unpaired(0, 2000)).unknown.size(), 1u);
}

// It may execute more each time, so that a side that did it more often has the greater mean.
TEST(InstructionGate, OverDifferentWorkNothingIsGated) {
  UnpairedReport report = unpaired(1000, 3000, 2);
  report.benchmarks[0].exact->counts->work_unit = "invocation";
  EXPECT_EQ(gate_instructions(report).known, 0u);
  set_instruction_gate(report, 0);
  EXPECT_EQ(
      report.benchmarks[0].reasons,
      Sentences{"not gated: the sides did not do the same work, 1 and 2 invocations; record both with the "
                "same --iterations"});
  EXPECT_TRUE(gate_instructions(report).failures.empty());
  report.benchmarks[0].verdict = Verdict::SameCode;
  EXPECT_EQ(gate_instructions(report).known, 1u);
  EXPECT_TRUE(gate_instructions(report).failures.empty())
      << "the same code is the same, whatever was counted";
}

TEST(InstructionGate, SeveralReportsAreOneGate) {
  GatedInstructions all = gate_instructions(report_of({{"a", lane(1, 2)}, {"b", {}}}));
  all += gate_instructions(report_of({{"c", lane(1, 1)}, {"d", lane(1, 2)}}));
  EXPECT_EQ(all.failures.size(), 2u);
  EXPECT_EQ(all.unknown.size(), 1u);
  EXPECT_EQ(all.known, 3u);
}

TEST(InstructionGate, EveryFormatOfCapturesSaysIt) {
  const UnpairedReport report = unpaired(1000, 1500);
  const std::string wanted = "executes +50.00 % machine instructions, exactly; the floor is 1 %";
  for (const std::string& text : {to_text(report), to_markdown(report), to_html(report),
                                  to_junit(report, "s"), to_json(report).dump()}) {
    EXPECT_NE(text.find(wanted), std::string::npos) << text;
  }
  EXPECT_NE(to_junit(report, "s").find("failures=\"1\""), std::string::npos);
  EXPECT_NE(to_annotations(report).find("::error title=w instructions::executes +50.00 %25 machine"),
            std::string::npos)
      << to_annotations(report);
}

}  // namespace
}  // namespace wago::diff
