// The file that `perf record` writes, as far as its samples are counted: what is read of it through `perf
// script` must be as many. Format: tools/perf/Documentation/perf.data-file-format.txt in the sources of
// Linux.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace wago::harness {

// Errors (Failed): cannot be read, or is not what perf writes into a file without compression.
base::Result<uint64_t> count_perf_samples(const std::string& file);

}  // namespace wago::harness
