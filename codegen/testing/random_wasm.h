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
  // Off for the interpreter, whose indirect calls are not calls: something else of their type takes their
  // place.
  bool indirect_calls = true;
};

// What function 0 is called with, in tests.
inline constexpr uint64_t kRandomArguments[][4] = {
    {0, 0, 0, 0},
    {1, 2, 0x3ff0000000000000, 5},
    {0xffffffff, 0xffffffffffffffff, 0xbff8000000000000, 0x80000000},
    {7, 0x123456789abcdef0, 0x7ff8000000000000, 12},
    {0x7fffffff, 0x8000000000000000, 0x43e0000000000000, 3},
};

// Function 0 is the random one, (i32, i64, f64, i32) -> (i32) or (i64) or (f64) or nothing. The functions
// after it are for it to call and have small bodies.
std::string random_wasm(uint64_t seed, const RandomOptions& options = {});

}  // namespace wago::codegen::testing
