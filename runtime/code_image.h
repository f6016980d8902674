// Compiled code as data: what the compiler hands to the runtime, before it is mapped. Position independent
// but for `tls_fixups`. Everything a reader later wants to know about the code travels in it; nobody asks the
// compiler.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "base/decisions.h"
#include "base/vocabulary.h"

namespace wago::runtime {

enum class RegionKind : uint8_t { Body, EntryAdapter, HostAdapter, TrapStubs, Literals, Padding };
const char* to_string(
    RegionKind kind);  // "body", "entry-adapter", "host-adapter", "trap-stubs", "literals", "padding"

// Regions tile the image: sorted, without gaps, from 0 to bytes.size().
struct CodeRegion {
  RegionKind kind = RegionKind::Padding;
  uint32_t begin = 0;
  uint32_t size = 0;
  uint32_t function = ~0u;  // Body, TrapStubs, Literals: wasm function index; ~0u where there is none
  bool operator==(const CodeRegion&) const = default;
};

struct FunctionStatistics {
  uint32_t machine_instructions = 0;
  uint32_t frame_bytes = 0;  // below the saved frame pointer
  uint32_t spills = 0;       // stores to spill slots emitted
  uint32_t reloads = 0;      // loads from spill slots emitted
  uint32_t rematerialized = 0;
  uint32_t moves = 0;          // register copies emitted
  uint32_t bounds_checks = 0;  // emitted explicit memory checks
  uint32_t stack_checks = 0;
  uint32_t interrupt_checks = 0;  // loops that look whether they are to stop
  uint32_t calls = 0;
  uint32_t indirect_calls = 0;
  uint32_t helper_calls = 0;
  uint32_t ir_instructions = 0;  // after the passes
  uint32_t blocks = 0;
  bool operator==(const FunctionStatistics&) const = default;
};

struct CompiledFunction {
  uint32_t function = 0;    // wasm function index
  uint32_t begin = 0;       // offset of the entry in the image, aligned to 64
  uint32_t size = 0;        // bytes of body, trap stubs and literals; padding excluded
  uint32_t wasm_begin = 0;  // FunctionBody::begin
  // SHA-256 over the bytes with relocated fields zeroed, then the constants they refer to, then for every
  // masked call its target's identity (function index or import index). Independent of where the function
  // landed, of other functions and of requested metadata.
  std::array<uint8_t, 32> hash{};
  FunctionStatistics statistics;
  bool operator==(const CompiledFunction&) const = default;
};

// A hardware fault at exactly this instruction is this trap. Where that is in the WebAssembly, its
// SourcePosition says.
struct TrapSite {
  uint32_t offset = 0;  // of the faulting instruction in the image
  base::TrapCode code = base::TrapCode::Unreachable;
  bool operator==(const TrapSite&) const = default;
};

// Native offset -> wasm position, in the function that the offset is in. Sparse and sorted: an entry holds
// until the next one or the function's end. Always has an entry for every trap site and for every call's
// return address; the rest only when source maps are requested.
struct SourcePosition {
  uint32_t offset = 0;
  uint32_t wasm_pc = 0;        // bytes from FunctionBody::begin, of the inlined function if it is one
  uint32_t inline_site = ~0u;  // index into CodeImage::inline_sites, or ~0u for the physical function itself
  bool operator==(const SourcePosition&) const = default;
};
// A callee's body that was placed inside a caller.
struct InlineSite {
  uint32_t callee = 0;    // wasm function index
  uint32_t call_pc = 0;   // wasm pc of the call, in the parent
  uint32_t parent = ~0u;  // inline site, or ~0u: the physical function
  bool operator==(const InlineSite&) const = default;
};

// What code is for that the compiler added of its own accord.
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
  Libcall,
  Frame,  // prologue and epilogue
};
// From here to the next. Only with source maps; the first of a function is at its entry.
struct EmittedSite {
  uint32_t offset = 0;
  SiteKind kind = SiteKind::None;
  bool operator==(const EmittedSite&) const = default;
};

