#include <memory>

#include "base/files.h"
#include "base/json.h"
#include "cli/disassemble.h"
#include "cli/flags.h"
#include "cli/output.h"
#include "cli/profile_commands.h"
#include "diff/annotate.h"

namespace wago::cli::profile {

namespace {

struct AnnotateFlags {
  std::string capture;
  std::optional<std::string> function, sources;
  bool assembly = false;
  bool json = false;
};

int annotate(const AnnotateFlags& flags, Output& output) {
  if (!flags.function) {
    return output.fail(
        base::usage_error("--function is missing: the name or the index of the function to show"));
  }
  if (flags.sources && !base::system_files().is_directory(*flags.sources)) {
    return output.fail(base::usage_error("--sources: is no directory", {.file = *flags.sources}));
  }
  auto evidence = diff::load(flags.capture);
  if (!evidence) return output.fail(evidence.error());
  auto choice = diff::choose_function(*evidence, *flags.function);
  if (!choice) return output.fail(choice.error());
  diff::SourceFiles sources(flags.sources.value_or("."));
  auto model = diff::annotate(*evidence, *choice, disassembler(), &sources, flags.assembly);
  if (!model) return output.fail(model.error());
  output.print(flags.json ? diff::to_json(*model).dump(2) + "\n" : diff::to_text(*model, output.colour()));
  return kExitDone;
}

}  // namespace

void add_annotate(Command& profile) {
  auto flags = std::make_shared<AnnotateFlags>();
  Command& command = profile.add_command("annotate", "One function, instruction by instruction");
  command.add_operand("CAPTURE", "A capture directory", &flags->capture);
  command.add_option("--function", "NAME|INDEX",
                     "The function, by its name, an export or its index in the module", &flags->function);
  command.add_flag("--assembly", "Machine instructions, or exit 2 where the capture does not hold its code",
                   &flags->assembly);
  command.add_option("--sources", "DIR", "Where the sources lie (default: the working directory)",
                     &flags->sources);
  command.add_flag("--json", "As JSON", &flags->json);
  command.set_footer(
      "Machine instructions are shown where the capture holds its code (--include-code), with samples or "
      "exact\n"
      "counts, the WebAssembly instruction and the source line that they come from.");
  command.set_action([flags](Output& output) { return annotate(*flags, output); });
}

}  // namespace wago::cli::profile
