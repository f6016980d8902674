#include "capture/samples.h"

#include <gtest/gtest.h>

namespace wago::capture {
namespace {

Images one_image() {
  Image module{.name = "fib", .size = 64, .regions = {{RegionKind::Body, 0, 64, 0}}};
  module.functions = {{.index = 0, .name = "fib", .size = 64}};
  return {{module}, {{JournalAction::Load, 0, 1, 0x7000}}};
}

Frame guest(uint32_t offset) {
  return {.side = Side::Guest, .image = 0, .offset = offset};
}

Samples example() {
  Samples samples{.period_ns = 10'000'000, .truncated_stacks = 1};
  samples.threads = {{4711, "recorder"}, {4712, "compile worker 1"}};
  StackTable table(samples);
  const Frame root{.side = Side::Host, .symbol = table.symbol("main", "wago-profile")};
  const Frame helper{.side = Side::Helper, .symbol = table.symbol("memory_grow", "wago-profile")};
  const std::vector<Frame> shallow = {root, guest(8)}, deep = {root, guest(8), guest(20), helper};
  samples.samples = {{100, 9'000'000, 0, table.stack(deep)}, {200, 11'000'000, 1, table.stack(shallow)}};
  return samples;
}

TEST(Samples, ReadBackAsWritten) {
  auto samples = parse_samples(to_json_text(example()), "samples.json", one_image());
  ASSERT_TRUE(samples) << samples.error().to_string();
  EXPECT_EQ(*samples, example());
}

TEST(Samples, StacksAreSharedFromTheRoot) {
  Samples samples = example();
  EXPECT_EQ(samples.frames.size(), 4u);
  EXPECT_EQ(samples.stacks.size(), 4u);
  EXPECT_EQ(samples.samples[1].stack, samples.stacks[samples.stacks[samples.samples[0].stack].caller].caller);
  const std::vector<Frame> frames = frames_of(samples, samples.samples[0].stack);
  ASSERT_EQ(frames.size(), 4u);
  EXPECT_EQ(frames[0].side, Side::Helper);
  EXPECT_EQ(frames[1], guest(20));
  EXPECT_EQ(samples.symbols[frames[3].symbol].name, "main");
  EXPECT_EQ(total_weight(samples), 20'000'000u);
}

TEST(Samples, BrokenInvariantsAreNamed) {
  auto sentence = [](auto change) {
    Samples samples = example();
    change(samples);
    auto parsed = parse_samples(to_json_text(samples), "s.json", one_image());
    return parsed ? std::string("accepted") : parsed.error().to_string();
  };
  EXPECT_EQ(sentence([](Samples& s) { s.frames[1].offset = 64; }), "s.json: frame 1 lies in no image");
  EXPECT_EQ(sentence([](Samples& s) { s.frames[1].image = 1; }), "s.json: frame 1 lies in no image");
  EXPECT_EQ(sentence([](Samples& s) { s.frames[0].symbol = 2; }),
            "s.json: frame 0 must have an image or a symbol, one of them and one that is there");
  EXPECT_EQ(sentence([](Samples& s) { s.frames[1].symbol = 0; }),
            "s.json: frame 1 must have an image or a symbol, one of them and one that is there");
  EXPECT_EQ(sentence([](Samples& s) { s.frames[0].side = Side::Guest; }),
            "s.json: frame 0 is the guest's and in no image");
  EXPECT_EQ(sentence([](Samples& s) { s.stacks[1].caller = 1; }),
            "s.json: stack 1 names a frame that is not there or a caller after it");
  EXPECT_EQ(sentence([](Samples& s) { s.samples[1].stack = 4; }),
            "s.json: sample 1 names a stack or a thread that is not there");
  EXPECT_EQ(sentence([](Samples& s) { s.samples[1].thread = 2; }),
            "s.json: sample 1 names a stack or a thread that is not there");
  EXPECT_EQ(sentence([](Samples& s) { s.samples[1].monotonic_ns = 99; }),
            "s.json: the times of samples fall");
  EXPECT_EQ(sentence([](Samples& s) { s.samples[1].weight = ~uint64_t{0}; }),
            "s.json: the weights exceed 64 bits");
  EXPECT_EQ(sentence([](Samples& s) { s.truncated_stacks = 3; }),
            "s.json: has more stacks without their roots than samples");
  EXPECT_EQ(sentence([](Samples& s) { s.truncated_stacks = 2; }), "accepted");
}

TEST(Samples, UnitsAreThoseThatAreWritten) {
  auto sentence = [](const char* unit) {
    Samples samples = example();
    samples.unit = unit;
    auto parsed = parse_samples(to_json_text(samples), "s.json", one_image());
    return parsed ? "accepted " + parsed->unit : parsed.error().to_string();
  };
  EXPECT_EQ(sentence("nanoseconds"), "accepted nanoseconds");
  EXPECT_EQ(sentence("cycles"), "accepted cycles");
  EXPECT_EQ(sentence("apples"), "s.json: unit: 'apples' is not one of nanoseconds, cycles");
}

TEST(Samples, LimitsAreNamed) {
  auto sentence = [](auto change) {
    Limits limits;
    change(limits);
    auto parsed = parse_samples(to_json_text(example()), "s.json", one_image(), limits);
    return parsed ? std::string("accepted") : parsed.error().to_string();
  };
  EXPECT_EQ(sentence([](Limits& l) { l.samples = 1; }),
            "s.json: samples.monotonic_ns: exceeds the limit samples (1)");
  EXPECT_EQ(sentence([](Limits& l) { l.stack_nodes = 3; }),
            "s.json: frames.side: exceeds the limit stack_nodes (3)");
  EXPECT_EQ(sentence([](Limits& l) { l.threads = 1; }), "s.json: threads.id: exceeds the limit threads (1)");
}

}  // namespace
}  // namespace wago::capture
