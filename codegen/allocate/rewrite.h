// Turns the pieces of a linear scan into code: operands become registers, Copy and ParallelMove become moves,
// and values move where one piece ends and the next begins, inside blocks and along edges.
//
// A value that is ever in memory has one slot. It is stored either at each of its definitions, after which
// its slot is always right and losing the register costs nothing, or at each change from register to memory;
// whichever is executed less, judged by loop depth, changes if equal: they are behind a definition, not
// before. Values that never are in memory together may share a slot. Values that can be made again have
// neither slot nor store, and if the definition itself goes unused it is dropped.
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
  struct Place {
    uint32_t inst = 0;  // in front of which, but for AfterDefinition and BlockEnd
    Phase phase = Phase::Split;
  };
  struct Inserted {
    Phase phase = Phase::Split;
    uint32_t next = ~0u;  // of the same instruction
    Move move;
  };
  struct Store {
    Place place;
    uint32_t piece = 0;
    uint32_t block = 0;
  };

  void assign_slots();
  void insert_transitions(uint32_t vreg);
  void visit_splits(uint32_t vreg);
  void visit_edges(uint32_t vreg);
  void visit_blocks(uint32_t piece, Position from, Position to);
  uint32_t piece_at(Position position) const;
  uint32_t find_piece_at(Position position) const;
  bool is_live_at(Position position) const;
  void note_neighbours();
  void edge_move(uint32_t from_block, uint32_t to_block, uint32_t from_piece, uint32_t to_piece);
  void insert_stores(uint32_t vreg);
  bool is_redefined(std::span<const Occurrence> all, size_t k, const Piece& piece) const;
  bool needs_store(uint32_t piece, uint32_t previous) const;
  void insert(Place place, uint32_t vreg, Location to, Location from);
  void emit_block(uint32_t block);
  void emit_inserted(uint32_t inst, Phase first, Phase last);
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
  std::vector<uint32_t> inserted_at_;  // by instruction: the last inserted_ there
  std::vector<Store> stores_;          // of the register at hand: changes to memory
  std::vector<uint32_t> slot_;
  std::vector<uint32_t> cursor_;  // by virtual register: the piece at the position being rewritten
  std::vector<Move> moves_;

  // The range of positions, in layout order, that a block's edges come from and lead to.
  struct Neighbours {
    Position first_pred_end = ~0u, last_pred_end = 0;
    Position first_succ = ~0u, last_succ = 0;
  };
  std::vector<Neighbours> neighbours_;
  std::vector<uint32_t> pieces_;  // of the register at hand

  struct SlotLife {
    Position start = 0, end = 0;
    uint32_t vreg = 0;
  };
  std::vector<SlotLife> slot_lives_;
  std::vector<std::pair<Position, uint32_t>> slots_in_use_;  // heap by end
  std::vector<uint32_t> free_slots_[3];                      // of 4, 8 and 16 bytes
};

}  // namespace wago::codegen
