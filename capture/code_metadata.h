// What the compiler knew of the code that it emitted, for readers that lead from machine code back to
// WebAssembly and to sources. Part of an image in images.json; which of it is there depends on what the
// recording asked for, and nothing of it changes the code.
//
// Offsets count from the image's first byte. Wasm pcs count from the local declarations of the function they
// belong to, as they do in traps. All tables are sorted by what they begin with.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/decisions.h"
#include "capture/schema.h"

namespace wago::base {
class Json;
class JsonReader;
}  // namespace wago::base

namespace wago::capture {

inline constexpr uint32_t kNone = ~0u;

// A callee's body that was placed inside a caller. Parents come before their children.
struct InlineSite {
  uint32_t callee = 0;      // wasm function index
  uint32_t call_pc = 0;     // of the call, in the parent
  uint32_t parent = kNone;  // an inline site, or kNone: the function that holds the code
  bool operator==(const InlineSite&) const = default;
};

// The instruction that code from here to the next position comes from. Always there for instructions that
// may trap and for the addresses that calls return to; for all other code with source maps. In between the
// last position holds, inside one function.
struct Position {
  uint32_t offset = 0;
  uint32_t wasm_pc = 0;          // in the inline site's callee, or in the function that holds the code
  uint32_t inline_site = kNone;  // index into `inline_sites`
  bool operator==(const Position&) const = default;
};

// What code is for that the compiler added of its own accord. Source maps; inside one function each holds
// until the next.
enum class SiteKind : uint8_t {
  None,  // an instruction of the module
  Spill,
  Reload,
  Rematerialize,
  Move,
  BoundsCheck,
  IndirectCall,
  StackCheck,
  InterruptCheck,
  HelperCall,
  Frame,  // prologue and epilogue
};
std::string_view spelling(SiteKind kind);  // "none", "spill", "reload", "bounds-check", ...
struct EmittedSite {
  uint32_t offset = 0;
  SiteKind kind = SiteKind::None;
  bool operator==(const EmittedSite&) const = default;
};

// What the compiler decided about an instruction, and so why code looks as it does or is not there. Source
// maps.
struct Decision {
  uint32_t function = 0;  // that holds the code: wasm function index
  base::DecisionKind kind = base::DecisionKind::Inlined;
  uint32_t wasm_pc = 0;          // in the inline site's callee, or in the function
  uint32_t inline_site = kNone;  // index into `inline_sites`
  uint32_t callee = kNone;       // of a direct call: wasm function index
  bool operator==(const Decision&) const = default;
};
// From how much of its intermediate representation the compiler made a function's code. Source maps.
struct CodeOrigin {
  uint32_t function = 0;
  uint32_t built_instructions = 0;   // from the function's own body
  uint32_t placed_instructions = 0;  // from the bodies that were inlined
  bool operator==(const CodeOrigin&) const = default;
};

// A wasm instruction as text. Source maps: for every instruction that a position names.
struct WasmInstruction {
  uint32_t function = 0;
  uint32_t wasm_pc = 0;
  uint32_t text = 0;  // index into `texts`: "i32.add", "local.get 3"
  bool operator==(const WasmInstruction&) const = default;
};

// A place in the sources, with the functions that the guest's own compiler inlined. Parents first.
struct SourceFrame {
  uint32_t function = kNone;  // index into `texts`; kNone: not known
  uint32_t file = kNone;      // the same
  uint32_t line = 0;          // 0: not known
  uint32_t caller = kNone;    // a source frame into which this one was inlined
  bool operator==(const SourceFrame&) const = default;
};
// From this wasm pc to the next entry of the same function.
struct SourceRange {
  uint32_t function = 0;
  uint32_t wasm_pc = 0;
  uint32_t frame = kNone;  // index into `source_frames`; kNone: nothing is known
  bool operator==(const SourceRange&) const = default;
};

// How the frame of code from here to the next row is left. CFA: rsp as it was before the call.
enum class UnwindRule : uint8_t {
  Entry,    // CFA = rsp + 8; rbp is the caller's
  Pushed,   // CFA = rsp + 16, caller's rbp at CFA - 16
  Framed,   // CFA = rbp + 16, caller's rbp at CFA - 16
  Adapter,  // as Framed, and rbx, r12, r13, r14, r15 at CFA - 24, - 32, - 40, - 48, - 56
};
std::string_view spelling(UnwindRule rule);  // "entry", "pushed", "framed", "adapter"
struct UnwindRow {
  uint32_t offset = 0;
  UnwindRule rule = UnwindRule::Entry;
  bool operator==(const UnwindRow&) const = default;
};

// Machine code that is entered at its begin and left at its end (or by a trap or a call that does not
// return), and what of the module runs whenever it is entered. A block of code that branches to another
// before its end is several here, so that all of each runs as often as it is entered. Blocks without code
// stand for what the module does and the code does not, such as an empty arm of an `if`.
struct Block {
  uint32_t begin = 0;
  uint32_t size = 0;      // 0: the block has no code of its own, and is entered all the same
  uint32_t function = 0;  // that holds it
  uint32_t machine_instructions = 0;
  bool operator==(const Block&) const = default;
};
// In a block in the order of execution. Every instruction of the module counts when it is executed, `block`,
// `loop` and `nop` included; `else` and `end` are no instructions. A range ends at the latest where its block
// can be left before its end.
struct BlockRange {
  uint32_t block = 0;            // index into `blocks`
  uint32_t inline_site = kNone;  // whose callee's instructions these are; kNone: of the block's function
  uint32_t wasm_begin = 0;
  uint32_t wasm_end = 0;
  uint32_t wasm_instructions = 0;
  bool operator==(const BlockRange&) const = default;
};

struct CodeMetadata {
  std::vector<InlineSite> inline_sites;
  std::vector<Position> positions;
  std::vector<EmittedSite> sites;
  std::vector<Decision> decisions;  // by function, inline site (none first), and wasm pc
  std::vector<CodeOrigin> origins;
  std::vector<WasmInstruction> instructions;
  std::vector<SourceFrame> source_frames;
  std::vector<SourceRange> source_ranges;
  std::vector<UnwindRow> unwind_rows;
  std::vector<Block> blocks;
  std::vector<BlockRange> block_ranges;
  std::vector<std::string> texts;
  bool operator==(const CodeMetadata&) const = default;
};

// The ranges of one block.
std::span<const BlockRange> ranges_of(const CodeMetadata& metadata, uint32_t block);
// Those about the code that a function holds.
std::span<const Decision> decisions_of(const CodeMetadata& metadata, uint32_t function);
// The same, or nullptr.
const CodeOrigin* origin_of(const CodeMetadata& metadata, uint32_t function);
// The entry that holds at `offset`: the last at or before it, or nullptr. It may be another function's:
// whoever asks compares with where the function begins.
const Position* position_at(std::span<const Position> positions, uint32_t offset);

base::Json to_json(const CodeMetadata& metadata);
// Mistakes are the reader's.
CodeMetadata read_code_metadata(base::JsonReader& reader, const Limits& limits);
// What of it does not hold for an image of that size: "positions out of order", or nothing.
std::string problem_of(const CodeMetadata& metadata, uint32_t image_size);

}  // namespace wago::capture
