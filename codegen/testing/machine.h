// A small machine to run functions on in tests: wasm bodies as the specification says, and IR as ops.def
// says. The two share numerics (evaluate.h) and this state, and nothing else; so that running a body and what
// was built from it, or IR before and after a pass, must come to the same.
//
// Calls do not happen: what a call returns is a hash of all that was done before, and it changes memory and
// globals in a way that depends on it, so that effects out of order show.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/vocabulary.h"
#include "codegen/ir/ir.h"
#include "runtime/module.h"

namespace wago::codegen::testing {

struct Outcome {
  enum class Kind : uint8_t { Returned, Trapped, OutOfFuel };
  Kind kind = Kind::Returned;
  base::TrapCode trap = base::TrapCode::Unreachable;
  std::vector<uint64_t> values;  // i32 and f32 zero-extended

  bool operator==(const Outcome&) const = default;
};
std::string to_string(const Outcome& outcome);

// How often each instruction of a module was executed, by function and wasm pc: those that trap included,
// `else` and `end` never.
using WasmCounts = std::map<std::pair<uint32_t, uint32_t>, uint64_t>;
std::string to_string(const WasmCounts& counts);  // a line for each: "function:pc times"

struct Machine {
  static constexpr uint32_t kGlobals = 8;
  static constexpr uint32_t kTableEntries = 10;

  explicit Machine(uint32_t memory_bytes = 65536) : memory(memory_bytes, 0) {}

  const runtime::Module* module = nullptr;  // whose functions are called; without it no call happens
  std::vector<uint8_t> memory;
  std::array<uint64_t, kGlobals> globals{};
  std::array<std::array<uint64_t, kTableEntries>, 2> tables{};
  uint64_t history = 1;            // hash of everything done
  uint64_t fuel = 1'000'000;       // instructions or blocks left
  WasmCounts* executed = nullptr;  // if given, what interpret_wasm() executes is added

  void note(uint64_t word) { history = (history ^ word) * 0x9e3779b97f4a7c15u + (history >> 31); }
  // Something outside is done with these arguments; returns what its first result is.
  uint64_t outside(uint64_t what, std::span<const uint64_t> args);
  bool in_bounds(uint64_t address, uint64_t bytes) const {
    return address <= memory.size() && bytes <= memory.size() - address;
  }
  uint64_t load(uint64_t address, Access access, Type type) const;
  void store(uint64_t address, Access access, Type type, uint64_t value);
  // Everything that can be seen from outside.
  bool same_state(const Machine& other) const {
    return memory == other.memory && globals == other.globals && tables == other.tables &&
           history == other.history;
  }
};

// One instruction costs one unit of fuel. Bulk and reference instructions but for ref.null, ref.is_null,
// ref.func are outside().
Outcome interpret_wasm(const runtime::Module& module, uint32_t body, std::span<const uint64_t> args,
                       Machine& machine);
// A call of a function of machine.module, or of one outside. `type`: the function's or the table entry's.
Outcome call(Op op, uint64_t imm, std::span<const Type> results, std::span<const uint64_t> args,
             Machine& machine);
// What of a function ran.
struct IrCounts {
  std::vector<uint64_t> blocks;  // how often each was entered
  std::vector<uint64_t> ways;
  // Where it ended before a block's end; invalid: it did not.
  InstId left_at;
};
// One block costs one unit.
Outcome interpret_ir(const IrFunction& function, std::span<const uint64_t> args, Machine& machine,
                     IrCounts* counts = nullptr);

}  // namespace wago::codegen::testing
