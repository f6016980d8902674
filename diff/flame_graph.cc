#include "diff/flame_graph.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "base/text.h"
#include "diff/cost_changes.h"
#include "diff/quantity.h"

namespace wago::diff {

namespace {

using capture::kNone;
using capture::Side;

// Narrower is not drawn: less than a tenth of a pixel on any screen, and at most so many frames in all.
constexpr double kNarrowest = 0.0001;
constexpr size_t kMostFrames = 20'000;
// A picture higher than this is not looked at; deeper stacks lack their middle.
constexpr uint32_t kMostRows = 1024;
constexpr uint32_t kShades = 5;
constexpr int kSteps = 4;  // of red and of blue

std::string name_of(const Label& label) {
  std::string name = base::function_label(label.name);
  return name.empty() ? "[unnamed]" : name;
}

// The same name always has the same shade.
uint32_t shade_of(std::string_view name) {
  uint32_t hash = 2166136261u;
  for (const char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 16777619u;
  return (hash >> 8) % kShades;
}

std::string style_of(const CallTree& tree, const Label& label) {
  static constexpr char kFamilies[kSides] = {'g', 'r', 'h', 'k', 'u'};
  const bool plain = !tree.knows_sides && label.side == Side::Unknown;
  return (plain ? 'p' : kFamilies[static_cast<size_t>(label.side)]) + std::to_string(shade_of(label.name));
}

std::string cost_text(const FlameSide& side, double weight) {
  if (!side.work) return format_weight(weight, side.tree->unit);
  return format_weight(weight / static_cast<double>(*side.work), side.tree->unit) + " per " + side.work_unit;
}

std::string share_text(uint64_t part, uint64_t whole) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.2f %%", 100 * share_of(part, whole));
  return buffer;
}

// A tree as it is drawn. The tree itself must outlive this.
class Drawn {
 public:
  explicit Drawn(const CallTree& tree) : whole_(&tree) {
    const bool deep = std::any_of(tree.nodes.begin(), tree.nodes.end(),
                                  [](const CallNode& node) { return node.depth > kMostRows; });
    if (deep) shortened_ = shortened(tree, kMostRows);
  }
  const CallTree& tree() const { return shortened_ ? *shortened_ : *whole_; }

 private:
  const CallTree* whole_;
  std::optional<CallTree> shortened_;
};

// Where each node of a tree lies: children in the order of their names within their parent.
class Layout {
 public:
  explicit Layout(const CallTree& tree) : tree_(tree), x_(tree.nodes.size()) {
    for (const Label& label : tree.labels) names_.push_back(name_of(label));
    smallest_ = smallest();
    std::vector<std::vector<uint32_t>> children(tree.nodes.size());
    for (uint32_t i = 1; i < tree.nodes.size(); ++i) {
      if (drawn(i)) children[tree.nodes[i].parent].push_back(i);
    }
    for (uint32_t i = 0; i < tree.nodes.size(); ++i) {
      if (drawn(i)) place(x_[i], children[i]);
    }
  }
  bool drawn(uint32_t node) const { return node == 0 || tree_.nodes[node].total >= smallest_; }
  double x(uint32_t node) const { return x_[node]; }
  const std::string& name(uint32_t node) const { return names_[tree_.nodes[node].label]; }

 private:
  uint64_t smallest() const {
    auto least = static_cast<uint64_t>(std::ceil(kNarrowest * static_cast<double>(tree_.weight())));
    least = std::max<uint64_t>(least, 1);
    std::vector<uint64_t> totals;
    for (const CallNode& node : tree_.nodes) {
      if (node.total >= least) totals.push_back(node.total);
    }
    if (totals.size() <= kMostFrames) return least;
    auto last = totals.begin() + kMostFrames;
    std::nth_element(totals.begin(), last, totals.end(), std::greater<>());
    return *last + 1;
  }

  void place(double x, std::vector<uint32_t>& children) {
    std::sort(children.begin(), children.end(), [&](uint32_t a, uint32_t b) {
      const Label& left = tree_.labels[tree_.nodes[a].label];
      const Label& right = tree_.labels[tree_.nodes[b].label];
      return std::tie(name(a), left.side, left.function, a) <
             std::tie(name(b), right.side, right.function, b);
    });
    for (const uint32_t child : children) {
      x_[child] = x;
      x += share_of(tree_.nodes[child].total, tree_.weight());
    }
  }

