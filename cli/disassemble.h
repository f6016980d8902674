// The engine's own disassembler, for views.
#pragma once

#include "diff/disassemble.h"

namespace wago::cli {

diff::Disassemble disassembler();

}  // namespace wago::cli
