// Records a workload into a capture directory.
//
// A supervised child does the work: this program again (/proc/self/exe), started with a hidden first
// argument. A guest that never returns, crashes the process or eats its memory therefore costs a failed
// capture and not the recorder; and the child starts from a fresh process image, whatever the caller has
// mapped, threaded or forked before.
//
// Every program that calls record() must therefore begin its main() with
//
//     if (auto code = wago::harness::record_child_main(argc, argv)) return *code;
//
// Only the parent ever writes `complete`; the child dies with its parent.
#pragma once

#include <wago/wago.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "capture/manifest.h"
#include "capture/workload.h"
#include "harness/subject.h"

namespace wago::harness {

// What a terminal is shown while it takes long.
struct Progress {
  base::Phase phase = base::Phase::Compile;
  bool warming_up = false;
  uint64_t iterations = 0;          // complete, of the measured phase (or of warm-up)
  uint64_t wanted_iterations = 0;   // 0: by duration
  uint64_t elapsed_ns = 0;          // of the measured phase
  uint64_t wanted_duration_ns = 0;  // 0: by iterations
};

constexpr uint64_t kDefaultRateHz = 99;
constexpr uint64_t kMaxRateHz = 10'000;
constexpr uint64_t kDefaultConversionTimeoutNs = 120'000'000'000;
// What perf takes as the size of a raw stack.
constexpr uint32_t kMinStackBytes = 256, kMaxStackBytes = 65528;
constexpr uint64_t kMaxSpans = 1'000'000;  // of a timeline; their document takes some 250 bytes each to write

struct RecordRequest {
  capture::Workload workload;
  std::string catalog;  // name of the catalog, empty for the command line
  std::string out;      // directory; must not exist
  RecordSettings settings;
  uint64_t rate_hz = kDefaultRateHz;              // of backends that sample; 1..kMaxRateHz
  std::optional<uint64_t> collection_timeout_ns;  // limit on the whole process; nothing: default_timeout_ns()
  uint64_t conversion_timeout_ns = kDefaultConversionTimeoutNs;  // on what collectors do afterwards
  bool remove_map = false;                                       // of backend perf-map, at the end
  uint64_t memory_limit_bytes = 0;  // resident; 0: three quarters of what the machine has
  std::function<void()> on_begin;   // nothing was refused, and measuring begins; may be empty
  std::function<void(const Progress&)> on_progress;  // about ten times a second; may be empty
};

// What a recording may take beyond the duration that it measures for, if the request does not say.
constexpr uint64_t kCollectionAllowanceNs = 300'000'000'000;
// The duration, if there is one, and the allowance.
uint64_t default_timeout_ns(const capture::Workload& workload);

struct RecordOutcome {
  // Nothing: the capture is complete. Otherwise one sentence (exit code by kind), and `out`, if it was
  // created at all, is a capture that reads as unfinished.
  std::optional<base::Error> error;
  std::optional<wago::Trap> trap;  // of the guest, when that is why
  int interrupted_by =
      0;  // SIGINT, SIGTERM or SIGHUP, when that is why; the caller dies of it after cleaning up
  capture::Manifest manifest;  // as last published; meaningful once the directory was created
  bool created = false;        // `out` was created
  bool left = false;           // and is still in its place
};

// Blocks until the capture is complete or has failed. One recording at a time in a process; SIGINT, SIGTERM
// and SIGHUP are caught while it lasts, unless they are ignored. What the request cannot be (a backend this
// build lacks, an export that is not there, imports that are not provided, wrong argument counts) is refused
// before `out` is created and before anything runs.
RecordOutcome record(const RecordRequest& request);

// Does the child's work and answers its exit code when `argv` says that this process is one; nothing
// otherwise. `host` provides what the recorded modules import.
std::optional<int> record_child_main(int argc, char** argv, const HostSetup& host = {});

}  // namespace wago::harness
