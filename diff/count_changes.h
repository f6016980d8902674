// What was executed on two sides, exactly: per unit of work, by function, in a function by block, and by
// source line. Any difference is real.
//
// Functions are joined by name and signature; of several with the same the counts are added up. Blocks are
// ranges of the function's WebAssembly, wherever they were placed; they are joined where both sides have the
// same ones. Lines are joined by file, number and function: they need no common blocks, so that they hold
// where the two modules, or the compiler's two ways with one, differ.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diff/disassemble.h"
#include "diff/evidence.h"

namespace wago::base {
class Json;
}

namespace wago::diff {

// Whole counts of a capture; compared as parts of its work.
struct CountPair {
  uint64_t baseline = 0;
  uint64_t candidate = 0;
  bool operator==(const CountPair&) const = default;
};

// A block that was not executed equally often.
struct BlockChange {
  uint32_t wasm_begin = 0;
  uint32_t wasm_end = 0;
  std::string line;  // of its first instruction in the candidate; empty: not known
  CountPair executed;
};

struct FunctionCountChange {
  std::string name;  // raw
  std::string signature;
  bool in_baseline = false;  // anything of it was executed
  bool in_candidate = false;
  CountPair machine;                      // instructions of its machine code, with what was inlined there
  CountPair wasm;                         // of its body, wherever that was placed
  CountPair entered;                      // its own machine code
  std::vector<std::string> inlined_into;  // raw names: whose machine code executed its body, on either side
  bool blocks_joined = false;
  std::vector<BlockChange> blocks;  // in the order of the function; empty unless joined

  bool own_code_ran() const { return machine != CountPair(); }  // on either side
};

// A source line of which not as many machine instructions were executed.
struct LineCountChange {
  std::string line;      // "fib.c:12"; of code without one the function
  std::string function;  // that it is in; of code without a line that it is not known
  CountPair machine;
  bool operator==(const LineCountChange&) const = default;
};

struct LineComparison {
  uint64_t same = 0;
  std::vector<LineCountChange> lines;  // that differ: greatest change first
};

struct CountComparison {
  std::string work_unit;  // "invocation"
  uint64_t baseline_work = 0;
  uint64_t candidate_work = 0;
  CountPair machine;
  CountPair wasm;
  // Nothing: not both have source maps with lines, and code.
  std::optional<LineComparison> by_line;
  uint64_t functions_same = 0;
  std::vector<FunctionCountChange> functions;  // that differ: greatest change of machine instructions first

  bool same() const { return functions.empty(); }
  bool differs(const CountPair& pair) const;
};

// Nothing: not both have counts, or nothing was completed. Without `disassemble` not by line.
std::optional<CountComparison> compare_counts(const Evidence& baseline, const Evidence& candidate,
                                              const Disassemble& disassemble = {});

std::string to_text(const CountComparison& counts);
base::Json to_json(const CountComparison& counts);

}  // namespace wago::diff
