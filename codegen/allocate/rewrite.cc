#include "codegen/allocate/rewrite.h"

#include <algorithm>

namespace wago::codegen {

namespace {

int size_class(uint8_t bytes) {
  return bytes == 4 ? 0 : bytes == 8 ? 1 : 2;
}

}  // namespace

void Rewriter::run(MachFunction& function, const Liveness& live, const LinearScan& scan) {
  function_ = &function;
  live_ = &live;
  scan_ = &scan;
  out_.clear();
  out_.reserve(function.insts.size() + function.insts.size() / 4);
  emitter_.start(function, out_);

  assign_slots();
  inserted_.clear();
  inserted_at_.assign(function.insts.size() + 1, ~0u);
  note_neighbours();
  cursor_.resize(function.vregs.size());
  for (uint32_t v = 0; v < function.vregs.size(); ++v) {
    uint32_t first = scan.first_piece(v);
    cursor_[v] = first;
    if (first != Piece::kNone && scan.piece(first).next != Piece::kNone) insert_transitions(v);
  }
  for (uint32_t b = 0; b < function.block_count; ++b) emit_block(b);
  function.insts.swap(out_);
}

// Linear scan once more: a slot is free again where its value's lifetime, holes included, is over.
void Rewriter::assign_slots() {
  slot_.assign(function_->vregs.size(), ~0u);
  slot_lives_.clear();
  for (uint32_t v = 0; v < function_->vregs.size(); ++v) {
    if (is_remade(v)) continue;
    bool in_memory = false;
    for (uint32_t p = scan_->first_piece(v); p != Piece::kNone && !in_memory; p = scan_->piece(p).next)
      in_memory = !scan_->piece(p).in_register();
    if (in_memory) slot_lives_.push_back({live_->ranges(v).front().start, live_->ranges(v).back().end, v});
  }
  std::sort(slot_lives_.begin(), slot_lives_.end(), [](const SlotLife& a, const SlotLife& b) {
    return a.start != b.start ? a.start < b.start : a.vreg < b.vreg;
  });
  slots_in_use_.clear();
  for (std::vector<uint32_t>& list : free_slots_) list.clear();
  for (const SlotLife& life : slot_lives_) {
    while (!slots_in_use_.empty() && slots_in_use_.front().first <= life.start) {
      uint32_t slot = slots_in_use_.front().second;
      free_slots_[size_class(function_->slots[slot])].push_back(slot);
      std::pop_heap(slots_in_use_.begin(), slots_in_use_.end(), std::greater<>());
      slots_in_use_.pop_back();
    }
    uint8_t bytes = function_->vregs[life.vreg].bytes;
    std::vector<uint32_t>& list = free_slots_[size_class(bytes)];
    uint32_t slot;
    if (list.empty()) {
      slot = static_cast<uint32_t>(function_->slots.size());
      function_->slots.push_back(bytes);
    } else {
      slot = list.back();
      list.pop_back();
    }
    slot_[life.vreg] = slot;
    slots_in_use_.emplace_back(life.end, slot);
    std::push_heap(slots_in_use_.begin(), slots_in_use_.end(), std::greater<>());
  }
}

uint64_t Rewriter::weight(uint32_t block) const {
  return function_->blocks[block].cold
             ? 1
             : uint64_t{4} << 3 * std::min(function_->blocks[block].loop_depth, 12u);
}

Location Rewriter::location_of(const Piece& piece) const {
  if (piece.in_register()) return Location::reg(piece.reg());
  return is_remade(piece.vreg) ? Location::remade(piece.vreg) : Location::slot(slot_[piece.vreg]);
}

void Rewriter::insert(Place place, uint32_t vreg, Location to, Location from) {
  const VRegInfo& info = function_->vregs[vreg];
  uint32_t& last = inserted_at_[place.inst];
  inserted_.push_back({place.phase, last, {to, from, info.cls, info.bytes}});
  last = static_cast<uint32_t>(inserted_.size() - 1);
}

void Rewriter::insert_transitions(uint32_t vreg) {
  stores_.clear();
  visit_splits(vreg);
  visit_edges(vreg);
  if (slot_[vreg] != ~0u) insert_stores(vreg);
}

// From piece to piece inside a block.
void Rewriter::visit_splits(uint32_t vreg) {
  uint32_t before_previous = Piece::kNone;
  for (uint32_t p = scan_->first_piece(vreg); scan_->piece(p).next != Piece::kNone;
       p = scan_->piece(p).next) {
    const Piece& piece = scan_->piece(p);
    const Piece& next = scan_->piece(piece.next);
    uint32_t before = before_previous;
    before_previous = p;
    if (piece.end != next.start || live_->is_block_begin(next.start)) continue;
    if (!piece.in_register() && !next.in_register()) continue;
    if (next.in_register()) {
      WAGO_CHECK((next.start & 1) == 0);
      if (piece.in_register() && piece.where == next.where) continue;
      insert({next.start >> 1, Phase::Split}, vreg, location_of(next), location_of(piece));
    } else if (needs_store(p, before)) {
      // The value is still where it was before the instruction that uses it last.
      uint32_t at = live_->boundary(piece.end >> 1);
      uint32_t source = p;
      if (piece.start == at && !live_->is_block_begin(at)) source = before;
      stores_.push_back({{at >> 1, Phase::Split}, source, live_->block_of(at)});
    }
  }
}

// A piece that was loaded from memory and left again in the same block, unchanged, needs no store.
bool Rewriter::needs_store(uint32_t index, uint32_t previous) const {
  if (previous == Piece::kNone) return true;
  const Piece& piece = scan_->piece(index);
  const Piece& source = scan_->piece(previous);
  if (source.in_register() || source.end != piece.start || live_->is_block_begin(piece.start) ||
      live_->block_of(piece.start) != live_->block_of(piece.end - 1))
    return true;
  for (Occurrence occurrence : live_->occurrences(piece.vreg)) {
    if (occurrence.is_def() && occurrence.position() >= piece.start && occurrence.position() < piece.end)
      return true;
  }
  return false;
}

// What changes place along an edge. One of the two ends is in a register, so it is enough to look at pieces
// in registers, of which there are never more than registers at any position: linear, however many values are
// live.
void Rewriter::visit_edges(uint32_t vreg) {
  pieces_.clear();
  for (uint32_t p = scan_->first_piece(vreg); p != Piece::kNone; p = scan_->piece(p).next)
    pieces_.push_back(p);
  std::span<const LiveRange> ranges = live_->ranges(vreg);
  size_t r = 0;
  for (uint32_t p : pieces_) {
    const Piece& piece = scan_->piece(p);
    if (!piece.in_register()) continue;
    while (ranges[r].end <= piece.start) ++r;
    for (size_t k = r; k < ranges.size() && ranges[k].start < piece.end; ++k)
      visit_blocks(p, std::max(ranges[k].start, piece.start), std::min(ranges[k].end, piece.end));
  }
}

// Of the blocks that begin in [from, to), where `index` is the piece, the incoming edges; of those that end
// there, the edges that leave for memory.
void Rewriter::visit_blocks(uint32_t index, Position from, Position to) {
  const std::vector<MachBlock>& blocks = function_->blocks;
  for (uint32_t b = live_->block_of(from); b < function_->block_count && 2 * blocks[b].begin < to; ++b) {
    const Neighbours& near = neighbours_[b];
    if (2 * blocks[b].begin >= from && !(near.first_pred_end > from && near.last_pred_end <= to)) {
      for (uint32_t p : blocks[b].preds) {
        uint32_t other = piece_at(2 * blocks[p].end - 1);
        if (other != index) edge_move(p, b, other, index);
      }
    }
    if (2 * blocks[b].end <= to && !(near.first_succ >= from && near.last_succ < to)) {
      for (uint32_t s : blocks[b].succs) {
        // A value that lives on into only some of the successors is in no piece at the others.
        uint32_t other = find_piece_at(2 * blocks[s].begin);
        if (other != Piece::kNone && !scan_->piece(other).in_register() && is_live_at(2 * blocks[s].begin))
          edge_move(b, s, index, other);
      }
    }
  }
}

// Of the register at hand.
uint32_t Rewriter::find_piece_at(Position position) const {
  auto it = std::upper_bound(pieces_.begin(), pieces_.end(), position,
                             [this](Position p, uint32_t piece) { return p < scan_->piece(piece).start; });
  return it != pieces_.begin() && scan_->piece(it[-1]).end > position ? it[-1] : Piece::kNone;
}

uint32_t Rewriter::piece_at(Position position) const {
  uint32_t piece = find_piece_at(position);
  WAGO_CHECK_MSG(piece != Piece::kNone, "a value is live into a block but not out of its predecessor");
  return piece;
}

bool Rewriter::is_live_at(Position position) const {
  std::span<const LiveRange> ranges = live_->ranges(scan_->piece(pieces_.front()).vreg);
  auto it = std::upper_bound(ranges.begin(), ranges.end(), position,
                             [](Position p, const LiveRange& range) { return p < range.start; });
  return it != ranges.begin() && it[-1].end > position;
}

void Rewriter::note_neighbours() {
  neighbours_.assign(function_->block_count, {});
  for (uint32_t b = 0; b < function_->block_count; ++b) {
    const MachBlock& block = function_->blocks[b];
    Neighbours& near = neighbours_[b];
    for (uint32_t p : block.preds) {
      near.first_pred_end = std::min(near.first_pred_end, 2 * function_->blocks[p].end);
      near.last_pred_end = std::max(near.last_pred_end, 2 * function_->blocks[p].end);
    }
    for (uint32_t s : block.succs) {
      near.first_succ = std::min(near.first_succ, 2 * function_->blocks[s].begin);
      near.last_succ = std::max(near.last_succ, 2 * function_->blocks[s].begin);
    }
  }
}

void Rewriter::edge_move(uint32_t from_block, uint32_t to_block, uint32_t from_piece, uint32_t to_piece) {
  const Piece& from = scan_->piece(from_piece);
  const Piece& to = scan_->piece(to_piece);
  if (location_of(from) == location_of(to)) return;
  Place place;
  uint32_t block;
  if (function_->blocks[from_block].succs.size() == 1) {
    uint32_t terminator = live_->first_terminator(from_block);
    bool at_end = terminator == function_->blocks[from_block].end;
    place = {terminator, at_end ? Phase::BlockEnd : Phase::BeforeTerminator};
    block = from_block;
  } else {
    WAGO_CHECK_MSG(function_->blocks[to_block].preds.size() == 1, "a critical edge");
    place = {function_->blocks[to_block].begin, Phase::BlockBegin};
    block = to_block;
  }
  if (to.in_register())
    insert(place, from.vreg, location_of(to), location_of(from));
  else
    stores_.push_back({place, from_piece, block});
}

void Rewriter::insert_stores(uint32_t vreg) {
  uint64_t at_changes = 0, at_definitions = 0;
  for (const Store& store : stores_) at_changes += weight(store.block);
  std::span<const Occurrence> all = live_->occurrences(vreg);
  auto visit_definitions = [&](auto&& visit) {
    uint32_t p = scan_->first_piece(vreg);
    for (size_t k = 0; k < all.size(); ++k) {
      while (scan_->piece(p).end <= all[k].position()) p = scan_->piece(p).next;
      if (!all[k].is_def() || !scan_->piece(p).in_register() || is_redefined(all, k, scan_->piece(p)))
        continue;
      if (function_->insts[all[k].inst()].op != x64::Op::Undef) visit(all[k].inst(), scan_->piece(p));
    }
  };
  visit_definitions(
      [&](uint32_t inst, const Piece&) { at_definitions += weight(live_->block_of(2 * inst)); });
  Location slot = Location::slot(slot_[vreg]);
  if (at_definitions < at_changes) {
    visit_definitions([&](uint32_t inst, const Piece& piece) {
      insert({inst + 1, Phase::AfterDefinition}, vreg, slot, location_of(piece));
    });
  } else {
    for (const Store& store : stores_) {
      Location from = location_of(scan_->piece(store.piece));
      if (from.is_reg()) insert(store.place, vreg, slot, from);
    }
  }
}

// The value defined by occurrence `k` is replaced in the same block before it could be missed in memory.
bool Rewriter::is_redefined(std::span<const Occurrence> all, size_t k, const Piece& piece) const {
  Position limit = std::min(piece.end, 2 * function_->blocks[live_->block_of(all[k].position())].end);
  for (++k; k < all.size() && all[k].position() < limit; ++k) {
    if (all[k].is_def()) return true;
  }
  return false;
}

void Rewriter::emit_inserted(uint32_t inst, Phase first, Phase last) {
  uint32_t head = inserted_at_[inst];
  if (head == ~0u) return;
  for (uint32_t phase = static_cast<uint32_t>(first); phase <= static_cast<uint32_t>(last); ++phase) {
    moves_.clear();
    for (uint32_t k = head; k != ~0u; k = inserted_[k].next) {
      if (static_cast<uint32_t>(inserted_[k].phase) == phase) moves_.push_back(inserted_[k].move);
    }
    if (!moves_.empty()) emitter_.emit_parallel(moves_);
  }
}

void Rewriter::emit_block(uint32_t b) {
  MachBlock& block = function_->blocks[b];
  uint32_t begin = static_cast<uint32_t>(out_.size());
  for (uint32_t i = block.begin; i < block.end; ++i) {
    MachInst inst = function_->insts[i];
    emitter_.at(inst);
    emit_inserted(i, i == block.begin ? Phase::BlockBegin : Phase::AfterDefinition, Phase::BeforeTerminator);
    if (is_move_pseudo(inst.op)) {
      emit_moves(i);
      continue;
    }
    if (inst.op == x64::Op::Undef || is_dropped(i)) continue;
    // Uses first: location_at() only goes forward.
    for (bool defs : {false, true}) {
      for (MachOperand& operand : function_->ops(inst)) {
        if (!operand.is_reg() || operand.is_def != defs || !operand.reg().is_virtual()) continue;
        Location location = location_at(operand.reg().index(), 2 * i + defs);
        WAGO_CHECK(location.is_reg());
        operand.value = static_cast<int32_t>(location.reg().bits());
      }
    }
    inst.origin = i;
    out_.push_back(inst);
  }
  emit_inserted(block.end, Phase::AfterDefinition, Phase::BlockEnd);
  block.begin = begin;
  block.end = static_cast<uint32_t>(out_.size());
}

void Rewriter::emit_moves(uint32_t i) {
  std::span<const MachOperand> operands = function_->ops(function_->insts[i]);
  moves_.clear();
  for (size_t k = 0; k + 1 < operands.size(); k += 2) {
    Move move = plain_move(*function_, operands[k].reg(), operands[k + 1].reg());
    Reg from = operands[k + 1].reg();
    move.from = from.is_virtual() ? location_at(from.index(), 2 * i) : Location::reg(from);
    moves_.push_back(move);
  }
  for (size_t k = 0; k + 1 < operands.size(); k += 2) {
    Reg to = operands[k].reg();
    moves_[k / 2].to = to.is_virtual() ? location_at(to.index(), 2 * i + 1) : Location::reg(to);
  }
  emitter_.emit_parallel(moves_);
}

// A definition that is made again wherever it is used.
bool Rewriter::is_dropped(uint32_t i) {
  std::span<const MachOperand> operands = function_->ops(function_->insts[i]);
  if (operands.empty() || !operands[0].is_reg() || !operands[0].is_def || !operands[0].reg().is_virtual())
    return false;
  uint32_t v = operands[0].reg().index();
  if (function_->vregs[v].rematerialize != i) return false;
  const Piece& piece = scan_->piece(scan_->first_piece(v));
  if (piece.start != 2 * i + 1 || piece.next == Piece::kNone || scan_->piece(piece.next).in_register())
    return false;
  if (piece.end >= 2 * function_->blocks[live_->block_of(2 * i)].end) return false;
  std::span<const Occurrence> all = live_->occurrences(v);
  return all.size() < 2 || all[1].position() >= piece.end;
}

Location Rewriter::location_at(uint32_t vreg, Position position) {
  uint32_t& p = cursor_[vreg];
  while (scan_->piece(p).end <= position) p = scan_->piece(p).next;
  return location_of(scan_->piece(p));
}

}  // namespace wago::codegen
