#include "capture/spans.h"

#include <gtest/gtest.h>

namespace wago::capture {
namespace {

// compile; then, in the measured phase, a call that grows memory and calls a host function, which calls back;
// close.
Spans example() {
  Spans spans{.phase_start_ns = 1000, .phase_elapsed_ns = 500, .lost = 0};
  spans.names = {"compile", "work", "memory.grow", "env.callback", "inner", "close"};
  spans.spans = {
      {SpanKind::Lifecycle, 0, kNoParent, 100, 50}, {SpanKind::Invocation, 1, kNoParent, 1010, 200},
      {SpanKind::Helper, 2, 1, 1020, 10},           {SpanKind::HostCall, 3, 1, 1030, 100},
      {SpanKind::Reentry, 4, 3, 1040, 50, true},    {SpanKind::Invocation, 1, kNoParent, 1210, 290},
      {SpanKind::Lifecycle, 5, kNoParent, 2000, 7}};
  return spans;
}

std::string sentence(void (*change)(Spans&)) {
  Spans spans = example();
  change(spans);
  auto parsed = parse_spans(to_json_text(spans), "s.json");
  return parsed ? std::string("accepted") : parsed.error().to_string();
}

TEST(Spans, ReadBackAsWritten) {
  auto spans = parse_spans(to_json_text(example()), "spans.json");
  ASSERT_TRUE(spans) << spans.error().to_string();
  EXPECT_EQ(*spans, example());
  EXPECT_EQ(*parse_spans(to_json_text(Spans{}), "spans.json"), Spans{});
}

TEST(Spans, TheMeasuredPhaseIsATime) {
  const Spans spans = example();
  EXPECT_FALSE(in_measured_phase(spans, spans.spans[0]));
  EXPECT_TRUE(in_measured_phase(spans, spans.spans[1]));
  EXPECT_TRUE(in_measured_phase(spans, spans.spans[5]));  // to its very end
  EXPECT_FALSE(in_measured_phase(spans, spans.spans[6]));
  EXPECT_FALSE(in_measured_phase(spans, {SpanKind::Lifecycle, 0, kNoParent, 999, 1}));
  EXPECT_FALSE(in_measured_phase(spans, {SpanKind::Lifecycle, 0, kNoParent, 1400, 101}));
}

TEST(Spans, BrokenInvariantsAreNamed) {
  EXPECT_EQ(sentence([](Spans&) {}), "accepted");
  EXPECT_EQ(sentence([](Spans& s) { s.spans[6].name = 6; }), "s.json: span 6 has no name");
  EXPECT_EQ(sentence([](Spans& s) { s.spans[3].start_ns = 1015; }), "s.json: the starts of spans fall");
  EXPECT_EQ(sentence([](Spans& s) { s.spans[2].parent = 2; }), "s.json: span 2 comes before its parent");
  EXPECT_EQ(sentence([](Spans& s) { s.spans[4].elapsed_ns = 91; }), "s.json: span 4 ends after its parent");
  EXPECT_EQ(sentence([](Spans& s) { s.spans[2].elapsed_ns = 11; }),
            "s.json: span 3 overlaps the span before it");
  EXPECT_EQ(sentence([](Spans& s) { s.spans[1].elapsed_ns = 201; }),
            "s.json: span 5 overlaps the span before it");
  EXPECT_EQ(sentence([](Spans& s) { s.spans[6].elapsed_ns = UINT64_MAX - 1999; }),
            "s.json: span 6 ends after the last time that there is");
  EXPECT_EQ(sentence([](Spans& s) { s.phase_elapsed_ns = UINT64_MAX; }),
            "s.json: the measured phase ends after the last time that there is");
  EXPECT_EQ(sentence([](Spans& s) { s.phase_elapsed_ns = 499; }),
            "s.json: span 5 is no step in the module's life and outside the measured phase");
  EXPECT_EQ(sentence([](Spans& s) { s.phase_start_ns = 1011; }),
            "s.json: span 1 is no step in the module's life and outside the measured phase");
}

TEST(Spans, KindsNestAsCallsDo) {
  EXPECT_EQ(sentence([](Spans& s) { s.spans[4].kind = SpanKind::Invocation; }),
            "s.json: span 4, kind invocation, cannot be part of kind host-call");
  EXPECT_EQ(sentence([](Spans& s) { s.spans[5].kind = SpanKind::Reentry; }),
            "s.json: span 5, kind re-entry, cannot be part of nothing");
  EXPECT_EQ(sentence([](Spans& s) { s.spans[3].kind = SpanKind::Lifecycle; }),
            "s.json: span 3, kind lifecycle, cannot be part of kind invocation");
  EXPECT_EQ(sentence([](Spans& s) { s.spans[1].kind = SpanKind::Lifecycle; }), "accepted");
}

TEST(Spans, LimitsAreEnforced) {
  auto parsed = parse_spans(to_json_text(example()), "s.json", {.spans = 6});
  ASSERT_FALSE(parsed);
  EXPECT_NE(parsed.error().to_string().find("exceeds the limit spans (6)"), std::string::npos)
      << parsed.error().to_string();
}

}  // namespace
}  // namespace wago::capture
