#include "codegen/allocate/liveness.h"

#include <algorithm>
#include <bit>

#include "codegen/allocate/moves.h"

namespace wago::codegen {

namespace {

constexpr uint32_t kChunk = 512;
// Blocks a register may live across before bit sets are cheaper.
constexpr size_t kWalked = 48;

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
  scan_forward(function);
  events_.clear();
  group_touches();
  marks_.assign(function.block_count, {});
  wide_.clear();
  for (uint32_t g = 0; g < globals_.size(); ++g) {
    if (!walk_up(function, g)) wide_.push_back(g);
  }
  flow_in_chunks(function);
  sort_events(function);
  scan_backward(function);
  group_ranges();
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
      Loop loop{b, last, open, jump_from(open), open == ~0u ? 1 : loops_[open].depth + 1};
      for (uint32_t outer = open; outer != ~0u && loops_[outer].last < last; outer = loops_[outer].parent)
        loops_[outer].last = last;
      open = static_cast<uint32_t>(loops_.size());
      loops_.push_back(loop);
    }
    loop_of_block_[b] = open;
  }
}

// Where a loop inside `parent` jumps to: as far as its parent jumps twice if both jumps are as long, else to
// its parent. From any depth that gives a logarithmic way to every loop around (Myers, An applicative
// random-access stack, 1983).
uint32_t Liveness::jump_from(uint32_t parent) const {
  if (parent == ~0u) return ~0u;
  const auto depth = [&](uint32_t loop) { return loop == ~0u ? 0 : loops_[loop].depth; };
  const uint32_t once = loops_[parent].jump;
  if (once == ~0u) return parent;
  const uint32_t twice = loops_[once].jump;
  return depth(parent) - depth(once) == depth(once) - depth(twice) ? twice : parent;
}

// Counts occurrences, and finds out which registers live across blocks.
void Liveness::scan_forward(const MachFunction& function) {
  occurrence_begin_.assign(function.vregs.size() + 1, 0);
  seen_.assign(function.vregs.size(), {});
  globals_.clear();
  touches_.clear();
  for (uint32_t b = 0; b < function.block_count; ++b) {
    for (uint32_t i = function.blocks[b].begin; i < function.blocks[b].end; ++i) {
      std::span<const MachOperand> operands = function.ops(function.insts[i]);
      for (bool defs : {false, true}) {
        for (const MachOperand& operand : operands) {
          if (!operand.is_reg() || operand.is_def != defs || !operand.reg().is_virtual()) continue;
          ++occurrence_begin_[operand.reg().index()];
          touch(b, operand.reg().index(), defs);
        }
      }
    }
  }
  uint32_t sum = 0;
  for (uint32_t& begin : occurrence_begin_) begin = sum += begin;
  occurrences_.resize(sum);
}

void Liveness::touch(uint32_t block, uint32_t vreg, bool is_def) {
  Seen& seen = seen_[vreg];
  if (seen.defined_in == block || (!is_def && seen.used_in == block)) return;
  bool elsewhere = (seen.used_in & seen.defined_in) != ~0u && seen.used_in != block;
  if ((elsewhere || !is_def) && seen.global == ~0u) {
    seen.global = static_cast<uint32_t>(globals_.size());
    globals_.push_back(vreg);
  }
  (is_def ? seen.defined_in : seen.used_in) = block;
  touches_.push_back({block, vreg, is_def});
}

void Liveness::group_touches() {
  touch_begin_.assign(globals_.size() + 1, 0);
  for (const Touch& t : touches_) {
    if (seen_[t.vreg].global != ~0u) ++touch_begin_[seen_[t.vreg].global];
  }
  uint32_t sum = 0;
  for (uint32_t& begin : touch_begin_) begin = sum += begin;
  grouped_touches_.resize(sum);
  for (size_t k = touches_.size(); k-- > 0;) {
    uint32_t global = seen_[touches_[k].vreg].global;
    if (global != ~0u) grouped_touches_[--touch_begin_[global]] = touches_[k];
  }
}

// Marks the blocks the register lives in and notes the boundaries, or gives up because there are many.
bool Liveness::walk_up(const MachFunction& function, uint32_t global) {
  uint32_t stamp = global + 1;
  worklist_.clear();
  live_in_blocks_.clear();
  live_out_blocks_.clear();
  for (uint32_t k = touch_begin_[global]; k < touch_begin_[global + 1]; ++k) {
    const Touch& t = grouped_touches_[k];
    (t.is_def ? marks_[t.block].defined : marks_[t.block].live_in) = stamp;
    if (t.is_def) continue;
    worklist_.push_back(t.block);
    live_in_blocks_.push_back(t.block);
  }
  while (!worklist_.empty()) {
    uint32_t b = worklist_.back();
    worklist_.pop_back();
    if (live_out_blocks_.size() + function.blocks[b].preds.size() > kWalked) return false;
    for (uint32_t p : function.blocks[b].preds) {
      BlockMarks& marks = marks_[p];
      if (marks.live_out == stamp) continue;
      marks.live_out = stamp;
      live_out_blocks_.push_back(p);
      if (marks.defined == stamp || marks.live_in == stamp) continue;
      marks.live_in = stamp;
      live_in_blocks_.push_back(p);
      worklist_.push_back(p);
    }
  }
  for (uint32_t b : live_in_blocks_) {
    if (b == 0 || marks_[b - 1].live_out != stamp) events_.push_back({b, globals_[global], false});
  }
  for (uint32_t b : live_out_blocks_) {
    if (b + 1 == function.block_count || marks_[b + 1].live_in != stamp)
      events_.push_back({b, globals_[global], true});
  }
  return true;
}

