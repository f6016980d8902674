// One function of a capture, instruction by instruction: what was seen there, and where it comes from.
//
// Rows are machine instructions where the capture has its code, else the stretches of machine code between
// what is known of it: positions, sites, blocks and samples. A sample belongs to the row that its address
// lies in. Rows are of the function's own machine code, with all that was inlined into it; what the function
// costs where it was inlined itself is said in the head.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "diff/decided.h"
#include "diff/disassemble.h"
#include "diff/evidence.h"
#include "diff/locations.h"
#include "diff/source_files.h"

namespace wago::base {
class Json;
}

namespace wago::diff {

// A function of the module, by image and index.
struct FunctionChoice {
  uint32_t image = 0;
  const capture::Function* function = nullptr;
};

// By name, raw or as it is printed or exported, or by index. Errors (Usage): none is
// called so, with some that are similar; several are, with their indices.
base::Result<FunctionChoice> choose_function(const Evidence& evidence, std::string_view name_or_index);

// A SourcePlace of its own, so that an annotation outlives what it was made from.
struct SourceLine {
  std::string function;  // empty: not known
  std::string file;
  uint32_t line = 0;
  bool operator==(const SourceLine&) const = default;
};
std::string to_string(const SourceLine& line);  // as of a SourcePlace

struct AnnotatedRow {
  uint32_t offset = 0;   // in the image
  uint32_t size = 0;     // bytes
  std::string assembly;  // empty: the capture has no code
  std::string target;    // raw name of the function that a call leads to
  uint64_t self = 0;     // weight of samples
  uint64_t samples = 0;
  std::optional<uint64_t> executed;  // how often, exactly
  std::vector<WasmPlace> places;     // innermost first
  std::string wasm;                  // the innermost instruction as text; empty: not known
  std::vector<SourceLine> source;    // of the innermost instruction, innermost first
  std::optional<std::string> source_text;
  std::optional<capture::SiteKind> site;
  std::vector<uint32_t> decided;  // numbers in Annotation::decided.instructions
};

// A callee's body inside the function.
struct InlinedCall {
  uint32_t site = 0;    // number of the inline site
  uint32_t parent = 0;  // of the site that it is in, kNone: the function itself
  uint32_t callee = 0;
  std::string name;  // of the callee, raw
  uint32_t call_pc = 0;
  uint32_t depth = 0;  // 0: called by the function itself
};

// Exact counts of a function, in all.
struct AnnotatedCounts {
  uint64_t machine_instructions = 0;  // of its own machine code, with what was inlined into it
  uint64_t wasm_instructions = 0;     // of its body, wherever that was placed
  uint64_t entered = 0;               // its own machine code
};

struct Annotation {
  std::string capture;
  std::string workload;
  std::string module_name;
  uint32_t index = 0;
  std::string name;  // raw
  std::string signature;
  uint32_t begin = 0;
  uint32_t bytes = 0;
  uint32_t wasm_bytes = 0;
  capture::FunctionStatistics statistics;
  Decided decided;
  std::string unit;              // of weights; empty: the capture has no samples, or not one was taken
  bool unsampled = false;        // its collector took not one
  std::optional<uint64_t> work;  // units of work behind samples and counts, see hot_spots.h
  std::string work_unit;         // "invocation"
  uint64_t all_weight = 0;       // of the capture
  uint64_t self = 0;             // of the rows
  uint64_t samples = 0;
  uint64_t total = 0;      // with what it called, wherever it was inlined
  uint64_t elsewhere = 0;  // self where it was inlined into other functions
  bool counted = false;    // rows have executed
  AnnotatedCounts counts;  // of a counted capture
  bool has_code = false;
  std::vector<InlinedCall> inlined;
  std::vector<std::string> inlined_into;  // raw names of functions that hold its body as well
  std::vector<AnnotatedRow> rows;
  std::vector<FoundSource> found_sources;
  std::vector<std::string> missing_sources;
};

// `sources` nullptr: without their text. Errors (Usage): `needs_code` and the capture has none.
base::Result<Annotation> annotate(const Evidence& evidence, const FunctionChoice& choice,
                                  const Disassemble& disassemble, SourceFiles* sources, bool needs_code);

std::string to_text(const Annotation& annotation, bool colour = false);
base::Json to_json(const Annotation& annotation);
base::Json to_json(const AnnotatedRow& row, const Annotation& of);

}  // namespace wago::diff
