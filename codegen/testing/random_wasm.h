// Random valid functions for assemble(): structured control of every kind, locals of all scalar types,
// memory, globals, calls, and constants that optimisers find interesting. The same seed gives the same
// function everywhere. Loops are bounded by a counter in a local of their own, mostly.
#pragma once

#include <cstdint>
#include <string>

namespace wago::codegen::testing {

struct RandomOptions {
  uint32_t statements = 40;  // about how many
  uint32_t max_depth = 5;    // of nested constructs
  bool floats = true;
  bool effects = true;  // memory, globals, calls
};

// Function 0 is the random one, (i32, i64, f64, i32) -> (i32) or (i64) or (f64) or nothing. The functions
// after it are for it to call and have small bodies.
std::string random_wasm(uint64_t seed, const RandomOptions& options = {});

}  // namespace wago::codegen::testing