// Registers that span about as many blocks and start close to each other go together, in the blocks they
// span.
void Liveness::flow_in_chunks(const MachFunction& function) {
  if (wide_.empty()) return;
  auto span_class = [&](uint32_t global) {
    uint32_t first = grouped_touches_[touch_begin_[global]].block;
    uint32_t last = grouped_touches_[touch_begin_[global + 1] - 1].block;
    return std::bit_width(last - first);
  };
  std::stable_sort(wide_.begin(), wide_.end(),
                   [&](uint32_t a, uint32_t b) { return span_class(a) < span_class(b); });
  for (uint32_t first = 0; first < wide_.size();) {
    uint32_t count = 1;
    while (first + count < wide_.size() && count < kChunk &&
           span_class(wide_[first + count]) == span_class(wide_[first]))
      ++count;
    Window window{~0u, 0};
    for (uint32_t k = first; k < first + count; ++k) {
      window.first = std::min(window.first, grouped_touches_[touch_begin_[wide_[k]]].block);
      window.last = std::max(window.last, grouped_touches_[touch_begin_[wide_[k] + 1] - 1].block);
    }
    if (!flow(function, first, count, window)) flow(function, first, count, {0, function.block_count - 1});
    first += count;
  }
}

// Of wide_[first_wide ...], backwards to a fixpoint. False, with nothing noted, if something lives beyond the
// window.
bool Liveness::flow(const MachFunction& function, uint32_t first_wide, uint32_t count, Window window) {
  uint32_t words = (count + 63) / 64;
  uint32_t blocks = window.last - window.first + 1;
  live_in_.assign(size_t{blocks} * words, 0);
  defined_.assign(live_in_.size(), 0);
  auto row = [&](std::vector<uint64_t>& rows, uint32_t b) { return &rows[size_t{b - window.first} * words]; };
  for (uint32_t k = 0; k < count; ++k) {
    uint32_t global = wide_[first_wide + k];
    for (uint32_t t = touch_begin_[global]; t < touch_begin_[global + 1]; ++t) {
      const Touch& touched = grouped_touches_[t];
      row(touched.is_def ? defined_ : live_in_, touched.block)[k / 64] |= uint64_t{1} << k % 64;
    }
  }

  uint64_t out[kChunk / 64];
  auto live_out = [&](uint32_t b) {
    std::fill(out, out + words, 0);
    for (uint32_t s : function.blocks[b].succs) {
      if (s < window.first || s > window.last) continue;
      const uint64_t* in = row(live_in_, s);
      for (uint32_t w = 0; w < words; ++w) out[w] |= in[w];
    }
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t b = window.last + 1; b-- > window.first;) {
      live_out(b);
      uint64_t* in = row(live_in_, b);
      const uint64_t* defined = row(defined_, b);
      for (uint32_t w = 0; w < words; ++w) {
        uint64_t grown = in[w] | (out[w] & ~defined[w]);
        changed |= grown != in[w];
        in[w] = grown;
      }
    }
  }
  for (uint32_t b = window.first; b <= window.last; ++b) {
    const uint64_t* in = row(live_in_, b);
    if (std::all_of(in, in + words, [](uint64_t word) { return word == 0; })) continue;
    for (uint32_t p : function.blocks[b].preds) {
      if (p < window.first || p > window.last) return false;
    }
  }

  auto add_events = [&](uint32_t block, bool at_end, uint32_t word, uint64_t bits) {
    for (; bits != 0; bits &= bits - 1) {
      uint32_t k = first_wide + word * 64 + static_cast<uint32_t>(std::countr_zero(bits));
      events_.push_back({block, globals_[wide_[k]], at_end});
    }
  };
  for (uint32_t b = window.last + 1; b-- > window.first;) {
    live_out(b);
    for (uint32_t w = 0; w < words; ++w) {
      uint64_t next_in = b < window.last ? row(live_in_, b + 1)[w] : 0;
      if (b < window.last) add_events(b + 1, false, w, next_in & ~out[w]);
      add_events(b, true, w, out[w] & ~next_in);
    }
  }
  for (uint32_t w = 0; w < words; ++w) add_events(window.first, false, w, row(live_in_, window.first)[w]);
  return true;
}

