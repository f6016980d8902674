// A history as commands read it: the file, and what follows from it.
#pragma once

#include <string>

#include "base/result.h"
#include "diff/floor.h"
#include "diff/history.h"

namespace wago::cli {

// Errors as capture::read_history() and diff::history_of() have them.
base::Result<diff::History> load_history(const std::string& store, const diff::HistoryOptions& options = {});

// The floor is learned from its controls then, unless one is given.
base::Result<void> learn_floor_from(const std::string& store, diff::ReadSettings& settings);

}  // namespace wago::cli
