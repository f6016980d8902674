#include "runtime/module.h"

#include <algorithm>

namespace wago::runtime {

const Export* Module::find_export(std::string_view export_name) const {
  auto found = std::ranges::lower_bound(export_order, export_name, {},
                                        [&](uint32_t i) { return std::string_view(exports[i].name); });
  if (found == export_order.end() || exports[*found].name != export_name) return nullptr;
  return &exports[*found];
}

bool Module::has_function_names() const {
  return !function_names.empty();
}

std::string Module::function_name(uint32_t function) const {
  if (function < function_names.size() && !function_names[function].empty()) return function_names[function];
  auto found =
      std::ranges::lower_bound(function_exports, function, {}, [&](uint32_t i) { return exports[i].index; });
  if (found != function_exports.end() && exports[*found].index == function && !exports[*found].name.empty()) {
    return exports[*found].name;
  }
  return "func[" + std::to_string(function) + "]";
}

}  // namespace wago::runtime
