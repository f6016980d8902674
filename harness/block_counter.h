// The collector of backend count: what the measured phase executed, from the counters of the instance that it
// calls and from where frames of its module were left by traps.
#pragma once

#include <cstdint>
#include <vector>

#include "capture/counts.h"
#include "harness/collector.h"

namespace wago::runtime {
class InstanceData;
}

namespace wago::harness {

class BlockCounter final : public Collector {
 public:
  void use(wago::Instance& instance) override;
  base::Result<void> begin_phase() override;
  base::Result<void> end_phase() override;

  // After the phase. `images` are those of the capture, the counted module's first.
  capture::Counts counts(const capture::Images& images) const;

 private:
  runtime::InstanceData* instance_ = nullptr;  // alive during the phase
  std::vector<uint64_t> entered_;
  std::vector<capture::Unfinished> unfinished_;
};

}  // namespace wago::harness
