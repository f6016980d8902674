#include "codegen/emit/x64/adapters.h"

#include <algorithm>
#include <iterator>

#include "codegen/emit/image.h"
#include "codegen/mach/calling_convention.h"
#include "runtime/abi.h"

namespace wago::codegen {

namespace {

using x64::Op;

// Callee-saved registers of the System V convention besides rbp and rsp, in the order in which they are
// pushed.
constexpr Reg kCalleeSaved[] = {kRbx, kR12, kR13, kR14, kR15};
constexpr int32_t kSavedBytes = 8 * 5;
constexpr int32_t kLandingPadBlock = 1, kLeaveBlock = 2;

MachOperand reg(Reg r) {
  return {MachOperand::Kind::Reg, false, static_cast<int32_t>(r.bits())};
}
MachOperand imm(int32_t v) {
  return {MachOperand::Kind::Imm, false, v};
}
MachOperand stub(base::TrapCode code) {
  return {MachOperand::Kind::TrapStub, false, static_cast<int32_t>(code)};
}
constexpr int32_t kConditionBelow = 2, kConditionNotEqual = 5;  // x86 condition codes B, NE
MachOperand block(int32_t b) {
  return {MachOperand::Kind::Block, false, b};
}

// Builds a function of physical registers, block by block.
class Assembly {
 public:
  Assembly() { function_.function = ~0u; }

  void begin_block() {
    end_block();
    function_.blocks.emplace_back();
    function_.blocks.back().begin = static_cast<uint32_t>(function_.insts.size());
    ++function_.block_count;
  }
  MachFunction& finish() {
    end_block();
    return function_;
  }

  MachInst& add(Op op, std::initializer_list<MachOperand> operands) {
    MachInst inst;
    inst.op = op;
    inst.operand_count = static_cast<uint8_t>(operands.size());
    inst.first_operand = static_cast<uint32_t>(function_.operands.size());
    function_.operands.insert(function_.operands.end(), operands);
    function_.insts.push_back(inst);
    return function_.insts.back();
  }
  void load(Op op, Reg to, Reg base, int32_t displacement) {
    add(op, {reg(to), reg(base), imm(1), {}, imm(displacement), {}});
  }
  void store(Op op, Reg base, int32_t displacement, Reg from) {
    add(op, {reg(base), imm(1), {}, imm(displacement), {}, reg(from)});
  }

  // A value from a slot into its register, and back. `temp` is a general purpose register that may be
  // overwritten.
  void load_slot(const ValueLocation& value, Reg base, int32_t displacement) {
    switch (value.type) {
      case ValueType::I32:
        return load(Op::MOV32rm, value.reg, base, displacement);
      case ValueType::F32:
        return load(Op::VMOVSSrm, value.reg, base, displacement);
      case ValueType::F64:
        return load(Op::VMOVSDrm, value.reg, base, displacement);
      case ValueType::V128:
        return load(Op::VMOVUPSrm, value.reg, base, displacement);
      default:
        return load(Op::MOV64rm, value.reg, base, displacement);
    }
  }
  void store_slot(const ValueLocation& value, Reg base, int32_t displacement, Reg temp) {
    switch (value.type) {
      case ValueType::F32:  // the upper half of the slot is zero
        add(Op::VMOVPDI2DIrr, {reg(temp), reg(value.reg)});
        return store(Op::MOV64mr, base, displacement, temp);
      case ValueType::F64:
        return store(Op::VMOVSDmr, base, displacement, value.reg);
      case ValueType::V128:
        return store(Op::VMOVUPSmr, base, displacement, value.reg);
      default:
        return store(Op::MOV64mr, base, displacement, value.reg);
    }
  }
  void copy_words(Reg to, int32_t to_displacement, Reg from, int32_t from_displacement, uint32_t words,
                  Reg temp) {
    for (uint32_t i = 0; i < words; ++i) {
      int32_t offset = static_cast<int32_t>(8 * i);
      load(Op::MOV64rm, temp, from, from_displacement + offset);
      store(Op::MOV64mr, to, to_displacement + offset, temp);
    }
  }

