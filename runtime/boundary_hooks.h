// How a profiler comes to see guests being entered and left, without a trace of it in programs that have
// none: an engine may be given hooks before anything is made with it, and what is made with it then goes
// through them. Without hooks nothing is looked at, and nothing is between a call and what it calls.
#pragma once

#include <string>

#include <wago/wago.h>
#include "runtime/abi.h"

namespace wago::runtime {

struct BoundaryHooks {
  // An instance, before anything of it runs. `helpers` of its context may be replaced, `observer` is the
  // profiler's own.
  void (*instance_made)(InstanceData& instance);
  // A host function on its way to be made: `name` is what traps show; the answer takes the body's place.
  HostBody (*host_function_made)(HostBody body, const std::string& name);
  // Takes the place of Adapters::enter, and calls Adapters::unobserved.
  EnterFn enter;
};

}  // namespace wago::runtime