// What the compiler decided about an instruction of the module. Only with source maps.
struct Decision {
  uint32_t function = 0;  // that holds the code: wasm function index
  base::DecisionKind kind = base::DecisionKind::Inlined;
  uint32_t wasm_pc = 0;        // in the inline site's callee, or in the function
  uint32_t inline_site = ~0u;  // index into CodeImage::inline_sites, or ~0u
  uint32_t callee = ~0u;       // of a direct call
  bool operator==(const Decision&) const = default;
};
// The order in which an image has them.
inline bool decided_before(const Decision& a, const Decision& b) {
  auto key = [](const Decision& d) { return std::tuple(d.function, d.inline_site + 1, d.wasm_pc); };
  return key(a) < key(b);
}
// From how much a function's code was made. Only with source maps.
struct CodeOrigin {
  uint32_t function = 0;
  uint32_t built_instructions = 0;   // of the IR, from the function's own body
  uint32_t placed_instructions = 0;  // of the IR, from the bodies that were inlined
  bool operator==(const CodeOrigin&) const = default;
};

// How the frame of the code from here to the next row is left. CFA: rsp as it was before the call.
enum class UnwindRule : uint8_t {
  Entry,    // CFA = rsp + 8; rbp is the caller's
  Pushed,   // CFA = rsp + 16, the caller's rbp at CFA - 16
  Framed,   // CFA = rbp + 16, the caller's rbp at CFA - 16
  Adapter,  // as Framed, and rbx, r12, r13, r14, r15 at CFA - 24, - 32, - 40, - 48, - 56
};
struct UnwindRow {
  uint32_t offset = 0;
  UnwindRule rule = UnwindRule::Entry;
  bool operator==(const UnwindRow&) const = default;
};

// A 32-bit field in the code that holds an offset in the thread's state (see ThreadState in runtime/abi.h),
// to which the mapped image adds the state's offset from the thread pointer. Masked in hashes.
struct TlsFixup {
  uint32_t offset = 0;
  bool operator==(const TlsFixup&) const = default;
};

// A block of code that counts how often it is entered, as the same code without counters has it.
struct CountedBlock {
  uint32_t begin = 0;  // offset in the ordinary image
  uint32_t size = 0;   // 0: nothing was emitted for it
  uint32_t function = 0;
  uint32_t machine_instructions = 0;
  bool operator==(const CountedBlock&) const = default;
};
// Wasm instructions that run whenever their block does.
struct CountedRange {
  uint32_t block = 0;
  uint32_t inline_site = ~0u;  // of the ordinary image, whose callee's they are; ~0u: the block's function's
  uint32_t wasm_begin = 0;
  uint32_t wasm_end = 0;
  uint32_t instructions = 0;
  bool operator==(const CountedRange&) const = default;
};
// How far a block has come where control may leave it for good: at a trap site, or in a call that does not
// return.
struct CountedExit {
  uint32_t site = 0;  // in the image that counts: the trap site, or the address that the call returns to
  uint32_t block = 0;
  uint32_t offset = 0;  // in the ordinary image, of the first instruction that has not completed
  uint32_t machine_instructions = 0;  // of the block that have completed
  uint32_t ranges = 0;                // of the block that have run
  bool operator==(const CountedExit&) const = default;
};
struct CountedCode;

struct CodeImage {
  std::vector<uint8_t> bytes;
  std::vector<CodeRegion> regions;
  std::vector<CompiledFunction> functions;  // in index order; of function imported_functions + i
  std::vector<TrapSite> trap_sites;         // sorted by offset
  std::vector<SourcePosition> positions;    // sorted by offset
  std::vector<InlineSite> inline_sites;
  std::vector<EmittedSite> emitted_sites;  // sorted by offset
  std::vector<Decision> decisions;         // sorted by decided_before()
  std::vector<CodeOrigin> origins;         // sorted by function
  std::vector<UnwindRow> unwind_rows;      // sorted by offset; the first of a function is at its entry
  std::vector<TlsFixup> tls_fixups;
  // What its counters count; null for an image that does not count. Not part of artifacts.
  std::shared_ptr<const CountedCode> counted;

  // Adapter images only (see Compiler::compile_adapters).
  uint32_t entry_adapter = 0;  // offset
  uint32_t host_adapter = 0;   // offset
  bool operator==(const CodeImage&) const = default;
};

// Counter i of an instance, at ContextLayout::size() + 8 * i from its context, is for block i.
struct CountedCode {
  CodeImage ordinary;                // what the same settings give without counters
  std::vector<CountedBlock> blocks;  // sorted by begin
  std::vector<CountedRange> ranges;  // sorted by block; in a block in program order
  std::vector<CountedExit> exits;    // sorted by site
};

}  // namespace wago::runtime
