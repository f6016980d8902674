#include "diff/call_tree.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>
#include <unordered_map>

#include "base/check.h"
#include "base/text.h"

namespace wago::diff {

namespace {

using capture::kNone;
using capture::Samples;

// Frames at the leaves' end of a shortened stack.
constexpr uint32_t kInnermost = 64;

// Grows a tree by one frame at a time. finish() comes last, when the tree has all of its labels.
class Builder {
 public:
  explicit Builder(CallTree& tree, size_t most_nodes = kMaxCallNodes) : tree_(tree), most_nodes_(most_nodes) {
    tree_.nodes.push_back({});
  }

  bool full() const { return tree_.nodes.size() >= most_nodes_; }
  // The node of `label` below `parent`; without room for one the node of kNoRoom.
  uint32_t child(uint32_t parent, uint32_t label, bool inlined) {
    if (parent == no_room_) return parent;
    const uint64_t key = uint64_t{parent} << 32 | label;
    if (auto known = children_.find(key); known != children_.end()) {
      tree_.nodes[known->second].inlined &= inlined;
      return known->second;
    }
    if (full()) return no_room();
    const auto node = static_cast<uint32_t>(tree_.nodes.size());
    tree_.nodes.push_back({label, parent, tree_.nodes[parent].depth + 1, inlined, 0, 0, 0});
    children_.emplace(key, node);
    return node;
  }
  void finish() {
    if (no_room_ == kNone) return;
    tree_.nodes[no_room_].label = static_cast<uint32_t>(tree_.labels.size());
    tree_.labels.push_back({.name = std::string(kNoRoom)});
  }

 private:
  uint32_t no_room() {
    if (no_room_ == kNone) {
      no_room_ = static_cast<uint32_t>(tree_.nodes.size());
      tree_.nodes.push_back({.parent = 0, .depth = 1});
    }
    return no_room_;
  }

  CallTree& tree_;
  size_t most_nodes_;
  std::unordered_map<uint64_t, uint32_t> children_;
  uint32_t no_room_ = kNone;
};

void add_totals(CallTree& tree) {
  for (CallNode& node : tree.nodes) node.total = node.self;
  for (size_t i = tree.nodes.size(); i-- > 1;) tree.nodes[tree.nodes[i].parent].total += tree.nodes[i].total;
}

// Labels of a frame are innermost first; the outermost holds the code of the others.
uint32_t extend(Builder& builder, uint32_t node, std::span<const uint32_t> labels) {
  for (size_t i = labels.size(); i-- > 0;) node = builder.child(node, labels[i], i + 1 < labels.size());
  return node;
}

std::string folded_name(const Label& label) {
  std::string name = base::printable(label.name);
  std::replace(name.begin(), name.end(), ';', ':');
  return name.empty() ? "[unnamed]" : name;
}

struct FoldedLine {
  std::string_view stack;
  uint64_t weight = 0;
};

std::optional<FoldedLine> split_line(std::string_view line) {
  const size_t space = line.rfind(' ');
  if (space == std::string_view::npos || space == 0) return std::nullopt;
  FoldedLine result = {line.substr(0, space), 0};
  const std::string_view number = line.substr(space + 1);
  auto [end, problem] = std::from_chars(number.data(), number.data() + number.size(), result.weight);
  if (problem != std::errc() || end != number.data() + number.size()) return std::nullopt;
  return result;
}

struct FoldedFrame {
  Label label;
  bool inlined = false;
};

FoldedFrame folded_frame(std::string_view text) {
  FoldedFrame frame;
  auto drop = [&](std::string_view suffix) {
    if (!text.ends_with(suffix) || text.size() == suffix.size()) return false;
    text.remove_suffix(suffix.size());
    return true;
  };
  if (drop("_[k]")) {
    frame.label.side = capture::Side::Kernel;
  } else if (drop("_[j]")) {
    frame.label.side = capture::Side::Guest;
  } else if (drop("_[i]")) {
    frame.inlined = true;
  }
  frame.label.name = text;
  return frame;
}

class FoldedReader {
 public:
  explicit FoldedReader(CallTree& tree) : tree_(tree), builder_(tree) {}

