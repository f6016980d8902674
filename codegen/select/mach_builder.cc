#include "codegen/select/mach_builder.h"

#include "base/huge_pages.h"

namespace wago::codegen {

namespace {

// Pairs in one ParallelMove: an instruction counts its operands in eight bits.
constexpr size_t kMaxPairs = 120;

}  // namespace

void MachBuilder::begin(MachFunction& out, size_t expected) {
  out_ = &out;
  insts_.clear();
  base::reserve_large(insts_, expected);
  base::reserve_large(out.operands, 3 * expected);
  groups_.clear();
  block_groups_.clear();
}

void MachBuilder::begin_block() {
  block_groups_.push_back(static_cast<uint32_t>(groups_.size()));
}

void MachBuilder::begin_group(uint32_t wasm_pc, uint32_t inline_site) {
  groups_.push_back(static_cast<uint32_t>(insts_.size()));
  wasm_pc_ = wasm_pc;
  inline_site_ = inline_site;
}

void MachBuilder::finish() {
  std::vector<MachInst>& insts = out_->insts;
  base::reserve_large(insts, insts_.size());
  groups_.push_back(static_cast<uint32_t>(insts_.size()));
  block_groups_.push_back(static_cast<uint32_t>(groups_.size() - 1));
  size_t block_count = block_groups_.size() - 1;
  for (size_t b = 0; b < block_count; ++b) {
    size_t opened = block_count - 1 - b;  // blocks were opened last to first
    out_->blocks[b].begin = static_cast<uint32_t>(insts.size());
    for (size_t g = block_groups_[opened + 1]; g-- > block_groups_[opened];) {
      for (uint32_t i = groups_[g]; i < groups_[g + 1]; ++i) {
        insts.push_back(insts_[i]);
        if (!insts_[i].reserved) continue;
        Reg defined = out_->operands[insts_[i].first_operand].reg();
        out_->vregs[defined.index()].rematerialize = static_cast<uint32_t>(insts.size() - 1);
        insts.back().reserved = 0;
      }
    }
    out_->blocks[b].end = static_cast<uint32_t>(insts.size());
  }
}

MachInst& MachBuilder::start(x64::Op op) {
  MachInst& inst = insts_.emplace_back();
  inst.op = op;
  inst.first_operand = static_cast<uint32_t>(out_->operands.size());
  inst.wasm_pc = wasm_pc_;
  inst.inline_site = inline_site_;
  return inst;
}

MachInst& MachBuilder::finish_inst(MachInst& inst) {
  size_t count = out_->operands.size() - inst.first_operand;
  inst.operand_count = static_cast<uint8_t>(count);
  size_t defs = inst.op == x64::Op::Copy || inst.op == x64::Op::Undef ? 1 : x64::desc(inst.op).def_count;
  for (size_t i = 0; i < defs; ++i) out_->operands[inst.first_operand + i].is_def = true;
  return inst;
}

void MachBuilder::push(const Address& address) {
  push(address.base);
  push(static_cast<int32_t>(address.scale));
  if (address.index.valid()) {
    push(address.index);
  } else {
    push(MachOperand{});
  }
  push(address.displacement);
  push(address.in_thread ? MachOperand{MachOperand::Kind::FsSegment, false, 0} : MachOperand{});
}

void MachBuilder::push_extra(Reg reg, bool is_def) {
  push(MachOperand{MachOperand::Kind::Reg, is_def, static_cast<int32_t>(reg.bits())});
  MachInst& inst = insts_.back();
  ++inst.operand_count;
  ++inst.extra_count;
}

void MachBuilder::parallel_move(size_t begin, size_t end) {
  if (begin == end) return;
  if (end - begin == 2) {
    copy(moves_[begin], moves_[begin + 1]);
    return;
  }
  MachInst& inst = start(x64::Op::ParallelMove);
  for (size_t i = begin; i < end; ++i) {
    push(MachOperand{MachOperand::Kind::Reg, i % 2 == 0, static_cast<int32_t>(moves_[i].bits())});
  }
  inst.operand_count = static_cast<uint8_t>(end - begin);
}

void MachBuilder::end_moves() {
  if (moves_.size() <= 2 * kMaxPairs) return parallel_move(0, moves_.size());
  // Too many for one instruction: all sources into fresh registers first, which no part can overwrite.
  std::vector<Reg> whole = moves_;
  auto in_parts = [&](auto pair) {
    for (size_t i = 0; i < whole.size(); i += 2 * kMaxPairs) {
      moves_.clear();
      for (size_t k = i; k < whole.size() && k < i + 2 * kMaxPairs; k += 2) pair(k);
      parallel_move(0, moves_.size());
    }
  };
  in_parts([&](size_t k) {
    const VRegInfo info = out_->vregs[whole[k].index()];
    Reg temp = out_->new_vreg(info.cls, info.bytes);
    moves_.push_back(temp);
    moves_.push_back(whole[k + 1]);
    whole[k + 1] = temp;
  });
  in_parts([&](size_t k) {
    moves_.push_back(whole[k]);
    moves_.push_back(whole[k + 1]);
  });
}

MachOperand MachBuilder::wide(uint64_t value) {
  out_->wide_immediates.push_back(value);
  return {MachOperand::Kind::Imm64, false, static_cast<int32_t>(out_->wide_immediates.size() - 1)};
}

}  // namespace wago::codegen
