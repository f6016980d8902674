#include "harness/stack_sides.h"

#include <algorithm>

namespace wago::harness {

namespace {

using capture::Side;

bool in_host_adapter(const capture::Image& image, uint32_t offset) {
  const auto after =
      std::upper_bound(image.regions.begin(), image.regions.end(), offset,
                       [](uint32_t at, const capture::Region& region) { return at < region.begin; });
  return after != image.regions.begin() && (after - 1)->kind == capture::RegionKind::HostAdapter;
}

}  // namespace

void put_on_sides(std::span<capture::Frame> root_first, bool complete, const capture::Images& images) {
  Side native = complete ? Side::Host : Side::Unknown;  // of native frames from here on
  bool calls_host = false;                              // the next native frame is what calls a host function
  for (capture::Frame& frame : root_first) {
    if (frame.image == capture::kNone) {
      if (frame.side == Side::Unknown) continue;
      frame.side = native;
      if (calls_host) native = Side::Host;
      calls_host = false;
      continue;
    }
    const capture::Image& image = images.images[frame.image];
    const bool is_adapter = image.kind == capture::ImageKind::Adapter;
    frame.side = is_adapter ? Side::Helper : Side::Guest;
    calls_host = is_adapter && in_host_adapter(image, frame.offset);
    native = Side::Helper;
  }
}

}  // namespace wago::harness
