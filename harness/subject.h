// The module of a workload, through its life: compiled, instantiated, initialised, called, closed. Recorder,
// Google Benchmark entries and experiments measure parts of this same life.
//
// The host's side of it is one function, env.abort, which traps, and what a HostSetup defines; a module that
// imports anything else is refused before anything of it runs.
#pragma once

#include <wago/wago.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "base/sha256.h"
#include "capture/workload.h"
#include "harness/measure.h"

namespace wago::harness {

inline constexpr uint64_t kDefaultMaxSpans = 65'536;

// What a recording is told that a workload does not say; part of the measurement contract, all of it.
struct RecordSettings {
  bool spill_everything = false;
  uint32_t code_offset = 0;      // 0, 16, 32 or 48
  bool reload_artifact = false;  // what runs was serialised and loaded again
  bool source_maps = false;      // the capture says of all code where it comes from
  bool unwind_maps = false;      // and how its frames are left
  bool include_code = false;     // the capture keeps the code's bytes
  bool counted = false;          // by backend count: code that counts
  bool counters = false;         // the processor's, around the phase
  uint32_t stack_bytes = 0;      // of each sample, raw (backend perf); 0: none
  bool timeline = false;         // the capture holds the spans of the module's life and of its boundary
  uint64_t max_spans = kDefaultMaxSpans;  // of a timeline
  bool operator==(const RecordSettings&) const = default;
};

// Why this build cannot measure the workload, by the name of what it lacks; nothing: it can.
std::optional<base::Error> unsupported(const capture::Workload& workload);

// Provides what a workload's module imports besides env.abort: defines the host's functions, and whatever
// else, in the linker that its instances are made with. Called once, before anything of the module runs; what
// it refuses refuses the recording.
using HostSetup = std::function<base::Result<void>(wago::Linker& linker, const capture::Workload& workload)>;

class Subject {
 public:
  // Reads and compiles the module and checks that the calls and imports fit. Errors name the module's file.
  static base::Result<std::unique_ptr<Subject>> load(const capture::Workload& workload,
                                                     const RecordSettings& settings = {},
                                                     base::Files& files = base::system_files(),
                                                     const HostSetup& host = {});

  const capture::Workload& workload() const { return workload_; }
  const RecordSettings& settings() const { return settings_; }
  const std::vector<uint8_t>& bytes() const { return bytes_; }
  const base::Digest& module_sha256() const { return module_sha256_; }
  const wago::Engine& engine() const { return engine_; }
  // Compiled by load(), or loaded from what was; what every later compilation must equal.
  const wago::Module& reference() const { return reference_; }
  // Its code; of code that counts, as it is without counters.
  std::shared_ptr<const runtime::CodeImage> ordinary_code() const;
  bool reloads_artifact() const { return settings_.reload_artifact; }
  // The reference serialised, and loaded again from that.
  const std::vector<uint8_t>& artifact() const { return artifact_; }
  base::Result<wago::Module> reload() const { return wago::Module::deserialize(engine_, artifact_); }
  // Of the reference's loading, where that is how it came to be.
  uint64_t reload_start_unix_ns() const { return reload_start_unix_ns_; }
  uint64_t reload_ns() const { return reload_ns_; }
  uint64_t compile_start_unix_ns() const { return compile_start_unix_ns_; }
  uint64_t compile_ns() const { return compile_ns_; }
  // Of function bodies.
  uint64_t code_bytes() const;

  base::Result<wago::Module> compile() const;
  // Runs the start function, if there is one; its trap is a failure.
  std::variant<wago::Instance, RunFailure> instantiate(const wago::Module& module) const;
  // Calls the init export, if the workload names one.
  RunStatus initialize(const wago::Instance& instance) const;
  // One iteration of the calls, on an instance that was initialised.
  RunStatus verify(const wago::Instance& instance) const;

 private:
  Subject(const capture::Workload& workload, const RecordSettings& settings, std::vector<uint8_t> bytes,
          wago::Engine engine, wago::Module reference)
      : workload_(workload),
        settings_(settings),
        bytes_(std::move(bytes)),
        engine_(std::move(engine)),
        reference_(std::move(reference)),
        linker_(engine_) {}

  base::Result<void> load_artifact();

  capture::Workload workload_;
  RecordSettings settings_;
  std::vector<uint8_t> bytes_;
  std::vector<uint8_t> artifact_;
  base::Digest module_sha256_{};
  wago::Engine engine_;
  wago::Module reference_;
  wago::Linker linker_;
  uint64_t compile_start_unix_ns_ = 0;
  uint64_t compile_ns_ = 0;
  uint64_t reload_start_unix_ns_ = 0;
  uint64_t reload_ns_ = 0;
};

}  // namespace wago::harness
