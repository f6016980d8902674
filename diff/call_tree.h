// Stacks with their costs, merged from the root: what flame graphs draw and folded files hold.
//
// Invariants: nodes[0] is the root of everything and has no label; parents come before their children,
// children of one node are of different labels; total is self and the totals of the children.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "diff/evidence.h"
#include "diff/labels.h"

namespace wago::diff {

// Deeper frames are cut off, and their cost stays with the frame at this depth: no person looks further up.
inline constexpr uint32_t kMaxDepth = 1024;

struct CallNode {
  uint32_t label = capture::kNone;
  uint32_t parent = capture::kNone;
  uint32_t depth = 0;    // of the root 0
  bool inlined = false;  // its machine code is part of its parent's, always
  uint64_t self = 0;     // weight
  uint64_t total = 0;
};

struct CallTree {
  std::string unit;         // "nanoseconds"; "samples" for folded files, which do not say
  bool knows_sides = true;  // false for folded files
  std::vector<Label> labels;
  std::vector<CallNode> nodes;
  uint64_t cut = 0;  // weight of stacks that are deeper than what is kept of them

  uint64_t weight() const { return nodes[0].total; }
};

// Precondition: evidence.samples. Functions are those after inlining. `node_of_stack`: where wanted, the node
// of each of the capture's stacks that a sample names.
CallTree call_tree(const Evidence& evidence, std::vector<uint32_t>* node_of_stack = nullptr);

// Without the stacks that have a frame whose label, raw or as it is printed, `matches`.
CallTree without(const CallTree& tree, const std::function<bool(const Label&)>& matches);

// Folded stacks, a line each: names from the root separated by semicolons, a space, the cost. Names are raw;
// what would break a line is escaped, and semicolons become colons.
std::string to_folded(const CallTree& tree);
// Errors (Usage) name the line. Understands what FlameGraph's tools append to names: _[k] the kernel's, _[j]
// compiled at run time, _[i] inlined.
base::Result<CallTree> parse_folded(std::string_view text, const std::string& file);

}  // namespace wago::diff
