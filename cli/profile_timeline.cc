#include <memory>

#include "base/json.h"
#include "cli/flags.h"
#include "cli/output.h"
#include "cli/profile_commands.h"
#include "diff/timeline.h"

namespace wago::cli::profile {

namespace {

struct TimelineFlags {
  std::string capture;
  bool json = false;
};

int timeline(const TimelineFlags& flags, Output& output) {
  auto evidence = diff::load(flags.capture);
  if (!evidence) return output.fail(evidence.error());
  auto model = diff::timeline_of(*evidence);
  if (!model) return output.fail(model.error());
  output.print(flags.json ? diff::to_json(*model).dump(2) + "\n" : diff::to_text(*model));
  return kExitDone;
}

}  // namespace

void add_timeline(Command& profile) {
  auto flags = std::make_shared<TimelineFlags>();
  Command& command =
      profile.add_command("timeline", "When guests were entered and left, and how long that took");
  command.add_operand("CAPTURE", "A capture directory", &flags->capture);
  command.add_flag("--json", "As JSON", &flags->json);
  command.set_action([flags](Output& output) { return timeline(*flags, output); });
}

}  // namespace wago::cli::profile
