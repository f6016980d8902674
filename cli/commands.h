// The commands that both programs have. Each function adds one to a program; see docs/command-line.md for
// what they do.
#pragma once

#include "cli/run_profile.h"

namespace wago::cli {

class Command;

// What a program is: the ordinary runtime, or the one that also profiles, and how it profiles a run.
struct Edition {
  const char* description = "WebAssembly engine";
  StartRunProfile start_run_profile = nullptr;
};

void add_validate(Command& program);
void add_module(Command& program);
void add_run(Command& program, Edition edition);
// In an ordinary program: says how to get the profiling one.
void add_profile_refusal(Command& program);

// A whole program around these commands: `--version`, `--help`, exit code. `add_more` may add commands of its
// own.
int run_program(const char* name, Edition edition, void (*add_more)(Command&), int argc, char** argv);

}  // namespace wago::cli
