#include "diff/labels.h"

#include <array>
#include <cstdio>

#include "base/check.h"

namespace wago::diff {

namespace {

using capture::kNone;
using capture::Side;

constexpr std::array<std::string_view, 4> kGroupings = {"function", "line", "kind", "site"};

std::string hexadecimal(uint32_t offset) {
  char buffer[16];
  std::snprintf(buffer, sizeof buffer, "0x%x", offset);
  return buffer;
}

}  // namespace

std::span<const std::string_view> grouping_words() {
  return kGroupings;
}

Labels::Labels(const Evidence& evidence, Grouping grouping)
    : evidence_(evidence), grouping_(grouping), locations_(evidence) {}

void Labels::add(Side side, std::string name, std::string detail, uint32_t image, uint32_t function) {
  Label label = {side, std::move(name), std::move(detail), image, function};
  auto [at, is_new] = numbers_.emplace(Key(label.side, label.name, label.detail, label.image, label.function),
                                       static_cast<uint32_t>(labels_.size()));
  if (is_new) labels_.push_back(std::move(label));
  current_.push_back(at->second);
}

void Labels::add_functions(const Location& location) {
  if (location.symbol) {
    add(location.side, location.symbol->name, location.symbol->binary);
    return;
  }
  if (location.image == kNone) {
    add(location.side, "[unknown]");
    return;
  }
  const capture::Image& image = evidence_.images.images[location.image];
  if (location.side == Side::Helper) {
    add(Side::Helper, std::string(capture::spelling(location.region->kind)) + " " + image.name);
    return;
  }
  if (!location.holder) {
    add(location.side, "[" + image.name + "+" + hexadecimal(location.offset) + "]");
    return;
  }
  for (const WasmPlace& place : location.places) {
    const capture::Function* known = locations_.function(location.image, place.function);
    add(location.side, locations_.function_name(location.image, place.function),
        known ? known->signature : "", locations_.canonical(location.image), place.function);
  }
}

void Labels::add_lines(const Location& location) {
  if (!location.holder) {
    add_functions(location);
    return;
  }
  for (const WasmPlace& place : location.places) {
    const auto sources = locations_.source(location.image, place);
    const std::string function = locations_.function_name(location.image, place.function);
    bool known = false;
    for (const SourcePlace& source : sources) {
      std::string name = to_string(source);
      if (name.empty()) continue;
      add(location.side, std::move(name), source.function.empty() ? function : std::string(source.function));
      known = true;
    }
    if (!known) add(location.side, function, "line not known");
  }
}

std::span<const uint32_t> Labels::of(const capture::Frame& frame, bool caller) {
  current_.clear();
  const Location location = locations_.locate(frame, caller);
  switch (grouping_) {
    case Grouping::Function:
      add_functions(location);
      break;
    case Grouping::Line:
      add_lines(location);
      break;
    case Grouping::Kind:
      add(location.side, std::string(capture::spelling(location.side)));
      break;
    case Grouping::Site:
      if (location.site) {
        add(location.side, std::string(capture::spelling(*location.site)));
      } else {
        add(location.side,
            location.holder ? "no emitted site" : std::string(capture::spelling(location.side)));
      }
      break;
  }
  WAGO_CHECK(!current_.empty());
  return current_;
}

}  // namespace wago::diff
