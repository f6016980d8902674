// manifest.json: what was measured, on what, and whether it is all there. Scripts rely on its names.
//
// Invariants: `complete` is written true once, by the recorder's parent, after every other file of the
// capture is on the disk and the work was done in full; whatever else is found is an unfinished capture.
// Arguments, wanted and seen slots, guest memory and the environment are never in it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/build_info.h"
#include "base/result.h"
#include "base/sha256.h"
#include "base/vocabulary.h"
#include "capture/schema.h"
#include "capture/workload.h"

namespace wago::base {
class Json;
}

namespace wago::capture {

// What the engine and the recorder were set to; part of the measurement contract, all of it.
struct EffectiveSettings {
  EngineOptions engine;
  bool spill_everything = false;
  uint32_t code_offset = 0;        // bytes the code was moved by inside its first cache line
  uint64_t guest_stack_bytes = 0;  // what a guest may use of the stack
  bool include_code = false;
  bool source_maps = false;
  bool timeline = false;
  bool unwind_maps = false;
  uint32_t stack_bytes = 0;  // raw stack per sample
  uint64_t max_spans = 0;    // 0 without a timeline
  bool reload_artifact = false;
  bool counters = false;
  bool operator==(const EffectiveSettings&) const = default;
};

// A phase that was run. Phases that are not the measured one ran once, to get there.
struct PhaseRecord {
  base::Phase phase = base::Phase::Execute;
  uint64_t start_unix_ns = 0;
  uint64_t end_unix_ns = 0;
  uint64_t elapsed_ns = 0;  // monotonic, from the phase's start to its end, recorder's own work included
  uint64_t completed_work = 0;
  std::string work_unit;  // see work_unit()
  bool operator==(const PhaseRecord&) const = default;
};

// "bytes" of module compiled, "instances" made or closed, "invocations" of an export, "lifecycles" (all).
std::string_view work_unit(base::Phase phase);

// A file of the capture, as it was when the capture was published.
struct FileRecord {
  std::string name;
  uint64_t bytes = 0;
  base::Digest sha256{};
  bool operator==(const FileRecord&) const = default;
};

// What collectors and metadata lost; anything but zero makes the part of it that is named unusable.
struct Losses {
  uint64_t samples = 0;
  uint64_t spans = 0;
  uint64_t journal_records = 0;
  bool operator==(const Losses&) const = default;
};

struct Manifest {
  uint64_t version = kVersion;
  bool complete = false;
  bool collector_pending = false;        // a parent still owes conversion
  std::vector<std::string> diagnostics;  // sentences

  // The program that recorded.
  std::string program_version;
  std::string revision;  // "unknown" when the build could not tell
  base::Dirty dirty = base::Dirty::Unknown;
  std::string runner_id;  // build id of the recording program: equal means equal runtime helpers

  // What was measured.
  std::string workload;
  std::string catalog;      // empty: named on the command line
  std::string module_name;  // file name without its folder
  uint64_t module_bytes = 0;
  uint64_t code_section_bytes = 0;
  std::string module_sha256;
  std::string contract_sha256;  // see contract_sha256(Workload)
  std::string code_sha256;      // over all function hashes, relocations masked, and all adapters
  uint64_t calls_per_iteration = 1;
  uint64_t items_per_iteration = 0;  // 0: not stated
  uint64_t bytes_per_iteration = 0;
  std::vector<std::string> labels;

  // Where.
  std::string target;  // "x86_64-linux-gnu"
  std::string cpu_model;
  std::string os_version;  // "Linux 6.1.0-18-amd64"
  uint64_t logical_cpus = 0;

  // How.
  base::Backend backend = base::Backend::None;
  std::string event = "none";  // what a sample or count stands for
  std::string collector_version;
  std::string phase_isolation = "phase";  // "phase": only the measured phase; "process": all of the process
  base::Phase capture_phase = base::Phase::Execute;
  base::Mode invocation_mode = base::Mode::Public;
  uint64_t requested_rate_hz = 0;  // 0: the backend does not sample
  EffectiveSettings effective_settings;

  // How much. Requested: at most one is not zero.
  uint64_t requested_iterations = 0;
  uint64_t requested_duration_ns = 0;
  uint64_t warmup_iterations = 0;
  uint64_t completed_iterations = 0;   // of the measured phase, warm-up excluded
  uint64_t completed_invocations = 0;  // calls in them
  uint64_t execution_duration_ns = 0;  // sum of the timed windows: wall time of the measured work alone
  uint64_t execution_cpu_ns = 0;       // thread-CPU time of the same windows
  std::vector<PhaseRecord> phases;     // in the order they ran

  Losses losses;
  std::vector<FileRecord> files;  // every other file of the capture; empty until complete

  // Complete and nothing owed.
  bool finished() const { return complete && !collector_pending; }
  // The record of the measured phase, or nullptr.
  const PhaseRecord* measured_phase() const;

  bool operator==(const Manifest&) const = default;
};

std::string to_json_text(const Manifest& manifest);
// Errors (Usage) name `file`, the JSON path and, over a limit, the limit; versions are checked before
// anything else.
base::Result<Manifest> parse_manifest(std::string_view text, const std::string& file,
                                      const Limits& limits = {});

}  // namespace wago::capture
