// Linear memories: one reserved range of addresses each, of which a prefix is accessible.
//
// Invariants: the base never moves. With guard pages (Bounds::Signals) kMemoryReservation bytes are reserved,
// so that every access generated code can form hits the accessible prefix or faults inside the reservation. A
// refused reservation is an error, never a silent change of mode.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/result.h"
#include "base/vocabulary.h"
#include "runtime/abi.h"
#include "runtime/store.h"

namespace wago::runtime {

class MemoryData final : public StoreMember {
 public:
  // At most `limit_pages` pages, at any time. Errors (Failed): it starts with more; the kernel refused the
  // reservation or the first pages.
  static base::Result<std::unique_ptr<MemoryData>> create(const MemoryType& type, base::Bounds bounds,
                                                          uint32_t limit_pages = kMaxPages);
  ~MemoryData() override;

  // As declared; limits.min is the size at creation.
  const MemoryType& type() const { return type_; }
  MemoryType current_type() const { return {{pages(), type_.limits.max}}; }  // for matching imports
  uint32_t pages() const { return static_cast<uint32_t>(view_.bytes / kPageBytes); }
  // The old size in pages; nothing if the maximum, the limit or the kernel forbids it.
  std::optional<uint32_t> grow(uint32_t delta_pages);
  // Whether code compiled for Bounds::Signals may use it.
  bool guarded() const { return reserved_bytes_ >= kMemoryReservation; }
  MemoryView* view() { return &view_; }

 private:
  MemoryData() = default;

  MemoryView view_;
  MemoryType type_;
  uint32_t max_pages_ = kMaxPages;
  uint64_t reserved_bytes_ = 0;
};

}  // namespace wago::runtime
