#include <algorithm>
#include <memory>

#include "base/json.h"
#include "cli/disassemble.h"
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

base::Result<diff::Grouping> parse_by(const std::string& by) {
  const auto words = diff::grouping_words();
  const auto at = std::find(words.begin(), words.end(), by);
  if (at == words.end()) return not_a_word("--by", by, words);
  return static_cast<diff::Grouping>(at - words.begin());
}

int top(const TopFlags& flags, Output& output) {
  diff::TopOptions options;
  if (flags.by) {
    auto by = parse_by(*flags.by);
    if (!by) return output.fail(by.error());
    options.by = *by;
  }
  if (flags.limit) {
    auto limit = parse_number("--limit", *flags.limit, 1, kMaxLimit);
    if (!limit) return output.fail(limit.error());
    options.limit = *limit;
  }
  auto evidence = diff::load(flags.capture);
  if (!evidence) return output.fail(evidence.error());
  if (evidence->counts && !evidence->samples) {
    if (auto counted = diff::expect_counts(*evidence, options.by); !counted)
      return output.fail(counted.error());
  } else if (options.by != diff::Grouping::Function && !evidence->samples) {
    return output.fail(base::usage_error("--by " + *flags.by +
                                             " needs samples or counts, and this capture has none: record "
                                             "with a backend that samples or counts",
                                         {.file = flags.capture}));
  }
  options.disassemble = disassembler();
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
