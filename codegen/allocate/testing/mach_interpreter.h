// Runs a machine function, before or after allocation, without knowing what its instructions compute: a
// result is a hash of the operation and of what it reads. Two functions with equal traces read equal values
// in every instruction executed, so an allocation that confuses two values shows, whatever the operations
// are.
#pragma once

#include <cstdint>

#include "codegen/mach/mach.h"

namespace wago::codegen::testing {

struct Trace {
  uint64_t hash = 0;   // over all instructions executed, with what they read
  uint32_t count = 0;  // of instructions executed
  friend bool operator==(const Trace&, const Trace&) = default;
};

// Executes at most `limit` instructions, from arguments and clobbered registers made from `seed`. Of `before`
// if `after` is null. Copies, moves of allocation and rematerialisable definitions do not count and are not
// part of the trace.
Trace interpret(const MachFunction& before, const MachFunction* after, uint64_t seed, uint32_t limit);

}  // namespace wago::codegen::testing
