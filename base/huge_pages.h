// Memory for what is large and filled from front to back: in huge pages, where the kernel has them.
//
// Touching fresh memory page by page costs more than filling it. An array of 40 MB is ten thousand faults in
// pages of 4 KiB and twenty in pages of 2 MiB.
#pragma once

#include <cstddef>
#include <vector>

namespace wago::base {

// Below this, ordinary pages do: a huge one would mostly be empty.
constexpr size_t kWorthHugePages = size_t{8} << 20;

// Asks for huge pages inside of [begin, begin + bytes). A wish: nothing depends on it.
void prefer_huge_pages(const void* begin, size_t bytes);

// vector.reserve(count), in huge pages if that is worth it.
template <class T>
void reserve_large(std::vector<T>& vector, size_t count) {
  if (count <= vector.capacity()) return;
  vector.reserve(count);
  if (count * sizeof(T) >= kWorthHugePages) prefer_huge_pages(vector.data(), count * sizeof(T));
}

}  // namespace wago::base
