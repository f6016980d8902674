#include "runtime/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/plural.h"
#include "runtime/regions.h"

namespace wago::runtime {

base::Result<std::unique_ptr<MemoryData>> MemoryData::create(const MemoryType& type, base::Bounds bounds,
                                                             uint32_t limit_pages) {
  if (type.limits.min > limit_pages) {
    return base::failed("a memory of " + base::plural(type.limits.min, "page") + " exceeds the limit of " +
                        std::to_string(limit_pages) + " memory pages; raise EngineLimits::memory_pages");
  }
  const uint32_t max_pages = std::min({type.limits.max.value_or(kMaxPages), limit_pages, kMaxPages});
  const uint64_t reserved_bytes =
      bounds == base::Bounds::Signals ? kMemoryReservation : std::max<uint64_t>(max_pages, 1) * kPageBytes;
  void* base = map_in_region(Region::Memory, reserved_bytes, PROT_NONE, MAP_NORESERVE);
  if (base == MAP_FAILED) {
    const char* cure = bounds == base::Bounds::Signals
                           ? "; allow more address space, or use explicit bounds"
                           : "; allow more address space, give the memory a maximum, or lower "
                             "EngineLimits::memory_pages";
    return base::unmeasurable("cannot reserve " + std::to_string(reserved_bytes) +
                              " bytes of addresses for a memory: " + std::strerror(errno) + cure);
  }
  std::unique_ptr<MemoryData> memory(new MemoryData);
  memory->type_ = type;
  memory->max_pages_ = max_pages;
  memory->reserved_bytes_ = reserved_bytes;
  memory->view_.base = static_cast<uint8_t*>(base);
  if (!memory->grow(type.limits.min)) {
    return base::unmeasurable("cannot commit the " + std::to_string(type.limits.min) +
                              " pages a memory starts with: " + std::strerror(errno));
  }
  return memory;
}

MemoryData::~MemoryData() {
  unmap_in_region(Region::Memory, view_.base, reserved_bytes_);
}

std::optional<uint32_t> MemoryData::grow(uint32_t delta_pages) {
  const uint32_t old_pages = pages();
  const uint64_t new_pages = uint64_t{old_pages} + delta_pages;
  if (new_pages > max_pages_) return std::nullopt;
  const uint64_t delta_bytes = uint64_t{delta_pages} * kPageBytes;
  if (delta_bytes != 0 && mprotect(view_.base + view_.bytes, delta_bytes, PROT_READ | PROT_WRITE) != 0) {
    return std::nullopt;
  }
  view_.bytes += delta_bytes;
  return old_pages;
}

}  // namespace wago::runtime
