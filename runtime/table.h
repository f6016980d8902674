// Tables of references. Entries are opaque handles: a FuncRef's address, or whatever the host chose; 0 is
// null. A table that starts with nulls takes memory only for the entries that are touched.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/result.h"
#include "runtime/abi.h"
#include "runtime/decode_limits.h"
#include "runtime/store.h"

namespace wago::runtime {

class TableData final : public StoreMember {
 public:
  // At most `limit_entries` entries, at any time. `budget`, if there is one, lives as long as the table: how
  // many entries it and others may have more, together. Errors (Failed): it starts with more; (Unmeasurable)
  // there is no memory.
  static base::Result<std::unique_ptr<TableData>> create(const TableType& type, uint64_t initial,
                                                         uint32_t limit_entries = kMaxTableEntries,
                                                         uint64_t* budget = nullptr);

  const TableType& type() const { return type_; }
  TableType current_type() const {
    return {type_.element, {size(), type_.limits.max}};
  }  // for matching imports
  uint32_t size() const { return static_cast<uint32_t>(view_.size); }
  std::optional<uint32_t> grow(uint32_t count, uint64_t initial);
  TableView* view() { return &view_; }
  uint64_t* entries() { return view_.entries; }

 private:
  struct Free {
    void operator()(uint64_t* entries) const;
  };
  bool reserve(uint64_t count);

  TableView view_;  // of entries_
  std::unique_ptr<uint64_t[], Free>
      entries_;  // capacity_ of them; those from the table's size on are undefined
  uint64_t capacity_ = 0;
  uint64_t* budget_ = nullptr;
  TableType type_;
  uint32_t max_entries_ = 0;
};

}  // namespace wago::runtime
