#include "codegen/allocate/testing/mach_builder.h"

#include <algorithm>

namespace wago::codegen::testing {

void MachBuilder::close_block() {
  if (function_.block_count != 0)
    function_.blocks[function_.block_count - 1].end = static_cast<uint32_t>(function_.insts.size());
}

uint32_t MachBuilder::start_block(uint32_t loop_depth, bool loop_header) {
  close_block();
  MachBlock& block = function_.blocks.emplace_back();
  block.begin = static_cast<uint32_t>(function_.insts.size());
  block.loop_depth = loop_depth;
  block.loop_header = loop_header;
  return function_.block_count++;
}

MachInst& MachBuilder::inst(x64::Op op, std::vector<MachOperand> operands, std::vector<MachOperand> extras,
                            uint32_t clobbers) {
  MachInst& inst = function_.insts.emplace_back();
  inst.op = op;
  inst.first_operand = static_cast<uint32_t>(function_.operands.size());
  inst.operand_count = static_cast<uint8_t>(operands.size() + extras.size());
  inst.extra_count = static_cast<uint8_t>(extras.size());
  inst.clobbers = clobbers;
  inst.wasm_pc = static_cast<uint32_t>(function_.insts.size());
  function_.operands.insert(function_.operands.end(), operands.begin(), operands.end());
  function_.operands.insert(function_.operands.end(), extras.begin(), extras.end());
  return inst;
}

void MachBuilder::load_constant(Reg to, int32_t value) {
  VRegInfo& info = function_.vregs[to.index()];
  info.rematerialize = static_cast<uint32_t>(function_.insts.size());
  inst(info.bytes == 4 ? x64::Op::MOV32ri : x64::Op::MOV64ri32, {def(to), imm(value)});
}

void MachBuilder::moves(const std::vector<RegMove>& pairs) {
  std::vector<MachOperand> operands;
  for (const RegMove& pair : pairs) {
    operands.push_back(def(pair.to));
    operands.push_back(use(pair.from));
  }
  if (!pairs.empty()) inst(x64::Op::ParallelMove, operands);
}

void MachBuilder::binary(x64::Op op, Reg to, Reg a, Reg b) {
  copy(to, a);
  inst(op, {def(to), use(to), use(b)});
}

void MachBuilder::load(x64::Op op, Reg to, Reg base) {
  inst(op, {def(to), use(base), imm(1), none(), imm(8), none()});
}

void MachBuilder::store(x64::Op op, Reg base, Reg value) {
  inst(op, {use(base), imm(1), none(), imm(16), none(), use(value)});
}

void MachBuilder::call(const std::vector<Reg>& arguments, const std::vector<Reg>& results,
                       uint32_t clobbers) {
  static constexpr Reg kArguments[] = {kRdi, kRsi, kRdx, kRcx, kR8, kR9};
  std::vector<RegMove> in, out;
  std::vector<MachOperand> extras;
  uint32_t gprs = 0, xmms = 0;
  for (Reg argument : arguments) {
    bool is_gpr = function_.vregs[argument.index()].cls == RegClass::Gpr;
    Reg place = is_gpr ? kArguments[gprs++] : Reg::xmm(xmms++);
    in.push_back({place, argument});
    extras.push_back(use(place));
  }
  gprs = xmms = 0;
  for (Reg result : results) {
    bool is_gpr = function_.vregs[result.index()].cls == RegClass::Gpr;
    Reg place = is_gpr ? (gprs++ == 0 ? kRax : kRdx) : Reg::xmm(xmms++);
    out.push_back({result, place});
    extras.push_back(def(place));
  }
  moves(in);
  inst(x64::Op::CALL64pcrel32, {{MachOperand::Kind::Function, false, 7}}, extras, clobbers);
  moves(out);
}

void MachBuilder::jump(uint32_t target) {
  inst(x64::Op::JMP_1, {block(target)});
}

void MachBuilder::branch(int32_t condition, uint32_t taken, uint32_t otherwise) {
  inst(x64::Op::JCC_1, {block(taken), imm(condition)});
  jump(otherwise);
}

void MachBuilder::ret(const std::vector<Reg>& results) {
  std::vector<RegMove> out;
  std::vector<MachOperand> extras;
  uint32_t gprs = 0, xmms = 0;
  for (Reg result : results) {
    bool is_gpr = function_.vregs[result.index()].cls == RegClass::Gpr;
    Reg place = is_gpr ? (gprs++ == 0 ? kRax : kRdx) : Reg::xmm(xmms++);
    out.push_back({place, result});
    extras.push_back(use(place));
  }
  moves(out);
  inst(x64::Op::RET64, {}, extras);
}

void MachBuilder::finish() {
  close_block();
  for (uint32_t b = 0; b < function_.block_count; ++b) {
    MachBlock& block = function_.blocks[b];
    for (uint32_t i = block.begin; i < block.end; ++i) {
      for (const MachOperand& operand : function_.ops(function_.insts[i])) {
        if (operand.kind == MachOperand::Kind::Block)
          block.succs.push_back(static_cast<uint32_t>(operand.value));
      }
      // Tests let an indirect jump carry the number of its jump table in the source position.
      if (function_.insts[i].op == x64::Op::JMP64r)
        for (uint32_t target : function_.jump_tables[function_.insts[i].inline_site])
          block.succs.push_back(target);
    }
    std::sort(block.succs.begin(), block.succs.end());
    block.succs.erase(std::unique(block.succs.begin(), block.succs.end()), block.succs.end());
  }
  for (uint32_t b = 0; b < function_.block_count; ++b) {
    for (uint32_t s : function_.blocks[b].succs) function_.blocks[s].preds.push_back(b);
  }
}

}  // namespace wago::codegen::testing
