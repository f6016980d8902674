// Runs a generated module and writes down everything that can be seen of it, as text that must be the same
// for every engine and every configuration. differential.mjs writes the same text from V8.
//
//   call 0 i32:0x0 f64:0x3ff0000000000000       which export, since names can be anything, and arguments
//   = i64:0x5 f32:nan                           or "! integer-divide-by-zero"
//   ...
//   global 4 i32:0x7                            and what else is exported: globals,
//   memory 5 1 pages 8c1f2a77                   memories with FNV-1a of their contents,
//   table 6 8 11110000                          tables: size, and which of the first 32 entries are not null
//   host 5d588b656c078965                       state of the import
//
// or only a "!" line if the module cannot be instantiated. NaNs are all "nan", references "null" or "ref".
// What has vectors in its type is passed over: script cannot speak of them.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "wago/wago.h"

namespace wago::fuzz {

// Fuel of every call.
constexpr uint32_t kFuelPerCall = 1000;

struct Observation {
  std::string text;
  bool exhausted = false;  // the stack: what was seen from then on depends on the engine
};

// What observe() does, for another engine's driver, which cannot ask for types: lines
//   call 0 i32:0x0 f64:0x3ff0000000000000 # i64 f32     arguments # types of results
//   global 4 i32
//   memory 5
std::string plan_of(const runtime::Module& module);

// Compiles, instantiates, makes the calls. The module imports at most what generate_module.h says; a global
// "fuel", if it exports one, is filled before every call.
Observation observe(const Engine& engine, std::span<const uint8_t> bytes);

}  // namespace wago::fuzz
