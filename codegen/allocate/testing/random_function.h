// Random machine functions that follow the rules of mach.h: nested loops and branches, calls, divisions,
// shifts, jump tables, values of all classes and sizes, values redefined, values undefined.
#pragma once

#include <cstdint>

#include "codegen/mach/mach.h"

namespace wago::codegen::testing {

struct RandomShape {
  uint32_t statements = 40;     // roughly; instructions are several times as many
  uint32_t live_values = 20;    // how many values are kept in use
  uint32_t max_depth = 4;       // of nesting
  uint32_t call_percent = 8;    // of statements
  bool shuffle_layout = false;  // blocks in any order but for the entry
};

// The same function for the same seed and shape.
void random_function(uint64_t seed, const RandomShape& shape, MachFunction& function);

}  // namespace wago::codegen::testing
