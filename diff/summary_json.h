// The parts that several views share, as JSON.
#pragma once

#include <optional>

#include "base/json.h"
#include "diff/elapsed.h"
#include "diff/statistics.h"

namespace wago::diff {

base::Json to_json(const Summary& summary);  // null when nothing was measured
base::Json to_json(const std::optional<Summary>& summary);
base::Json to_json(const Elapsed& elapsed);

}  // namespace wago::diff
