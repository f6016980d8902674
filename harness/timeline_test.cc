#include "harness/timeline.h"

#include <gtest/gtest.h>
#include <wago/wago.h>

#include <stdexcept>
#include <thread>

#include "harness/testing/modules.h"
#include "runtime/engine_data.h"

namespace wago::harness {
namespace {

using capture::kNoParent;
using capture::Span;
using capture::SpanKind;
using capture::Spans;

// kCrossing with a host function `down`: down(n) is sink(n - 1) + 1 of whoever calls it.
class TimelineTest : public ::testing::Test {
 protected:
  void open(uint64_t max_spans = 100) {
    timeline_.emplace(max_spans);
    engine_.emplace(Engine::open().value());
    engine_->data()->set_boundary_hooks(&Timeline::hooks());
    module_.emplace(compile());
    Linker linker(*engine_);
    auto down = [this](const Caller& caller, int32_t n) -> Result<int32_t> {
      if (n == thrown_) throw std::runtime_error("enough");
      auto sink = caller.instance()->function("sink").value().typed<int32_t(int32_t)>().value();
      TypedResult<int32_t> deeper = sink(n - 1);
      if (!deeper) return forgiven_ ? Result<int32_t>(0) : base::failed(deeper.trap().message);
      return *deeper + 1;
    };
    ASSERT_TRUE(linker.define_host("env", "down", down));
    instance_.emplace(linker.instantiate(*module_).value());
    timeline_->record(Timeline::Scope::Nothing);
  }
  Module compile() const {
    return engine_->compile({testing::kCrossing.begin(), testing::kCrossing.end()}).value();
  }
  TypedResult<int32_t> sink(int32_t n) const {
    return instance_->function("sink").value().typed<int32_t(int32_t)>().value()(n);
  }
  bool help(int32_t at, int32_t bytes) const {
    return instance_->function("help").value().typed<int32_t(int32_t, int32_t)>().value()(at, bytes).ok();
  }

  // "invocation sink", "  host-call env.down!": indented by depth, those that trapped marked. What the
  // timeline holds is what a reader accepts.
  std::vector<std::string> told() const {
    const Spans spans = timeline_->spans();
    auto read = capture::parse_spans(to_json_text(spans), "spans.json");
    EXPECT_TRUE(read) << read.error().to_string();
    std::vector<std::string> lines;
    for (const Span& span : spans.spans) {
      std::string line;
      for (uint32_t p = span.parent; p != kNoParent; p = spans.spans[p].parent) line += "  ";
      lines.push_back(line + std::string(spelling(span.kind)) + " " + spans.names[span.name] +
                      (span.trapped ? "!" : ""));
    }
    return lines;
  }
  using Lines = std::vector<std::string>;

