// Flame graphs: stacks side by side, each frame as wide as what it cost with all that it called, callees
// above their callers. A differential one has the candidate's widths, and colours by what changed in the
// function itself: red where it costs more than in the baseline, blue where it costs less, grey where the
// change is within the error of the samples behind it.
//
// The picture is one SVG without references to anything outside: it opens in a browser, from a file, in light
// or dark, with search, zoom, tooltips and keyboard; where scripts do not run it is a picture still. Names
// come from strangers: they are text in it and never markup.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diff/call_tree.h"
#include "diff/hot_spots.h"

namespace wago::diff {

// A tree with what its costs are divided by.
struct FlameSide {
  const CallTree* tree = nullptr;
  std::optional<uint64_t> work;  // units; nothing: costs are shown as they are
  std::string work_unit;         // "invocation"
  std::string name;              // of the capture or file
};

struct FlameFrame {
  std::string name;  // as people read it
  std::string info;  // lines of the tooltip below the name
  double x = 0;      // part of the whole, 0..1
  double width = 0;
  uint32_t depth = 0;
  uint32_t parent = 0;  // index of the frame below; the root is its own
  bool inlined = false;
  std::string style;  // class: family of hue and shade
};

struct FlameGraph {
  std::string title;
  std::string subtitle;
  bool differential = false;
  bool knows_sides = false;
  std::array<double, kSides> shares{};  // by capture::Side, of self
  uint32_t depth = 0;                   // of the deepest frame
  uint64_t hidden = 0;                  // frames that cost something and are too narrow to be drawn
  std::vector<FlameFrame> frames;       // parents first; frames[0] is everything
};

FlameGraph flame_graph(const FlameSide& side, std::string title);
// Costs are compared per unit of work where both sides have one, else as parts of their wholes. Frames are
// joined by their name, from the root.
FlameGraph differential_flame_graph(const FlameSide& baseline, const FlameSide& candidate, std::string title);

std::string to_svg(const FlameGraph& graph);
int svg_height(const FlameGraph& graph);  // pixels

}  // namespace wago::diff
