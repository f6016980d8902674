// Frames under the names by which they are counted: one label a function, a source line, a kind of time, or
// a purpose of emitted code, however many addresses it has.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "diff/evidence.h"
#include "diff/locations.h"

namespace wago::diff {

enum class Grouping : uint8_t { Function, Line, Kind, Site };
std::span<const std::string_view> grouping_words();  // "function", "line", "kind", "site", in that order

struct Label {
  capture::Side side = capture::Side::Unknown;
  // Raw: a function, "fib.c:12", "guest", "spill"; of guest code without a line its function.
  std::string name;
  // Of a guest function its signature, of a native one its binary, of a line the function, or that the line
  // is not known.
  std::string detail;
  uint32_t image = capture::kNone;           // canonical; of a guest function
  uint32_t function = capture::kNoFunction;  // its index
  bool operator==(const Label&) const = default;
};

// The labels of a capture's frames, each once.
class Labels {
 public:
  // `evidence` must outlive this.
  Labels(const Evidence& evidence, Grouping grouping);

  // Labels of a frame, innermost first; never empty. With Grouping::Function: of the wasm functions that were
  // inlined there, then of the one that holds the code. Valid until the next call.
  std::span<const uint32_t> of(const capture::Frame& frame, bool caller);
  const Label& operator[](uint32_t label) const { return labels_[label]; }
  size_t size() const { return labels_.size(); }
  const Locations& locations() const { return locations_; }

 private:
  using Key = std::tuple<capture::Side, std::string, std::string, uint32_t, uint32_t>;

  void add(capture::Side side, std::string name, std::string detail = {}, uint32_t image = capture::kNone,
           uint32_t function = capture::kNoFunction);
  void add_functions(const Location& location);
  void add_lines(const Location& location);

  const Evidence& evidence_;
  Grouping grouping_;
  Locations locations_;
  std::vector<Label> labels_;
  std::map<Key, uint32_t> numbers_;
  std::vector<uint32_t> current_;
};

}  // namespace wago::diff
