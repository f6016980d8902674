// What this program provides to modules: `env.abort`, a function of whatever type the module declares, which
// traps.
#pragma once

#include <string>

#include "base/result.h"
#include "runtime/include/wago/wago.h"

namespace wago::cli {

bool provides(const ImportInfo& import);

// Defines what is provided. Errors (Usage): every import that is not, by module, name and type.
base::Result<void> define_imports(Linker& linker, const Module& module);

// "env.abort function (i32) -> ()", "env.memory memory 1 pages"
std::string describe(const ImportInfo& import);
// Kind first: "function (i32) -> (i32)", "memory 1..2 pages"
std::string describe(const ExternType& type);

}  // namespace wago::cli
