#include "codegen/allocate/linear_scan.h"

#include <algorithm>
#include <bit>

namespace wago::codegen {

namespace {

// In positions. Long enough that a cut is rare in real functions, short enough that clearing a piece is
// cheap.
constexpr Position kHorizon = 1 << 14;

constexpr Position round_up_even(Position position) {
  return (position + 1) & ~1u;
}

}  // namespace

bool LinearScan::Need::less_than(const Need& other) const {
  if (depth != other.depth) return depth < other.depth;
  if (remade != other.remade) return remade;
  return position > other.position;
}

void LinearScan::run(const MachFunction& function, Liveness& live) {
  function_ = &function;
  live_ = &live;
  for (std::vector<Position>& barriers : barriers_) barriers.clear();
  for (uint32_t i = 0; i < function.insts.size(); ++i) {
    for (RegClass cls : {RegClass::Gpr, RegClass::Xmm}) {
      if ((~function.insts[i].clobbers & class_mask(cls)) == 0)
        barriers_[static_cast<int>(cls)].push_back(2 * i + 1);
    }
  }
  occupancy_.start(live.busy);
  std::fill(std::begin(holder_), std::end(holder_), Piece::kNone);
  bucket_.assign(2 * function.insts.size() + 1, Piece::kNone);
  last_register_.assign(function.vregs.size(), 0xff);
  create_pieces();
  for (Position position = 0; position < bucket_.size(); ++position) {
    if (bucket_[position] != Piece::kNone) visit(position);
  }
}

void LinearScan::create_pieces() {
  pieces_.clear();
  first_piece_.assign(function_->vregs.size(), Piece::kNone);
  for (uint32_t v = 0; v < function_->vregs.size(); ++v) {
    std::span<const LiveRange> ranges = live_->ranges(v);
    if (ranges.empty()) continue;
    first_piece_[v] = static_cast<uint32_t>(pieces_.size());
    Piece& piece = pieces_.emplace_back();
    piece.vreg = v;
    piece.start = ranges.front().start;
    piece.end = ranges.back().end;
    enqueue(first_piece_[v]);
  }
}

void LinearScan::enqueue(uint32_t piece) {
  Position at = pieces_[piece].start;
  pieces_[piece].bucket_next = bucket_[at];
  bucket_[at] = piece;
}

// Resumptions first, so that holder_ is right when pieces that start here look for room.
void LinearScan::visit(Position position) {
  waiting_.clear();
  for (;;) {
    for (uint32_t p = bucket_[position]; p != Piece::kNone;) {
      uint32_t following = pieces_[p].bucket_next;
      if (pieces_[p].in_register())
        resume(p, position);
      else if (pieces_[p].where == Piece::kWaiting)
        waiting_.push_back(p);
      p = following;
    }
    bucket_[position] = Piece::kNone;
    if (waiting_.empty()) return;
    uint32_t next = waiting_.size() > 1 ? most_determined() : 0;
    std::swap(waiting_[next], waiting_.back());
    next = waiting_.back();
    waiting_.pop_back();
    place(next);
  }
}

// Of the pieces that start here, one whose partner's register is free goes first, before another takes it for
// no reason. An index into waiting_.
uint32_t LinearScan::most_determined() const {
  constexpr uint32_t kLookedAt = 16;
  uint32_t last = static_cast<uint32_t>(waiting_.size() - 1);
  for (uint32_t k = last + 1; k-- > 0 && last - k < kLookedAt;) {
    const Piece& piece = pieces_[waiting_[k]];
    uint32_t from = place_of(live_->copied_from[piece.vreg].reg);
    if (from < 32 && (occupancy_.at(piece.start) >> from & 1) == 0) return k;
  }
  return last;
}

// An assigned piece leaves a hole.
void LinearScan::resume(uint32_t index, Position position) {
  Piece& piece = pieces_[index];
  if (position >= piece.end) return;  // cut since
  std::span<const LiveRange> ranges = live_->ranges(piece.vreg);
  while (ranges[piece.range].end <= position) ++piece.range;
  holder_[piece.where] = index;
  holder_end_[piece.where] = std::min(ranges[piece.range].end, piece.end);
  if (piece.range + 1 < ranges.size() && ranges[piece.range + 1].start < piece.end) {
    Position at = ranges[piece.range + 1].start;
    piece.bucket_next = bucket_[at];
    bucket_[at] = index;
  }
}

void LinearScan::place(uint32_t index) {
  if (is_idle_for_long(index)) return send_to_memory(index, true);
  cut_at_horizon(index);
  Piece& piece = pieces_[index];
  skip_past_occurrences(piece, piece.start);

  // An occurrence that must have a register at the very start.
  bool mandatory = false;
  Position needed_until = piece.start + 1;
  std::span<const Occurrence> all = live_->occurrences(piece.vreg);
  for (uint32_t k = piece.occurrence; k < all.size() && all[k].position() < piece.end; ++k) {
    if (live_->boundary(all[k].inst()) > piece.start) break;
    if (all[k].anywhere()) continue;
    mandatory = true;
    needed_until = all[k].position() + 1;
  }
  if (!place_in_free_register(index, needed_until)) make_room_or_spill(index, mandatory, needed_until);
}

bool LinearScan::place_in_free_register(uint32_t index, Position needed_until) {
  Mask candidates = class_mask(class_of(pieces_[index]));
  Position until = find_free(pieces_[index], candidates);
  Position end = pieces_[index].end;
  if (until >= end) {
    assign(index, choose_register(pieces_[index], candidates, end));
    return true;
  }
  // Free for a part. Worth it if something happens in that part.
  if (until < needed_until) return false;
  if (is_barrier(class_of(pieces_[index]), until) && only_defined_before(pieces_[index], until)) {
    send_to_memory(index, true);
    return true;
  }
  Position used_until = last_occurrence_end(pieces_[index], until);
  if (used_until <= pieces_[index].start) return false;
  used_until = std::max(used_until, needed_until);
  if (is_barrier(class_of(pieces_[index]), until) || round_up_even(used_until) > until) {
    Position cut = early_cut(used_until, until);
    uint32_t reg = choose_register(pieces_[index], candidates, cut);
    uint32_t rest = split(index, cut);
    assign(index, reg);
    if (rest != Piece::kNone) send_to_memory(rest, false);
    return true;
  }
  Position cut = late_cut(class_of(pieces_[index]), round_up_even(used_until), until);
  if (cut > until || cut <= pieces_[index].start) return false;
  uint32_t reg = choose_register(pieces_[index], candidates, cut);
  uint32_t rest = split(index, cut);
  assign(index, reg);
  if (rest != Piece::kNone) enqueue(rest);
  return true;
}

void LinearScan::make_room_or_spill(uint32_t index, bool mandatory, Position needed_until) {
  Position start = pieces_[index].start;
  Mask candidates = class_mask(class_of(pieces_[index]));
  uint32_t victim = Piece::kNone;
  Need least;
  for (Mask mask = candidates; mask != 0; mask &= mask - 1) {
    uint32_t reg = static_cast<uint32_t>(std::countr_zero(mask));
    uint32_t holder = holder_[reg];
    if ((occupancy_.at(start) >> reg & 1) == 0 || holder == Piece::kNone || holder_end_[reg] <= start)
      continue;
    Piece& held = pieces_[holder];
    bool stays_taken = false;
    for (Position p = std::max(start, holder_end_[reg]); p < needed_until; ++p)
      stays_taken |= (occupancy_.at(p) >> reg & 1) != 0;
    if (stays_taken) continue;
    // What the instruction at hand reads or writes must stay.
    skip_past_occurrences(held, start & ~1u);
    std::span<const Occurrence> all = live_->occurrences(held.vreg);
    if (held.occurrence < all.size() && !all[held.occurrence].anywhere() &&
        live_->boundary(all[held.occurrence].inst()) <= start)
      continue;
    Need its = need(held, start);
    if (victim == Piece::kNone || its.less_than(least)) {
      victim = holder;
      least = its;
    }
  }
  if (!mandatory && (victim == Piece::kNone || !least.less_than(need(pieces_[index], start)))) {
    send_to_memory(index, true);
    return;
  }
  WAGO_CHECK_MSG(victim != Piece::kNone, "an instruction needs more registers than there are");
  evict(victim, start);
  if (place_in_free_register(index, needed_until)) return;
  // The victim's register is taken again before anything here would use it.
  WAGO_CHECK(!mandatory);
  send_to_memory(index, true);
}

// For each candidate, the first position of the piece where it is taken, or the piece's end. Returns the
// greatest.
Position LinearScan::find_free(const Piece& piece, Mask candidates) {
  for (Mask mask = candidates; mask != 0; mask &= mask - 1) free_until_[std::countr_zero(mask)] = piece.end;
  Mask open = candidates;
  Position last = piece.end;
  for_each_range(piece, piece.start, [&](LiveRange range) {
    occupancy_.search(range, open, [&](Mask taken, Position position) {
      for (; taken != 0; taken &= taken - 1) free_until_[std::countr_zero(taken)] = position;
      last = position;
    });
    return open != 0;
  });
  return open != 0 ? piece.end : last;
}

uint32_t LinearScan::choose_register(const Piece& piece, Mask candidates, Position until) const {
  Reg wanted = hint(piece, candidates, until);
  if (wanted.valid()) return wanted.number();
  for (Mask mask = candidates; mask != 0; mask &= mask - 1) {
    uint32_t reg = static_cast<uint32_t>(std::countr_zero(mask));
    if (free_until_[reg] >= until) return reg;
  }
  WAGO_UNREACHABLE("a register was free before the choice");
}

// A register that saves a move: where the value comes from, or where it goes.
Reg LinearScan::hint(const Piece& piece, Mask candidates, Position until) const {
  auto usable = [&](uint32_t reg) {
    return reg < 32 && (candidates >> reg & 1) != 0 && free_until_[reg] >= until;
  };
  uint32_t v = piece.vreg;
  if (piece.start != live_->ranges(v).front().start && usable(last_register_[v]))
    return Reg::physical(last_register_[v]);
  // The copy that is certain to be executed counts more, unless the other is in a deeper loop.
  Liveness::Partner to = live_->copied_to[v], from = live_->copied_from[v];
  bool to_first = to.reg.valid() && from.reg.valid() && to.depth > from.depth;
  for (Reg partner : {to_first ? to.reg : from.reg, to_first ? from.reg : to.reg}) {
    if (uint32_t place = place_of(partner); usable(place)) return Reg::physical(place);
  }
  // Where it goes in the end.
  for (int hops = 0; hops < 3 && to.reg.valid() && to.reg.is_virtual(); ++hops) {
    to = live_->copied_to[to.reg.index()];
    if (uint32_t place = place_of(to.reg); usable(place)) return Reg::physical(place);
  }
  if (usable(last_register_[v])) return Reg::physical(last_register_[v]);
  return Reg();
}

// The register a partner in a copy has or had; no register's number if it has none.
uint32_t LinearScan::place_of(Reg reg) const {
  if (!reg.valid()) return 0xff;
  return reg.is_physical() ? reg.number() : last_register_[reg.index()];
}

void LinearScan::assign(uint32_t index, uint32_t reg) {
  Piece& piece = pieces_[index];
  piece.where = static_cast<uint8_t>(reg);
  last_register_[piece.vreg] = piece.where;
  for_each_range(piece, piece.start, [&](LiveRange range) {
    occupancy_.set(range, reg);
    return true;
  });
  resume(index, piece.start);
}

// Visits what is live of the piece from a position on, until told to stop.
template <class Visit>
void LinearScan::for_each_range(const Piece& piece, Position from, Visit&& visit) const {
  std::span<const LiveRange> ranges = live_->ranges(piece.vreg);
  for (uint32_t r = piece.range; r < ranges.size() && ranges[r].start < piece.end; ++r) {
    LiveRange range{std::max(ranges[r].start, from), std::min(ranges[r].end, piece.end)};
    if (range.start < range.end && !visit(range)) return;
  }
}

uint32_t LinearScan::split(uint32_t index, Position at) {
  Piece& piece = pieces_[index];
  if (at >= piece.end) return Piece::kNone;
  WAGO_CHECK(at > piece.start);
  std::span<const LiveRange> ranges = live_->ranges(piece.vreg);
  uint32_t range = piece.range;
  while (range > 0 && ranges[range].start > at) --range;
  while (range < ranges.size() && ranges[range].end <= at) ++range;
  Piece rest;
  rest.vreg = piece.vreg;
  rest.end = piece.end;
  rest.next = piece.next;
  piece.end = at;
  if (range == ranges.size() || ranges[range].start >= rest.end) return Piece::kNone;
  rest.start = std::max(at, ranges[range].start);
  // Pieces touch only where the value goes on.
  if (ranges[range].start >= at && range > 0) piece.end = std::min(at, ranges[range - 1].end);
  rest.range = range;
  rest.occurrence = piece.occurrence;
  skip_past_occurrences(rest, rest.start);
  piece.next = static_cast<uint32_t>(pieces_.size());
  pieces_.push_back(rest);
  return static_cast<uint32_t>(pieces_.size() - 1);
}

// Nothing happens to it before the horizon. A register would be held for one store and one load; and where
// none is free, a part of every such value would ask for one at every horizon.
bool LinearScan::is_idle_for_long(uint32_t index) {
  Piece& piece = pieces_[index];
  skip_past_occurrences(piece, piece.start);
  std::span<const Occurrence> all = live_->occurrences(piece.vreg);
  Position until =
      piece.occurrence < all.size() ? std::min(all[piece.occurrence].position(), piece.end) : piece.end;
  return until - piece.start > kHorizon;
}

void LinearScan::cut_at_horizon(uint32_t index) {
  const Piece& piece = pieces_[index];
  if (piece.end - piece.start <= kHorizon) return;
  std::span<const LiveRange> ranges = live_->ranges(piece.vreg);
  Position length = 0;
  for (uint32_t r = piece.range; r < ranges.size() && ranges[r].start < piece.end; ++r) {
    Position from = std::max(ranges[r].start, piece.start), to = std::min(ranges[r].end, piece.end);
    if (length + (to - from) > kHorizon) {
      uint32_t rest = split(index, late_cut(class_of(piece), piece.start + 2, from + (kHorizon - length)));
      if (rest != Piece::kNone) enqueue(rest);
      return;
    }
    length += to - from;
  }
}

// Takes the register away from `at` on, or since the last use, which may be outside the loop.
void LinearScan::evict(uint32_t index, Position at) {
  Position cut = early_cut(std::max(last_occurrence_end(pieces_[index], at), pieces_[index].start), at);
  holder_[pieces_[index].where] = Piece::kNone;
  for_each_range(pieces_[index], at, [&](LiveRange range) {
    occupancy_.clear(range, pieces_[index].where);
    return true;
  });
  if (cut <= pieces_[index].start) {
    // Nothing used it there: it can be in memory from its start.
    if (pieces_[index].start >= at) return send_to_memory(index, true);
    pieces_[index].where = Piece::kMemory;
    uint32_t rest = split(index, at);
    if (rest != Piece::kNone) send_to_memory(rest, false);
    return;
  }
  uint32_t rest = split(index, cut);
  if (rest == Piece::kNone) return;
  if (pieces_[rest].start >= at) return send_to_memory(rest, false);
  // Between the cut and here it is in memory without having wished for a register.
  uint32_t later = split(rest, at);
  pieces_[rest].where = Piece::kMemory;
  if (later != Piece::kNone) send_to_memory(later, false);
}

// In memory until the next occurrence that is better off in a register; the rest waits for that position.
// `refused`: there was no register to be had at the piece's start.
void LinearScan::send_to_memory(uint32_t index, bool refused) {
  Position start = pieces_[index].start;
  Wish wish = next_wish(pieces_[index], refused);
  if (wish.position >= pieces_[index].end) {
    pieces_[index].where = Piece::kMemory;
    return;
  }
  if (wish.position <= start) {
    enqueue(index);
    return;
  }
  Position at = wish.position;
  if (!wish.new_value) {
    Position hoisted = late_cut(class_of(pieces_[index]), start, at);
    if (hoisted > start) at = hoisted;
  }
  uint32_t rest = split(index, at);
  pieces_[index].where = Piece::kMemory;
  if (rest != Piece::kNone) enqueue(rest);
}

// Where the piece should be in a register again: a boundary, or the definition of a new value.
LinearScan::Wish LinearScan::next_wish(Piece& piece, bool refused) const {
  skip_past_occurrences(piece, piece.start);
  std::span<const Occurrence> all = live_->occurrences(piece.vreg);
  std::span<const LiveRange> ranges = live_->ranges(piece.vreg);
  uint32_t range = piece.range;
  for (uint32_t k = piece.occurrence; k < all.size() && all[k].position() < piece.end; ++k) {
    Position position = all[k].position(), boundary = live_->boundary(all[k].inst());
    if (all[k].is_def()) {
      while (ranges[range].end <= position) ++range;
      bool new_value = ranges[range].start == position;
      if (new_value && !(refused && position == piece.start)) return {position, true};
      if (!all[k].anywhere()) return {boundary, false};
      continue;
    }
    if (!all[k].anywhere()) return {boundary, false};
    // A move can read memory itself; a register pays if it is read again before it would be lost.
    bool again = k + 1 < all.size() && all[k + 1].position() < piece.end && !all[k + 1].is_def() &&
                 !has_barrier(class_of(piece), position, all[k + 1].position());
    if (again && !(refused && boundary <= piece.start)) return {boundary, false};
  }
  return {piece.end, false};
}

// The earliest of the positions in [from, to] that are in the fewest loops.
Position LinearScan::early_cut(Position from, Position to) const {
  if (from >= to) return from;
  const uint32_t target = live_->block_of(to);
  const uint32_t left = live_->outermost(live_->loop_of_block(live_->block_of(from)),
                                         [&](const Loop& loop) { return loop.last < target; });
  const Position cut = left == ~0u ? from : 2 * function_->blocks[live_->loop(left).last].end;
  return std::min(cut, to);
}

// The latest of the boundaries in [from, to] that are in the fewest loops. Loops that would take the register
// away again are not worth leaving.
Position LinearScan::late_cut(RegClass cls, Position from, Position to) const {
  if (from >= to) return to;
  uint32_t block = live_->block_of(to);
  const Position cut = std::min(to & ~1u, 2 * live_->first_terminator(block));
  uint32_t source = live_->block_of(from);
  const uint32_t entered = live_->outermost(live_->loop_of_block(block), [&](const Loop& loop) {
    const Position head = 2 * function_->blocks[loop.first].begin;
    return loop.first > source && head >= from &&
           !has_barrier(cls, head, 2 * function_->blocks[loop.last].end);
  });
  return entered == ~0u ? cut : 2 * function_->blocks[live_->loop(entered).first].begin;
}

void LinearScan::skip_past_occurrences(Piece& piece, Position position) const {
  std::span<const Occurrence> all = live_->occurrences(piece.vreg);
  while (piece.occurrence < all.size() && all[piece.occurrence].position() < position) ++piece.occurrence;
}

// Behind the last occurrence of the piece before a position, or 0.
Position LinearScan::last_occurrence_end(const Piece& piece, Position before) const {
  std::span<const Occurrence> all = live_->occurrences(piece.vreg);
  uint32_t k = piece.occurrence;
  while (k < all.size() && all[k].position() < before) ++k;
  if (k == 0 || all[k - 1].position() < piece.start) return 0;
  return all[k - 1].position() + 1;
}

LinearScan::Need LinearScan::need(const Piece& piece, Position position) const {
  Need result;
  result.remade = function_->vregs[piece.vreg].rematerialize != ~0u;
  std::span<const Occurrence> all = live_->occurrences(piece.vreg);
  std::span<const LiveRange> ranges = live_->ranges(piece.vreg);
  uint32_t k = piece.occurrence;
  while (k < all.size() &&
         (all[k].position() < position || (all[k].is_def() && all[k].position() == position)))
    ++k;
  uint32_t here = live_->block_of(position);
  result.position = piece.end;
  if (k < all.size() && all[k].position() < ranges.back().end) {
    result.position = all[k].position();
    result.depth = common_depth(here, live_->block_of(result.position));
  }
  // Used earlier in a loop and live around it: needed again in the next iteration.
  if (k == 0) return result;
  Position previous = all[k - 1].position();
  const auto begin = [&](const Loop& loop) { return 2 * function_->blocks[loop.first].begin; };
  const auto end = [&](const Loop& loop) { return 2 * function_->blocks[loop.last].end; };
  const uint32_t around = live_->loop_of_block(here);
  const uint32_t inner = live_->outermost(
      around, [&](const Loop& loop) { return result.position >= end(loop) && previous < begin(loop); });
  const uint32_t loop = inner == ~0u ? around : live_->loop(inner).parent;
  if (loop == ~0u || result.position < end(live_->loop(loop))) return result;
  const Position again = end(live_->loop(loop));
  auto range = std::lower_bound(ranges.begin() + piece.range, ranges.end(), again,
                                [](const LiveRange& r, Position p) { return r.end < p; });
  if (range != ranges.end() && range->start < again) {
    result.position = again;
    result.depth = live_->loop(loop).depth;
  }
  return result;
}

uint32_t LinearScan::common_depth(uint32_t block_a, uint32_t block_b) const {
  const uint32_t around = live_->loop_of_block(block_b);
  const uint32_t outside =
      live_->outermost(around, [&](const Loop& loop) { return loop.first > block_a || loop.last < block_a; });
  const uint32_t loop = outside == ~0u ? around : live_->loop(outside).parent;
  return loop == ~0u ? 0 : live_->loop(loop).depth;
}

// Moves can write memory themselves: nothing is won by a register that is lost before the value is read.
bool LinearScan::only_defined_before(const Piece& piece, Position position) const {
  std::span<const Occurrence> all = live_->occurrences(piece.vreg);
  uint32_t k = piece.occurrence;
  if (k >= all.size() || all[k].position() != piece.start) return false;
  for (; k < all.size() && all[k].position() < position; ++k) {
    if (!all[k].is_def() || !all[k].anywhere()) return false;
  }
  return true;
}

bool LinearScan::has_barrier(RegClass cls, Position from, Position to) const {
  const std::vector<Position>& barriers = barriers_[static_cast<int>(cls)];
  auto it = std::lower_bound(barriers.begin(), barriers.end(), from);
  return it != barriers.end() && *it < to;
}

bool LinearScan::is_barrier(RegClass cls, Position position) const {
  return (position & 1) != 0 && (~function_->insts[position >> 1].clobbers & class_mask(cls)) == 0;
}

}  // namespace wago::codegen
