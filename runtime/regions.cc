#include "runtime/regions.h"

#include <sys/mman.h>

#include <array>
#include <atomic>

namespace wago::runtime {

namespace {

constinit std::array<std::atomic<uint64_t>, 2> next_addresses = {};

std::atomic<uint64_t>& next_address(Region region) {
  return next_addresses[static_cast<size_t>(region)];
}

}  // namespace

void place_region(Region region, uint64_t address) {
  next_address(region).store(address);
}

void* map_in_region(Region region, size_t bytes, int protection, int more_flags) {
  std::atomic<uint64_t>& next = next_address(region);
  uint64_t address = next.load();
  while (address != 0 && !next.compare_exchange_weak(address, address + bytes)) {
  }
  return mmap(reinterpret_cast<void*>(address), bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | more_flags,
              -1, 0);
}

void unmap_in_region(Region region, void* mapping, size_t bytes) {
  munmap(mapping, bytes);
  const uint64_t address = reinterpret_cast<uint64_t>(mapping);
  uint64_t behind = address + bytes;
  next_address(region).compare_exchange_strong(behind, address);
}

}  // namespace wago::runtime
