// Captures that were kept as a baseline, and those of the current run that they are compared with: what did
// not run together, so that code and counts are compared and times decide nothing.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "capture/catalog.h"
#include "cli/test_comparison.h"

namespace wago::cli::profile {

// Whether the directory is a capture, or has captures of one of the catalogs in it.
bool has_captures(const std::string& directory, std::span<const capture::Catalog> catalogs);

// For every catalog and backend that the run recorded, its captures and the baseline's of the same workloads.
// A baseline's captures of a catalog are in its folder CATALOG, as a run has them, or in itself.
// Errors (Usage): what was recorded has no counterpart; a capture that cannot be read.
base::Result<std::vector<ComparedCaptures>> pair_captures(const std::string& comparison,
                                                          std::span<const capture::Catalog> catalogs,
                                                          const std::string& baseline,
                                                          const std::string& run);

}  // namespace wago::cli::profile
