#include "diff/call_tree.h"

#include <gtest/gtest.h>

#include "diff/test_evidence.h"

namespace wago::diff {
namespace {

using capture::kNone;
using capture::Side;

TEST(CallTree, StacksAreMergedFromTheRootAndInlinedFunctionsAreFrames) {
  EXPECT_EQ(to_folded(call_tree(mix_evidence())),
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
  const std::string folded = to_folded(call_tree(mix_evidence()));
  auto tree = parse_folded(folded, "f.folded");
  ASSERT_TRUE(tree.ok()) << tree.error().to_string();
  EXPECT_EQ(sorted(to_folded(*tree)), sorted(folded));
  EXPECT_EQ(tree->weight(), 1000u);
  EXPECT_FALSE(tree->knows_sides);
}

TEST(CallTree, OtherToolsMarksAreUnderstood) {
  auto tree =
      parse_folded("# made by hand\nmain;work_[j];help_[i] 3\r\n\nmain;read_[k] 4\nmain;_[k] 1\n", "f");
  ASSERT_TRUE(tree.ok()) << tree.error().to_string();
  EXPECT_EQ(to_folded(*tree), "main;work;help 3\nmain;read 4\nmain;_[k] 1\n");
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
  const std::string folded = to_folded(call_tree(evidence));
  EXPECT_NE(folded.find(";a:b\\x0ac 7 300\n"), std::string::npos) << folded;
  EXPECT_EQ(parse_folded(folded, "f")->weight(), 1000u);
}

TEST(CallTree, DeepStacksAreCutAndSayIt) {
  Evidence evidence = mix_evidence();
  capture::Samples& samples = *evidence.samples;
  samples.stacks.clear();
  for (uint32_t i = 0; i < 100'000; ++i) samples.stacks.push_back({0, i == 0 ? kNone : i - 1});
  samples.samples = {{1, 5, 0, 99'999}, {2, 7, 0, 10}};
  CallTree tree = call_tree(evidence);
  EXPECT_EQ(tree.nodes.size(), 1 + kMaxDepth);
  EXPECT_EQ(tree.weight(), 12u);
}

TEST(CallTree, StacksThatAreLeftOutAreLeftOutWhole) {
  CallTree tree = call_tree(mix_evidence());
  CallTree left = without(tree, [](const Label& label) { return label.name == "hot"; });
  EXPECT_EQ(left.weight(), 500u);
  EXPECT_EQ(to_folded(left).find("inner"), std::string::npos);
  EXPECT_EQ(without(tree, [](const Label&) { return true; }).weight(), 0u);
}

}  // namespace
}  // namespace wago::diff
