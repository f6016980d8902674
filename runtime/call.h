// Calls from C++ into guest code. The path of a call that does not trap allocates nothing, takes no lock and
// looks nothing up.
#pragma once

#include <span>

#include <wago/wago.h>
#include "runtime/abi.h"

namespace wago::runtime {

// Preconditions (checked): slot counts are those of the signature; the reference has adapters, as those of
// exported functions and of host functions do. The store of `callee` is alive at the call; what happens to it
// during the call is of no concern.
CallResult call_function(const FuncRef& callee, std::span<const Slot> args, std::span<Slot> results);

}  // namespace wago::runtime
