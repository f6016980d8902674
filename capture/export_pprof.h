// Samples as a profile of pprof: gzip around a message of profile.proto (github.com/google/pprof).
//
// Values of a sample are its count and its weight. Guest locations have their offset in the module as
// address, and one line for every function that was inlined there; functions have their name as people write
// it and, as system name, raw. Labels: thread, kind (whose time it is), site (what the compiler added the
// innermost instruction for).
#pragma once

#include <cstdint>
#include <vector>

#include "capture/export_lines.h"

namespace wago::capture {

std::vector<uint8_t> to_pprof(const ExportContext& context, const Images& images, const Samples& samples);

}  // namespace wago::capture
