// Stacks with their costs, merged from the root: what flame graphs draw and folded files hold.
//
// Invariants: nodes[0] is the root of everything and has no label; parents come before their children,
// children of one node are of different labels; total is self and the totals of the children. Stacks are
// whole, however deep they are, so that what walks them does not recurse.
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

// Different stacks, inlined frames counted; what a tree has no room for is in a frame of its own at the root.
inline constexpr size_t kMaxCallNodes = 8'000'000;
inline constexpr std::string_view kNoRoom = "[too many different stacks]";
// In a shortened() tree: the frames between both ends of a stack.
inline constexpr std::string_view kLeftOut = "[frames left out]";
// Folded stacks that are written and read.
inline constexpr uint64_t kMaxFoldedBytes = uint64_t{512} << 20;

struct CallNode {
  uint32_t label = capture::kNone;
  uint32_t parent = capture::kNone;
  uint32_t depth = 0;    // of the root 0
  bool inlined = false;  // its machine code is part of its parent's, always
  uint64_t self = 0;     // weight
  uint64_t total = 0;
  uint64_t samples = 0;  // of self
};

struct CallTree {
  std::string file;         // the capture or folded file
  std::string unit;         // "nanoseconds"; "samples" for folded files, which do not say
  bool knows_sides = true;  // false for folded files
  std::vector<Label> labels;
  std::vector<CallNode> nodes;
  uint64_t truncated_stacks = 0;  // of the capture's samples: they begin anywhere on their stack
  uint32_t left_out = 0;          // frames that are not in the deepest of the stacks, see shortened()

  uint64_t weight() const { return nodes[0].total; }
};

// Precondition: evidence.samples. Functions are those after inlining. `node_of_stack`: where wanted, the node
// of each of the capture's stacks that a sample names.
CallTree call_tree(const Evidence& evidence, std::vector<uint32_t>* node_of_stack = nullptr,
                   size_t most_nodes = kMaxCallNodes);

// Without the stacks that have a frame whose label, raw or as it is printed, `matches`.
CallTree without(const CallTree& tree, const std::function<bool(const Label&)>& matches);

// Both ends of stacks that are deeper than `most_frames`, with kLeftOut between them: for pictures, which
// have no room for all. What a function costs itself stays with it; totals of frames that were left out are
// lost. Precondition: most_frames > 128.
CallTree shortened(const CallTree& tree, uint32_t most_frames);

// Folded stacks, a line each: names from the root separated by semicolons, a space, the cost. Names are raw;
// what would break a line is escaped, and semicolons become colons. Error (Usage): more than `most_bytes`.
base::Result<std::string> to_folded(const CallTree& tree, uint64_t most_bytes = kMaxFoldedBytes);
// How many samples are behind a cost these files do not say: the cheapest stack counts as one. Errors (Usage)
// name the line. Understands what FlameGraph's tools append to names: _[k] the kernel's, _[j]
// compiled at run time, _[i] inlined.
base::Result<CallTree> parse_folded(std::string_view text, const std::string& file);

}  // namespace wago::diff
