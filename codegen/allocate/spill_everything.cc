#include "codegen/allocate/spill_everything.h"

#include <bit>

namespace wago::codegen {

void EverythingSpiller::run(MachFunction& function, const Liveness& live) {
  function_ = &function;
  live_ = &live;
  out_.clear();
  emitter_.start(function, out_);
  slot_.assign(function.vregs.size(), ~0u);
  for (uint32_t b = 0; b < function.block_count; ++b) {
    MachBlock& block = function.blocks[b];
    uint32_t begin = static_cast<uint32_t>(out_.size());
    for (uint32_t i = block.begin; i < block.end; ++i) {
      emitter_.at(function.insts[i]);
      if (is_move_pseudo(function.insts[i].op))
        emit_moves(i);
      else if (function.insts[i].op != x64::Op::Undef)
        emit_inst(i);
    }
    block.begin = begin;
    block.end = static_cast<uint32_t>(out_.size());
  }
  function.insts.swap(out_);
}

Location EverythingSpiller::slot_of(uint32_t vreg) {
  if (slot_[vreg] == ~0u) {
    slot_[vreg] = static_cast<uint32_t>(function_->slots.size());
    function_->slots.push_back(function_->vregs[vreg].bytes);
  }
  return Location::slot(slot_[vreg]);
}

Move EverythingSpiller::between(uint32_t vreg, Location to, Location from) {
  return {to, from, function_->vregs[vreg].cls, function_->vregs[vreg].bytes};
}

void EverythingSpiller::emit_moves(uint32_t i) {
  std::span<const MachOperand> operands = function_->ops(function_->insts[i]);
  moves_.clear();
  for (size_t k = 0; k + 1 < operands.size(); k += 2) {
    Reg to = operands[k].reg(), from = operands[k + 1].reg();
    Move move = plain_move(*function_, to, from);
    move.to = to.is_virtual() ? slot_of(to.index()) : Location::reg(to);
    move.from = from.is_virtual() ? slot_of(from.index()) : Location::reg(from);
    moves_.push_back(move);
  }
  emitter_.emit_parallel(moves_);
}

void EverythingSpiller::emit_inst(uint32_t i) {
  MachInst inst = function_->insts[i];
  gather(i);
  choose_registers(i);
  for (const Temporary& t : temporaries_) {
    if (t.used) emitter_.emit(between(t.vreg, Location::reg(t.reg), slot_of(t.vreg)));
  }
  for (MachOperand& operand : function_->ops(inst)) {
    if (!operand.is_reg() || !operand.reg().is_virtual()) continue;
    for (const Temporary& t : temporaries_) {
      if (t.vreg == operand.reg().index()) {
        operand.value = static_cast<int32_t>(t.reg.bits());
        break;
      }
    }
  }
  inst.origin = i;
  out_.push_back(inst);
  for (const Temporary& t : temporaries_) {
    if (t.defined) emitter_.emit(between(t.vreg, slot_of(t.vreg), Location::reg(t.reg)));
  }
}

void EverythingSpiller::gather(uint32_t i) {
  temporaries_.clear();
  for (const MachOperand& operand : function_->ops(function_->insts[i])) {
    if (!operand.is_reg() || !operand.reg().is_virtual()) continue;
    uint32_t vreg = operand.reg().index();
    size_t k = 0;
    while (k < temporaries_.size() && temporaries_[k].vreg != vreg) ++k;
    if (k == temporaries_.size()) temporaries_.push_back({vreg, Reg(), false, false});
    (operand.is_def ? temporaries_[k].defined : temporaries_[k].used) = true;
  }
}

// One register each. A register that is only read may be clobbered, one that is only written may be read by a
// fixed operand.
void EverythingSpiller::choose_registers(uint32_t i) {
  uint32_t taken = 0;
  for (Temporary& t : temporaries_) {
    uint32_t free = kAllocatableRegs & ~taken;
    free &= function_->vregs[t.vreg].cls == RegClass::Gpr ? 0xffffu : 0xffff0000u;
    if (t.used) free &= ~live_->busy[2 * i];
    if (t.defined) free &= ~live_->busy[2 * i + 1];
    WAGO_CHECK_MSG(free != 0, "an instruction needs more registers than there are");
    t.reg = Reg::physical(static_cast<uint32_t>(std::countr_zero(free)));
    taken |= bit(t.reg);
  }
}

}  // namespace wago::codegen
