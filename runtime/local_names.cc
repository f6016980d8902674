#include "runtime/local_names.h"

#include <algorithm>
#include <utility>

#include "runtime/byte_cursor.h"
#include "runtime/module.h"

namespace wago::runtime {

namespace {

uint64_t local_count(const Module& module, uint32_t function) {
  const uint64_t params = module.type_of_function(function).params.size();
  if (function < module.imported_functions) return params;
  return params + module.bodies[function - module.imported_functions].locals.size();
}

}  // namespace

LocalNames::LocalNames(const Module& module) {
  DecodeErrors ignored;
  CheckedCursor in(module.bytes, module.local_names_begin, module.local_names_end, &ignored);
  const uint32_t functions = in.u32();
  for (uint32_t i = 0; i < functions && !in.failed(); ++i) {
    const uint32_t function = in.u32();
    const uint32_t names = in.u32();
    const uint64_t locals = function < module.function_count() ? local_count(module, function) : 0;
    for (uint32_t j = 0; j < names && !in.failed(); ++j) {
      const uint32_t local = in.u32();
      const std::string_view name = in.name("a local's name");
      if (!in.failed() && local < locals && !name.empty()) entries_.push_back({function, local, name});
    }
  }
  // Of two names the first holds.
  std::stable_sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.function, a.local) < std::pair(b.function, b.local);
  });
}

std::string_view LocalNames::of(uint32_t function, uint32_t local) const {
  const auto found = std::lower_bound(entries_.begin(), entries_.end(), std::pair(function, local),
                                      [](const Entry& entry, std::pair<uint32_t, uint32_t> wanted) {
                                        return std::pair(entry.function, entry.local) < wanted;
                                      });
  const bool exact = found != entries_.end() && found->function == function && found->local == local;
  return exact ? found->name : std::string_view();
}

}  // namespace wago::runtime