  const CallTree& tree_;
  std::vector<std::string> names_;  // by label
  std::vector<double> x_;           // by node
  uint64_t smallest_ = 0;
};

// Calls `fill` with every frame that is drawn and its node; parents first.
template <class Fill>
void add_frames(const CallTree& tree, FlameGraph& graph, Fill fill) {
  const Layout layout(tree);
  std::vector<uint32_t> frame_of(tree.nodes.size());
  for (uint32_t i = 0; i < tree.nodes.size(); ++i) {
    const CallNode& node = tree.nodes[i];
    if (!layout.drawn(i)) {
      graph.hidden += node.total > 0 ? 1 : 0;  // what cost nothing has no width on any screen
      continue;
    }
    frame_of[i] = static_cast<uint32_t>(graph.frames.size());
    FlameFrame frame;
    frame.name = i == 0 ? "all" : layout.name(i);
    frame.x = layout.x(i);
    frame.width = i == 0 ? 1 : share_of(node.total, tree.weight());
    frame.depth = node.depth;
    frame.parent = i == 0 ? 0 : frame_of[node.parent];
    frame.inlined = node.inlined;
    fill(i, node, frame);
    graph.depth = std::max(graph.depth, node.depth);
    graph.frames.push_back(std::move(frame));
  }
}

std::string kind_line(const CallTree& tree, const CallNode& node) {
  if (node.label == kNone) return {};
  const Label& label = tree.labels[node.label];
  std::string text;
  if (tree.knows_sides) text = std::string(capture::spelling(label.side));
  if (node.inlined) text += text.empty() ? "inlined" : ", inlined";
  if (!label.detail.empty()) text += (text.empty() ? "" : ", ") + base::printable(label.detail);
  return text.empty() ? text : text + "\n";
}

void add_shares(const CallTree& tree, FlameGraph& graph) {
  graph.knows_sides = tree.knows_sides;
  for (const CallNode& node : tree.nodes) {
    if (node.label == kNone) continue;
    graph.shares[static_cast<size_t>(tree.labels[node.label].side)] += share_of(node.self, tree.weight());
  }
}

std::string notes(const FlameGraph& graph, const CallTree& tree) {
  std::string text;
  if (graph.hidden > 0) {
    text += "; " + format_plural(graph.hidden, "frame") + (graph.hidden == 1 ? " is" : " are") +
            " too narrow to be drawn";
  }
  if (tree.left_out > 0) {
    text += "; stacks deeper than " + format_count(kMostRows) + " frames lack up to " +
            format_count(tree.left_out) + " in the middle";
  }
  if (tree.truncated_stacks > 0) text += "; " + truncated_stacks_sentence(tree.truncated_stacks);
  return text;
}

// The baseline's node for every node of the candidate, kNone where there is none.
std::vector<uint32_t> join(const CallTree& baseline, const CallTree& candidate) {
  const bool by_side = baseline.knows_sides && candidate.knows_sides;
  using Key = std::tuple<uint32_t, std::string, std::string, int>;
  auto key = [&](uint32_t parent, const Label& label) {
    return Key(parent, name_of(label), by_side ? label.detail : "",
               by_side ? static_cast<int>(label.side) : 0);
  };
  std::map<Key, uint32_t> nodes;
  for (uint32_t i = 1; i < baseline.nodes.size(); ++i) {
    const CallNode& node = baseline.nodes[i];
    nodes.emplace(key(node.parent, baseline.labels[node.label]), i);
  }
  std::vector<uint32_t> joined(candidate.nodes.size(), kNone);
  joined[0] = 0;
  for (uint32_t i = 1; i < candidate.nodes.size(); ++i) {
    const CallNode& node = candidate.nodes[i];
    if (joined[node.parent] == kNone) continue;
    auto at = nodes.find(key(joined[node.parent], candidate.labels[node.label]));
    if (at != nodes.end()) joined[i] = at->second;
  }
  return joined;
}

// What the baseline's weights are multiplied by to be comparable with the candidate's.
double scale_of(const FlameSide& baseline, const FlameSide& candidate) {
  if (baseline.work && candidate.work) {
    return static_cast<double>(*candidate.work) / static_cast<double>(*baseline.work);
  }
  return static_cast<double>(candidate.tree->weight()) / static_cast<double>(baseline.tree->weight());
}

// Steps of red or blue by the root of the change's part of the greatest one: small ones are seen, too.
std::string change_style(double change, double greatest) {
  if (greatest <= 0) return "n";
  const int step = static_cast<int>(std::lround(kSteps * std::sqrt(std::fabs(change) / greatest)));
  if (step == 0) return "n";
  return (change > 0 ? "m" : "l") + std::to_string(step);
}

// What a sample of a tree stands for on average.
double one_sample(const CallTree& tree) {
  uint64_t samples = 0;
  for (const CallNode& node : tree.nodes) samples += node.samples;
  return samples == 0 ? 0 : static_cast<double>(tree.weight()) / static_cast<double>(samples);
}

constexpr const char* kWithinError = ", within sampling error";

std::string change_text(double before, double after) {
  if (before <= 0) return after <= 0 ? "+0.00 %" : "not sampled before";
  return format_change(after / before - 1);
}

}  // namespace

FlameGraph flame_graph(const FlameSide& side, std::string title) {
  const Drawn drawn(*side.tree);
  const CallTree& tree = drawn.tree();
  FlameGraph graph;
  graph.title = std::move(title);
  add_shares(tree, graph);
  add_frames(tree, graph, [&](uint32_t i, const CallNode& node, FlameFrame& frame) {
    frame.style = i == 0 ? "n" : style_of(tree, tree.labels[node.label]);
    frame.info = kind_line(tree, node) + "total " + share_text(node.total, tree.weight()) + ", " +
                 cost_text(side, static_cast<double>(node.total)) + "\nself " +
                 share_text(node.self, tree.weight()) + ", " +
                 cost_text(side, static_cast<double>(node.self));
  });
  graph.subtitle =
      side.name + ": " + cost_text(side, static_cast<double>(tree.weight())) + notes(graph, tree);
  return graph;
}

FlameGraph differential_flame_graph(const FlameSide& baseline, const FlameSide& candidate,
                                    std::string title) {
  const Drawn drawn_before(*baseline.tree), drawn(*candidate.tree);
  const CallTree& earlier = drawn_before.tree();
  const CallTree& tree = drawn.tree();
  FlameGraph graph;
  graph.title = std::move(title);
  graph.differential = true;
  add_shares(tree, graph);
  const std::vector<uint32_t> joined = join(earlier, tree);
  const double scale = scale_of(baseline, candidate);
  auto before = [&](uint32_t i, uint64_t CallNode::*cost) {
    return joined[i] == kNone ? 0 : scale * static_cast<double>(earlier.nodes[joined[i]].*cost);
  };
  const double one_before = scale * one_sample(earlier), one_after = one_sample(tree);
  // Of the node itself; 0 where samples do not tell the sides apart.
  auto change = [&](uint32_t i) {
    const CallNode& node = tree.nodes[i];
    const SampledCost once = {before(i, &CallNode::self),
                              joined[i] == kNone ? 0 : earlier.nodes[joined[i]].samples, one_before};
    const SampledCost now = {static_cast<double>(node.self), node.samples, one_after};
    return beyond_sampling(once, now) ? now.cost - once.cost : 0;
  };
  double greatest = 0;
  double kept = 0;  // of the baseline's weight, scaled
  for (uint32_t i = 0; i < tree.nodes.size(); ++i) {
    greatest = std::max(greatest, std::fabs(change(i)));
    kept += before(i, &CallNode::self);
  }
  add_frames(tree, graph, [&](uint32_t i, const CallNode& node, FlameFrame& frame) {
    frame.style = change_style(change(i), greatest);
    auto line = [&](const char* what, uint64_t after, double once) {
      return std::string(what) + " " + cost_text(candidate, static_cast<double>(after)) + ", before " +
             cost_text(candidate, once) + ", " + change_text(once, static_cast<double>(after));
    };
    frame.info = kind_line(tree, node) + line("total", node.total, before(i, &CallNode::total)) + "\n" +
                 line("self", node.self, before(i, &CallNode::self));
    const bool differs = static_cast<double>(node.self) != before(i, &CallNode::self);
    if (differs && change(i) == 0) frame.info += kWithinError;
  });
  const double all_before = scale * static_cast<double>(baseline.tree->weight());
  graph.subtitle =
      candidate.name + " against " + baseline.name + ": " +
      (baseline.work && candidate.work ? cost_text(candidate, static_cast<double>(tree.weight())) + ", " +
                                             change_text(all_before, static_cast<double>(tree.weight()))
                                       : "costs as parts of their wholes");
  const double vanished = all_before > 0 ? std::max(0.0, 1 - kept / all_before) : 0;
  if (vanished >= kNarrowest)
    graph.subtitle +=
        "; " + format_share(vanished) + " of the baseline was in stacks that no sample found again";
  graph.subtitle += notes(graph, tree);
  if (earlier.truncated_stacks > 0)
    graph.subtitle += "; of the baseline " + truncated_stacks_sentence(earlier.truncated_stacks);
  return graph;
}

}  // namespace wago::diff
