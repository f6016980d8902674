// `run --profile`: what accompanies a run for collectors that are started outside, or is one itself. The
// ordinary program has none of it; the profiling program hands `start_run_profile` to its `run`.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"

namespace wago {
struct EngineSettings;
}

namespace wago::cli {

class RunProfile {
 public:
  virtual ~RunProfile() = default;
  // The run is over, the code still there.
  virtual base::Result<void> finish() = 0;
};

struct RunProfileRequest {
  std::string spec;  // KIND[,FILE[,INTERVAL]]
  bool remove_map = false;
};

// Starts before anything is compiled, and may ask the engine for what the profile needs of its code. Errors
// (Usage) list what there is.
using StartRunProfile = base::Result<std::unique_ptr<RunProfile>> (*)(const RunProfileRequest& request,
                                                                      EngineSettings& settings);

namespace profile {
base::Result<std::unique_ptr<RunProfile>> start_run_profile(const RunProfileRequest& request,
                                                            EngineSettings& settings);
}

}  // namespace wago::cli
