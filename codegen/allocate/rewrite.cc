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
  at_block_.assign(function.block_count, {});
  cursor_.resize(function.vregs.size());
  for (uint32_t v = 0; v < function.vregs.size(); ++v) {
    uint32_t first = scan.first_piece(v);
    cursor_[v] = first;
    if (first != Piece::kNone && scan.piece(first).next != Piece::kNone) insert_transitions(v);
  }
  std::sort(inserted_.begin(), inserted_.end(),
            [](const Inserted& a, const Inserted& b) { return a.key < b.key; });

  next_inserted_ = 0;
  for (uint32_t b = 0; b < function.block_count; ++b) emit_block(b);
  WAGO_CHECK(next_inserted_ == inserted_.size());
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

void Rewriter::insert(uint64_t key, uint32_t vreg, Location to, Location from) {
  const VRegInfo& info = function_->vregs[vreg];
  inserted_.push_back({key, {to, from, info.cls, info.bytes}});
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
      insert(key_of(next.start >> 1, Phase::Split), vreg, location_of(next), location_of(piece));
    } else if (needs_store(p, before)) {
      // The value is still where it was before the instruction that uses it last.
      uint32_t at = live_->boundary(piece.end >> 1);
      uint32_t source = p;
      if (piece.start == at && !live_->is_block_begin(at)) source = before;
      stores_.push_back({key_of(at >> 1, Phase::Split), source, live_->block_of(at)});
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

void Rewriter::note_live_blocks(uint32_t vreg) {
  uint32_t p = scan_->first_piece(vreg);
  auto piece_at = [&](Position position) {
    while (scan_->piece(p).end <= position) p = scan_->piece(p).next;
    return p;
  };
  live_in_blocks_.clear();
  live_out_blocks_.clear();
  for (LiveRange range : live_->ranges(vreg)) {
    for (uint32_t b = live_->block_of(range.start); b < function_->block_count; ++b) {
      Position begin = 2 * function_->blocks[b].begin, end = 2 * function_->blocks[b].end;
      if (begin >= range.end) break;
      if (range.start <= begin) {
        at_block_[b].begin = piece_at(begin);
        live_in_blocks_.push_back(b);
      }
      if (range.end >= end) {
        at_block_[b].end = piece_at(end - 1);
        live_out_blocks_.push_back(b);
      }
    }
  }
}

void Rewriter::visit_edges(uint32_t vreg) {
  note_live_blocks(vreg);
  for (uint32_t b : live_in_blocks_) {
    for (uint32_t p : function_->blocks[b].preds) {
      uint32_t from = at_block_[p].end, to = at_block_[b].begin;
      if (from != to) edge_move(p, b, from, to);
    }
  }
  for (uint32_t b : live_in_blocks_) at_block_[b].begin = Piece::kNone;
  for (uint32_t b : live_out_blocks_) at_block_[b].end = Piece::kNone;
}

void Rewriter::edge_move(uint32_t from_block, uint32_t to_block, uint32_t from_piece, uint32_t to_piece) {
  WAGO_CHECK_MSG(from_piece != Piece::kNone, "a value is live into a block but not out of its predecessor");
  const Piece& from = scan_->piece(from_piece);
  const Piece& to = scan_->piece(to_piece);
  if (location_of(from) == location_of(to)) return;
  uint64_t key;
  uint32_t block;
  if (function_->blocks[from_block].succs.size() == 1) {
    uint32_t terminator = live_->first_terminator(from_block);
    bool at_end = terminator == function_->blocks[from_block].end;
    key = key_of(terminator, at_end ? Phase::BlockEnd : Phase::BeforeTerminator);
    block = from_block;
  } else {
    WAGO_CHECK_MSG(function_->blocks[to_block].preds.size() == 1, "a critical edge");
    key = key_of(function_->blocks[to_block].begin, Phase::BlockBegin);
    block = to_block;
  }
  if (to.in_register())
    insert(key, from.vreg, location_of(to), location_of(from));
  else
    stores_.push_back({key, from_piece, block});
}

void Rewriter::insert_stores(uint32_t vreg) {
  uint64_t at_changes = 0, at_definitions = 0;
  for (const Store& store : stores_) at_changes += weight(store.block);
  auto visit_definitions = [&](auto&& visit) {
    uint32_t p = scan_->first_piece(vreg);
    for (Occurrence occurrence : live_->occurrences(vreg)) {
      while (scan_->piece(p).end <= occurrence.position()) p = scan_->piece(p).next;
      if (!occurrence.is_def() || !scan_->piece(p).in_register()) continue;
      if (function_->insts[occurrence.inst()].op != x64::Op::Undef) visit(occurrence.inst(), scan_->piece(p));
    }
  };
  visit_definitions(
      [&](uint32_t inst, const Piece&) { at_definitions += weight(live_->block_of(2 * inst)); });
  Location slot = Location::slot(slot_[vreg]);
  if (at_definitions <= at_changes) {
    visit_definitions([&](uint32_t inst, const Piece& piece) {
      insert(key_of(inst + 1, Phase::AfterDefinition), vreg, slot, location_of(piece));
    });
  } else {
    for (const Store& store : stores_) {
      Location from = location_of(scan_->piece(store.piece));
      if (from.is_reg()) insert(store.key, vreg, slot, from);
    }
  }
}

void Rewriter::emit_inserted(uint64_t until) {
  while (next_inserted_ < inserted_.size() && inserted_[next_inserted_].key <= until) {
    uint64_t key = inserted_[next_inserted_].key;
    moves_.clear();
    for (; next_inserted_ < inserted_.size() && inserted_[next_inserted_].key == key; ++next_inserted_)
      moves_.push_back(inserted_[next_inserted_].move);
    emitter_.emit_parallel(moves_);
  }
}

void Rewriter::emit_block(uint32_t b) {
  MachBlock& block = function_->blocks[b];
  uint32_t begin = static_cast<uint32_t>(out_.size());
  for (uint32_t i = block.begin; i < block.end; ++i) {
    MachInst inst = function_->insts[i];
    emitter_.at(inst);
    emit_inserted(key_of(i, Phase::BeforeTerminator));
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
  emit_inserted(key_of(block.end, Phase::BlockEnd));
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
