// Exported functions as people name them: runner and recorder find them here and say the same of a name that
// is none.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "runtime/module.h"

namespace wago::runtime {

// The type of the exported function of this name. Errors (Usage) list the functions that there are.
base::Result<const FuncType*> exported_function(const Module& module, std::string_view name);

// "it exports fib (i32) -> (i32), main () -> () and 3 more", "it exports no function": for messages.
std::string list_exported_functions(const Module& module);

}  // namespace wago::runtime
