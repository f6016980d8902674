#include "diff/timeline.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "diff/test_evidence.h"

namespace wago::diff {
namespace {

using capture::kNoParent;
using capture::SpanKind;

// Ten calls in 100 us of timed windows. Of two of them everything is known: the first grows memory and calls
// a host function that calls back, whose own call of the host is recursion; the second traps.
Evidence evidence() {
  Evidence made = test_evidence();
  made.manifest.phases[1].completed_work = 10;
  made.manifest.effective_settings.timeline = true;
  made.manifest.effective_settings.max_spans = 100;
  capture::Spans spans{.phase_start_ns = 10'000, .phase_elapsed_ns = 110'000};
  spans.names = {"compile", "work", "memory.grow", "env.f", "inner", "close"};
  spans.spans = {{SpanKind::Lifecycle, 0, kNoParent, 1'000, 5'000},
                 {SpanKind::Invocation, 1, kNoParent, 10'000, 60'000},
                 {SpanKind::Helper, 2, 1, 11'000, 1'000},
                 {SpanKind::HostCall, 3, 1, 20'000, 40'000},
                 {SpanKind::Reentry, 4, 3, 25'000, 30'000},
                 {SpanKind::HostCall, 3, 4, 30'000, 10'000},
                 {SpanKind::Invocation, 1, kNoParent, 90'000, 30'000, true},
                 {SpanKind::Lifecycle, 5, kNoParent, 120'500, 700}};
  made.spans = std::move(spans);
  return made;
}

void expect_row(const TimelineRow& row, SpanKind kind, const char* name, uint64_t count, uint64_t trapped,
                uint64_t inclusive_ns, uint64_t exclusive_ns) {
  EXPECT_EQ(spelling(row.kind), spelling(kind));
  EXPECT_EQ(row.name, name);
  EXPECT_EQ(row.count, count);
  EXPECT_EQ(row.trapped, trapped);
  EXPECT_EQ(row.inclusive_ns, inclusive_ns);
  EXPECT_EQ(row.exclusive_ns, exclusive_ns);
}

TEST(Timeline, TimeGoesToTheInnermostSpan) {
  const Timeline timeline = timeline_of(evidence()).value();
  ASSERT_EQ(timeline.rows.size(), 4u);
  expect_row(timeline.rows[0], SpanKind::Invocation, "work", 2, 1, 90'000, 49'000);
  expect_row(timeline.rows[1], SpanKind::HostCall, "env.f", 2, 0, 40'000, 20'000);
  expect_row(timeline.rows[2], SpanKind::Helper, "memory.grow", 1, 0, 1'000, 1'000);
  expect_row(timeline.rows[3], SpanKind::Reentry, "inner", 1, 0, 30'000, 20'000);
  EXPECT_EQ(timeline.outermost_ns, 90'000u);
  EXPECT_EQ(timeline.crossings, (std::array<uint64_t, capture::kSpanKinds>{0, 2, 2, 1, 1}));
  ASSERT_EQ(timeline.around.size(), 2u);
  expect_row(timeline.around[0], SpanKind::Lifecycle, "compile", 1, 0, 5'000, 5'000);
  expect_row(timeline.around[1], SpanKind::Lifecycle, "close", 1, 0, 700, 700);
}

TEST(Timeline, ExclusiveTimesAddUpToTheOutermostSpans) {
  const Timeline timeline = timeline_of(evidence()).value();
  uint64_t sum = 0;
  for (const TimelineRow& row : timeline.rows) sum += row.exclusive_ns;
  EXPECT_EQ(sum, timeline.outermost_ns);
}

TEST(Timeline, ReadsWell) {
  EXPECT_EQ(
      to_text(timeline_of(evidence()).value()),
      "capture   a.wagoprof\n"
      "workload  fib (fib.wasm), phase execute\n"
      "measured  10 invocations, 100 us timed\n"
      "timeline  8 spans, 0 lost\n"
      "\n"
      "there and back    per unit  in all\n"
      "host to guest          0.3       3\n"
      "guest to host          0.2       2\n"
      "guest to runtime       0.1       1\n"
      "\n"
      "kind        count  inclusive  exclusive  per unit   share  trapped  name\n"
      "invocation      2      90 us      49 us    4.9 us  49.0 %        1  work\n"
      "host-call       2      40 us      20 us      2 us  20.0 %        -  env.f\n"
      "helper          1       1 us       1 us    100 ns   1.0 %        -  memory.grow\n"
      "re-entry        1      30 us      20 us      2 us  20.0 %        -  inner\n"
      "between                           10 us      1 us  10.0 %           (the recorder, between spans)\n"
      "elapsed time, not CPU time; inclusive: recursion counted once; exclusive: without the spans inside; "
      "per unit and share: of exclusive time\n"
      "\n"
      "outside the measured phase  count  elapsed\n"
      "compile                         1     5 us\n"
      "close                           1   700 ns\n");
}

TEST(Timeline, NothingIsDerivedFromWhatIsIncomplete) {
  Evidence lossy = evidence();
  lossy.spans->lost = lossy.manifest.losses.spans = 7;
  const Timeline timeline = timeline_of(lossy).value();
  EXPECT_TRUE(timeline.rows.empty());
  EXPECT_TRUE(timeline.around.empty());
  EXPECT_EQ(
      to_text(timeline),
      "capture   a.wagoprof\n"
      "workload  fib (fib.wasm), phase execute\n"
      "measured  10 invocations, 100 us timed\n"
      "timeline  8 spans, 7 lost\n"
      "withheld  7 spans were lost, beyond the 100 of --max-spans or on other threads, and no totals can be "
      "told; record fewer iterations, or with a higher bound\n");
  const base::Json json = to_json(timeline);
  EXPECT_EQ(json.find("measured"), nullptr);
  EXPECT_EQ(json.find("crossings"), nullptr);
  EXPECT_TRUE(json.find("withheld")->is_string());
}

TEST(Timeline, ACaptureWithoutOneIsRefused) {
  auto refused = timeline_of(test_evidence());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().to_string(),
            "a.wagoprof: was recorded without a timeline: record with --timeline");
  EXPECT_EQ(to_chrome_trace(test_evidence()).error().to_string(), refused.error().to_string());
}

TEST(Timeline, ChromeTraceHasEverySpanAtItsTime) {
  auto document = base::parse_json(to_chrome_trace(evidence()).value(), "trace.json", {});
  ASSERT_TRUE(document) << document.error().to_string();
  const auto events = document->find("traceEvents")->items();
  ASSERT_EQ(events.size(), 2u + 1u + 8u);  // two names, the phase, the spans
  EXPECT_EQ(events[2].find("name")->as_string(), "measured phase");
  EXPECT_EQ(events[2].find("ts")->as_double(), 9.0);
  EXPECT_EQ(events[2].find("dur")->as_double(), 110.0);
  const base::Json& host = events[3 + 3];
  EXPECT_EQ(host.find("name")->as_string(), "env.f");
  EXPECT_EQ(host.find("cat")->as_string(), "host-call");
  EXPECT_EQ(host.find("ph")->as_string(), "X");
  EXPECT_EQ(host.find("ts")->as_double(), 19.0);
  EXPECT_EQ(host.find("dur")->as_double(), 40.0);
  EXPECT_TRUE(events[3 + 6].find("args")->find("trapped")->as_bool());
  EXPECT_EQ(document->find("otherData")->find("lost_spans")->to_u64(), 0u);
}

}  // namespace
}  // namespace wago::diff
