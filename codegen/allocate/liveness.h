// Where each virtual register is live, and where each physical one is taken.
//
// Positions: instruction i reads at 2i and writes at 2i + 1 (rules 2 and 4 of mach.h). A use covers [2i, 2i +
// 1), a definition starts at 2i + 1, a clobber covers [2i + 1, 2i + 2). Moves go to even positions, the
// boundaries.
//
// Most registers live in one block and never meet the data flow; of the others, most live across few, found
// by walking up from each use to the definitions. Only what lives across many goes through a data flow on bit
// sets, 512 neighbours of about the same length at a time: space within 64 bytes a block, time within a 64th
// of the blocks they live in. What comes out of either is where ranges begin and end at block boundaries, and
// one walk backwards over the instructions makes the ranges from that.
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
  uint32_t jump = ~0u;  // a loop further out, at a distance that makes outermost() logarithmic in the depth
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
  // Of `loop` and those around it, the outermost for which `holds`; ~0u: not even for `loop`. What does not
  // hold for a loop must not hold for those around it.
  template <class Holds>
  uint32_t outermost(uint32_t loop, Holds&& holds) const {
    uint32_t found = ~0u;
    while (loop != ~0u && holds(loops_[loop])) {
      found = loop;
      const uint32_t jump = loops_[loop].jump;
      loop = jump != ~0u && holds(loops_[jump]) ? jump : loops_[loop].parent;
    }
    return found;
  }

  std::span<const Occurrence> occurrences(uint32_t vreg) const {
    return {occurrences_.data() + occurrence_begin_[vreg], occurrences_.data() + occurrence_begin_[vreg + 1]};
  }
  std::span<const LiveRange> ranges(uint32_t vreg) const {
    return {ranges_.data() + range_begin_[vreg], ranges_.data() + range_begin_[vreg + 1]};
  }

  // Physical registers taken, by bit, at each position: fixed operands from definition to use, and clobbers.
  // The scan adds what it assigns.
  std::vector<uint32_t> busy;

  // The other side of the Copy or ParallelMove that defines (uses) a virtual register in the deepest loop,
  // the first of these in layout order: the two should share.
  struct Partner {
    Reg reg;
    uint32_t depth = 0;
  };
  std::vector<Partner> copied_from, copied_to;

 private:
  // The first use before any definition, and the first definition, of a register in a block.
  struct Touch {
    uint32_t block = 0, vreg = 0;
    bool is_def = false;
  };
  struct BlockMarks {  // of the register whose stamp they carry
    uint32_t defined = 0, live_in = 0, live_out = 0;
  };
  // At the end of a block, a range reaches it that does not go on in the next; at the begin, one starts that
  // was not in the block before.
  struct BoundaryEvent {
    uint32_t block = 0, vreg = 0;
    bool at_end = false;
  };
  struct Window {
    uint32_t first = 0, last = 0;  // blocks
  };
  struct OwnedRange {
    uint32_t vreg = 0;
    LiveRange range;
  };

  void build_blocks(const MachFunction& function);
  void build_loops(const MachFunction& function);
  uint32_t jump_from(uint32_t parent) const;
  void scan_forward(const MachFunction& function);
  void touch(uint32_t block, uint32_t vreg, bool is_def);
  void group_touches();
  bool walk_up(const MachFunction& function, uint32_t global);
  void flow_in_chunks(const MachFunction& function);
  bool flow(const MachFunction& function, uint32_t first_wide, uint32_t count, Window window);
  void sort_events(const MachFunction& function);
  void scan_backward(const MachFunction& function);
  void scan_inst(const MachFunction& function, uint32_t inst, uint32_t& live);
  void scan_moves(const MachFunction& function, uint32_t inst);
  void close_range(uint32_t vreg, Position start, Position end);
  void group_ranges();

  std::vector<uint32_t> block_of_inst_;
  std::vector<uint8_t> block_begins_;
  std::vector<uint32_t> first_terminator_;
  std::vector<Loop> loops_;
  std::vector<uint32_t> loop_of_block_;

  std::vector<uint32_t> occurrence_begin_;
  std::vector<Occurrence> occurrences_;
  std::vector<uint32_t> range_begin_;
  std::vector<LiveRange> ranges_;

  struct Seen {
    uint32_t used_in = ~0u, defined_in = ~0u;  // the last block it was touched in
    uint32_t global = ~0u;                     // number among registers that live across blocks
  };
  std::vector<Seen> seen_;
  std::vector<uint32_t> globals_, wide_;  // registers; numbers in globals_
  std::vector<Touch> touches_, grouped_touches_;
  std::vector<uint32_t> touch_begin_, counts_;
  std::vector<BlockMarks> marks_;
  std::vector<uint32_t> worklist_, live_in_blocks_, live_out_blocks_;

  std::vector<uint64_t> live_in_, defined_;  // rows of blocks, of the chunk at hand
  std::vector<BoundaryEvent> events_, sorted_events_;

  std::vector<Position> open_;        // by register, walking backwards: where the range at hand ends; 0: none
  std::vector<uint32_t> last_range_;  // by register: the range found last, ~0u: none
  std::vector<OwnedRange> found_;     // descending
};

}  // namespace wago::codegen
