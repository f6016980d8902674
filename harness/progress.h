// How far a recording is, told by the child through a page of shared memory: a few plain stores between
// batches, so that telling costs the measurement nothing, and still there when the child has died without a
// word.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/vocabulary.h"

namespace wago::harness {

struct ProgressPage {
  std::atomic<uint8_t> phase{0};  // base::Phase
  std::atomic<uint8_t> warming_up{0};
  std::atomic<uint64_t> iterations{0};  // complete ones, of warm-up or of the measured phase
  std::atomic<uint64_t> elapsed_ns{0};  // of the measured phase

  void enter(base::Phase now, bool warm_up = false) {
    iterations.store(0, std::memory_order_relaxed);
    elapsed_ns.store(0, std::memory_order_relaxed);
    warming_up.store(warm_up, std::memory_order_relaxed);
    phase.store(static_cast<uint8_t>(now), std::memory_order_relaxed);
  }
  void completed(uint64_t count, uint64_t elapsed) {
    iterations.store(count, std::memory_order_relaxed);
    elapsed_ns.store(elapsed, std::memory_order_relaxed);
  }
};
static_assert(std::atomic<uint64_t>::is_always_lock_free, "two processes share it");

}  // namespace wago::harness
