// Allocated machine code -> bytes of one function: frame, branches, trap stubs, literals, and the metadata of
// each byte.
//
// A function's bytes are laid out as [body][trap stubs][literals and jump tables], from an origin aligned to
// 64:
//   * blocks in layout order; blocks that only jump are threaded through; jumps to the next block vanish;
//   loop heads are
//     aligned to 32 bytes with no-operations;
//   * every branch starts with an 8-bit displacement and grows where the distance needs it, to a fixpoint
//   (sizes only grow,
//     so it terminates; a handful of linear sweeps in practice);
//   * a trap stub is an undefined instruction with its own trap site, one per (code, position), behind the
//   body.
// Nothing in it depends on other functions but the displacement of calls, which stays zero until the image is
// linked.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "codegen/mach/mach.h"
#include "runtime/code_image.h"

namespace wago::codegen {

struct CallFixup {
  uint32_t offset = 0;    // of the 32-bit displacement, from the function's origin
  uint32_t function = 0;  // callee's wasm function index
};

// All offsets from the function's origin.
struct FunctionCode {
  std::vector<uint8_t> bytes;
  uint32_t stubs_begin = 0;     // end of the body
  uint32_t literals_begin = 0;  // end of the stubs and their padding; bytes.size() if there are none
  std::vector<CallFixup> calls;
  std::vector<uint32_t>
      tls_fields;  // 32-bit fields that get the stack limit's offset from the thread pointer
  std::vector<uint32_t> block_offsets;  // of MachFunction::blocks
  std::vector<runtime::TrapSite> trap_sites;
  std::vector<runtime::SourcePosition> positions;  // inline_site indexes this function's own inline sites
  std::vector<runtime::EmittedSite> emitted_sites;
  std::vector<runtime::UnwindRow> unwind_rows;
  std::vector<runtime::InlineSite> inline_sites;  // filled by the caller of emit()
  runtime::FunctionStatistics statistics;
  std::array<uint8_t, 32> hash{};  // identity_hash(), filled by the caller of emit()
};

// SHA-256 as runtime::CompiledFunction::hash describes.
std::array<uint8_t, 32> identity_hash(const FunctionCode& code);

enum class FrameStyle : uint8_t {
  Standard,  // prologue, epilogue before every RET64
  Bare,      // the code brings its own (adapters)
};

// One per worker.
class Emitter {
 public:
  Emitter();
  ~Emitter();
  // `source_maps`: a source position wherever it changes, not only at calls and trap sites, and emitted
  // sites. Never changes the bytes.
  void emit(const MachFunction& function, FrameStyle style, bool source_maps, FunctionCode& out);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace wago::codegen
