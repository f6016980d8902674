// Where each virtual register is live, and where each physical one is taken.
//
// Positions: instruction i reads at 2i and writes at 2i + 1 (rules 2 and 4 of mach.h). A use covers [2i, 2i +
// 1), a definition starts at 2i + 1, a clobber covers [2i + 1, 2i + 2). Moves go to even positions, the
// boundaries.
//
// Ranges are found per register, from each use upwards to its definitions ("up and mark"), so that time and
// space follow the size of the answer and not blocks times registers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codegen/mach/mach.h"

namespace wago::codegen {

using Position = uint32_t;

struct LiveRange {
  Position start = 0, end = 0;  // half open
};

// An operand that names a virtual register.
class Occurrence {
 public:
  Occurrence() = default;
  Occurrence(uint32_t inst, bool is_def, bool anywhere)
      : bits_(inst << 2 | static_cast<uint32_t>(is_def) << 1 | static_cast<uint32_t>(anywhere)) {}
  Position position() const { return bits_ >> 1; }
  uint32_t inst() const { return bits_ >> 2; }
  bool is_def() const { return (bits_ & 2) != 0; }
  // A register or a slot will do: moves between locations, which allocation itself expands.
  bool anywhere() const { return (bits_ & 1) != 0; }

 private:
  uint32_t bits_ = 0;
};

// Blocks [first, last] in layout order, entered at `first`. Only a guide to where moves are cheap.
struct Loop {
  uint32_t first = 0, last = 0;
  uint32_t parent = ~0u;
  uint32_t depth = 1;
};

class Liveness {
 public:
  void build(const MachFunction& function);

  uint32_t block_of(Position position) const { return block_of_inst_[position >> 1]; }
  bool is_block_begin(Position position) const {
    return (position & 1) == 0 && block_begins_[position >> 1] != 0;
  }
  // The first of the instructions that leave a block: behind it nothing can be inserted.
  uint32_t first_terminator(uint32_t block) const { return first_terminator_[block]; }
  // Where a value must be loaded to be used by `inst`, as an even position.
  Position boundary(uint32_t inst) const {
    uint32_t first = first_terminator_[block_of_inst_[inst]];
    return 2 * (inst < first ? inst : first);
  }
  uint32_t loop_of_block(uint32_t block) const { return loop_of_block_[block]; }  // ~0u: in none
  const Loop& loop(uint32_t index) const { return loops_[index]; }

  std::span<const Occurrence> occurrences(uint32_t vreg) const {
    return {occurrences_.data() + occurrence_begin_[vreg], occurrences_.data() + occurrence_begin_[vreg + 1]};
  }
  std::span<const LiveRange> ranges(uint32_t vreg) const {
    return {ranges_.data() + range_begin_[vreg], ranges_.data() + range_begin_[vreg + 1]};
  }

  // Physical registers taken, by bit, at each position: fixed operands from definition to use, and clobbers.
  // The scan adds what it assigns.
  std::vector<uint32_t> busy;

  // The other side of the first Copy or ParallelMove that defines (uses) a virtual register: the two should
  // share.
  std::vector<Reg> copied_from, copied_to;

 private:
  void build_blocks(const MachFunction& function);
  void build_loops(const MachFunction& function);
  void count_occurrences(const MachFunction& function);
  void scan_blocks(const MachFunction& function);
  void scan_moves(const MachFunction& function, const MachInst& inst);
  void build_ranges(const MachFunction& function, uint32_t vreg);
  void build_local_ranges(std::span<const Occurrence> occurrences);
  void mark_live_blocks(const MachFunction& function, uint32_t stamp);
  void add_range(Position start, Position end);

  std::vector<uint32_t> block_of_inst_;
  std::vector<uint8_t> block_begins_;
  std::vector<uint32_t> first_terminator_;
  std::vector<Loop> loops_;
  std::vector<uint32_t> loop_of_block_;

  std::vector<uint32_t> occurrence_begin_;
  std::vector<Occurrence> occurrences_;
  std::vector<uint32_t> range_begin_;
  std::vector<LiveRange> ranges_;

  // Of the register at hand: a block is marked by its stamp, so nothing needs clearing.
  struct BlockMarks {
    uint32_t defines = 0, live_in = 0, live_out = 0;
  };
  std::vector<BlockMarks> marks_;
  std::vector<uint32_t> touched_blocks_, worklist_;
};

}  // namespace wago::codegen