 private:
  void end_block() {
    if (!function_.blocks.empty())
      function_.blocks.back().end = static_cast<uint32_t>(function_.insts.size());
  }
  MachFunction function_;
};

uint32_t aligned(uint32_t bytes) {
  return (bytes + 15) & ~15u;
}

// uint64_t enter(const FuncRef* rdi, const uint64_t* rsi args, uint64_t* rdx results, Activation* rcx)
MachFunction& entry_adapter(Assembly& a, const CallingConvention& abi, Reg args, Reg results) {
  constexpr int32_t kResultsAt = -(kSavedBytes + 8);
  a.begin_block();
  a.add(Op::PUSH64r, {reg(kRbp)});
  a.add(Op::MOV64rr, {reg(kRbp), reg(kRsp)});
  for (Reg r : kCalleeSaved) a.add(Op::PUSH64r, {reg(r)});
  a.add(Op::PUSH64r, {reg(kRdx)});  // results; rsp is 16-byte aligned again
  a.store(Op::MOV64mr, kRcx, runtime::kActivationLandingSp, kRsp);
  uint32_t area = aligned(abi.stack_bytes);
  if (area) a.add(Op::SUB64ri32, {reg(kRsp), reg(kRsp), imm(static_cast<int32_t>(area))});
  a.load(Op::MOV64rm, kContextReg, kRdi, runtime::kFuncRefContext);
  a.load(Op::MOV64rm, kRax, kRdi, runtime::kFuncRefCode);
  if (!abi.params.empty()) a.add(Op::MOV64rr, {reg(args), reg(kRsi)});
  int32_t slot = 0;
  for (const ValueLocation& p : abi.params) {
    uint32_t words = slots_of(p.type);
    if (p.reg.valid()) {
      a.load_slot(p, args, slot);
    } else {
      a.copy_words(kRsp, static_cast<int32_t>(p.stack), args, slot, words, kScratchGpr);
    }
    slot += static_cast<int32_t>(8 * words);
  }
  a.add(Op::CALL64r, {reg(kRax)});
  if (!abi.results.empty()) a.load(Op::MOV64rm, results, kRbp, kResultsAt);
  slot = 0;
  for (const ValueLocation& r : abi.results) {
    uint32_t words = slots_of(r.type);
    if (r.reg.valid()) {
      a.store_slot(r, results, slot, kScratchGpr);
    } else {
      a.copy_words(results, slot, kRsp, static_cast<int32_t>(r.stack), words, kScratchGpr);
    }
    slot += static_cast<int32_t>(8 * words);
  }
  a.add(Op::MOV32ri, {reg(kRax), imm(0)});
  a.add(Op::JMP_1, {block(kLeaveBlock)});

  a.begin_block();  // landing pad: rsp is what landing_sp says, nothing else is known
  a.add(Op::LEA64r, {reg(kRbp), reg(kRsp), imm(1), {}, imm(-kResultsAt), {}});
  a.add(Op::MOV32ri, {reg(kRax), imm(1)});
  a.add(Op::JMP_1, {block(kLeaveBlock)});

  a.begin_block();
  a.add(Op::LEA64r, {reg(kRsp), reg(kRbp), imm(1), {}, imm(-kSavedBytes), {}});
  for (size_t i = std::size(kCalleeSaved); i > 0; --i) a.add(Op::POP64r, {reg(kCalleeSaved[i - 1])});
  a.add(Op::POP64r, {reg(kRbp)});
  a.add(Op::RET64, {});
  return a.finish();
}

// Called by guest code in its convention, r15 holding the HostFunction.
MachFunction& host_adapter(Assembly& a, const CallingConvention& abi, const FuncType& type) {
  uint32_t slots = std::max(slots_of(type.params), slots_of(type.results));
  int32_t frame = static_cast<int32_t>(aligned(8 * slots));
  a.begin_block();
  a.add(Op::PUSH64r, {reg(kRbp)});
  a.add(Op::MOV64rr, {reg(kRbp), reg(kRsp)});
  a.add(Op::CMP64rm, {reg(kRsp), {}, imm(1), {}, imm(0), {MachOperand::Kind::FsSegment, false, 0}});
  a.add(Op::JCC_1, {stub(base::TrapCode::StackExhausted), imm(kConditionBelow)});
  if (frame) a.add(Op::SUB64ri32, {reg(kRsp), reg(kRsp), imm(frame)});
  int32_t slot = 0;
  for (const ValueLocation& p : abi.params) {
    uint32_t words = slots_of(p.type);
    if (p.reg.valid()) {
      a.store_slot(p, kRsp, slot, kScratchGpr);
    } else {
      a.copy_words(kRsp, slot, kRbp, kIncomingArea + static_cast<int32_t>(p.stack), words, kScratchGpr);
    }
    slot += static_cast<int32_t>(8 * words);
  }
  a.add(Op::MOV64rr, {reg(kRdi), reg(kContextReg)});
  a.add(Op::MOV64rr, {reg(kRsi), reg(kRsp)});
  a.add(Op::CALL64m, {reg(kContextReg), imm(1), {}, imm(runtime::kHostFunctionCall), {}});
  a.add(Op::TEST64rr, {reg(kRax), reg(kRax)});
  a.add(Op::JCC_1, {stub(base::TrapCode::Host), imm(kConditionNotEqual)});
  slot = 0;
  for (const ValueLocation& r : abi.results) {
    uint32_t words = slots_of(r.type);
    if (r.reg.valid()) {
      a.load_slot(r, kRsp, slot);
    } else {
      a.copy_words(kRbp, kIncomingArea + static_cast<int32_t>(r.stack), kRsp, slot, words, kScratchGpr);
    }
    slot += static_cast<int32_t>(8 * words);
  }
  a.add(Op::LEAVE64, {});
  a.add(Op::RET64, {});
  return a.finish();
}

}  // namespace

std::shared_ptr<const runtime::CodeImage> emit_adapters(Emitter& emitter, const FuncType& type) {
  auto image = std::make_shared<runtime::CodeImage>();
  CallingConvention abi(type);
  FunctionCode code;

  Assembly entry;
  emitter.emit(entry_adapter(entry, abi, kR10, kR10), FrameStyle::Bare, false, code);
  append_code(*image, code, runtime::RegionKind::EntryAdapter, ~0u);
  image->entry_adapter = 0;
  image->entry_landing_pad = code.block_offsets[kLandingPadBlock];

  Assembly host;
  emitter.emit(host_adapter(host, abi, type), FrameStyle::Bare, false, code);
  image->host_adapter = append_code(*image, code, runtime::RegionKind::HostAdapter, ~0u);
  return image;
}

}  // namespace wago::codegen
