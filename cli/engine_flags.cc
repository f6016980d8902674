#include "cli/engine_flags.h"

#include <wago/wago.h>
#include "base/abilities.h"
#include "cli/flags.h"

namespace wago::cli {

namespace {
constexpr uint64_t kMaxWorkers = 1024;
}  // namespace

void EngineFlags::add_to(Command& command) {
  command.group("Engine");
  command.add_option("--bounds", "signals|explicit", "How memory accesses are checked (default signals)",
                     &bounds);
  command.add_option("--level", "N", "0: no optimisation passes, 1: all of them (default)", &level);
  command.add_option("--workers", "N", "Compile threads, 0: one a core (default 1); the code is the same",
                     &workers);
  command.add_flag("--interruptible", "Let a deadline stop loops at once, at the cost of a check in each",
                   &interruptible);
}

base::Result<EngineSettings> EngineFlags::settings() const {
  EngineSettings settings;
  if (bounds) {
    auto word = parse_word<base::Bounds>("--bounds", *bounds);
    if (!word) return word.error();
    settings.bounds = *word;
  }
  if (level) {
    auto number = parse_number("--level", *level, 0, base::kMaxLevel);
    if (!number) return number.error();
    settings.level = static_cast<int>(*number);
  }
  if (workers) {
    auto number = parse_number("--workers", *workers, 0, kMaxWorkers);
    if (!number) return number.error();
    settings.workers = static_cast<unsigned>(*number);
  }
  settings.interruptible = interruptible;
  return settings;
}

}  // namespace wago::cli
