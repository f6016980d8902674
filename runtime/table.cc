#include "runtime/table.h"

#include <algorithm>
#include <new>
#include <string>

namespace wago::runtime {

base::Result<std::unique_ptr<TableData>> TableData::create(const TableType& type, uint64_t initial,
                                                           uint32_t limit_entries) {
  if (type.limits.min > limit_entries) {
    return base::failed("a table of " + std::to_string(type.limits.min) + " entries exceeds the limit of " +
                        std::to_string(limit_entries) + " table entries; raise EngineLimits::table_entries");
  }
  auto table = std::make_unique<TableData>();
  table->type_ = type;
  table->max_entries_ = std::min(type.limits.max.value_or(~0u), limit_entries);
  if (!table->grow(type.limits.min, initial)) {
    return base::failed("no memory for a table of " + std::to_string(type.limits.min) + " entries");
  }
  return table;
}

std::optional<uint32_t> TableData::grow(uint32_t count, uint64_t initial) {
  const uint32_t old_size = size();
  const uint64_t new_size = uint64_t{old_size} + count;
  if (new_size > max_entries_) return std::nullopt;
  try {
    entries_.resize(new_size, initial);
  } catch (const std::bad_alloc&) {
    return std::nullopt;  // generated code may be the caller: nothing may unwind
  }
  view_ = {entries_.data(), new_size};
  return old_size;
}

}  // namespace wago::runtime