  // An error's sentence, or empty.
  std::string add(std::string_view line) {
    const auto split = split_line(line);
    if (!split) return "is not a folded stack: names separated by semicolons, a space, a whole number";
    if (__builtin_add_overflow(sum_, split->weight, &sum_)) return "the costs exceed 64 bits";
    uint32_t node = 0;
    std::string_view rest = split->stack;
    while (true) {
      const size_t end = rest.find(';');
      const FoldedFrame frame = folded_frame(rest.substr(0, end));
      node = builder_.child(node, number(frame.label), frame.inlined);
      if (end == std::string_view::npos) break;
      rest.remove_prefix(end + 1);
    }
    if (builder_.full()) return "brings more than " + std::to_string(kMaxCallNodes) + " different stacks";
    tree_.nodes[node].self += split->weight;
    if (split->weight > 0) cheapest_ = std::min(cheapest_, split->weight);
    return {};
  }

  void add_samples() {
    for (CallNode& node : tree_.nodes) {
      const uint64_t part = node.self / cheapest_;
      node.samples = part + (node.self % cheapest_ >= cheapest_ - cheapest_ / 2 ? 1 : 0);
    }
  }

 private:
  uint32_t number(const Label& label) {
    auto [at, is_new] =
        numbers_.emplace(std::pair(label.side, label.name), static_cast<uint32_t>(tree_.labels.size()));
    if (is_new) tree_.labels.push_back(label);
    return at->second;
  }

