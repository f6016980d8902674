// The flags by which the sides of an experiment are named.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "harness/experiment.h"

namespace wago::cli {
class Command;
}

namespace wago::cli::profile {

struct SideFlags {
  std::optional<std::string> baseline, candidate;
  std::optional<std::string> baseline_modules, candidate_modules;

  void add_to(Command& command);
  bool given() const { return baseline || candidate || baseline_modules || candidate_modules; }
};

// "level 0", "level=0", "--level=0": what a setting is called and what it is.
std::pair<std::string, std::string> split_setting(std::string_view text);
// Errors say what `where` - a flag, a file - has.
base::Result<harness::Setting> parse_setting(const std::string& where, const std::string& text);

// The path of a wago-profile. Errors name the flag.
base::Result<std::string> find_side_program(const char* flag, const std::string& program);

}  // namespace wago::cli::profile
