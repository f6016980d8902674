#include "diff/call_tree.h"

#include <gtest/gtest.h>

#include "diff/test_evidence.h"

namespace wago::diff {
namespace {

using capture::kNone;
using capture::Side;

TEST(CallTree, StacksAreMergedFromTheRootAndInlinedFunctionsAreFrames) {
  EXPECT_EQ(*to_folded(call_tree(mix_evidence())),
            "main 100\n"
            "main;entry-adapter (i32) -> (i32);main;hot 300\n"
            "main;entry-adapter (i32) -> (i32);main;hot;inner 200\n"
            "main;entry-adapter (i32) -> (i32);main;main;memory_grow 100\n"
            "main;[kernel] 100\n"
            "0x7f0012345678 100\n"
            "main;entry-adapter (i32) -> (i32);[mix.wasm+0x88] 100\n");
}

// Lines, sorted: the order of nodes is nobody's promise.
std::string sorted(std::string text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    lines.push_back(text.substr(0, text.find('\n') + 1));
    text.erase(0, lines.back().size());
  }
  std::sort(lines.begin(), lines.end());
  std::string result;
  for (const std::string& line : lines) result += line;
  return result;
}

TEST(CallTree, TotalsAreSelfAndWhatIsAbove) {
  CallTree tree = call_tree(mix_evidence());
  EXPECT_EQ(tree.weight(), 1000u);
  for (const CallNode& node : tree.nodes) {
    uint64_t sum = node.self;
    for (const CallNode& child : tree.nodes) {
      if (child.parent != kNone && &tree.nodes[child.parent] == &node) sum += child.total;
    }
    EXPECT_EQ(node.total, sum);
    if (node.label == kNone) continue;
    const std::string& name = tree.labels[node.label].name;
    EXPECT_EQ(node.inlined, name == "inner") << name;
  }
}

TEST(CallTree, FoldedStacksComeBackAsTheyWere) {
  const std::string folded = *to_folded(call_tree(mix_evidence()));
  auto tree = parse_folded(folded, "f.folded");
  ASSERT_TRUE(tree.ok()) << tree.error().to_string();
  EXPECT_EQ(sorted(*to_folded(*tree)), sorted(folded));
  EXPECT_EQ(tree->weight(), 1000u);
  EXPECT_FALSE(tree->knows_sides);
}

TEST(CallTree, SamplesAreThoseOfTheCaptureAndOfFilesTheCheapestStackIsOne) {
  auto samples = [](const CallTree& tree) {
    std::string text;
    for (const CallNode& node : tree.nodes) {
      if (node.self > 0) text += tree.labels[node.label].name + " " + std::to_string(node.samples) + "\n";
    }
    return text;
  };
  EXPECT_EQ(samples(call_tree(mix_evidence())).substr(0, 30), "main 1\nhot 3\ninner 2\nmemory_gr");
  EXPECT_EQ(samples(*parse_folded("a;b 700\na 100\na;c 249\na;d 250\na;e 0\n", "f")), "a 1\nb 7\nc 2\nd 3\n");
}

TEST(CallTree, OtherToolsMarksAreUnderstood) {
  auto tree =
      parse_folded("# made by hand\nmain;work_[j];help_[i] 3\r\n\nmain;read_[k] 4\nmain;_[k] 1\n", "f");
  ASSERT_TRUE(tree.ok()) << tree.error().to_string();
  EXPECT_EQ(*to_folded(*tree), "main;work;help 3\nmain;read 4\nmain;_[k] 1\n");
  EXPECT_EQ(tree->labels[1].side, Side::Guest);
  EXPECT_EQ(tree->labels[3].side, Side::Kernel);
  EXPECT_TRUE(tree->nodes[3].inlined);
}

TEST(CallTree, WhatIsNoFoldedFileIsRefusedByLine) {
  for (const auto& [text, why] : std::vector<std::pair<std::string, std::string>>{
           {"a;b 1\na;b\n", "f: line 2: is not a folded stack"},
           {"a;b 1.5\n", "f: line 1: is not a folded stack"},
           {"a;b -1\n", "f: line 1: is not a folded stack"},
           {" 5\n", "f: line 1: is not a folded stack"},
           {"a 18446744073709551615\nb 1\n", "f: line 2: the costs exceed 64 bits"},
           {"a 18446744073709551616\n", "f: line 1: is not a folded stack"},
           {"", "f: holds no stack that cost anything"},
           {"a 0\n", "f: holds no stack that cost anything"}}) {
    auto tree = parse_folded(text, "f");
    ASSERT_FALSE(tree.ok()) << text;
    EXPECT_NE(tree.error().to_string().find(why), std::string::npos) << tree.error().to_string();
  }
}

TEST(CallTree, NamesCannotBreakALine) {
  Evidence evidence = mix_evidence();
  evidence.images.images[0].functions[1].name = "a;b\nc 7";
  const std::string folded = *to_folded(call_tree(evidence));
  EXPECT_NE(folded.find(";a:b\\x0ac 7 300\n"), std::string::npos) << folded;
  EXPECT_EQ(parse_folded(folded, "f")->weight(), 1000u);
}

// The samples of mix_evidence() on one stack of `main` upon `main`, `depth` of them, with a leaf of its own.
Evidence deep(uint32_t depth) {
  Evidence evidence = mix_evidence();
  capture::Samples& samples = *evidence.samples;
  samples = {.threads = std::move(samples.threads)};
  capture::StackTable table(samples);
  const capture::Frame main = {Side::Host, kNone, 0, table.symbol("main", "wago-profile")};
  const capture::Frame leaf = {Side::Host, kNone, 0, table.symbol("leaf", "wago-profile")};
  std::vector<capture::Frame> frames(depth, main);
  samples.samples = {{2, 7, 0, table.stack(std::vector(10, main))}};
  frames.push_back(leaf);
  samples.samples.push_back({3, 5, 0, table.stack(frames)});
  return evidence;
}

std::string repeated(const std::string& word, size_t times) {
  std::string text;
  for (size_t i = 0; i < times; ++i) text += word;
  return text;
}

TEST(CallTree, DeepStacksAreWholeAndCostStaysWithTheLeaf) {
  for (const uint32_t depth : {1023u, 1024u, 8'192u, 100'000u}) {
    std::vector<uint32_t> nodes;
    CallTree tree = call_tree(deep(depth), &nodes);
    EXPECT_EQ(tree.nodes.size(), 1 + depth + 1);
    EXPECT_EQ(tree.weight(), 12u);
    const CallNode& leaf = tree.nodes[nodes.back()];
    EXPECT_EQ(tree.labels[leaf.label].name, "leaf");
    EXPECT_EQ(leaf.self, 5u);
    EXPECT_EQ(leaf.depth, depth + 1);
    const std::string folded = repeated("main;", 9) + "main 7\n" + repeated("main;", depth) + "leaf 5\n";
    EXPECT_TRUE(*to_folded(tree) == folded) << depth;
    EXPECT_TRUE(*to_folded(*parse_folded(folded, "f")) == folded) << depth;
  }
}

TEST(CallTree, WhatATreeHasNoRoomForIsAFrameOfItsOwn) {
  std::vector<uint32_t> nodes;
  CallTree tree = call_tree(deep(200), &nodes, 50);
  EXPECT_EQ(*to_folded(tree), repeated("main;", 9) + "main 7\n[too many different stacks] 5\n");
  EXPECT_EQ(tree.labels[tree.nodes[nodes.back()].label].name, kNoRoom);
}

TEST(CallTree, FoldedTextIsBounded) {
  CallTree tree = call_tree(deep(1000));
  auto folded = to_folded(tree, 5000);
  ASSERT_FALSE(folded.ok());
  EXPECT_EQ(folded.error().to_string(),
            "mix.wagoprof: its stacks are more than 0 MiB of text: export --format pprof, which writes each "
            "name once, or record less");
  EXPECT_TRUE(to_folded(tree, 6000).ok());
}

TEST(CallTree, ShortenedStacksKeepBothEnds) {
  std::string stack;
  for (int i = 1; i <= 2000; ++i) stack += (i == 1 ? "f" : ";f") + std::to_string(i);
  CallTree whole = *parse_folded("f1;f2 3\n" + stack + " 5\n" + stack + ";leaf 6\n", "f");
  CallTree tree = shortened(whole, 1000);
  std::string outer, folded;
  for (int i = 1; i <= 935; ++i) outer += "f" + std::to_string(i) + ";";
  outer += "[frames left out];";
  folded = "f1;f2 3\n" + outer;
  for (int i = 1937; i <= 2000; ++i) folded += "f" + std::to_string(i) + (i == 2000 ? " 5\n" : ";");
  folded += outer;
  for (int i = 1938; i <= 2000; ++i) folded += "f" + std::to_string(i) + ";";
  EXPECT_EQ(*to_folded(tree), folded + "leaf 6\n");
  EXPECT_EQ(tree.left_out, 2001u - 935 - 64);
  EXPECT_EQ(tree.weight(), 14u);
  for (const CallNode& node : tree.nodes) EXPECT_LE(node.depth, 1000u);
}

TEST(CallTree, StacksThatFitAreNotShortened) {
  const std::string folded = repeated("a;", 999) + "b 2\n" + repeated("a;", 950) + "c 1\n" + "a;b;c 4\n";
  CallTree tree = shortened(*parse_folded(folded, "f"), 1000);
  EXPECT_EQ(sorted(*to_folded(tree)), sorted(folded));
  EXPECT_EQ(tree.left_out, 0u);
}

TEST(CallTree, StacksThatAreLeftOutAreLeftOutWhole) {
  CallTree tree = call_tree(mix_evidence());
  CallTree left = without(tree, [](const Label& label) { return label.name == "hot"; });
  EXPECT_EQ(left.weight(), 500u);
  EXPECT_EQ(to_folded(left)->find("inner"), std::string::npos);
  EXPECT_EQ(without(tree, [](const Label&) { return true; }).weight(), 0u);
}

}  // namespace
}  // namespace wago::diff
