// The flags of `profile record`, and the recording they ask for.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "cli/engine_flags.h"
#include "harness/recorder.h"

namespace wago::cli {
class Command;
}

namespace wago::cli::profile {

struct RecordFlags {
  std::optional<std::string> catalog, workload;
  std::optional<std::string> module, export_name, init, args, want, want_trap;
  std::optional<std::string> iterations, duration, warmup, mode, phase, backend;
  std::optional<std::string> bounds, level;
  bool interruptible = false, reload_artifact = false;
  std::optional<std::string> rate, stack_bytes;
  std::optional<std::string> collection_timeout, conversion_timeout;
  bool remove_map = false;
  std::optional<std::string> out;
  bool include_code = false, source_maps = false, timeline = false, unwind_maps = false;
  std::optional<std::string> max_spans;
  bool counters = false;
  bool json = false;
  // `profile test`: the catalog is one that CMake wrote, whose other workloads are other tests' business.
  bool declared_by_cmake = false;

  void add_to(Command& command);
};

// Errors (Usage): flags that contradict one another or are missing, values that do not parse, what is not
// available.
base::Result<harness::RecordRequest> request_of(const RecordFlags& flags);

}  // namespace wago::cli::profile
