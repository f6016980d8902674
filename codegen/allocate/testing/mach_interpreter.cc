#include "codegen/allocate/testing/mach_interpreter.h"

#include <array>
#include <vector>

namespace wago::codegen::testing {

namespace {

using Value = std::array<uint64_t, 2>;

uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t x = (a ^ (b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2))) * 0xff51afd7ed558ccdu;
  return (x ^ x >> 33) * 0xc4ceb9fe1a85ec53u;
}

Value narrowed(Value value, uint8_t bytes) {
  if (bytes < 16) value[1] = 0;
  if (bytes == 4) value[0] &= 0xffffffffu;
  return value;
}

class Interpreter {
 public:
  Interpreter(const MachFunction& before, const MachFunction* after, uint64_t seed)
      : before_(before), code_(after ? *after : before), allocated_(after != nullptr), seed_(seed) {
    vregs_.resize(before.vregs.size());
    slots_.resize(code_.slots.size());
    for (uint32_t r = 0; r < 32; ++r) registers_[r] = {mix(seed, r), r < 16 ? 0 : mix(seed, r + 100)};
    for (size_t s = 0; s < slots_.size(); ++s) slots_[s] = {mix(seed, s + 200), mix(seed, s + 201)};
  }

  Trace run(uint32_t limit) {
    uint32_t block = 0;
    while (block != kDone && trace_.count < limit) block = run_block(block);
    return trace_;
  }

 private:
  static constexpr uint32_t kDone = ~0u;

  uint32_t run_block(uint32_t b) {
    const MachBlock& block = code_.blocks[b];
    for (uint32_t i = block.begin; i < block.end; ++i) {
      const MachInst& inst = code_.insts[i];
      if (allocated_ && inst.origin == MachInst::kInserted) {
        move(inst);
        continue;
      }
      if (inst.op == x64::Op::Copy || inst.op == x64::Op::ParallelMove) {
        parallel_move(inst);
        continue;
      }
      if (inst.op == x64::Op::Undef) continue;
      uint32_t next = execute(inst, allocated_ ? inst.origin : i, b);
      if (next != b) return next;
    }
    return block.succs.empty() ? kDone : block.succs[0];
  }

  Value& place(Reg reg) { return reg.is_virtual() ? vregs_[reg.index()] : registers_[reg.number()]; }
  uint8_t bytes_of(Reg reg) const { return reg.is_virtual() ? before_.vregs[reg.index()].bytes : 16; }

  void parallel_move(const MachInst& inst) {
    std::span<const MachOperand> operands = code_.ops(inst);
    std::vector<Value> values;
    for (size_t k = 1; k < operands.size(); k += 2) values.push_back(place(operands[k].reg()));
    for (size_t k = 0; k < operands.size(); k += 2)
      place(operands[k].reg()) = narrowed(values[k / 2], bytes_of(operands[k].reg()));
  }

  void move(const MachInst& inst) {
    using x64::Op;
    std::span<const MachOperand> operands = code_.ops(inst);
    bool half = inst.op == Op::MOV32rr || inst.op == Op::MOV32rm || inst.op == Op::MOV32mr ||
                inst.op == Op::VMOVSSrm || inst.op == Op::VMOVSSmr;
    bool whole = inst.op == Op::VMOVAPSrr || inst.op == Op::VMOVUPSrm || inst.op == Op::VMOVUPSmr;
    uint8_t bytes = half ? 4 : whole ? 16 : 8;
    if (operands.size() == 2) {
      place(operands[0].reg()) = narrowed(place(operands[1].reg()), bytes);
    } else if (operands[0].is_reg()) {
      Value slot = slots_[static_cast<size_t>(operands[1].value)];
      if (operands[4].value == 8) slot[0] = slot[1];
      place(operands[0].reg()) = narrowed(slot, bytes);
    } else {
      Value& slot = slots_[static_cast<size_t>(operands[0].value)];
      Value value = place(operands[5].reg());
      if (operands[3].value == 8)
        slot[1] = value[0];
      else if (bytes == 4)
        slot[0] = (slot[0] & ~uint64_t{0xffffffff}) | (value[0] & 0xffffffffu);
      else
        slot = bytes == 16 ? value : Value{value[0], slot[1]};
    }
  }

  // Which block comes next, or the one at hand.
  uint32_t execute(const MachInst& inst, uint32_t origin, uint32_t block) {
    const MachInst& original = before_.insts[origin];
    std::span<const MachOperand> names = before_.ops(original), operands = code_.ops(inst);
    const x64::OpDesc& desc = x64::desc(inst.op);
    uint64_t inputs = static_cast<uint64_t>(inst.op);
    uint64_t first_use = 0;
    for (size_t k = 0; k < names.size(); ++k) {
      if (!names[k].is_reg()) {
        inputs = mix(inputs, static_cast<uint32_t>(names[k].value));
        continue;
      }
      if (names[k].is_def) continue;
      // How much of a fixed operand matters is not known here; its lower half does.
      uint8_t bytes = names[k].reg().is_virtual() ? bytes_of(names[k].reg()) : 4;
      Value value = narrowed(place(operands[k].reg()), bytes);
      if (first_use == 0) first_use = value[0];
      inputs = mix(mix(inputs, value[0]), value[1]);
    }
    if (desc.reads_flags) inputs = mix(inputs, flags_);
    if (desc.writes_flags) flags_ = inputs;
    bool made_again = !names.empty() && names[0].is_reg() && names[0].reg().is_virtual() && names[0].is_def &&
                      before_.vregs[names[0].reg().index()].rematerialize == origin;
    if (!made_again) {
      trace_.hash = mix(mix(trace_.hash, origin), inputs);
      ++trace_.count;
    }
    for (uint32_t r = 0; r < 32; ++r) {
      if ((inst.clobbers >> r & 1) != 0) registers_[r] = {mix(seed_, trace_.count + r), mix(seed_, r)};
    }
    for (size_t k = 0; k < names.size(); ++k) {
      if (!names[k].is_reg() || !names[k].is_def) continue;
      place(operands[k].reg()) = narrowed({mix(inputs, k), mix(inputs, k + 50)}, bytes_of(names[k].reg()));
    }
    return next_block(inst, block, inputs, first_use);
  }

  uint32_t next_block(const MachInst& inst, uint32_t block, uint64_t inputs, uint64_t first_use) const {
    const x64::OpDesc& desc = x64::desc(inst.op);
    if (inst.op == x64::Op::RET64) return kDone;
    if (inst.op == x64::Op::JMP64r)
      return code_.blocks[block].succs[first_use % code_.blocks[block].succs.size()];
    if (!desc.is_branch) return block;
    const MachOperand& target = code_.ops(inst)[0];
    if (target.kind == MachOperand::Kind::TrapStub) return inputs % 97 == 0 ? kDone : block;
    bool taken = !desc.reads_flags || (inputs & 1) != 0;
    // A loop of one block goes on as a block entered anew; callers treat "same block" as not taken, so it
    // never branches to itself directly: the generator puts a block in between.
    return taken ? static_cast<uint32_t>(target.value) : block;
  }

  const MachFunction& before_;
  const MachFunction& code_;
  bool allocated_;
  uint64_t seed_;
  std::vector<Value> vregs_, slots_;
  Value registers_[32];
  uint64_t flags_ = 0;
  Trace trace_;
};

}  // namespace

Trace interpret(const MachFunction& before, const MachFunction* after, uint64_t seed, uint32_t limit) {
  return Interpreter(before, after, seed).run(limit);
}

}  // namespace wago::codegen::testing
