// The two sides of an experiment: who their programs are, what each runs, and whether that is what was
// recorded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "capture/experiment.h"
#include "capture/workload.h"
#include "harness/experiment.h"
#include "harness/pair_runner.h"

namespace wago::harness {

std::string name_of(capture::ExperimentSide side);  // "the baseline"

// The CPUs that processes may be bound to: the one wanted, or all allowed. Errors: none is known.
base::Result<std::vector<uint32_t>> allowed_cpus(const std::optional<uint32_t>& wanted);

// A workload as a side runs it: with its modules and its setting.
capture::Workload workload_of(const capture::Workload& declared, const SideRequest& side);

// Who a side's program is. Errors: it cannot be run, is no worker, or may not be measured: a sanitized build,
// a program for another machine. After an interruption whatever the error says.
base::Result<HelloAnswer> greet(PairRunner& runner, const SideRequest& side, capture::ExperimentSide which,
                                uint32_t cpu);
// What is kept of it.
capture::SideRecord record_of(const SideRequest& side, const HelloAnswer& hello);

// What an experiment says where programs are not run from copies, because of that side's.
std::string in_place_remark(const SideRequest& side, capture::ExperimentSide which, const std::string& why);
// And where neither side is told addresses, because of that side's.
std::string not_placed_remark(capture::ExperimentSide which, uint64_t protocol);

// What differs between an experiment and what is there now.
class Differences {
 public:
  void look(const std::string& what, const std::string& recorded, const std::string& now);
  void look(const std::string& what, uint64_t recorded, uint64_t now);
  void look(const capture::SideRecord& recorded, const capture::SideRecord& now,
            capture::ExperimentSide side);
  // Of a workload that both know: contract, modules and code.
  void look(const capture::ExperimentWorkload& recorded, const capture::ExperimentWorkload& now);

  // "the experiment cannot be continued: the seed was 7 and is 8; name another directory"; nothing: they are
  // the same.
  std::optional<base::Error> error(const std::string& path, std::string_view refusal,
                                   std::string_view cure) const;

 private:
  std::vector<std::string> found_;
};

}  // namespace wago::harness
