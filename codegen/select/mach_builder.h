// Writes machine instructions, in the order in which selection finds them.
//
// Selection walks blocks, and the instructions of a block, backwards, so that a value is reached after all
// its users had a chance to fold it. What one IR instruction becomes is a *group*, written forwards; groups
// come in reverse. finish() turns them round into MachFunction::insts, once for the whole function. Operands
// are reached by index and stay where they are.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/mach/mach.h"

namespace wago::codegen {

// x86 condition codes, as JCC_1, SETCCr and CMOV take them; cc ^ 1 is the opposite.
enum class Cc : uint8_t { O, No, B, Ae, E, Ne, Be, A, S, Ns, P, Np, L, Ge, Le, G };
constexpr Cc opposite(Cc cc) {
  return static_cast<Cc>(static_cast<uint8_t>(cc) ^ 1);
}

// A memory operand: base + index * scale + displacement. The base is a register or one of the symbolic kinds.
struct Address {
  MachOperand base;
  Reg index;
  uint8_t scale = 1;
  int32_t displacement = 0;
  bool in_thread = false;  // an offset in the thread's state, see ThreadState in runtime/abi.h

  static Address of(Reg base, int32_t displacement = 0) {
    Address a;
    a.base = {MachOperand::Kind::Reg, false, static_cast<int32_t>(base.bits())};
    a.displacement = displacement;
    return a;
  }
  static Address of(Reg base, Reg index, uint8_t scale, int32_t displacement = 0) {
    Address a = of(base, displacement);
    a.index = index;
    a.scale = scale;
    return a;
  }
  // index * scale + displacement, without a base.
  static Address scaled(Reg index, uint8_t scale, int32_t displacement = 0) {
    Address a;
    a.index = index;
    a.scale = scale;
    a.displacement = displacement;
    return a;
  }
  static Address thread(int32_t offset) {
    Address a;
    a.displacement = offset;
    a.in_thread = true;
    return a;
  }
  static Address symbol(MachOperand::Kind kind, uint32_t index) {
    Address a;
    a.base = {kind, false, static_cast<int32_t>(index)};
    return a;
  }
};

class MachBuilder {
 public:
  // `expected`: how many instructions there may be, to grow once. Too few is slow, too many costs nothing.
  void begin(MachFunction& out, size_t expected);
  // Blocks are opened last to first.
  void begin_block();
  void begin_group(uint32_t wasm_pc, uint32_t inline_site);
  void finish();

  MachFunction& function() { return *out_; }
  Reg gpr32() { return out_->new_vreg(RegClass::Gpr, 4); }
  Reg gpr64() { return out_->new_vreg(RegClass::Gpr, 8); }
  Reg xmm(uint8_t bytes) { return out_->new_vreg(RegClass::Xmm, bytes); }

  // One instruction: registers, addresses (five operands), integers (immediates), condition codes and raw
  // operands, in MC order. The reference is good until the next instruction.
  template <class... Operands>
  MachInst& add(x64::Op op, const Operands&... operands) {
    MachInst& inst = start(op);
    (push(operands), ...);
    return finish_inst(inst);
  }
  void copy(Reg to, Reg from) { add(x64::Op::Copy, to, from); }
  // Extra operands of the instruction added last.
  void extra_use(Reg reg) { push_extra(reg, false); }
  void extra_def(Reg reg) { push_extra(reg, true); }

  // A branch to a stub that raises `code` at the current position.
  MachInst& trap_if(Cc cc, base::TrapCode code) {
    return add(x64::Op::JCC_1, MachOperand{MachOperand::Kind::TrapStub, false, static_cast<int32_t>(code)},
               cc);
  }
  static MachOperand block(uint32_t index) {
    return {MachOperand::Kind::Block, false, static_cast<int32_t>(index)};
  }

  // ParallelMove, collected pair by pair. Nothing else may be added between begin_moves() and end_moves().
  void begin_moves() { moves_.clear(); }
  void move(Reg to, Reg from) {
    if (to == from) return;
    moves_.push_back(to);
    moves_.push_back(from);
  }
  void end_moves();

  // The last instruction only defines its operand 0 from nothing but r15 and memory that does not change:
  // allocation may run it again instead of reloading.
  void rematerializable() { insts_.back().reserved = 1; }
  // A wide immediate, as an operand of MOV64ri.
  MachOperand wide(uint64_t value);

 private:
  MachInst& start(x64::Op op);
  MachInst& finish_inst(MachInst& inst);
  void push(const MachOperand& operand) { out_->operands.push_back(operand); }
  void push(Reg reg) { push(MachOperand{MachOperand::Kind::Reg, false, static_cast<int32_t>(reg.bits())}); }
  void push(int32_t immediate) { push(MachOperand{MachOperand::Kind::Imm, false, immediate}); }
  void push(Cc cc) { push(static_cast<int32_t>(cc)); }
  void push(const Address& address);
  void push_extra(Reg reg, bool is_def);
  void parallel_move(size_t begin, size_t end);

  MachFunction* out_ = nullptr;
  std::vector<MachInst> insts_;         // groups in reverse, each forwards
  std::vector<uint32_t> groups_;        // where each begins in insts_
  std::vector<uint32_t> block_groups_;  // where each block's begin in groups_
  std::vector<Reg> moves_;              // to, from, to, from, ...
  uint32_t wasm_pc_ = 0, inline_site_ = ~0u;
};

}  // namespace wago::codegen
