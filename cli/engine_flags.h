// The engine settings of a command line, the same for `run` and `record`.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace wago {
struct EngineSettings;
}

namespace wago::cli {

class Command;

struct EngineFlags {
  std::optional<std::string> bounds;
  std::optional<std::string> level;
  std::optional<std::string> workers;
  bool interruptible = false;

  void add_to(Command& command);
  base::Result<EngineSettings> settings() const;
};

}  // namespace wago::cli
