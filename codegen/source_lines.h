// A module's debug information, as the runtime asks for it.
#pragma once

#include <memory>

#include "runtime/module.h"
#include "runtime/source_lines.h"

namespace wago::codegen {

// Null if the module carries none. Reads nothing yet.
std::shared_ptr<const runtime::SourceLines> open_source_lines(std::shared_ptr<const runtime::Module> module);

}  // namespace wago::codegen
