// Where code and memories are mapped, for processes that are compared with one another: what branch
// predictors and caches make of the same instructions depends on the addresses of both, so that the same code
// is slower by several percent in one process than in another unless they agree. Left alone, the kernel
// chooses.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wago::runtime {

enum class Region : uint8_t { Code, Memory };

// What is mapped from then on in this process goes to `address` (a multiple of the page size) and behind it,
// one mapping after the other; what was mapped last and is unmapped first gives its addresses back, and 16
// TiB further on they begin again at `address`. Where something else is in the way the kernel chooses after
// all. 0: the kernel always does, as at the beginning.
void place_region(Region region, uint64_t address);

// mmap() and munmap() of private memory without a file. `bytes`: a multiple of the page size. MAP_FAILED: as
// errno says.
void* map_in_region(Region region, size_t bytes, int protection, int more_flags = 0);
void unmap_in_region(Region region, void* mapping, size_t bytes);

}  // namespace wago::runtime
