// The recorder's side of backend `perf`: `perf record` beside the recording process, with its events off
// until the measured phase, and what is made of its file afterwards.
//
// perf runs in a process group of its own and is killed with it when anything takes too long. Whatever it
// says goes to collector.log in the capture. Nothing is changed on the host, and nothing is left outside of
// the capture: build ids have a folder of their own there.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/process.h"
#include "base/result.h"
#include "capture/images.h"
#include "capture/samples.h"
#include "harness/perf_control.h"

namespace wago::harness {

inline constexpr const char* kPerfLogFile = "collector.log";
inline constexpr const char* kPerfDataFile = "perf.data";
inline constexpr const char* kPerfPprofFile = "native.pprof";
inline constexpr const char* kPerfJitFile = "perf.jit.data";
inline constexpr const char* kPerfBuildIdFolder = "buildid";

// `perf --version` without its first words; an error (Unmeasurable) where there is no perf.
base::Result<std::string> perf_version();

struct PerfSettings {
  std::string directory;  // of the capture
  pid_t pid = 0;          // of the recording process
  uint64_t rate_hz = 0;
  uint32_t stack_bytes = 0;  // 0: frame pointers
  uint64_t conversion_timeout_ns = 0;
  // Asked while something takes long; what it answers ends the wait.
  std::function<std::optional<base::Error>()> look_after;
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
  // Injects the code and reads the samples; `images` are the capture's.
  base::Result<capture::Samples> convert(const capture::Images& images);

 private:
  explicit PerfCollector(PerfSettings settings, base::Fd ours)
      : settings_(std::move(settings)), control_(std::move(ours)) {}

  std::string path(const std::string& name) const;
  base::Result<base::Process> spawn(const std::vector<std::string>& arguments, int output,
                                    const base::Fd* control) const;
  base::Result<void> wait_for(base::Process& process, const std::string& what, const std::string& file,
                              const std::function<base::Result<void>()>& work);
  base::Result<void> inject();
  base::Result<capture::Samples> read_script(const capture::Images& images);
  base::Error refusal(const std::string& what) const;
  std::string log_tail() const;

  const PerfSettings settings_;
  PerfControl control_;
  std::string event_;
  std::string unit_;
  uint64_t deadline_ns_ = 0;  // of the conversion
  std::optional<base::Process> record_;
};

}  // namespace wago::harness
