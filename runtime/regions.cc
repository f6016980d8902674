#include "runtime/regions.h"

#include <sys/mman.h>

#include <array>
#include <atomic>

namespace wago::runtime {

namespace {

constexpr uint64_t kRegionBytes = uint64_t{16} << 40;

struct Addresses {
  std::atomic<uint64_t> first = 0, next = 0;
};
constinit std::array<Addresses, 2> addresses = {};

Addresses& addresses_of(Region region) {
  return addresses[static_cast<size_t>(region)];
}

}  // namespace

void place_region(Region region, uint64_t address) {
  addresses_of(region).first.store(address);
  addresses_of(region).next.store(address);
}

void* map_in_region(Region region, size_t bytes, int protection, int more_flags) {
  auto& [first, next] = addresses_of(region);
  uint64_t address = next.load();
  while (address != 0) {
    const uint64_t begin = address + bytes > first.load() + kRegionBytes ? first.load() : address;
    if (!next.compare_exchange_weak(address, begin + bytes)) continue;
    address = begin;
    break;
  }
  return mmap(reinterpret_cast<void*>(address), bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | more_flags,
              -1, 0);
}

void unmap_in_region(Region region, void* mapping, size_t bytes) {
  munmap(mapping, bytes);
  const uint64_t address = reinterpret_cast<uint64_t>(mapping);
  uint64_t behind = address + bytes;
  addresses_of(region).next.compare_exchange_strong(behind, address);
}

}  // namespace wago::runtime
