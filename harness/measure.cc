#include "harness/measure.h"

#include <algorithm>

namespace wago::harness {

namespace {
// One estimate that was disturbed must not make a batch of seconds.
constexpr uint64_t kMaxGrowth = 16;
}  // namespace

RunStatus Measurement::warm_up(uint64_t iterations) {
  for (uint64_t i = 0; i < iterations; ++i) {
    if (auto failure = work_.prepare(1, true)) return failure;
    uint64_t before = clock_.monotonic_ns();
    if (auto failure = work_.run(1)) return failure;
    uint64_t took = std::max<uint64_t>(clock_.monotonic_ns() - before, 1);
    if (auto failure = work_.finish(1, true)) return failure;
    // The fastest: the first ones are cold, and a disturbed one would make the first batches too short.
    iteration_ns_ = iteration_ns_ ? std::min(iteration_ns_, took) : took;
    progress_.completed(i + 1, 0);
  }
  return {};
}

uint64_t Measurement::next_batch(const LoopLimits& limits, const LoopResult& result) const {
  uint64_t wanted_ns = kBatchNs << std::min<uint64_t>(result.batches.size() / kBatchesBeforeDoubling, 20);
  uint64_t count = iteration_ns_ ? std::max<uint64_t>(wanted_ns / iteration_ns_, 1) : 1;
  if (!result.batches.empty()) count = std::min(count, last_batch_ * kMaxGrowth);
  count = std::min(count, work_.max_batch());
  if (limits.iterations) count = std::min(count, limits.iterations - result.iterations);
  return count;
}

RunStatus Measurement::run(const LoopLimits& limits, LoopResult& result) {
  auto refused = [](const base::Result<void>& done) {
    return RunFailure{done.error(), done.error().message};
  };
  work_.begin_measured();
  if (collector_) {
    if (auto begun = collector_->innermost().begin_phase(); !begun) return refused(begun);
  }
  RunStatus status = loop(limits, result);
  if (collector_) {
    if (auto ended = collector_->end_phase(); !ended && !status) return refused(ended);
  }
  return status;
}

RunStatus Measurement::loop(const LoopLimits& limits, LoopResult& result) {
  result.start_unix_ns = clock_.unix_ns();
  const uint64_t start = result.start_monotonic_ns = clock_.monotonic_ns();
  bool last = false;
  while (!last) {
    const uint64_t count = next_batch(limits, result);
    if (auto failure = work_.prepare(count, result.batches.empty())) return failure;
    if (collector_) collector_->begin_window();
    const uint64_t cpu_before = clock_.thread_cpu_ns();
    const uint64_t before = clock_.monotonic_ns();
    auto failure = work_.run(count);
    const uint64_t after = clock_.monotonic_ns();
    const uint64_t cpu_after = clock_.thread_cpu_ns();
    if (collector_) collector_->end_window();
    if (failure) return failure;
    const uint64_t cpu_ns = after - before < kMinCpuWindowNs ? 0 : cpu_after - cpu_before;
    const capture::IterationBatch batch = {before - start, after - before, cpu_ns, count};
    result.batches.push_back(batch);
    result.iterations += count;
    result.wall_ns += batch.wall_ns;
    result.cpu_ns += batch.cpu_ns;
    last_batch_ = count;
    iteration_ns_ = std::max<uint64_t>(batch.wall_ns / count, 1);
    last = limits.iterations ? result.iterations >= limits.iterations : after - start >= limits.duration_ns;
    if (auto unfinished = work_.finish(count, last)) return unfinished;
    progress_.completed(result.iterations, after - start);
  }
  result.elapsed_ns = clock_.monotonic_ns() - start;
  result.end_unix_ns = clock_.unix_ns();
  return {};
}

}  // namespace wago::harness
