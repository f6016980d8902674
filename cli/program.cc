#include <csignal>
#include <string>
#include <vector>

#include <wago/wago.h>
#include "base/build_info.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/output.h"
#include "codegen/llvm/version.h"

namespace wago::cli {

namespace {

std::string version_text(const std::string& program) {
  const base::BuildInfo& build = base::build_info();
  const EngineSettings defaults;
  std::string text = program + " " + build.version + "\n";
  text += "revision  " + build.revision + " (" + base::to_string(build.dirty) + ")\n";
  text +=
      "built     " + build.compiler + ", " + build.build_type + (build.sanitized ? ", sanitized" : "") + "\n";
  text += "LLVM      " + std::string(codegen::llvm_version()) + "\n";
  text += "target    x86_64-linux, x86-64-v3\n";
  text += "defaults  bounds " + std::string(base::spelling(defaults.bounds)) + ", level " +
          std::to_string(defaults.level) + ", workers " + std::to_string(defaults.workers) + "\n";
  return text;
}

}  // namespace

void add_profile_refusal(Command& program) {
  Command& profile = program.add_command("profile", "Record and compare captures (wago-profile only)");
  profile.accept_anything();
  profile.set_action([](Output& output) {
    return output.fail(
        base::usage_error("this is the ordinary runtime, which does not profile; scripts/build-profiler.sh "
                          "OUT --cli builds the program "
                          "that does, wago-profile"));
  });
}

int run_program(const char* name, Edition edition, void (*add_more)(Command&), int argc, char** argv) {
  // A file that grows beyond its limit (ulimit -f) is an error of the write, which is said, and no death.
  std::signal(SIGXFSZ, SIG_IGN);
  Output output(name, stdout, stderr);
  Command program(name, edition.description);
  bool version = false;
  program.add_flag("--version", "Print version, revision, LLVM, target and default settings", &version);
  program.set_action([&](Output& out) {
    if (!version) return out.fail(program.missing_command());
    out.print(version_text(name));
    return kExitDone;
  });
  add_validate(program);
  add_module(program);
  add_run(program, edition);
  add_more(program);
  std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  return output.finish(parse_and_run(program, arguments, output));
}

}  // namespace wago::cli
