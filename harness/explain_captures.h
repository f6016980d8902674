// Records what explains a finding of an experiment: of each side, by its own program, a capture that says
// exactly what was executed and one that says where the time went. Sources of both are the experiment's:
// programs, modules and settings are compared with what was measured and refused by name where they are
// others, and every result is checked, as in any recording.
//
// A capture takes its place when it is whole, and replaces an older one at once: who is interrupted leaves
// old captures and new ones, and nothing in between.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "capture/experiment.h"
#include "capture/workload.h"
#include "harness/experiment.h"

namespace wago::harness {

struct ExplainRequest {
  std::string path;  // of the experiment, for messages
  capture::Experiment experiment;
  size_t number = 0;           // of its workload
  capture::Workload workload;  // as declared
  std::string catalog;         // its name
  std::array<SideRequest, 2> sides;
  std::string out;                       // directory; made where there is none
  uint64_t duration_ns = 5'000'000'000;  // of sampling each side
  uint64_t rate_hz = 999;
  uint64_t answer_timeout_ns = 60'000'000'000;
  std::function<void(const std::string&)> on_progress;  // "counting the baseline"; may be empty
};

struct ExplainOutcome {
  std::optional<base::Error> error;
  int interrupted_by = 0;            // SIGINT, SIGTERM or SIGHUP, when that is why
  std::vector<std::string> remarks;  // sentences: what could not be recorded, and why
};

// Blocks. One at a time in a process; signals as in run_experiment().
ExplainOutcome record_for_explanation(const ExplainRequest& request);

}  // namespace wago::harness
