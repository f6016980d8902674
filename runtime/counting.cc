#include "runtime/counting.h"

#include "runtime/code_map.h"

namespace wago::runtime {

namespace {

void leave(uint64_t site) {
  if (const MappedCode* code = find_code(site)) code->leave(site);
}

}  // namespace

// These words are the guest's; the sanitizer's idea of them dates from C++ frames that are gone.
__attribute__((no_sanitize("address"))) void leave_frames(uint64_t pc, uint64_t fp, uint64_t low,
                                                          const Activation& activation) {
  if (!counted_code_exists()) return;
  leave(pc);
  const auto high = reinterpret_cast<uint64_t>(&activation);
  while (low <= fp && fp + 16 <= high && fp % 8 == 0) {
    const auto* words = reinterpret_cast<const uint64_t*>(fp);
    const uint64_t caller = words[0];
    if (caller <= fp || caller >= high) return;  // called by the entry adapter
    leave(words[1]);
    fp = caller;
  }
}

}  // namespace wago::runtime
