// Linear scan over live ranges with holes: cuts each virtual register's lifetime into pieces, each in one
// register or in memory.
//
// The scan walks positions upwards; pieces wait in a bucket at the position where they start. What is taken
// is kept in one word per position, a bit per physical register (Liveness::busy), instead of lists of active
// and inactive intervals: one walk over a piece's ranges tells for every register until when it is free. The
// walk ends where all are taken, so its cost is what the piece then occupies, and the whole scan is linear
// whatever the lifetimes look like. Pieces longer than a horizon are cut, which bounds what an eviction has
// to clear.
//
// When nothing is free, the value needed furthest away goes to memory, where "furthest" puts loop depth
// before distance: a reload outside the loop beats any reload inside. A piece in memory gets a register again
// before its next use that wants one (second chance), in front of the outermost loop that makes this free of
// repetition.
//
// Invariants of the result: the pieces of a register ascend, do not overlap, and cover all its live ranges;
// every occurrence that needs a register lies in a piece that has one; a piece starts at a boundary where
// moves can be inserted, or with a definition.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/allocate/liveness.h"
#include "codegen/allocate/occupancy.h"
#include "codegen/mach/mach.h"

namespace wago::codegen {

struct Piece {
  static constexpr uint32_t kNone = ~0u;
  static constexpr uint8_t kMemory = 0xff, kWaiting = 0xfe;

  uint32_t vreg = 0;
  Position start = 0, end = 0;
  uint32_t next = kNone;     // of the same register
  uint8_t where = kWaiting;  // a physical register's number, kMemory, or, during the scan, kWaiting

  // Cursors and links of the scan: the range at hand, the first occurrence not yet passed, the bucket.
  uint32_t range = 0;
  uint32_t occurrence = 0;
  uint32_t bucket_next = kNone;

  bool in_register() const { return where < 32; }
  Reg reg() const { return Reg::physical(where); }
};

class LinearScan {
 public:
  // Adds to live.busy. Afterwards every virtual register that occurs has its pieces.
  void run(const MachFunction& function, Liveness& live);

  uint32_t first_piece(uint32_t vreg) const { return first_piece_[vreg]; }  // Piece::kNone: never occurs
  const Piece& piece(uint32_t index) const { return pieces_[index]; }

 private:
  using Mask = uint32_t;
  // How much a value would be missed: the loop depth its reload would have, then how far away that is.
  struct Need {
    uint32_t depth = 0;
    Position position = 0;
    bool remade = false;
    bool less_than(const Need& other) const;
  };

  struct Wish {
    Position position = 0;
    bool new_value = false;
  };

  // The walk.
  void create_pieces();
  void enqueue(uint32_t piece);
  void visit(Position position);
  uint32_t most_determined() const;
  void resume(uint32_t piece, Position position);
  void place(uint32_t piece);
  bool place_in_free_register(uint32_t piece, Position needed_until);
  void make_room_or_spill(uint32_t piece, bool mandatory, Position needed_until);
  Position find_free(const Piece& piece, Mask candidates);
  uint32_t choose_register(const Piece& piece, Mask candidates, Position until) const;
  Reg hint(const Piece& piece, Mask candidates, Position until) const;
  uint32_t place_of(Reg reg) const;
  void assign(uint32_t piece, uint32_t reg);
  template <class Visit>
  void for_each_range(const Piece& piece, Position from, Visit&& visit) const;

  // Cutting.
  uint32_t split(uint32_t piece,
                 Position at);  // the part from `at` on, unplaced; kNone where nothing is live then
  bool is_idle_for_long(uint32_t piece);
  void cut_at_horizon(uint32_t piece);
  void evict(uint32_t piece, Position at);
  void send_to_memory(uint32_t piece, bool refused);
  Wish next_wish(Piece& piece, bool refused) const;
  Position early_cut(Position from, Position to) const;
  Position late_cut(RegClass cls, Position from, Position to) const;

  // What the pieces know.
  void skip_past_occurrences(Piece& piece, Position position) const;
  Position last_occurrence_end(const Piece& piece, Position before) const;
  Need need(const Piece& piece, Position position) const;
  uint32_t common_depth(uint32_t block_a, uint32_t block_b) const;
  bool only_defined_before(const Piece& piece, Position position) const;
  bool has_barrier(RegClass cls, Position from, Position to) const;
  bool is_barrier(RegClass cls, Position position) const;
  Mask class_mask(RegClass cls) const {
    return cls == RegClass::Gpr ? kAllocatableRegs & 0xffffu : kAllocatableRegs & 0xffff0000u;
  }
  RegClass class_of(const Piece& piece) const { return function_->vregs[piece.vreg].cls; }

  const MachFunction* function_ = nullptr;
  Liveness* live_ = nullptr;
  Occupancy occupancy_;
  std::vector<Piece> pieces_;
  std::vector<uint32_t> first_piece_;
  std::vector<uint8_t> last_register_;  // by virtual register: the last assigned, or 0xff
  std::vector<uint32_t> bucket_;        // by position: first piece that starts or resumes there
  std::vector<uint32_t> waiting_;       // of the position at hand
  std::vector<Position> barriers_[2];   // by class: where all its allocatable registers are clobbered
  uint32_t holder_[32];                 // the piece that has the register now, if its range reaches here
  Position holder_end_[32];
  Position free_until_[32];  // result of find_free()
};

}  // namespace wago::codegen
