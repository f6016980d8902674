// Whose time it is: which side each frame of a stack is on.
//
// Code of the module is the guest's; adapters, and what guest code calls of the runtime, are the helpers';
// the C library and all else is its nearest native caller's. Whatever a host function does is the host's,
// until it enters a guest again. Native frames whose callers are not known (a stack that was cut off) are on
// no side.
#pragma once

#include <span>

#include "capture/images.h"
#include "capture/samples.h"

namespace wago::harness {

// `root_first`; of native frames, those that are Side::Unknown stay so. `complete`: the first is the root.
void put_on_sides(std::span<capture::Frame> root_first, bool complete, const capture::Images& images);

}  // namespace wago::harness
