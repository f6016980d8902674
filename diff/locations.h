// The locations of a capture in memory; see capture/locations.h.
#pragma once

#include "capture/locations.h"
#include "diff/evidence.h"

namespace wago::diff {

using capture::kMaxInlineDepth;
using capture::Location;
using capture::SourcePlace;
using capture::WasmPlace;

class Locations : public capture::Locations {
 public:
  // `evidence` must outlive this and all locations.
  explicit Locations(const Evidence& evidence)
      : capture::Locations(evidence.images,
                           evidence.samples ? std::span<const capture::Symbol>(evidence.samples->symbols)
                                            : std::span<const capture::Symbol>(),
                           evidence.manifest.effective_settings.source_maps) {}
};

}  // namespace wago::diff