  CallTree& tree_;
  Builder builder_;
  std::map<std::pair<capture::Side, std::string>, uint32_t> numbers_;
  uint64_t sum_ = 0;
  uint64_t cheapest_ = std::numeric_limits<uint64_t>::max();
};

}  // namespace

CallTree call_tree(const Evidence& evidence, std::vector<uint32_t>* node_of_stack, size_t most_nodes) {
  const Samples& samples = *evidence.samples;
  CallTree tree;
  tree.file = evidence.path;
  tree.unit = samples.unit;
  tree.truncated_stacks = samples.truncated_stacks;
  Labels labels(evidence, Grouping::Function);
  Builder builder(tree, most_nodes);
  std::vector<uint64_t> own(samples.stacks.size());
  std::vector<bool> is_caller(samples.stacks.size());
  std::vector<uint64_t> taken(samples.stacks.size());  // samples
  for (const capture::Sample& sample : samples.samples) {
    own[sample.stack] += sample.weight;
    ++taken[sample.stack];
  }
  if (node_of_stack) node_of_stack->assign(samples.stacks.size(), 0);
  for (const capture::Stack& stack : samples.stacks) {
    if (stack.caller != kNone) is_caller[stack.caller] = true;
  }
  std::vector<uint32_t> node_of(samples.stacks.size());  // with the stack's frame as a caller
  for (size_t i = 0; i < samples.stacks.size(); ++i) {
    const capture::Stack& stack = samples.stacks[i];
    const capture::Frame& frame = samples.frames[stack.frame];
    const uint32_t caller = stack.caller == kNone ? 0 : node_of[stack.caller];
    if (is_caller[i]) node_of[i] = extend(builder, caller, labels.of(frame, true));
    if (taken[i] == 0) continue;
    const uint32_t node = extend(builder, caller, labels.of(frame, false));
    if (node_of_stack) (*node_of_stack)[i] = node;
    tree.nodes[node].self += own[i];
    tree.nodes[node].samples += taken[i];
  }
  for (uint32_t label = 0; label < labels.size(); ++label) tree.labels.push_back(labels[label]);
  builder.finish();
  add_totals(tree);
  return tree;
}

namespace {

CallTree without_nodes(const CallTree& tree) {
  CallTree result;
  result.file = tree.file;
  result.unit = tree.unit;
  result.knows_sides = tree.knows_sides;
  result.labels = tree.labels;
  result.truncated_stacks = tree.truncated_stacks;
  result.left_out = tree.left_out;
  return result;
}

}  // namespace

CallTree without(const CallTree& tree, const std::function<bool(const Label&)>& matches) {
  CallTree result = without_nodes(tree);
  std::vector<bool> out(tree.labels.size());
  for (size_t i = 0; i < tree.labels.size(); ++i) out[i] = matches(tree.labels[i]);
  std::vector<uint32_t> kept(tree.nodes.size(), kNone);  // by old node
  for (uint32_t i = 0; i < tree.nodes.size(); ++i) {
    const CallNode& node = tree.nodes[i];
    if (i > 0 && (kept[node.parent] == kNone || out[node.label])) continue;
    kept[i] = static_cast<uint32_t>(result.nodes.size());
    result.nodes.push_back(node);
    if (i > 0) result.nodes.back().parent = kept[node.parent];
  }
  add_totals(result);
  return result;
}

namespace {

// The last kInnermost frames of a stack, put on `node`.
uint32_t add_end(const CallTree& tree, uint32_t leaf, Builder& builder, uint32_t node) {
  std::array<const CallNode*, kInnermost> frames;
  for (size_t i = kInnermost; i-- > 0; leaf = frames[i]->parent) frames[i] = &tree.nodes[leaf];
  for (const CallNode* frame : frames) node = builder.child(node, frame->label, frame->inlined);
  return node;
}

}  // namespace

CallTree shortened(const CallTree& tree, uint32_t most_frames) {
  WAGO_CHECK(most_frames > 2 * kInnermost);
  const uint32_t outermost = most_frames - 1 - kInnermost;
  CallTree result = without_nodes(tree);
  result.labels.push_back({.name = std::string(kLeftOut)});
  const auto left_out = static_cast<uint32_t>(tree.labels.size());
  Builder builder(result);
  // Of the nodes above the outermost ones those that stacks need which are kept whole.
  std::vector<bool> needed(tree.nodes.size());
  for (size_t i = tree.nodes.size(); i-- > 1;) {
    const CallNode& node = tree.nodes[i];
    if (node.depth <= outermost || (node.self > 0 && node.depth <= most_frames)) needed[i] = true;
    if (needed[i]) needed[node.parent] = true;
  }
  std::vector<uint32_t> kept(tree.nodes.size());   // the new node
  std::vector<uint32_t> below(tree.nodes.size());  // the last of the outermost frames, a new node
  for (uint32_t i = 1; i < tree.nodes.size(); ++i) {
    const CallNode& node = tree.nodes[i];
    if (needed[i]) kept[i] = builder.child(kept[node.parent], node.label, node.inlined);
    below[i] = node.depth <= outermost ? kept[i] : below[node.parent];
    if (node.self == 0) continue;
    uint32_t leaf = kept[i];
    if (!needed[i]) {
      leaf = add_end(tree, i, builder, builder.child(below[i], left_out, false));
      result.left_out = std::max(result.left_out, node.depth - outermost - kInnermost);
    }
    result.nodes[leaf].self += node.self;
    result.nodes[leaf].samples += node.samples;
  }
  builder.finish();
  add_totals(result);
  return result;
}

base::Result<std::string> to_folded(const CallTree& tree, uint64_t most_bytes) {
  std::vector<std::string> names;
  for (const Label& label : tree.labels) names.push_back(folded_name(label));
  std::string text;
  std::vector<uint32_t> path;
  for (const CallNode& leaf : tree.nodes) {
    if (leaf.self == 0 || leaf.label == kNone) continue;
    path.clear();
    for (const CallNode* node = &leaf; node->label != kNone; node = &tree.nodes[node->parent]) {
      path.push_back(node->label);
    }
    for (size_t i = path.size(); i-- > 0 && text.size() <= most_bytes;) {
      text += names[path[i]];
      text += i == 0 ? ' ' : ';';
    }
    text += std::to_string(leaf.self) + "\n";
    if (text.size() > most_bytes) {
      return base::usage_error(
          "its stacks are more than " + std::to_string(most_bytes >> 20) +
              " MiB of text: export --format pprof, which writes each name once, or record less",
          {.file = tree.file});
    }
  }
  return text;
}

base::Result<CallTree> parse_folded(std::string_view text, const std::string& file) {
  CallTree tree;
  tree.file = file;
  tree.unit = "samples";
  tree.knows_sides = false;
  FoldedReader reader(tree);
  for (uint64_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.starts_with('#')) continue;
    if (std::string problem = reader.add(line); !problem.empty()) {
      return base::usage_error("line " + std::to_string(number) + ": " + problem, {.file = file});
    }
  }
  reader.add_samples();
  add_totals(tree);
  if (tree.weight() == 0) return base::usage_error("holds no stack that cost anything", {.file = file});
  return tree;
}

}  // namespace wago::diff
