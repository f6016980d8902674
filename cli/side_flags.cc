#include "cli/side_flags.h"

#include <algorithm>
#include <array>

#include "base/abilities.h"
#include "base/process.h"
#include "base/text.h"
#include "cli/flags.h"

namespace wago::cli::profile {

using base::Result;
using base::usage_error;
using harness::Setting;

void SideFlags::add_to(Command& command) {
  command.add_option("--baseline", "PROGRAM", "The wago-profile to compare with", &baseline);
  command.add_option("--candidate", "PROGRAM", "The wago-profile to compare", &candidate);
  command.add_option("--baseline-modules", "DIR", "Where the baseline finds modules of the same file names",
                     &baseline_modules);
  command.add_option("--candidate-modules", "DIR", "Where the candidate does", &candidate_modules);
}

// "level 0", "level=0", "--level=0": what a setting is called and what it is.
std::pair<std::string, std::string> split_setting(std::string_view text) {
  if (text.starts_with("--")) text.remove_prefix(2);
  const size_t end = std::min(text.find_first_of(" ="), text.size());
  return {std::string(text.substr(0, end)), std::string(text.substr(std::min(end + 1, text.size())))};
}

Result<Setting> parse_setting(const std::string& where, const std::string& text) {
  const auto [name, value] = split_setting(text);
  Setting setting;
  setting.text = "--" + name + (value.empty() ? "" : " " + value);
  if (name == "level") {
    auto level = parse_number("--level", value, 0, base::kMaxLevel);
    if (!level) return in_flag(where, level.error());
    setting.level = static_cast<int>(*level);
  } else if (name == "bounds") {
    auto bounds = parse_word<base::Bounds>("--bounds", value);
    if (!bounds) return in_flag(where, bounds.error());
    setting.bounds = *bounds;
  } else if (name == "interruptible" && value.empty()) {
    setting.interruptible = true;
  } else if (name == "code-shift") {
    constexpr std::array<std::string_view, 3> kShifts = {"16", "32", "48"};
    const auto shift = std::find(kShifts.begin(), kShifts.end(), value);
    if (shift == kShifts.end()) return in_flag(where, not_a_word("--code-shift", value, kShifts));
    setting.code_shift = 16 * static_cast<uint32_t>(shift - kShifts.begin() + 1);
  } else {
    return usage_error(
        where + ": " + base::display(text) +
        " is no setting of one side; it can be 'level N', 'bounds signals', 'bounds explicit', "
        "'interruptible' or 'code-shift N'");
  }
  return setting;
}

Result<std::string> find_side_program(const char* flag, const std::string& program) {
  auto found = base::find_program(program);
  if (found) return *found;
  return usage_error(std::string(flag) + ": is no program that can be run", {.file = program});
}

}  // namespace wago::cli::profile
