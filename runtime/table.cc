#include "runtime/table.h"
#include "base/plural.h"

#include <algorithm>
#include <cstdlib>
#include <string>

namespace wago::runtime {

void TableData::Free::operator()(uint64_t* entries) const {
  std::free(entries);
}

base::Result<std::unique_ptr<TableData>> TableData::create(const TableType& type, uint64_t initial,
                                                           uint32_t limit_entries, uint64_t* budget) {
  const uint32_t count = type.limits.min;
  if (count > limit_entries) {
    return base::failed("a table of " + base::plural(count, "entry", "entries") + " exceeds the limit of " +
                        std::to_string(limit_entries) + " table entries; raise EngineLimits::table_entries");
  }
  if (budget && count > *budget) {
    return base::failed("a table of " + base::plural(count, "entry", "entries") +
                        " exceeds what the limit on all tables of an instance leaves, " +
                        std::to_string(*budget) + "; raise EngineLimits::instance_table_entries");
  }
  auto table = std::make_unique<TableData>();
  table->type_ = type;
  table->max_entries_ = std::min(type.limits.max.value_or(~0u), limit_entries);
  table->budget_ = budget;
  if (initial == 0 && count != 0) {
    // Fresh pages are zero already, and large blocks are fresh pages.
    table->entries_.reset(static_cast<uint64_t*>(std::calloc(count, sizeof(uint64_t))));
    if (table->entries_) {
      table->capacity_ = count;
      table->view_ = {table->entries_.get(), count};
      if (budget) *budget -= count;
    }
  } else {
    (void)table->grow(count, initial);
  }
  if (table->size() != count) {
    return base::unmeasurable("no memory for a table of " + base::plural(count, "entry", "entries"));
  }
  return table;
}

std::optional<uint32_t> TableData::grow(uint32_t count, uint64_t initial) {
  const uint32_t old_size = size();
  const uint64_t new_size = uint64_t{old_size} + count;
  if (new_size > max_entries_ || (budget_ && count > *budget_) || !reserve(new_size)) return std::nullopt;
  std::fill_n(entries_.get() + old_size, count, initial);
  view_ = {entries_.get(), new_size};
  if (budget_) *budget_ -= count;
  return old_size;
}

// Room for so many, with room to spare: growing by one again and again takes time in proportion.
bool TableData::reserve(uint64_t count) {
  if (count <= capacity_) return true;
  const uint64_t capacity = std::max(count, std::min<uint64_t>(capacity_ * 2, max_entries_));
  void* moved = std::realloc(entries_.get(), capacity * sizeof(uint64_t));
  if (!moved) return false;
  (void)entries_.release();
  entries_.reset(static_cast<uint64_t*>(moved));
  capacity_ = capacity;
  return true;
}

}  // namespace wago::runtime
