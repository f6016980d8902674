#include "base/huge_pages.h"

#include <sys/mman.h>

#include <cstdint>

namespace wago::base {

void prefer_huge_pages(const void* begin, size_t bytes) {
  constexpr uintptr_t kHugePageBytes = uintptr_t{2} << 20;
  const uintptr_t first = (reinterpret_cast<uintptr_t>(begin) + kHugePageBytes - 1) & ~(kHugePageBytes - 1);
  const uintptr_t last = (reinterpret_cast<uintptr_t>(begin) + bytes) & ~(kHugePageBytes - 1);
  if (first < last) (void)madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
}

}  // namespace wago::base
