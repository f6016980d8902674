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

// A 32-bit displacement that gets the place of one of the function's counters in the instance's context.
struct CounterFixup {
  uint32_t offset = 0;
  uint32_t counter = 0;
};

struct CallFixup {
  uint32_t offset = 0;    // of the 32-bit displacement, from the function's origin
  uint32_t function = 0;  // callee's wasm function index
};

struct CountedFunction;  // counted.h

// All offsets from the function's origin.
struct FunctionCode {
  std::vector<uint8_t> bytes;
  uint32_t stubs_begin = 0;     // end of the body
  uint32_t literals_begin = 0;  // end of the stubs and their padding; bytes.size() if there are none
  std::vector<CallFixup> calls;
  std::vector<uint32_t>
      tls_fields;  // 32-bit fields that get the stack limit's offset from the thread pointer
  std::vector<CounterFixup> counters;
  std::vector<uint32_t> block_offsets;  // of MachFunction::blocks
  std::vector<runtime::TrapSite> trap_sites;
  std::vector<runtime::SourcePosition> positions;  // inline_site indexes this function's own inline sites
  std::vector<runtime::EmittedSite> emitted_sites;
  std::vector<runtime::UnwindRow> unwind_rows;
  std::vector<runtime::InlineSite> inline_sites;  // filled by the caller of emit(), as are the next two
  std::vector<runtime::Decision> decisions;       // with its own inline sites, too
  std::vector<runtime::CodeOrigin> origin;        // one, or none
  runtime::FunctionStatistics statistics;
  std::shared_ptr<CountedFunction> counted;  // the same function with counters, where they are asked for
  std::array<uint8_t, 32> hash{};            // identity_hash(), filled by the caller of emit()
};

// Machine code of a block runs from its begin, unless it is left at an exit, to its first conditional branch
// to another block. What follows that, branches and jumps and the padding of a loop behind it, are tails,
// each of which runs on some of the ways out of the block only.
struct BlockTail {
  static constexpr uint32_t kLast = ~0u;
  uint32_t block = 0;  // of MachFunction
  uint32_t branch =
      kLast;         // the conditional branch to another block that it is, from 2; or what ends the block
  uint32_t way = 0;  // of kLast: the block to which it leads
  uint32_t begin = 0, size = 0;
  uint32_t machine_instructions = 0;
};

// Which counters a function's code counts in, from 0. A CountWay counts in what it says.
constexpr uint32_t kNoCounter = ~0u;
struct CounterPlan {
  struct Tail {
    BlockTail tail;  // as the code without counters has it, but for block and way
    uint32_t counter = 0;
  };
  std::vector<uint32_t> blocks;  // by MachFunction block: when it is entered
  std::vector<Tail> tails;       // sorted by block
};

// What the code of each block is, for those who count. All offsets from the function's origin.
struct BlockReport {
  struct Block {
    uint32_t begin = 0;
    uint32_t size = 0;  // 0: nothing was emitted for it
    uint32_t machine_instructions = 0;
  };
  // An instruction that control may not come back from, in the order of the code.
  struct Exit {
    uint32_t block = 0;
    uint32_t wasm_pc = 0;
    uint32_t inline_site = ~0u;
    uint32_t site = 0;    // by which the runtime knows it: what faults, or where a call returns to
    uint32_t offset = 0;  // the first instruction that has not completed
    uint32_t machine_instructions = 0;  // of the block, that have completed
  };
  std::vector<Block> blocks;     // by MachFunction block, without tails
  std::vector<BlockTail> tails;  // sorted by block
  std::vector<Exit> exits;
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
  // sites. Never changes the bytes. With a `plan` the code counts; a `report` is filled if it is asked for.
  void emit(const MachFunction& function, FrameStyle style, bool source_maps, FunctionCode& out,
            const CounterPlan* plan = nullptr, BlockReport* report = nullptr);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace wago::codegen
