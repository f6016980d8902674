// What a capture's counts say was executed, exactly: machine instructions of the code without counters and
// instructions of the module, by function, by instruction and in all. Blocks that were left before their end
// are taken into account everywhere.
//
// Sums that would not fit 64 bits, in whatever a stranger's capture says, stay at the largest number.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "diff/evidence.h"

namespace wago::diff {

struct FunctionExecutions {
  uint32_t image = 0;
  uint32_t function = 0;              // index in the module
  uint64_t entered = 0;               // how often its machine code was; where it was inlined is not its own
  uint64_t machine_instructions = 0;  // of its machine code, with what was inlined there
  uint64_t wasm_instructions = 0;     // of its body, wherever that was placed
  std::set<uint32_t> inlined_into;    // the other functions whose machine code executed its body
  bool operator==(const FunctionExecutions&) const = default;
};

struct Executions {
  uint64_t machine_instructions = 0;
  uint64_t wasm_instructions = 0;
  // Those of which anything was executed: most machine instructions first, then most wasm instructions.
  std::vector<FunctionExecutions> functions;
};

// Precondition: evidence.counts.
Executions executions_of(const Evidence& evidence);

// Single instructions of one image.
class InstructionExecutions {
 public:
  // Precondition: evidence.counts. Keeps nothing of `evidence`.
  InstructionExecutions(const Evidence& evidence, uint32_t image);

  // Of the machine instruction at an offset; nothing: no block holds it.
  std::optional<uint64_t> machine(uint32_t offset) const;
  // Of an instruction of the module, wherever its function was placed.
  uint64_t wasm(uint32_t function, uint32_t wasm_pc) const;

 private:
  struct Piece {  // of code, all of which was executed equally often
    uint32_t begin = 0;
    uint32_t end = 0;
    uint64_t times = 0;
  };
  std::vector<Piece> pieces_;  // sorted by begin
  // By function and wasm pc: how often what is there was executed, up to the next.
  std::map<uint32_t, std::map<uint32_t, uint64_t>> wasm_;
};

}  // namespace wago::diff
