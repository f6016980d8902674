#include "harness/block_counter.h"

#include <wago/wago.h>

#include "base/check.h"
#include "runtime/code_map.h"
#include "runtime/engine_data.h"
#include "runtime/instance.h"

namespace wago::harness {

void BlockCounter::use(wago::Instance& instance) {
  instance_ = instance.data();
}

base::Result<void> BlockCounter::begin_phase() {
  WAGO_CHECK(instance_ && instance_->module_data().code().image().counted);
  for (uint64_t& counter : instance_->counters()) counter = 0;
  for (auto& count : instance_->module_data().code().exit_counts()) count = 0;
  return {};
}

base::Result<void> BlockCounter::end_phase() {
  const auto counters = instance_->counters();
  entered_.assign(counters.begin(), counters.end());
  const runtime::MappedCode& code = instance_->module_data().code();
  const auto left = code.exit_counts();
  for (size_t i = 0; i < left.size(); ++i) {
    if (left[i] == 0) continue;
    const runtime::CountedExit& exit = code.image().counted->exits[i];
    unfinished_.push_back({0, exit.block, exit.offset, exit.machine_instructions, exit.ranges, left[i]});
  }
  return {};
}

capture::Counts BlockCounter::counts(const capture::Images& images) const {
  capture::Counts counts;
  counts.entered.resize(images.images.size());
  counts.entered[0] = entered_;
  counts.unfinished = unfinished_;
  return counts;
}

}  // namespace wago::harness
