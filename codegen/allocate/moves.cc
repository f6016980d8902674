#include "codegen/allocate/moves.h"

#include <algorithm>

namespace wago::codegen {

namespace {

Reg scratch_of(RegClass cls) {
  return cls == RegClass::Gpr ? kScratchGpr : kScratchXmm;
}

MachOperand reg_operand(Reg reg, bool is_def) {
  return {MachOperand::Kind::Reg, is_def, static_cast<int32_t>(reg.bits())};
}

x64::Op load_op(RegClass cls, uint8_t bytes) {
  if (cls == RegClass::Gpr) return bytes == 4 ? x64::Op::MOV32rm : x64::Op::MOV64rm;
  return bytes == 4 ? x64::Op::VMOVSSrm : bytes == 8 ? x64::Op::VMOVSDrm : x64::Op::VMOVUPSrm;
}

x64::Op store_op(RegClass cls, uint8_t bytes) {
  if (cls == RegClass::Gpr) return bytes == 4 ? x64::Op::MOV32mr : x64::Op::MOV64mr;
  return bytes == 4 ? x64::Op::VMOVSSmr : bytes == 8 ? x64::Op::VMOVSDmr : x64::Op::VMOVUPSmr;
}

}  // namespace

Move plain_move(const MachFunction& function, Reg to, Reg from) {
  Move move;
  move.bytes = 0xff;
  for (Reg reg : {to, from}) {
    if (reg.is_physical()) {
      move.cls = reg.physical_class();
    } else {
      move.cls = function.vregs[reg.index()].cls;
      move.bytes = std::min(move.bytes, function.vregs[reg.index()].bytes);
    }
  }
  if (move.bytes == 0xff) move.bytes = move.cls == RegClass::Gpr ? 8 : 16;
  return move;
}

MachInst& MoveEmitter::append(x64::Op op, SiteKind site) {
  MachInst& inst = out_->emplace_back();
  inst.op = op;
  inst.site = site;
  inst.first_operand = static_cast<uint32_t>(function_->operands.size());
  inst.operand_count = x64::desc(op).operand_count;
  inst.wasm_pc = wasm_pc_;
  inst.inline_site = inline_site_;
  return inst;
}

void MoveEmitter::memory_operands(uint32_t slot, uint32_t displacement) {
  using Kind = MachOperand::Kind;
  function_->operands.push_back({Kind::Slot, false, static_cast<int32_t>(slot)});
  function_->operands.push_back({Kind::Imm, false, 1});
  function_->operands.push_back({Kind::None, false, 0});
  function_->operands.push_back({Kind::Imm, false, static_cast<int32_t>(displacement)});
  function_->operands.push_back({Kind::None, false, 0});
}

void MoveEmitter::load(Reg to, uint32_t slot, uint8_t bytes, uint32_t displacement) {
  append(load_op(to.physical_class(), bytes), SiteKind::Reload);
  function_->operands.push_back(reg_operand(to, true));
  memory_operands(slot, displacement);
  ++function_->reloads;
}

void MoveEmitter::store(uint32_t slot, Reg from, uint8_t bytes, uint32_t displacement) {
  append(store_op(from.physical_class(), bytes), SiteKind::Spill);
  memory_operands(slot, displacement);
  function_->operands.push_back(reg_operand(from, false));
  ++function_->spills;
}

void MoveEmitter::emit_reg_to_reg(Reg to, Reg from, uint8_t bytes) {
  bool gpr = to.physical_class() == RegClass::Gpr;
  append(!gpr ? x64::Op::VMOVAPSrr : bytes == 4 ? x64::Op::MOV32rr : x64::Op::MOV64rr, SiteKind::Move);
  function_->operands.push_back(reg_operand(to, true));
  function_->operands.push_back(reg_operand(from, false));
  ++function_->moves;
}

void MoveEmitter::slot_to_slot(const Move& move) {
  uint32_t to = move.to.slot(), from = move.from.slot();
  uint8_t to_bytes = function_->slots[to];
  uint8_t from_bytes = std::min(function_->slots[from], move.bytes);
  const Reg through = scratch_of(kept_in_ == RegClass::Xmm ? RegClass::Gpr : RegClass::Xmm);
  if (through == kScratchGpr && to_bytes == 16) {
    for (uint32_t half = 0; half < 16; half += 8) {
      load(through, from, 8, half);
      store(to, through, 8, half);
    }
    return;
  }
  load(through, from, from_bytes);
  store(to, through, to_bytes);
}

void MoveEmitter::remake(Location to, uint32_t vreg) {
  const VRegInfo& info = function_->vregs[vreg];
  Reg target = to.is_reg() ? to.reg() : scratch_of(info.cls);
  MachInst copy = function_->insts[info.rematerialize];
  uint32_t first = static_cast<uint32_t>(function_->operands.size());
  for (uint32_t k = 0; k < copy.operand_count; ++k) {
    MachOperand operand = function_->operands[copy.first_operand + k];
    if (operand.is_reg() && operand.is_def) operand = reg_operand(target, true);
    function_->operands.push_back(operand);
  }
  copy.first_operand = first;
  copy.site = SiteKind::Rematerialize;
  copy.origin = info.rematerialize;
  copy.wasm_pc = wasm_pc_;
  copy.inline_site = inline_site_;
  out_->push_back(copy);
  ++function_->rematerialized;
  if (to.is_slot()) store(to.slot(), target, function_->slots[to.slot()]);
}

void MoveEmitter::emit(const Move& move) {
  if (move.from.is_remade()) return remake(move.to, move.from.vreg());
  if (move.to.is_reg()) {
    if (move.from.is_reg()) return emit_reg_to_reg(move.to.reg(), move.from.reg(), move.bytes);
    return load(move.to.reg(), move.from.slot(), std::min(function_->slots[move.from.slot()], move.bytes));
  }
  if (move.from.is_reg()) return store(move.to.slot(), move.from.reg(), function_->slots[move.to.slot()]);
  slot_to_slot(move);
}

void MoveEmitter::emit_ready(std::vector<Move>& moves) {
  while (!ready_.empty()) {
    const Move& move = moves[ready_.back()];
    ready_.pop_back();
    emit(move);
    writer_[move.to.bits()] = 0;
    uint32_t from = move.from.bits();
    if (--readers_[from] == 0 && writer_[from] != 0) ready_.push_back(writer_[from] - 1);
  }
}

// Only cycles are left: each pending target has exactly one pending reader. Saving what `member` overwrites
// lets it go first, and the rest follows. What is saved has its reader's class, not the member's: values of
// both classes share slots.
void MoveEmitter::open_cycle(std::vector<Move>& moves, uint32_t member) {
  Location saved = moves[member].to;
  uint32_t reader = member;
  while (!(moves[reader].from == saved)) reader = writer_[moves[reader].from.bits()] - 1;
  kept_in_ = moves[reader].cls;
  Location scratch = Location::reg(scratch_of(kept_in_));
  uint8_t whole = kept_in_ == RegClass::Gpr ? 8 : 16;
  emit({scratch, saved, kept_in_, whole});
  moves[reader].from = scratch;
  readers_[saved.bits()] = 0;
  readers_[scratch.bits()] = 1;
  ready_.push_back(member);
  emit_ready(moves);
  kept_in_ = RegClass::Gpr;
}

void MoveEmitter::emit_parallel(std::vector<Move>& moves) {
  std::erase_if(moves, [](const Move& move) { return move.to == move.from; });
  if (moves.size() == 1) {
    emit(moves[0]);
    moves.clear();
    return;
  }
  readers_.resize(std::max(readers_.size(), 32 + function_->slots.size()));
  writer_.resize(readers_.size());
  for (uint32_t k = 0; k < moves.size(); ++k) {
    if (moves[k].from.is_remade()) continue;
    ++readers_[moves[k].from.bits()];
    writer_[moves[k].to.bits()] = k + 1;
  }
  for (uint32_t k = 0; k < moves.size(); ++k) {
    if (!moves[k].from.is_remade() && readers_[moves[k].to.bits()] == 0) ready_.push_back(k);
  }
  emit_ready(moves);
  for (uint32_t k = 0; k < moves.size(); ++k) {
    if (!moves[k].from.is_remade() && writer_[moves[k].to.bits()] != 0) open_cycle(moves, k);
  }
  // What is made again reads nothing, so it comes last: its target may have been a source, and scratch is
  // free.
  for (const Move& move : moves) {
    if (move.from.is_remade()) emit(move);
  }
  moves.clear();
}

}  // namespace wago::codegen
