// The C++ side of helpers.def: what generated code calls for operations that are not worth emitting.
#pragma once

#include "runtime/abi.h"

namespace wago::runtime {

const HelperTable& helper_table();

}  // namespace wago::runtime
