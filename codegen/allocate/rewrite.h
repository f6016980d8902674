// Turns the pieces of a linear scan into code: operands become registers, Copy and ParallelMove become moves,
// and values move where one piece ends and the next begins, inside blocks and along edges.
//
// A value that is ever in memory has one slot. It is stored either at each of its definitions, after which
// its slot is always right and losing the register costs nothing, or at each change from register to memory;
// whichever is executed less, judged by loop depth. Values that never are in memory together may share a
// slot. Values that can be made again have neither slot nor store, and if the definition itself goes unused
// it is dropped.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/allocate/linear_scan.h"
#include "codegen/allocate/liveness.h"
#include "codegen/allocate/moves.h"
#include "codegen/mach/mach.h"

namespace wago::codegen {

class Rewriter {
 public:
  void run(MachFunction& function, const Liveness& live, const LinearScan& scan);

 private:
  // Where between two instructions something is inserted; moves of one place and phase happen at once.
  enum class Phase : uint32_t {
    AfterDefinition,  // behind the instruction before
    BlockEnd,         // moves of the only outgoing edge, in a block without terminator
    BlockBegin,       // moves of the only incoming edge
    Split,
    BeforeTerminator  // moves of the only outgoing edge
  };
  struct Inserted {
    uint64_t key = 0;
    Move move;
  };
  struct Store {
    uint64_t key = 0;
    uint32_t piece = 0;
    uint32_t block = 0;
  };

  void assign_slots();
  void insert_transitions(uint32_t vreg);
  void visit_splits(uint32_t vreg);
  void visit_edges(uint32_t vreg);
  void note_live_blocks(uint32_t vreg);
  void edge_move(uint32_t from_block, uint32_t to_block, uint32_t from_piece, uint32_t to_piece);
  void insert_stores(uint32_t vreg);
  bool needs_store(uint32_t piece, uint32_t previous) const;
  void insert(uint64_t key, uint32_t vreg, Location to, Location from);
  static uint64_t key_of(uint32_t inst, Phase phase) {
    return uint64_t{inst} << 3 | static_cast<uint32_t>(phase);
  }

  void emit_block(uint32_t block);
  void emit_inserted(uint64_t until);
  void emit_moves(uint32_t inst);
  bool is_dropped(uint32_t inst);
  Location location_at(uint32_t vreg, Position position);
  Location location_of(const Piece& piece) const;
  bool is_remade(uint32_t vreg) const { return function_->vregs[vreg].rematerialize != ~0u; }
  uint64_t weight(uint32_t block) const;

  MachFunction* function_ = nullptr;
  const Liveness* live_ = nullptr;
  const LinearScan* scan_ = nullptr;
  MoveEmitter emitter_;
  std::vector<MachInst> out_;
  std::vector<Inserted> inserted_;
  size_t next_inserted_ = 0;
  std::vector<Store> stores_;  // of the register at hand: changes to memory
  std::vector<uint32_t> slot_;
  std::vector<uint32_t> cursor_;  // by virtual register: the piece at the position being rewritten
  std::vector<Move> moves_;

  // Of the register at hand, by block: the pieces at both ends. Blocks it is live into are listed.
  struct BlockPieces {
    uint32_t begin = Piece::kNone, end = Piece::kNone;
  };
  std::vector<BlockPieces> at_block_;
  std::vector<uint32_t> live_in_blocks_, live_out_blocks_;

  struct SlotLife {
    Position start = 0, end = 0;
    uint32_t vreg = 0;
  };
  std::vector<SlotLife> slot_lives_;
  std::vector<std::pair<Position, uint32_t>> slots_in_use_;  // heap by end
  std::vector<uint32_t> free_slots_[3];                      // of 4, 8 and 16 bytes
};

}  // namespace wago::codegen
