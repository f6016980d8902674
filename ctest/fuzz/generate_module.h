// Valid modules from arbitrary bytes: the bytes are the decisions of a generator that only makes valid ones.
//
// A module has a memory, a table of functions and one of external references, globals of every type, passive
// and active segments, one imported function, and functions that may use every instruction of WebAssembly 2.0
// in every form of structured control, with up to a dozen parameters and results.
//
// Modules end: every loop and every function takes from global 0, "fuel", and executes `unreachable` when
// there is none left. Whoever calls resets it.
//
// Modules are deterministic: the sign and payload of a NaN that arithmetic made, which the specification
// leaves open, never reach an integer, a vector, memory or a comparison; they may reach results, globals and
// arguments of the import, where observers must take all NaNs for one. What depends on the depth of the stack
// is left to the engine: a call may exhaust it.
//
// Exported: every function without vectors in its type as "f<index>", one that stores the vector globals as
// "vectors", memory as "memory", tables as "table" and "externs", mutable globals but vectors as "g<index>",
// global 0 as "fuel". Imported: "host" "exchange", (i32, f64) -> (i64).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace wago::fuzz {

// The same bytes give the same module. About one instruction per byte, at most.
std::vector<uint8_t> generate_module(std::span<const uint8_t> bytes);

}  // namespace wago::fuzz