// By block, descending; the order within a block does not matter.
void Liveness::sort_events(const MachFunction& function) {
  counts_.assign(function.block_count + 1, 0);
  for (const BoundaryEvent& event : events_) ++counts_[function.block_count - event.block];
  for (uint32_t b = 0; b < function.block_count; ++b) counts_[b + 1] += counts_[b];
  sorted_events_.resize(events_.size());
  for (const BoundaryEvent& event : events_)
    sorted_events_[counts_[function.block_count - 1 - event.block]++] = event;
}

// Fills each register's occurrences from the end, which turns the ends in occurrence_begin_ into begins;
// opens ranges at uses and closes them at definitions; follows physical registers from use to definition.
void Liveness::scan_backward(const MachFunction& function) {
  busy.resize(2 * function.insts.size());
  copied_from.assign(function.vregs.size(), {});
  copied_to.assign(function.vregs.size(), {});
  open_.assign(function.vregs.size(), 0);
  last_range_.assign(function.vregs.size(), ~0u);
  found_.clear();
  size_t event = 0;
  for (uint32_t b = function.block_count; b-- > 0;) {
    const MachBlock& block = function.blocks[b];
    size_t first_event = event;
    for (; event < sorted_events_.size() && sorted_events_[event].block == b; ++event) {
      if (sorted_events_[event].at_end) open_[sorted_events_[event].vreg] = 2 * block.end;
    }
    uint32_t live = 0;
    for (uint32_t i = block.end; i-- > block.begin;) scan_inst(function, i, live);
    for (size_t k = first_event; k < event; ++k) {
      uint32_t vreg = sorted_events_[k].vreg;
      if (sorted_events_[k].at_end) continue;
      close_range(vreg, 2 * block.begin, open_[vreg]);
      open_[vreg] = 0;
    }
  }
}

void Liveness::scan_inst(const MachFunction& function, uint32_t i, uint32_t& live) {
  const MachInst& inst = function.insts[i];
  std::span<const MachOperand> operands = function.ops(inst);
  bool is_move = is_move_pseudo(inst.op);
  bool anywhere = is_move || inst.op == x64::Op::Undef;
  uint32_t physical_defs = 0, physical_uses = 0;
  for (const MachOperand& operand : operands) {
    if (!operand.is_reg() || !operand.is_def) continue;
    Reg reg = operand.reg();
    if (!reg.is_virtual()) {
      physical_defs |= bit(reg);
      continue;
    }
    uint32_t v = reg.index();
    occurrences_[--occurrence_begin_[v]] = Occurrence(i, true, anywhere);
    close_range(v, 2 * i + 1, open_[v] != 0 ? open_[v] : 2 * i + 2);
    open_[v] = 0;
  }
  for (const MachOperand& operand : operands) {
    if (!operand.is_reg() || operand.is_def) continue;
    Reg reg = operand.reg();
    if (!reg.is_virtual()) {
      physical_uses |= bit(reg);
      continue;
    }
    uint32_t v = reg.index();
    occurrences_[--occurrence_begin_[v]] = Occurrence(i, false, anywhere);
    if (open_[v] == 0) open_[v] = 2 * i + 1;
  }
  if (is_move) scan_moves(function, i);
  busy[2 * i + 1] = (live | physical_defs | inst.clobbers) & kAllocatableRegs;
  live = (live & ~physical_defs) | physical_uses;
  busy[2 * i] = live & kAllocatableRegs;
}

void Liveness::scan_moves(const MachFunction& function, uint32_t i) {
  std::span<const MachOperand> operands = function.ops(function.insts[i]);
  uint32_t depth = function.blocks[block_of_inst_[i]].loop_depth;
  auto pair_up = [depth](Partner& partner, Reg reg) {
    if (!partner.reg.valid() || depth >= partner.depth) partner = {reg, depth};
  };
  for (size_t k = 0; k + 1 < operands.size(); k += 2) {
    Reg to = operands[k].reg(), from = operands[k + 1].reg();
    if (to.is_virtual()) pair_up(copied_from[to.index()], from);
    if (from.is_virtual()) pair_up(copied_to[from.index()], to);
  }
}

void Liveness::close_range(uint32_t vreg, Position start, Position end) {
  uint32_t& last = last_range_[vreg];
  if (last != ~0u && found_[last].range.start == end) {
    found_[last].range.start = start;
    return;
  }
  last = static_cast<uint32_t>(found_.size());
  found_.push_back({vreg, {start, end}});
}

// By register, ascending. Found ranges of one register descend, whatever is between them.
void Liveness::group_ranges() {
  range_begin_.assign(last_range_.size() + 1, 0);
  for (const OwnedRange& owned : found_) ++range_begin_[owned.vreg];
  uint32_t sum = 0;
  for (uint32_t& begin : range_begin_) begin = sum += begin;
  ranges_.resize(found_.size());
  for (const OwnedRange& owned : found_) ranges_[--range_begin_[owned.vreg]] = owned.range;
}

}  // namespace wago::codegen
