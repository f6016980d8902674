#include "diff/flame_graph.h"

#include <gtest/gtest.h>

#include <cmath>

#include "diff/test_evidence.h"

namespace wago::diff {
namespace {

const FlameFrame* find(const FlameGraph& graph, std::string_view name, uint32_t depth) {
  for (const FlameFrame& frame : graph.frames) {
    if (frame.name == name && frame.depth == depth) return &frame;
  }
  return nullptr;
}

FlameGraph graph_of(const Evidence& evidence) {
  CallTree tree = call_tree(evidence);
  return flame_graph({&tree, 10, "invocation", "mix.wagoprof"}, "mix");
}

TEST(FlameGraph, FramesAreAsWideAsTheyCostAndLieOnTheirCallers) {
  FlameGraph graph = graph_of(mix_evidence());
  EXPECT_EQ(graph.frames[0].name, "all");
  EXPECT_EQ(graph.frames[0].width, 1);
  const FlameFrame* hot = find(graph, "hot", 4);
  ASSERT_NE(hot, nullptr);
  EXPECT_DOUBLE_EQ(hot->width, 0.5);
  EXPECT_EQ(hot->info,
            "guest, (i32) -> (i32)\ntotal 50.00 %, 50 ns per invocation\nself 30.00 %, 30 ns per invocation");
  for (const FlameFrame& frame : graph.frames) {
    const FlameFrame& parent = graph.frames[frame.parent];
    if (frame.depth == 0) continue;
    EXPECT_EQ(parent.depth + 1, frame.depth);
    EXPECT_GE(frame.x, parent.x - 1e-12);
    EXPECT_LE(frame.x + frame.width, parent.x + parent.width + 1e-12);
  }
  // No two frames of one depth overlap.
  for (const FlameFrame& a : graph.frames) {
    for (const FlameFrame& b : graph.frames) {
      if (&a == &b || a.depth != b.depth) continue;
      EXPECT_TRUE(a.x + a.width <= b.x + 1e-12 || b.x + b.width <= a.x + 1e-12) << a.name << " " << b.name;
    }
  }
}

TEST(FlameGraph, KindsHaveHuesOfTheirOwn) {
  FlameGraph graph = graph_of(mix_evidence());
  EXPECT_EQ(find(graph, "hot", 4)->style[0], 'g');
  EXPECT_EQ(find(graph, "memory_grow", 5)->style[0], 'r');
  EXPECT_EQ(find(graph, "main", 1)->style[0], 'h');
  EXPECT_EQ(find(graph, "[kernel]", 2)->style[0], 'k');
  EXPECT_EQ(find(graph, "0x7f0012345678", 1)->style[0], 'u');
  EXPECT_TRUE(find(graph, "inner", 5)->inlined);
  EXPECT_DOUBLE_EQ(graph.shares[0], 0.5);
}

TEST(FlameGraph, NarrowFramesAreCountedAndNotDrawn) {
  std::string folded = "a 1000000\n";
  for (int i = 0; i < 50; ++i) folded += "b;f" + std::to_string(i) + " 1\n";
  CallTree tree = *parse_folded(folded, "f");
  FlameGraph graph = flame_graph({&tree, {}, "", "f"}, "t");
  EXPECT_EQ(graph.frames.size(), 2u);
  EXPECT_EQ(graph.hidden, 51u);
  EXPECT_NE(graph.subtitle.find("51 frames are too narrow to be drawn"), std::string::npos) << graph.subtitle;
}

TEST(FlameGraph, WhatCostNothingIsNotTooNarrow) {
  CallTree tree = *parse_folded("a 1\nb;c 0\n", "f");
  FlameGraph graph = flame_graph({&tree, {}, "", "f"}, "t");
  EXPECT_EQ(graph.frames.size(), 2u);
  EXPECT_EQ(graph.subtitle, "f: 1 sample");
}

TEST(FlameGraph, StacksWithoutTheirRootAreSaidToBe) {
  const std::string sentence = "; the stacks of 1 sample do not reach their root";
  EXPECT_EQ(graph_of(mix_evidence()).subtitle, "mix.wagoprof: 100 ns per invocation" + sentence);
  Evidence whole = mix_evidence();
  whole.samples->truncated_stacks = 0;
  EXPECT_EQ(graph_of(whole).subtitle, "mix.wagoprof: 100 ns per invocation");
  Evidence more = mix_evidence();
  more.samples->truncated_stacks = 3;
  const CallTree before = call_tree(more), after = call_tree(whole);
  const FlameSide baseline = {&before, 10, "invocation", "a"}, candidate = {&after, 10, "invocation", "b"};
  EXPECT_EQ(differential_flame_graph(baseline, candidate, "t").subtitle,
            "b against a: 100 ns per invocation, +0.00 %; of the baseline the stacks of 3 samples do not "
            "reach their root");
  EXPECT_EQ(differential_flame_graph(candidate, candidate, "t").subtitle,
            "b against b: 100 ns per invocation, +0.00 %");
}

TEST(FlameGraph, ManyFramesAreBounded) {
  std::string folded;
  for (int i = 0; i < 9'000; ++i) {
    folded += "a" + std::to_string(i) + ";b;c;d " + std::to_string(100 + i % 7) + "\n";
  }
  CallTree tree = *parse_folded(folded, "f");
  FlameGraph graph = flame_graph({&tree, {}, "", "f"}, "t");
  EXPECT_LE(graph.frames.size(), 20'001u);
  EXPECT_EQ(graph.frames.size() + graph.hidden, 36'001u);
}

// The cost of deep recursion's leaf is the leaf's, and can be searched for.
TEST(FlameGraph, DeepStacksKeepTheirLeafWithItsCost) {
  std::string deep;
  for (int i = 0; i < 3000; ++i) deep += "rec;";
  CallTree tree = *parse_folded(deep + "hot 95\n" + deep.substr(0, deep.size() - 1) + " 5\n", "f");
  FlameGraph graph = flame_graph({&tree, {}, "", "f"}, "t");
  EXPECT_EQ(graph.depth, 1024u);
  const FlameFrame* hot = find(graph, "hot", 1024);
  ASSERT_NE(hot, nullptr);
  EXPECT_DOUBLE_EQ(hot->width, 0.95);
  EXPECT_NE(hot->info.find("self 95.00 %"), std::string::npos) << hot->info;
  const FlameFrame* middle = find(graph, "[frames left out]", 960);
  ASSERT_NE(middle, nullptr);
  EXPECT_DOUBLE_EQ(middle->width, 1);
  EXPECT_EQ(graph.subtitle, "f: 100 samples; stacks deeper than 1,024 frames lack up to 1,978 in the middle");
  FlameGraph again = differential_flame_graph({&tree, {}, "", "a"}, {&tree, {}, "", "b"}, "t");
  for (const FlameFrame& frame : again.frames) EXPECT_EQ(frame.style, "n") << frame.name;
}

TEST(Differential, ColoursAreTheChangeOfTheFunctionItselfPerUnitOfWork) {
  CallTree before = *parse_folded("main;work 100\nmain;rest 100\nmain;gone 49\nmain;rare 1\n", "a");
  CallTree after = *parse_folded("main;work 600\nmain;rest 200\nmain;fresh 199\nmain;rare 1\n", "b");
  FlameGraph graph =
      differential_flame_graph({&before, 10, "call", "a"}, {&after, 20, "call", "b"}, "what changed");
  EXPECT_EQ(find(graph, "work", 2)->style, "m4");  // 200 expected, 600 seen: the greatest change
  EXPECT_EQ(find(graph, "rest", 2)->style, "n");   // 200 expected
  EXPECT_EQ(find(graph, "rare", 2)->style, "n");   // 2 expected, by one sample
  EXPECT_EQ(find(graph, "fresh", 2)->style[0], 'm');
  EXPECT_EQ(find(graph, "main", 1)->style, "n") << "it itself costs what it did";
  EXPECT_NE(
      find(graph, "work", 2)->info.find("self 30 samples per call, before 10 samples per call, +200.00 %"),
      std::string::npos)
      << find(graph, "work", 2)->info;
  EXPECT_NE(find(graph, "fresh", 2)->info.find(", not sampled before"), std::string::npos);
  EXPECT_NE(graph.subtitle.find("19.6 % of the baseline was in stacks that no sample found again"),
            std::string::npos)
      << graph.subtitle;
}

TEST(Differential, WithoutWorkWholesAreComparedAsParts) {
  CallTree before = *parse_folded("main;work 1000\nmain;rest 1000\nmain;rare 1\n", "a");
  CallTree after = *parse_folded("main;work 250\nmain;rest 750\nmain;rare 1\n", "b");
  FlameGraph graph = differential_flame_graph({&before, {}, "", "a"}, {&after, {}, "", "b"}, "t");
  EXPECT_EQ(find(graph, "work", 2)->style[0], 'l');
  EXPECT_EQ(find(graph, "rest", 2)->style[0], 'm');
  EXPECT_NE(graph.subtitle.find("costs as parts of their wholes"), std::string::npos);
}

// 20,000 samples a side: 3 standard errors of a change are 600 of them.
TEST(Differential, WhatSamplesCannotTellApartIsGrey) {
  CallTree before = *parse_folded("main;work 20000\nmain;rare 1\n", "a");
  auto after_work = [&](const std::string& cost) {
    CallTree after = *parse_folded("main;work " + cost + "\nmain;rare 1\nmain;few 9\n", "b");
    FlameGraph graph = differential_flame_graph({&before, 10, "call", "a"}, {&after, 10, "call", "b"}, "t");
    EXPECT_EQ(find(graph, "few", 2)->style, "n");
    return *find(graph, "work", 2);
  };
  EXPECT_EQ(after_work("20024").style, "n");
  EXPECT_EQ(after_work("20024").info,
            "total 2.002 k samples per call, before 2 k samples per call, +0.12 %\n"
            "self 2.002 k samples per call, before 2 k samples per call, +0.12 %, within sampling error");
  EXPECT_EQ(after_work("19420").style, "n");
  EXPECT_EQ(after_work("20590").style, "n");
  EXPECT_EQ(after_work("20700").style, "m4");
  EXPECT_EQ(after_work("20700").info.find("sampling error"), std::string::npos);
  EXPECT_EQ(after_work("19300").style, "l4");
  EXPECT_EQ(after_work("20000").info.find("sampling error"), std::string::npos) << "it is the same";
}

// Weights of samples do not matter, their number does.
TEST(Differential, ByTheSamplesOfCapturesAndTheCheapestStackOfFiles) {
  Evidence few = mix_evidence(), many = mix_evidence();
  const auto once = many.samples->samples;
  for (int i = 1; i < 100; ++i) {
    many.samples->samples.insert(many.samples->samples.end(), once.begin(), once.end());
  }
  for (Evidence* evidence : {&few, &many}) {
    Evidence slow = *evidence;
    for (capture::Sample& sample : slow.samples->samples) sample.weight *= 2;
    const CallTree before = call_tree(*evidence), after = call_tree(slow);
    const CallTree file_before = *parse_folded(*to_folded(before), "a"),
                   file_after = *parse_folded(*to_folded(after), "b");
    const std::string style = evidence == &few ? "n" : "m4";
    FlameGraph graph = differential_flame_graph({&before, 10, "", "a"}, {&after, 10, "", "b"}, "t");
    EXPECT_EQ(find(graph, "hot", 4)->style, style);
    graph = differential_flame_graph({&file_before, 10, "", "a"}, {&file_after, 10, "", "b"}, "t");
    EXPECT_EQ(find(graph, "hot", 4)->style, "n") << "100 samples and 10 look alike in a file";
  }
}

TEST(Differential, TheSameAgainIsNeutral) {
  CallTree tree = call_tree(mix_evidence());
  FlameGraph graph = differential_flame_graph({&tree, 10, "call", "a"}, {&tree, 10, "call", "b"}, "t");
  for (const FlameFrame& frame : graph.frames) EXPECT_EQ(frame.style, "n") << frame.name;
}

// Every markup character of a name must come out as text.
TEST(FlameGraphSvg, HostileNamesAreText) {
  Evidence evidence = mix_evidence();
  evidence.images.images[0].functions[1].name =
      "</title><script>alert(1)</script>]]>&\"' \x01\xff\xef\xbf\xbf";
  CallTree tree = call_tree(evidence);
  std::string svg = to_svg(flame_graph({&tree, {}, "", "<b>\x02"}, "]]><x onload=\"y\">\nsecond"));
  EXPECT_EQ(svg.find("<script>alert"), std::string::npos);
  EXPECT_EQ(svg.find("<x onload"), std::string::npos);
  EXPECT_EQ(svg.find("<b>"), std::string::npos);
  EXPECT_EQ(svg.find('\x01'), std::string::npos);
  EXPECT_EQ(svg.find('\x02'), std::string::npos);
  EXPECT_EQ(svg.find("\xef\xbf\xbf"), std::string::npos);
  // One CDATA section, which ends where it is meant to.
  EXPECT_EQ(svg.find("]]>"), svg.rfind("]]>"));
  EXPECT_NE(svg.find("&lt;/title&gt;&lt;script&gt;"), std::string::npos);
}

TEST(FlameGraphSvg, NothingIsReferredToOutside) {
  std::string svg = to_svg(graph_of(mix_evidence()));
  for (size_t at = svg.find("http"); at != std::string::npos; at = svg.find("http", at + 1)) {
    EXPECT_TRUE(svg.substr(at).starts_with("http://www.w3.org/")) << svg.substr(at, 60);
  }
  EXPECT_EQ(svg.find("url("), std::string::npos);
  EXPECT_EQ(svg.find("@import"), std::string::npos);
  EXPECT_NE(svg.find("prefers-color-scheme:dark"), std::string::npos);
}

}  // namespace
}  // namespace wago::diff
