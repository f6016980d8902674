// The recorder's side of backend `perf`: `perf record` beside the recording process, with its events off
// until the measured phase, and what is made of its file afterwards.
//
// Nothing is left outside of the capture: build ids have a folder of their own there.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/process.h"
#include "base/result.h"
#include "capture/images.h"
#include "capture/samples.h"
#include "harness/collector_program.h"
#include "harness/perf_control.h"
#include "harness/timed_windows.h"

namespace wago::harness {

inline constexpr const char* kPerfDataFile = "perf.data";
inline constexpr const char* kPerfPprofFile = "native.pprof";
inline constexpr const char* kPerfJitFile = "perf.jit.data";
inline constexpr const char* kPerfBuildIdFolder = "buildid";

// `perf --version` without its first words; an error (Unmeasurable) where there is no perf.
base::Result<std::string> perf_version();

struct PerfSettings : CollectorSettings {
  uint32_t stack_bytes = 0;  // 0: frame pointers
};

class PerfCollector {
 public:
  // Starts perf and waits until it listens. `ours` and `its` are the ends of a socket; others may hold `ours`
  // too. Errors (Unmeasurable) say why it does not work here and which setting would change that.
  static base::Result<std::unique_ptr<PerfCollector>> start(PerfSettings settings, base::Fd ours,
                                                            base::Fd its);

  // "cpu-clock:u"
  const std::string& event() const { return event_; }
  // Why perf is no longer there, while it should be.
  std::optional<base::Error> ended();
  // The recording process has done its work: perf writes what it has. Errors: it does not, or did not get
  // everything.
  base::Result<void> stop();
  // Injects the code and reads the samples; `images` are the capture's. What perf made of the code is gone
  // after an error: it can be large, and be made again of what is left.
  base::Result<capture::Samples> convert(const capture::Images& images, const TimedWindows& windows);

 private:
  PerfCollector(PerfSettings settings, base::Fd ours);

  base::Result<base::Process> spawn(const std::vector<std::string>& arguments,
                                    std::vector<std::pair<int, int>> descriptors = {}) const;
  base::Result<void> check_size() const;
  base::Result<void> inject();
  std::string dump_name() const;
  void discard_conversion() const;
  base::Result<capture::Samples> read_script(const capture::Images& images, const TimedWindows& windows);

  const uint32_t stack_bytes_;
  CollectorProgram program_;
  PerfControl control_;
  std::string event_;
  std::string unit_;
  std::optional<base::Process> record_;
};

}  // namespace wago::harness
