#include <memory>

#include "base/json.h"
#include "cli/flags.h"
#include "cli/output.h"
#include "cli/profile_commands.h"
#include "diff/top.h"

namespace wago::cli::profile {

namespace {

struct TopFlags {
  std::string capture;
  std::optional<std::string> limit;
  std::optional<std::string> by;
  bool json = false;
};

constexpr uint64_t kMaxLimit = 1'000'000;

// Only functions can be told apart without samples or counts.
base::Result<void> check_by(const std::optional<std::string>& by) {
  static constexpr std::string_view kAvailable[] = {"function"};
  if (!by || *by == "function") return {};
  for (std::string_view word : {"line", "kind", "site"}) {
    if (*by == word) return base::usage_error("--by " + *by + " is not available in this version");
  }
  return not_a_word("--by", *by, kAvailable);
}

int top(const TopFlags& flags, Output& output) {
  diff::TopOptions options;
  if (auto by = check_by(flags.by); !by) return output.fail(by.error());
  if (flags.limit) {
    auto limit = parse_number("--limit", *flags.limit, 1, kMaxLimit);
    if (!limit) return output.fail(limit.error());
    options.limit = *limit;
  }
  auto evidence = diff::load(flags.capture);
  if (!evidence) return output.fail(evidence.error());
  diff::Top model = diff::top_of(*evidence, options);
  output.print(flags.json ? diff::to_json(model).dump(2) + "\n" : diff::to_text(model));
  return kExitDone;
}

}  // namespace

void add_top(Command& profile) {
  auto flags = std::make_shared<TopFlags>();
  Command& command = profile.add_command("top", "Where the time of a capture went");
  command.add_operand("CAPTURE", "A capture directory", &flags->capture);
  command.add_option("--limit", "N", "Entries listed (default 20)", &flags->limit);
  command.add_option("--by", "function|line|kind|site", "What an entry is (default function)", &flags->by);
  command.add_flag("--json", "As JSON", &flags->json);
  command.set_action([flags](Output& output) { return top(*flags, output); });
}

}  // namespace wago::cli::profile
