// A collector that is a program of its own and works for the recorder: found, asked for its version, run, and
// watched.
//
// It runs in a process group of its own and is killed with all that it started when it takes too long, writes
// too much or floods its log. Whatever it says goes to collector.log in the capture. Nothing is changed on
// the host.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/process.h"
#include "base/result.h"

namespace wago::harness {

inline constexpr const char* kCollectorLogFile = "collector.log";

// What a recording is to such a program.
struct CollectorSettings {
  std::string directory;  // of the capture
  pid_t pid = 0;          // of the recording process
  uint64_t rate_hz = 0;
  uint64_t conversion_timeout_ns = 0;
  // Asked while something takes long; what it answers ends the wait.
  std::function<std::optional<base::Error>()> look_after;
};

// What is known of a program before it runs.
struct CollectorKind {
  const char* name;          // "perf"
  const char* missing;       // where it comes from, and what does without it; ends a sentence
  std::string_view chatter;  // how lines of its log begin that say nothing
  int paranoid = 2;          // the kernel.perf_event_paranoid that it needs, or less
};

class CollectorProgram {
 public:
  // What `NAME --version` says behind `prefix`; errors (Unmeasurable): there is no such program.
  static base::Result<std::string> version(const CollectorKind& kind, std::string_view prefix);

  // `kind` must outlive it.
  CollectorProgram(const CollectorKind& kind, CollectorSettings settings);

  const CollectorSettings& settings() const { return settings_; }
  // Of a file in the capture, named from the root.
  std::string path(const std::string& name) const;
  // With `words` before its name ("env" settings). Its errors, and its output unless `descriptors` have a 1,
  // are added to the log.
  base::Result<base::Process> spawn(const std::vector<std::string>& environment,
                                    const std::vector<std::string>& arguments,
                                    std::vector<std::pair<int, int>> descriptors = {}) const;
  // Why `process` is no longer there, while it should be; `what` it is: "perf record".
  std::optional<base::Error> ended(base::Process& process, const std::string& what) const;

  // What follows is conversion, and bounded by its timeout.
  void begin_conversion();
  bool is_late() const;
  // Until it has ended well; `work`, if there is any, is what to do meanwhile, again and again. `file`: what
  // it writes, bounded as a capture's files are; empty: nothing.
  base::Result<void> wait_for(base::Process& process, const std::string& what, const std::string& file,
                              const std::function<base::Result<void>()>& work = {}) const;

  // Of its words those that say something; files of the capture without their folder.
  std::string log_tail() const;
  // `what` went wrong, its last words, and the setting that would change it (Unmeasurable).
  base::Error refusal(const std::string& what) const;
  // `what` ended before it had begun: by itself, which is a refusal, or by a signal, which is not.
  base::Error failed_to_start(const std::string& what, const base::Ended& ended) const;
  base::Result<void> log_in_bounds(const std::string& what) const;
  uint64_t size_of(const std::string& file) const;  // 0: there is none

 private:
  const CollectorKind& kind_;
  CollectorSettings settings_;
  uint64_t deadline_ns_ = 0;  // of the conversion
};

}  // namespace wago::harness
