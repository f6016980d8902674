// What the programs provide to modules: `env.abort`, a function of whatever type the module declares, since
// languages disagree about its parameters; it traps. Runner and recorder provide the same, so that what runs
// can be recorded.
#pragma once

#include <wago/wago.h>

#include "base/result.h"

namespace wago::runtime {

bool is_provided(const ImportInfo& import);

// Defines what is provided and what `linker` lacks. Errors (Usage): every import that neither provides, by
// module, name and type.
base::Result<void> define_provided(Linker& linker, const wago::Module& module);

}  // namespace wago::runtime
