// What the commands that CTest runs have in common: a directory for every invocation of ctest, the run, in
// which all that it records lands under names that nothing else has, and measurements for CDash.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace wago::cli {
class Output;
}

namespace wago::cli::profile {

// What CTest's SKIP_RETURN_CODE is set to.
inline constexpr int kExitSkipped = 77;

// With all above it.
base::Result<void> ensure_directory(const std::filesystem::path& path);

// Tries `path`, path-2, path-3, ..., `extension` at the end, as long as `attempt` finds the name taken.
template <class Attempt>
void with_free_name(const std::filesystem::path& path, const std::string& extension, Attempt attempt) {
  constexpr int kMaxSerial = 10'000;
  std::string name = path.string() + extension;
  for (int serial = 2; !attempt(name) && serial <= kMaxSerial; ++serial) {
    name = path.string() + "-" + std::to_string(serial) + extension;
  }
}

// Opens a run below `runs`, which is created where it is not there, and makes `runs`/latest lead to it.
base::Result<std::string> begin_run(const std::string& runs);
// The one that was begun last.
base::Result<std::string> current_run(const std::string& runs);

// One that CDash plots.
void print_measurement(Output& output, const std::string& name, double value);

}  // namespace wago::cli::profile
