#include "capture/consistency.h"

#include <gtest/gtest.h>

#include <functional>

#include "capture/test_parts.h"

namespace wago::capture {
namespace {

using testing::Parts;

std::string verdict(const std::function<void(Parts&)>& edit) {
  Parts parts = testing::consistent_parts();
  edit(parts);
  auto checked = check(parts.manifest, parts.images, parts.iterations);
  if (checked) return "accepted";
  EXPECT_EQ(checked.error().kind, base::ErrorKind::Usage);
  std::string text = checked.error().to_string(), prefix = "damaged capture: ";
  EXPECT_EQ(text.rfind(prefix, 0), 0u) << text;
  return text.substr(std::min(prefix.size(), text.size()));
}

TEST(Consistency, WhatAgreesIsAccepted) {
  EXPECT_EQ(verdict([](Parts&) {}), "accepted");
}

TEST(Consistency, EveryPhaseCountsItsOwnWork) {
  auto measured = [](base::Phase phase, uint64_t work) {
    return verdict([&](Parts& p) {
      p.manifest.capture_phase = phase;
      p.manifest.phases.back() = {phase, 0, 0, 200'000, work, std::string(work_unit(phase))};
      if (phase == base::Phase::Compile) p.manifest.phases.erase(p.manifest.phases.begin());
      bool calls = phase == base::Phase::Execute || phase == base::Phase::All;
      p.manifest.completed_invocations = calls ? 200 : 0;
      if (phase == base::Phase::All) p.manifest.phases.front().completed_work = 100 * 64;
    });
  };
  EXPECT_EQ(measured(base::Phase::Compile, 100 * 64), "accepted");
  EXPECT_EQ(measured(base::Phase::Reload, 100 * 77), "accepted");
  EXPECT_EQ(measured(base::Phase::Instantiate, 100), "accepted");
  EXPECT_EQ(measured(base::Phase::Initialize, 100), "accepted");
  EXPECT_EQ(measured(base::Phase::Execute, 200), "accepted");
  EXPECT_EQ(measured(base::Phase::Close, 100), "accepted");
  EXPECT_EQ(measured(base::Phase::All, 100), "accepted");
  EXPECT_EQ(measured(base::Phase::Compile, 64),
            "completed_work of phase compile is 64, but the work of 100 times through it is 6400");
  EXPECT_EQ(measured(base::Phase::Reload, 99),
            "completed_work of phase reload is 99, which 100 equal artifacts cannot add up to");
  EXPECT_EQ(measured(base::Phase::Close, 101),
            "completed_work of phase close is 101, but the work of 100 times through it is 100");
}

TEST(Consistency, AmountsThatNobodyDidAreRefused) {
  EXPECT_EQ(verdict([](Parts& p) { p.manifest.completed_iterations = 0; }),
            "completed_iterations is 0, and it is complete");
  EXPECT_EQ(
      verdict([](Parts& p) { p.manifest.completed_iterations = UINT64_MAX; }),
      "completed_work of phase execute is 200, but the work of 18446744073709551615 times through it is "
      "more than 64 bits hold");
  EXPECT_EQ(verdict([](Parts& p) { p.manifest.phases[1].completed_work = uint64_t{1} << 63; }),
            "completed_work of phase execute is 9223372036854775808, but the work of 100 times through it is "
            "200");
  EXPECT_EQ(verdict([](Parts& p) { p.manifest.completed_invocations = 199; }),
            "completed_invocations is 199, but 100 iterations make 200");
  EXPECT_EQ(verdict([](Parts& p) { p.manifest.execution_duration_ns = 0; }),
            "execution_duration_ns is 0, but the measured phase took 200000 ns");
  EXPECT_EQ(verdict([](Parts& p) { p.manifest.execution_duration_ns = uint64_t{1} << 63; }),
            "execution_duration_ns is 9223372036854775808, but the measured phase took 200000 ns");
  EXPECT_EQ(verdict([](Parts& p) { p.manifest.requested_iterations = 99; }),
            "completed_iterations is 100, but 99 were requested");
  EXPECT_EQ(verdict([](Parts& p) { p.manifest.requested_duration_ns = 1; }),
            "either requested_iterations or requested_duration_ns must say what was asked for");
  EXPECT_EQ(verdict([](Parts& p) {
              p.manifest.requested_iterations = 0;
              p.manifest.requested_duration_ns = 200'001;
            }),
            "the measured phase took 200000 ns, but 200001 were requested");
}

TEST(Consistency, PhasesAreThereOnceEachInTheirUnit) {
  EXPECT_EQ(verdict([](Parts& p) { p.manifest.phases.clear(); }),
            "the measured phase, execute, is not among its phases");
  EXPECT_EQ(verdict([](Parts& p) { p.manifest.phases.push_back(p.manifest.phases[0]); }),
            "phase compile is listed twice");
  EXPECT_EQ(verdict([](Parts& p) { p.manifest.phases[1].work_unit = "apples"; }),
            "the work of phase execute is counted in invocations, not in what its work_unit says");
  EXPECT_EQ(verdict([](Parts& p) { p.manifest.capture_phase = base::Phase::Close; }),
            "completed_work of phase execute is 200, but the work of 1 time through it is 2");
}

TEST(Consistency, NothingIsLostThatWasNotCollected) {
  EXPECT_EQ(verdict([](Parts& p) { p.manifest.losses.samples = 5; }),
            "losses.samples is 5, but backend none takes no samples");
  EXPECT_EQ(verdict([](Parts& p) { p.manifest.losses.spans = 1; }),
            "losses.spans is 1, but no timeline was recorded");
}

TEST(Consistency, FilesAreListedOnceEach) {
  EXPECT_EQ(verdict([](Parts& p) { p.manifest.files.push_back(p.manifest.files[0]); }),
            "its manifest lists images.json twice");
  EXPECT_EQ(verdict([](Parts& p) {
              p.manifest.files.push_back({"images.json.gz", 1, {}});
            }),
            "its manifest lists images.json twice");
  EXPECT_EQ(verdict([](Parts& p) { p.manifest.files.pop_back(); }),
            "its manifest does not list iterations.bin");
  EXPECT_EQ(verdict([](Parts& p) {
              p.manifest.files.push_back({"manifest.json", 1, {}});
            }),
            "its manifest lists itself");
  EXPECT_EQ(verdict([](Parts& p) { p.manifest.files[0].name += ".gz"; }), "accepted");
}

TEST(Consistency, TheCodeIsTheOneThatIsNamed) {
  const std::string zeros(64, '0');
  EXPECT_EQ(verdict([&](Parts& p) {
              p.manifest.code_sha256 = zeros;
            }).rfind("code_sha256 is " + zeros + ", but the code in images.json has ", 0),
            0u);
  EXPECT_EQ(verdict([](Parts& p) { p.manifest.module_sha256 = "abc"; }),
            "module_sha256 is not 64 hexadecimal digits");
  EXPECT_EQ(verdict([](Parts& p) { p.images.journal.clear(); }),
            "the journal of images.json loads 0 of 1 images, and no record of it was lost");
  EXPECT_EQ(verdict([](Parts& p) {
              p.images.journal.clear();
              p.manifest.losses.journal_records = 1;
            }),
            "accepted");
}

TEST(Consistency, BatchesAddUpToTheManifest) {
  EXPECT_EQ(verdict([](Parts& p) { p.iterations.clear(); }),
            "completed_iterations is 100, but the batches in iterations.bin add up to 0");
  EXPECT_EQ(verdict([](Parts& p) { p.iterations[1].iterations = 41; }),
            "completed_iterations is 100, but the batches in iterations.bin add up to 101");
  EXPECT_EQ(
      verdict([](Parts& p) { p.iterations[1].iterations = UINT64_MAX; }),
      "completed_iterations is 100, but the batches in iterations.bin add up to more than 64 bits hold");
  EXPECT_EQ(verdict([](Parts& p) { p.iterations[0].wall_ns -= 1; }),
            "execution_duration_ns is 100000, but the batches in iterations.bin add up to 99999");
  EXPECT_EQ(verdict([](Parts& p) { p.iterations[0].cpu_ns = 0; }),
            "execution_cpu_ns is 90000, but the batches in iterations.bin add up to 36000");
  EXPECT_EQ(verdict([](Parts& p) { p.iterations[1].start_ns = 59'999; }),
            "batches in iterations.bin overlap");
  EXPECT_EQ(verdict([](Parts& p) { p.iterations[1].start_ns = 160'001; }),
            "batches in iterations.bin end after the measured phase");
  EXPECT_EQ(verdict([](Parts& p) { p.iterations[1].start_ns = UINT64_MAX; }),
            "batches in iterations.bin end after the measured phase");
}

TEST(Consistency, SpansAreThoseOfTheTimeline) {
  auto verdict_on = [](const std::function<void(Manifest&, std::optional<Spans>&)>& edit) {
    Manifest manifest = testing::consistent_parts().manifest;
    manifest.effective_settings.timeline = true;
    manifest.effective_settings.max_spans = 2;
    std::optional<Spans> spans = Spans{.phase_start_ns = 10, .phase_elapsed_ns = 150'000, .names = {"fib"}};
    spans->spans = {{SpanKind::Invocation, 0, kNoParent, 10, 40'000},
                    {SpanKind::Invocation, 0, kNoParent, 80'010, 60'000}};
    edit(manifest, spans);
    auto checked = check(manifest, spans);
    return checked ? std::string("accepted") : checked.error().message;
  };
  using M = Manifest;
  using S = std::optional<Spans>;
  EXPECT_EQ(verdict_on([](M&, S&) {}), "accepted");
  EXPECT_EQ(verdict_on([](M&, S& s) { s.reset(); }),
            "damaged capture: a timeline was recorded, but it has no spans.json");
  EXPECT_EQ(verdict_on([](M& m, S&) { m.effective_settings.timeline = false; }),
            "damaged capture: it has spans.json, but no timeline was recorded");
  EXPECT_EQ(verdict_on([](M& m, S&) { m.effective_settings.max_spans = 1; }),
            "damaged capture: spans.json holds 2 spans, but max_spans is 1");
  EXPECT_EQ(verdict_on([](M& m, S&) { m.losses.spans = 3; }),
            "damaged capture: losses.spans is 3, but spans.json says 0");
  EXPECT_EQ(verdict_on([](M&, S& s) { s->phase_elapsed_ns = 200'001; }),
            "damaged capture: the measured phase took 200000 ns, but in spans.json 200001");
  EXPECT_EQ(
      verdict_on([](M&, S& s) { s->spans[1].elapsed_ns = 60'001; }),
      "damaged capture: execution_duration_ns is 100000, but the spans of the measured phase took 100001");
  EXPECT_EQ(verdict_on([](M&, S& s) {
              s->spans[1] = {SpanKind::Lifecycle, 0, kNoParent, 160'000, 60'001};
            }),
            "accepted");
}

}  // namespace
}  // namespace wago::capture
