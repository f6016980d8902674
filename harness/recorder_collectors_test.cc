// Recordings with collectors: timelines, samples, exact counts. In the program of recorder_test.cc.
#include <map>

#include "base/clock.h"
#include "capture/catalog.h"
#include "harness/testing/modules.h"
#include "harness/testing/recorder_fixture.h"

namespace wago::harness {
namespace {

using namespace recorder_test;

// By kind and name, of the measured phase and outside it.
std::map<std::string, uint64_t> spans_of(const capture::Spans& spans, bool measured) {
  std::map<std::string, uint64_t> counts;
  for (const capture::Span& span : spans.spans) {
    if (capture::in_measured_phase(spans, span) != measured) continue;
    ++counts[std::string(spelling(span.kind)) + " " + spans.names[span.name]];
  }
  return counts;
}
using Counts = std::map<std::string, uint64_t>;

TEST_F(RecorderTest, ATimelineHasTheLifeOfTheModuleAndEveryCallOfTheMeasuredPhase) {
  RecordRequest wanted = request(testing::kState, {"get", {}, {40}, {}});
  wanted.workload.init = "setup";
  wanted.settings.timeline = true;
  ASSERT_FALSE(record(wanted).error);
  const Capture capture = opened(wanted);
  EXPECT_TRUE(capture.manifest().effective_settings.timeline);
  EXPECT_EQ(capture.manifest().effective_settings.max_spans, kDefaultMaxSpans);
  const capture::Spans spans = capture.contents()->spans.value();
  EXPECT_EQ(spans.lost, 0u);
  EXPECT_EQ(spans_of(spans, true), (Counts{{"invocation get", 100}}));
  EXPECT_EQ(spans_of(spans, false), (Counts{{"lifecycle compile", 1},
                                            {"lifecycle instantiate", 1},
                                            {"lifecycle initialize", 1},
                                            {"lifecycle close", 1}}));
}

TEST_F(RecorderTest, ATimelineOfEveryPhaseHoldsItsSteps) {
  auto measured = [&](base::Phase phase, bool reload) {
    RecordRequest wanted = request(testing::kState, {"get", {}, {40}, {}});
    wanted.workload.init = "setup";
    wanted.workload.phase = phase;
    wanted.workload.iterations = 20;
    wanted.settings.timeline = true;
    wanted.settings.reload_artifact = reload;
    wanted.out = path(std::string(base::spelling(phase)) + (reload ? "_reloaded" : ""));
    RecordOutcome outcome = record(wanted);
    EXPECT_FALSE(outcome.error) << outcome.error->to_string();
    return spans_of(opened(wanted).contents()->spans.value(), true);
  };
  EXPECT_EQ(measured(base::Phase::Compile, false), (Counts{{"lifecycle compile", 20}}));
  EXPECT_EQ(measured(base::Phase::Reload, false), (Counts{{"lifecycle reload", 20}}));
  EXPECT_EQ(measured(base::Phase::Instantiate, false), (Counts{{"lifecycle instantiate", 20}}));
  EXPECT_EQ(measured(base::Phase::Initialize, false),
            (Counts{{"lifecycle initialize", 20}, {"invocation setup", 20}}));
  EXPECT_EQ(measured(base::Phase::Close, false), (Counts{{"lifecycle close", 20}}));
  EXPECT_EQ(measured(base::Phase::All, true), (Counts{{"lifecycle compile", 20},
                                                      {"lifecycle reload", 20},
                                                      {"lifecycle instantiate", 20},
                                                      {"lifecycle initialize", 20},
                                                      {"invocation setup", 20},
                                                      {"invocation get", 20},
                                                      {"lifecycle close", 20}}));
}

// As often as their sources say: see corpora/src/bulk.wat and tables.wat.
TEST_F(RecorderTest, ATimelineHasEveryHelperThatAGuestCalls) {
  const std::string file = WAGO_SOURCE_DIR "/corpora/catalog.json";
  const auto catalog = capture::read_catalog(file).value();
  auto measured = [&](const char* id) {
    RecordRequest wanted;
    wanted.workload = catalog.find(id).value();
    wanted.workload.iterations = 3;
    wanted.workload.duration_ns.reset();
    wanted.settings.timeline = true;
    wanted.out = path(id);
    RecordOutcome outcome = record(wanted);
    EXPECT_FALSE(outcome.error) << outcome.error->to_string();
    return spans_of(opened(wanted).contents()->spans.value(), true);
  };
  EXPECT_EQ(measured("bulk"), (Counts{{"invocation bulk", 3},
                                      {"helper memory.fill", 3 * (1 + 50)},
                                      {"helper memory.init", 3 * 25},
                                      {"helper memory.copy", 3 * (6 + 150)}}));
  EXPECT_EQ(measured("tables"),
            (Counts{{"invocation tables", 3}, {"helper table.init", 3}, {"helper table.copy", 3 * 782}}));
}

TEST_F(RecorderTest, HostFunctionsAreTheCallers) {
  RecordRequest wanted = request(testing::kCrossing, {"sink", {3}, {3}, {}});
  wanted.settings.timeline = true;
  RecordOutcome outcome = record(wanted);
  ASSERT_FALSE(outcome.error) << outcome.error->to_string();
  EXPECT_EQ(spans_of(opened(wanted).contents()->spans.value(), true),
            (Counts{{"invocation sink", 100}, {"host-call env.down", 300}, {"re-entry sink", 300}}));
}

TEST_F(RecorderTest, WhatTheHostsSetUpRefusesIsRefusedBeforeAnythingRuns) {
  RecordRequest wanted = request(testing::kCrossing, {"sink", {3}, {3}, {}});
  wanted.workload.id = kRefusedId;
  EXPECT_EQ(failure_of(wanted, ErrorKind::Usage), "no functions for this one");
  EXPECT_FALSE(std::filesystem::exists(wanted.out));
  wanted.workload.id = kUnprovidedId;
  EXPECT_NE(failure_of(wanted, ErrorKind::Usage).find("not provided: env.down (function (i32) -> (i32))"),
            std::string::npos);
}

TEST_F(RecorderTest, ATimelineOfTrapsSaysSo) {
  RecordRequest wanted = request(testing::kAbort, {"run", {}, {}, base::TrapCode::Abort});
  wanted.settings.timeline = true;
  ASSERT_FALSE(record(wanted).error);
  const capture::Spans spans = opened(wanted).contents()->spans.value();
  EXPECT_EQ(spans_of(spans, true), (Counts{{"invocation run", 100}, {"host-call env.abort", 100}}));
  for (const capture::Span& span : spans.spans) {
    EXPECT_EQ(span.trapped, span.kind != capture::SpanKind::Lifecycle);
  }
}

TEST_F(RecorderTest, ATimelineThatOverflowsIsCompleteAndSaysWhatIsLost) {
  RecordRequest wanted = request(testing::kArith, fib());
  wanted.settings.timeline = true;
  wanted.settings.max_spans = 10;
  RecordOutcome outcome = record(wanted);
  ASSERT_FALSE(outcome.error) << outcome.error->to_string();
  EXPECT_EQ(outcome.manifest.losses.spans, 93u);  // of compile, instantiate, 100 calls, close
  EXPECT_EQ(opened(wanted).contents()->spans->lost, 93u);
}

TEST_F(RecorderTest, TimelinesAreBounded) {
  RecordRequest wanted = request(testing::kArith, fib());
  wanted.settings.timeline = true;
  for (uint64_t spans : {uint64_t{0}, kMaxSpans + 1}) {
    wanted.settings.max_spans = spans;
    EXPECT_EQ(failure_of(wanted, ErrorKind::Usage), "a timeline holds 1 to 1000000 spans");
  }
}

TEST_F(RecorderTest, ASampledCaptureSaysWhereTheTimeWent) {
  for (base::Backend backend : {base::Backend::Pprof, base::Backend::Guest}) {
    RecordRequest wanted = request(testing::kArith, {"fib", {22}, {17711}, {}});
    wanted.out = path(std::string(base::spelling(backend)));
    wanted.workload.backend = backend;
    wanted.workload.iterations.reset();
    wanted.workload.duration_ns = 400'000'000;
    wanted.rate_hz = 999;
    RecordOutcome outcome = record(wanted);
    ASSERT_FALSE(outcome.error) << outcome.error->to_string();
    const Capture capture = opened(wanted);
    const capture::Manifest& m = capture.manifest();
    EXPECT_EQ(m.requested_rate_hz, 999u);
    EXPECT_TRUE(m.event == "cpu-clock:u" || m.event == "thread-cpu-timer") << m.event;
    EXPECT_EQ(m.losses, capture::Losses());
    const capture::Contents contents = *capture.contents();
    ASSERT_TRUE(contents.samples);
    const capture::Samples& samples = *contents.samples;
    ASSERT_GT(samples.samples.size(), 10u);
    EXPECT_EQ(samples.period_ns, 1'001'001u);
    EXPECT_EQ(samples.truncated_stacks, 0u);
    uint64_t in_fib = 0;
    for (const capture::Sample& sample : samples.samples) {
      const std::vector<capture::Frame> frames = capture::frames_of(samples, sample.stack);
      const capture::Symbol& root = samples.symbols[frames.back().symbol];
      EXPECT_NE(root.name.find("Measurement"), std::string::npos) << root.name;
      const capture::Frame& leaf = frames.front();
      if (leaf.side != capture::Side::Guest) continue;
      const capture::Function& fib = contents.images.images[leaf.image].functions[1];
      if (leaf.offset - fib.begin < fib.size) in_fib += sample.weight;
    }
    const auto total = static_cast<double>(capture::total_weight(samples));
    EXPECT_GT(static_cast<double>(in_fib), 0.8 * total);
    EXPECT_LE(total, 1.1 * static_cast<double>(m.measured_phase()->elapsed_ns));
    for (const capture::JournalEntry& entry : contents.images.journal) EXPECT_NE(entry.address, 0u);
  }
}

TEST_F(RecorderTest, ACaptureWithoutSamplesIsWholeAndSaysSo) {
  RecordRequest wanted = request(testing::kArith, fib());
  wanted.workload.backend = base::Backend::Pprof;
  wanted.workload.iterations = 1;
  wanted.rate_hz = 1;
  ASSERT_FALSE(record(wanted).error);
  const Capture capture = opened(wanted);
  ASSERT_FALSE(capture.manifest().diagnostics.empty());
  EXPECT_NE(capture.manifest().diagnostics.back().find("no samples were taken"), std::string::npos);
  EXPECT_TRUE(capture.contents()->samples->samples.empty());
}

// Modules and instances come and go all the time; the history of their code is whole.
TEST_F(RecorderTest, EveryPhaseCanBeSampled) {
  for (base::Phase phase : {base::Phase::Compile, base::Phase::Reload, base::Phase::Instantiate,
                            base::Phase::Initialize, base::Phase::Close, base::Phase::All}) {
    RecordRequest wanted = request(testing::kState, {"get", {}, {40}, {}});
    wanted.workload.init = "setup";
    wanted.workload.phase = phase;
    wanted.workload.backend = base::Backend::Pprof;
    wanted.workload.iterations = 200;
    wanted.rate_hz = 5000;
    wanted.out = path(std::string(base::spelling(phase)));
    RecordOutcome outcome = record(wanted);
    ASSERT_FALSE(outcome.error) << outcome.error->to_string();
    const capture::Contents contents = *opened(wanted).contents();
    ASSERT_TRUE(contents.samples);
    const bool compiles = phase == base::Phase::Compile || phase == base::Phase::All;
    EXPECT_EQ(contents.images.journal.size() > 400, compiles || phase == base::Phase::Reload);
    EXPECT_LE(contents.samples->truncated_stacks * 50, contents.samples->samples.size());
  }
}

// What counts say of the only function that runs.
struct Executed {
  uint64_t entered = 0, wasm = 0, machine = 0;
};
Executed executed_of(const Capture& capture, uint32_t function) {
  const capture::Contents contents = *capture.contents();
  const capture::CodeMetadata& code = contents.images.images[0].metadata;
  const std::vector<uint64_t>& entered = contents.counts->entered.at(0);
  const uint32_t begin = contents.images.images[0].functions[function].begin;
  Executed executed;
  for (uint32_t b = 0; b < code.blocks.size(); ++b) {
    if (code.blocks[b].begin == begin && code.blocks[b].size != 0) executed.entered = entered[b];
    executed.machine += entered[b] * code.blocks[b].machine_instructions;
    for (const auto& range : ranges_of(code, b)) executed.wasm += entered[b] * range.wasm_instructions;
  }
  for (const capture::Unfinished& row : contents.counts->unfinished) {
    executed.machine -= row.times * (code.blocks[row.block].machine_instructions - row.machine_instructions);
    for (const auto& range : ranges_of(code, row.block).subspan(row.ranges)) {
      executed.wasm -= row.times * range.wasm_instructions;
    }
  }
  return executed;
}

TEST_F(RecorderTest, CountsAndTheProcessorsCountersGoTogether) {
  RecordRequest wanted = request(testing::kArith, fib());
  wanted.workload.backend = base::Backend::Count;
  wanted.settings.counters = true;
  RecordOutcome outcome = record(wanted);
  ASSERT_FALSE(outcome.error) << outcome.error->to_string();
  EXPECT_EQ(executed_of(opened(wanted), 1).entered, 100 * 177u);  // fib(10) makes 177 calls
}

TEST_F(RecorderTest, CountsAreOfTheMeasuredPhaseAndExact) {
  RecordRequest wanted = request(testing::kArith, fib());
  wanted.workload.backend = base::Backend::Count;
  RecordOutcome outcome = record(wanted);
  ASSERT_FALSE(outcome.error) << outcome.error->to_string();
  const Capture capture = opened(wanted);
  // fib(10) makes 177 calls, of which 89 are of 0 or 1: those execute 5 instructions and the others 13.
  const Executed executed = executed_of(capture, 1);
  EXPECT_EQ(executed.entered, 100u * 177);
  EXPECT_EQ(executed.wasm, 100u * (89 * 5 + 88 * 13));
  EXPECT_GT(executed.machine, executed.wasm / 2);
  EXPECT_EQ(capture.manifest().event, "executions");

  RecordRequest again = wanted;
  again.out = path("again.wagoprof");
  ASSERT_FALSE(record(again).error);
  EXPECT_EQ(*opened(again).file("counts.json"), *capture.file("counts.json"));

  // What is described is the code without counters.
  RecordRequest plain = wanted;
  plain.workload.backend = base::Backend::None;
  plain.out = path("plain.wagoprof");
  ASSERT_FALSE(record(plain).error);
  EXPECT_EQ(opened(plain).manifest().code_sha256, capture.manifest().code_sha256);
}

TEST_F(RecorderTest, WhatATrapLeavesUndoneDoesNotCount) {
  RecordRequest divide = request(testing::kArith, {"div", {1, 0}, {}, base::TrapCode::IntegerDivideByZero});
  divide.workload.backend = base::Backend::Count;
  ASSERT_FALSE(record(divide).error);
  EXPECT_EQ(executed_of(opened(divide), 2).wasm, 100u * 3);

  RecordRequest abort = request(testing::kAbort, {"run", {}, {}, base::TrapCode::Abort});
  abort.workload.backend = base::Backend::Count;
  abort.out = path("abort.wagoprof");
  ASSERT_FALSE(record(abort).error);
  EXPECT_EQ(executed_of(opened(abort), 0).wasm, 100u * 5);

  // Every call but the last, which finds no stack, has executed two instructions: far more frames than a trap
  // names.
  RecordRequest deep = request(testing::kArith, {"deep", {}, {}, base::TrapCode::StackExhausted});
  deep.workload.backend = base::Backend::Count;
  deep.workload.iterations = 3;
  deep.out = path("deep.wagoprof");
  ASSERT_FALSE(record(deep).error);
  const Executed executed = executed_of(opened(deep), 7);
  EXPECT_GT(executed.entered, 3u * 10'000);
  EXPECT_EQ(executed.wasm, 2 * (executed.entered - 3));
}

TEST_F(RecorderTest, CountsAreRefusedWhereTheyWouldNotBeExact) {
  RecordRequest wanted = request(testing::kArith, fib());
  wanted.workload.backend = base::Backend::Count;
  wanted.workload.phase = base::Phase::Instantiate;
  EXPECT_EQ(failure_of(wanted, ErrorKind::Usage),
            "backend count counts what phase execute runs; phase instantiate is measured by backend none");
  wanted.workload.phase = base::Phase::Execute;
  wanted.settings.reload_artifact = true;
  EXPECT_EQ(failure_of(wanted, ErrorKind::Usage),
            "backend count does not go with --reload-artifact: code that counts is compiled, not loaded");
}

}  // namespace
}  // namespace wago::harness
