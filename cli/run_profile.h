// `run --profile`: what accompanies a run for collectors that are started outside, or is one itself. The
// ordinary program has none of it; the profiling program hands `start_run_profile` to its `run`.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"

namespace wago {
struct EngineSettings;
}

namespace wago::cli {

class Output;

class RunProfile {
 public:
  virtual ~RunProfile() = default;
  // Calls `guest`, which is all that runs of the module, start function included; once. Where it refuses,
  // nothing ran.
  virtual base::Result<void> run(const std::function<void()>& guest) {
    guest();
    return {};
  }
  // The run is over, however it ended, and the code still there. Remarks go to `output`.
  virtual base::Result<void> finish(Output& output) = 0;
};

struct RunProfileRequest {
  std::string spec;         // KIND[,FILE[,INTERVAL]]
  std::string module_path;  // as the user named it
  bool remove_map = false;
};

// Starts before anything is compiled, and may ask the engine for what the profile needs of its code. Errors:
// what is used wrongly lists what there is (Usage); this machine does not let the profile be taken
// (Unmeasurable).
using StartRunProfile = base::Result<std::unique_ptr<RunProfile>> (*)(const RunProfileRequest& request,
                                                                      EngineSettings& settings);

namespace profile {
base::Result<std::unique_ptr<RunProfile>> start_run_profile(const RunProfileRequest& request,
                                                            EngineSettings& settings);
}

}  // namespace wago::cli
