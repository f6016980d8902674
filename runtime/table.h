// Tables of references. Entries are opaque handles: a FuncRef's address, or whatever the host chose; 0 is
// null.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "runtime/abi.h"
#include "runtime/decode_limits.h"
#include "runtime/store.h"

namespace wago::runtime {

class TableData final : public StoreMember {
 public:
  // At most `limit_entries` entries, at any time. Errors (Failed): it starts with more; there is no memory.
  static base::Result<std::unique_ptr<TableData>> create(const TableType& type, uint64_t initial,
                                                         uint32_t limit_entries = kMaxTableEntries);

  const TableType& type() const { return type_; }
  TableType current_type() const {
    return {type_.element, {size(), type_.limits.max}};
  }  // for matching imports
  uint32_t size() const { return static_cast<uint32_t>(view_.size); }
  std::optional<uint32_t> grow(uint32_t count, uint64_t initial);
  TableView* view() { return &view_; }
  uint64_t* entries() { return view_.entries; }

 private:
  TableView view_;  // of entries_
  std::vector<uint64_t> entries_;
  TableType type_;
  uint32_t max_entries_ = 0;
};

}  // namespace wago::runtime