  std::optional<Timeline> timeline_;
  std::optional<Engine> engine_;
  std::optional<Module> module_;
  std::optional<Instance> instance_;
  int32_t thrown_ = -1;
  bool forgiven_ = false;
};

TEST_F(TimelineTest, SpansNestAsCallsDo) {
  open();
  timeline_->begin_window();
  EXPECT_EQ(*sink(2), 2);
  EXPECT_EQ(*sink(0), 0);
  timeline_->end_window();
  EXPECT_EQ(told(), (Lines{"invocation sink", "  host-call env.down", "    re-entry sink",
                           "      host-call env.down", "        re-entry sink", "invocation sink"}));
}

TEST_F(TimelineTest, HelpersAreNamedAsWebAssemblyNamesThem) {
  open();
  timeline_->begin_window();
  EXPECT_TRUE(help(0, 100));
  EXPECT_FALSE(help(65'536, 1));
  EXPECT_FALSE(help(5, 1));
  timeline_->end_window();
  EXPECT_EQ(told(),
            (Lines{"invocation help", "  helper memory.fill", "  helper memory.copy", "  helper table.fill",
                   "  helper memory.grow", "invocation help!", "  helper memory.fill!", "invocation help!",
                   "  helper memory.fill", "  helper memory.copy", "  helper table.fill!"}));
}

TEST_F(TimelineTest, TrapsAndExceptionsEndTheirSpans) {
  open();
  thrown_ = 1;
  timeline_->begin_window();
  EXPECT_FALSE(sink(2));
  forgiven_ = true;
  EXPECT_EQ(*sink(2), 0);
  EXPECT_EQ(*sink(0), 0);
  timeline_->end_window();
  EXPECT_EQ(told(), (Lines{"invocation sink!", "  host-call env.down!", "    re-entry sink!",
                           "      host-call env.down!", "invocation sink", "  host-call env.down",
                           "    re-entry sink!", "      host-call env.down!", "invocation sink"}));
}

TEST_F(TimelineTest, CrossingsAreRecordedInsideWindowsOnly) {
  open();
  EXPECT_EQ(*sink(1), 1);
  timeline_->begin_window();
  EXPECT_EQ(*sink(0), 0);
  timeline_->end_window();
  EXPECT_EQ(*sink(1), 1);
  EXPECT_TRUE(told() == Lines{"invocation sink"});
}

TEST_F(TimelineTest, StepsHoldWhatHappensInThem) {
  open();
  timeline_->record(Timeline::Scope::Steps);
  {
    StepSpan step(base::Phase::Initialize);
    EXPECT_EQ(*sink(1), 1);
  }
  timeline_->begin_window();
  {
    StepSpan step(base::Phase::Instantiate);
    EXPECT_EQ(*sink(0), 0);
  }
  timeline_->end_window();
  { StepSpan step(base::Phase::Close); }
  EXPECT_EQ(told(), (Lines{"lifecycle initialize", "lifecycle instantiate", "  invocation sink"}));
}

TEST_F(TimelineTest, WhatDoesNotFitIsCounted) {
  open(3);
  timeline_->begin_window();
  EXPECT_EQ(*sink(2), 2);  // five spans
  EXPECT_EQ(*sink(0), 0);
  timeline_->end_window();
  EXPECT_EQ(timeline_->spans().lost, 3u);
  EXPECT_EQ(told(), (Lines{"invocation sink", "  host-call env.down", "    re-entry sink"}));
}

TEST_F(TimelineTest, GuestsOnOtherThreadsAreCountedAsLost) {
  open();
  timeline_->begin_window();
  std::thread([&] { EXPECT_EQ(*sink(1), 1); }).join();  // three spans
  timeline_->end_window();
  std::thread([&] { EXPECT_EQ(*sink(1), 1); }).join();
  EXPECT_EQ(timeline_->spans().lost, 3u);
  EXPECT_TRUE(timeline_->spans().spans.empty());
}

TEST_F(TimelineTest, EqualModulesShareTheirNames) {
  open();
  Linker linker(*engine_);
  ASSERT_TRUE(linker.define_host("env", "down", [](int32_t n) { return n; }));
  timeline_->begin_window();
  for (int i = 0; i < 3; ++i) {
    module_.emplace(compile());
    instance_.emplace(linker.instantiate(*module_).value());
    EXPECT_EQ(*sink(7), 7);
  }
  timeline_->end_window();
  EXPECT_EQ(timeline_->spans().names, (Lines{"sink", "env.down"}));
}

// The host's own calls of its functions enter no guest; another engine's guests are nobody's business here.
TEST_F(TimelineTest, OnlyGuestsAreEntered) {
  open();
  auto plain = Engine::open().value();
  auto module = plain.compile({testing::kArith.begin(), testing::kArith.end()}).value();
  auto instance = Linker(plain).instantiate(module).value();
  auto fib = instance.function("fib").value().typed<int32_t(int32_t)>().value();
  auto twice = Function::host(*engine_, [](int32_t n) { return 2 * n; }).value();
  timeline_->begin_window();
  EXPECT_EQ(*fib(10), 55);
  EXPECT_EQ(*twice.typed<int32_t(int32_t)>().value()(4), 8);
  timeline_->end_window();
  EXPECT_EQ(told(), (Lines{"host-call host function"}));
}

}  // namespace
}  // namespace wago::harness
