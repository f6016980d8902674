#include "capture/locations.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/check.h"

namespace wago::capture {

namespace {

const Region* region_at(const Image& image, uint32_t offset) {
  auto after = std::upper_bound(image.regions.begin(), image.regions.end(), offset,
                                [](uint32_t at, const Region& region) { return at < region.begin; });
  if (after == image.regions.begin()) return nullptr;
  const Region& region = *(after - 1);
  return offset - region.begin < region.size ? &region : nullptr;
}

bool is_adapter(const Region& region) {
  return region.kind == RegionKind::EntryAdapter || region.kind == RegionKind::HostAdapter;
}

// By function, then by wasm pc.
template <class T>
bool before(const T& row, const WasmPlace& place) {
  return std::tie(row.function, row.wasm_pc) < std::tie(place.function, place.wasm_pc);
}

}  // namespace

std::string to_string(const SourcePlace& place) {
  std::string text(place.file);
  if (place.line > 0) text += (text.empty() ? "line " : ":") + std::to_string(place.line);
  return text;
}

Locations::Locations(const Images& images, std::span<const Symbol> symbols, bool source_maps)
    : images_(images), symbols_(symbols), source_maps_(source_maps) {
  std::map<std::tuple<ImageKind, std::string, base::Digest>, uint32_t> first;
  for (uint32_t i = 0; i < images.images.size(); ++i) {
    const Image& image = images.images[i];
    canonical_.push_back(first.emplace(std::tuple(image.kind, image.name, image.sha256), i).first->second);
  }
}

const Function* Locations::function(uint32_t image, uint32_t index) const {
  const auto& functions = images_.images[image].functions;
  auto at = std::lower_bound(functions.begin(), functions.end(), index,
                             [](const Function& f, uint32_t wanted) { return f.index < wanted; });
  return at != functions.end() && at->index == index ? &*at : nullptr;
}

std::string Locations::function_name(uint32_t image, uint32_t index) const {
  const Function* known = function(image, index);
  return known ? known->name : "func[" + std::to_string(index) + "]";
}

Location Locations::locate(const Frame& frame, bool caller) const {
  if (frame.image != kNone) {
    Location location = locate(frame.image, frame.offset, caller);
    if (frame.side == Side::Kernel) location.side = Side::Kernel;
    return location;
  }
  Location location;
  location.side = frame.side;
  if (frame.symbol != kNone) location.symbol = &symbols_[frame.symbol];
  return location;
}

Location Locations::locate(uint32_t image, uint32_t offset, bool caller) const {
  const Image& code = images_.images[image];
  Location location;
  location.image = image;
  location.offset = offset;
  location.region = region_at(code, offset);
  if (!location.region) return location;
  if (is_adapter(*location.region)) {
    location.side = Side::Helper;
    return location;
  }
  const Function* holder = function(image, location.region->function);
  if (!holder || offset < holder->begin || offset - holder->begin >= holder->size) return location;
  location.side = Side::Guest;
  location.holder = holder;
  find_places(code.metadata, caller, location);
  find_site(code.metadata, location);
  return location;
}

void Locations::find_places(const CodeMetadata& metadata, bool caller, Location& location) const {
  const Position* position = position_at(metadata.positions, location.offset);
  const bool holds = position && position->offset >= location.holder->begin &&
                     (source_maps_ || caller || position->offset == location.offset);
  WasmPlace place = {location.holder->index, kNone};
  if (!holds) {
    location.places = {place};
    return;
  }
  place.wasm_pc = position->wasm_pc;
  uint32_t site = position->inline_site;
  while (site != kNone && location.places.size() < kMaxInlineDepth) {
    const InlineSite& inlined = metadata.inline_sites[site];
    place.function = inlined.callee;
    location.places.push_back(place);
    place = {location.holder->index, inlined.call_pc};
    site = inlined.parent;
  }
  location.places.push_back(place);
}

void Locations::find_site(const CodeMetadata& metadata, Location& location) const {
  auto after = std::upper_bound(metadata.sites.begin(), metadata.sites.end(), location.offset,
                                [](uint32_t at, const EmittedSite& site) { return at < site.offset; });
  if (after == metadata.sites.begin()) return;
  const EmittedSite& site = *(after - 1);
  if (site.kind != SiteKind::None && site.offset >= location.holder->begin) location.site = site.kind;
}

std::string_view Locations::instruction(uint32_t image, const WasmPlace& place) const {
  const CodeMetadata& metadata = images_.images[image].metadata;
  const auto& rows = metadata.instructions;
  auto at = std::lower_bound(rows.begin(), rows.end(), place, before<WasmInstruction>);
  if (at == rows.end() || at->function != place.function || at->wasm_pc != place.wasm_pc) return {};
  return metadata.texts[at->text];
}

std::vector<SourcePlace> Locations::source(uint32_t image, const WasmPlace& place) const {
  if (place.wasm_pc == kNone) return {};
  const CodeMetadata& metadata = images_.images[image].metadata;
  const auto& ranges = metadata.source_ranges;
  auto after = std::upper_bound(
      ranges.begin(), ranges.end(), place, [](const WasmPlace& at, const SourceRange& range) {
        return std::tie(at.function, at.wasm_pc) < std::tie(range.function, range.wasm_pc);
      });
  if (after == ranges.begin() || (after - 1)->function != place.function) return {};
  std::vector<SourcePlace> chain;
  auto text = [&](uint32_t index) -> std::string_view {
    return index == kNone ? std::string_view{} : std::string_view(metadata.texts[index]);
  };
  for (uint32_t at = (after - 1)->frame; at != kNone && chain.size() < kMaxInlineDepth;) {
    const SourceFrame& frame = metadata.source_frames[at];
    chain.push_back({text(frame.function), text(frame.file), frame.line});
    at = frame.caller;
  }
  return chain;
}

}  // namespace wago::capture
