#include "codegen/allocate/liveness.h"

#include <algorithm>

#include "codegen/allocate/moves.h"

namespace wago::codegen {

namespace {

// A branch to a trap stub needs no register at its target, so moves behind it are fine.
bool leaves_block(const MachFunction& function, const MachInst& inst) {
  if (!x64::desc(inst.op).is_terminator) return false;
  for (const MachOperand& operand : function.ops(inst)) {
    if (operand.kind == MachOperand::Kind::TrapStub) return false;
  }
  return true;
}

}  // namespace

void Liveness::build(const MachFunction& function) {
  build_blocks(function);
  build_loops(function);
  count_occurrences(function);
  busy.assign(2 * function.insts.size(), 0);
  copied_from.assign(function.vregs.size(), Reg());
  copied_to.assign(function.vregs.size(), Reg());
  scan_blocks(function);

  marks_.assign(function.block_count, {});
  ranges_.clear();
  range_begin_.clear();
  for (uint32_t v = 0; v < function.vregs.size(); ++v) {
    range_begin_.push_back(static_cast<uint32_t>(ranges_.size()));
    build_ranges(function, v);
  }
  range_begin_.push_back(static_cast<uint32_t>(ranges_.size()));
}

void Liveness::build_blocks(const MachFunction& function) {
  block_of_inst_.resize(function.insts.size() + 1);
  block_begins_.assign(function.insts.size() + 1, 0);
  first_terminator_.resize(function.block_count);
  for (uint32_t b = 0; b < function.block_count; ++b) {
    const MachBlock& block = function.blocks[b];
    std::fill(block_of_inst_.begin() + block.begin, block_of_inst_.begin() + block.end, b);
    block_begins_[block.begin] = 1;
    uint32_t first = block.end;
    while (first > block.begin && leaves_block(function, function.insts[first - 1])) --first;
    first_terminator_[b] = first;
  }
  if (function.block_count != 0) block_of_inst_[function.insts.size()] = function.block_count - 1;
}

// Loops by layout: from a block to the last one that branches back to it. Loops that overlap are made to
// nest.
void Liveness::build_loops(const MachFunction& function) {
  loops_.clear();
  loop_of_block_.assign(function.block_count, ~0u);
  uint32_t open = ~0u;
  for (uint32_t b = 0; b < function.block_count; ++b) {
    while (open != ~0u && loops_[open].last < b) open = loops_[open].parent;
    uint32_t last = 0;
    bool is_header = false;
    for (uint32_t p : function.blocks[b].preds) {
      if (p < b) continue;
      is_header = true;
      last = std::max(last, p);
    }
    if (is_header) {
      Loop loop{b, last, open, open == ~0u ? 1 : loops_[open].depth + 1};
      for (uint32_t outer = open; outer != ~0u && loops_[outer].last < last; outer = loops_[outer].parent)
        loops_[outer].last = last;
      open = static_cast<uint32_t>(loops_.size());
      loops_.push_back(loop);
    }
    loop_of_block_[b] = open;
  }
}

void Liveness::count_occurrences(const MachFunction& function) {
  occurrence_begin_.assign(function.vregs.size() + 1, 0);
  for (const MachInst& inst : function.insts) {
    for (const MachOperand& operand : function.ops(inst)) {
      if (operand.is_reg() && operand.reg().is_virtual()) ++occurrence_begin_[operand.reg().index()];
    }
  }
  uint32_t sum = 0;
  for (uint32_t& begin : occurrence_begin_) begin = sum += begin;
  occurrences_.resize(sum);
}

// Backwards, which fills each register's occurrences from the end and turns the ends of count_occurrences()
// into begins, and follows physical registers from use to definition.
void Liveness::scan_blocks(const MachFunction& function) {
  for (uint32_t b = function.block_count; b-- > 0;) {
    const MachBlock& block = function.blocks[b];
    uint32_t live = 0;
    for (uint32_t i = block.end; i-- > block.begin;) {
      const MachInst& inst = function.insts[i];
      std::span<const MachOperand> operands = function.ops(inst);
      bool is_move = is_move_pseudo(inst.op);
      bool anywhere = is_move || inst.op == x64::Op::Undef;
      uint32_t physical_defs = 0, physical_uses = 0;
      for (const MachOperand& operand : operands) {
        if (!operand.is_reg() || !operand.is_def) continue;
        Reg reg = operand.reg();
        if (reg.is_virtual())
          occurrences_[--occurrence_begin_[reg.index()]] = Occurrence(i, true, anywhere);
        else
          physical_defs |= bit(reg);
      }
      for (const MachOperand& operand : operands) {
        if (!operand.is_reg() || operand.is_def) continue;
        Reg reg = operand.reg();
        if (reg.is_virtual())
          occurrences_[--occurrence_begin_[reg.index()]] = Occurrence(i, false, anywhere);
        else
          physical_uses |= bit(reg);
      }
      if (is_move) scan_moves(function, inst);
      busy[2 * i + 1] = (live | physical_defs | inst.clobbers) & kAllocatableRegs;
      live = (live & ~physical_defs) | physical_uses;
      busy[2 * i] = live & kAllocatableRegs;
    }
  }
}

void Liveness::scan_moves(const MachFunction& function, const MachInst& inst) {
  std::span<const MachOperand> operands = function.ops(inst);
  for (size_t k = 0; k + 1 < operands.size(); k += 2) {
    Reg to = operands[k].reg(), from = operands[k + 1].reg();
    if (to.is_virtual()) copied_from[to.index()] = from;
    if (from.is_virtual()) copied_to[from.index()] = to;
  }
}

void Liveness::add_range(Position start, Position end) {
  if (ranges_.size() > range_begin_.back() && ranges_.back().end == start)
    ranges_.back().end = end;
  else
    ranges_.push_back({start, end});
}

// All occurrences in one block, the first a definition: live nowhere else.
void Liveness::build_local_ranges(std::span<const Occurrence> occurrences) {
  Position start = occurrences[0].position(), end = start + 1;
  for (Occurrence occurrence : occurrences.subspan(1)) {
    if (occurrence.is_def() && end < occurrence.position()) {
      add_range(start, end);
      start = occurrence.position();
    }
    end = occurrence.position() + 1;
  }
  add_range(start, end);
}

void Liveness::mark_live_blocks(const MachFunction& function, uint32_t stamp) {
  while (!worklist_.empty()) {
    uint32_t b = worklist_.back();
    worklist_.pop_back();
    for (uint32_t p : function.blocks[b].preds) {
      BlockMarks& marks = marks_[p];
      if (marks.live_out == stamp) continue;
      marks.live_out = stamp;
      if (marks.defines == stamp || marks.live_in == stamp) continue;
      marks.live_in = stamp;
      touched_blocks_.push_back(p);
      worklist_.push_back(p);
    }
  }
}

void Liveness::build_ranges(const MachFunction& function, uint32_t vreg) {
  std::span<const Occurrence> all = occurrences(vreg);
  if (all.empty()) return;
  if (all.front().is_def() && block_of_inst_[all.front().inst()] == block_of_inst_[all.back().inst()])
    return build_local_ranges(all);

  uint32_t stamp = vreg + 1;
  touched_blocks_.clear();
  for (size_t k = 0; k < all.size();) {
    uint32_t b = block_of_inst_[all[k].inst()];
    touched_blocks_.push_back(b);
    if (!all[k].is_def()) {
      marks_[b].live_in = stamp;
      worklist_.push_back(b);
    }
    for (; k < all.size() && all[k].inst() < function.blocks[b].end; ++k) {
      if (all[k].is_def()) marks_[b].defines = stamp;
    }
  }
  // A block that uses the old value and defines a new one must not stop the walk for its own live-in; it has
  // been pushed above, so `defines` only stops what comes from below.
  mark_live_blocks(function, stamp);
  std::sort(touched_blocks_.begin(), touched_blocks_.end());

  size_t k = 0;
  for (uint32_t b : touched_blocks_) {
    const MachBlock& block = function.blocks[b];
    bool open = marks_[b].live_in == stamp;
    Position start = 2 * block.begin, end = start;
    for (; k < all.size() && all[k].inst() < block.end; ++k) {
      Position position = all[k].position();
      if (all[k].is_def() && (!open || end < position)) {
        if (open) add_range(start, end);
        start = position;
        open = true;
      }
      end = position + 1;
    }
    if (marks_[b].live_out == stamp) end = 2 * block.end;
    if (open) add_range(start, end);
  }
}

}  // namespace wago::codegen
