#include "diff/summary_json.h"

namespace wago::diff {

using base::Json;

Json to_json(const Summary& summary) {
  if (summary.n == 0) return nullptr;
  return Json::object({{"n", summary.n},
                       {"median", summary.median},
                       {"lower_quartile", summary.lower_quartile},
                       {"upper_quartile", summary.upper_quartile},
                       {"min", summary.min},
                       {"max", summary.max}});
}

Json to_json(const std::optional<Summary>& summary) {
  return summary ? to_json(*summary) : Json();
}

Json to_json(const Elapsed& elapsed) {
  return Json::object({{"unit", elapsed.unit},
                       {"completed_work", elapsed.completed_work},
                       {"iterations", elapsed.iterations},
                       {"total_ns", elapsed.total_ns},
                       {"wall_ns", to_json(elapsed.wall_ns)},
                       {"cpu_ns", to_json(elapsed.cpu_ns)}});
}

}  // namespace wago::diff
