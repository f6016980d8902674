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
// What the entry adapter's Activation has below them.
constexpr int32_t kActivationBytes = runtime::kActivationRbp - 8 * 5;
// Blocks of the entry adapter.
constexpr int32_t kRunBlock = 1, kLeaveBlock = 2, kLeaveNestedBlock = 3, kPrepareBlock = 4;

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
MachOperand fs() {
  return {MachOperand::Kind::FsSegment, false, 0};
}
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
  // A value of one slot from its register, as the slot holds it.
  void result_word(Reg to, const ValueLocation& value) {
    switch (value.type) {
      case ValueType::F32:
        add(Op::VMOVPDI2DIrr, {reg(to), reg(value.reg)});
        return;
      case ValueType::F64:
        add(Op::VMOVPQIto64rr, {reg(to), reg(value.reg)});
        return;
      default:
        add(Op::MOV64rr, {reg(to), reg(value.reg)});
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
  // Of the thread's state.
  void load_thread(Reg to, int32_t offset) { add(Op::MOV64rm, {reg(to), {}, imm(1), {}, imm(offset), fs()}); }
  void store_thread(int32_t offset, Reg from) {
    add(Op::MOV64mr, {{}, imm(1), {}, imm(offset), fs(), reg(from)});
  }
  void compare_with_thread(Reg r, int32_t offset) {
    add(Op::CMP64rm, {reg(r), {}, imm(1), {}, imm(offset), fs()});
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

// EntryResult enter(const FuncRef* rdi, const uint64_t* rsi args, uint64_t* rdx results)
MachFunction& entry_adapter(Assembly& a, const CallingConvention& abi, const FuncType& type) {
  const Reg args = kR10, results = kR10;
  const uint32_t result_slots = slots_of(type.results);
  const int32_t area = static_cast<int32_t>(aligned(abi.stack_bytes));
  a.begin_block();
  a.add(Op::PUSH64r, {reg(kRbp)});
  a.add(Op::MOV64rr, {reg(kRbp), reg(kRsp)});
  for (Reg r : kCalleeSaved) a.add(Op::PUSH64r, {reg(r)});
  a.add(Op::SUB64ri32, {reg(kRsp), reg(kRsp), imm(kActivationBytes)});
  a.store(Op::MOV64mr, kRsp, runtime::kActivationCallee, kRdi);
  if (result_slots > 1) a.store(Op::MOV64mr, kRsp, runtime::kActivationResults, kRdx);
  a.compare_with_thread(kRsp, runtime::kThreadEntry);
  a.add(Op::JCC_1, {block(kPrepareBlock), imm(kConditionNotEqual)});

  a.begin_block();  // run
  if (area) a.add(Op::SUB64ri32, {reg(kRsp), reg(kRsp), imm(area)});
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
  if (result_slots == 1) {
    a.result_word(kRdx, abi.results[0]);
  } else if (result_slots > 1) {
    a.load(Op::MOV64rm, results, kRsp, area + runtime::kActivationResults);
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
  }
  if (area) a.add(Op::ADD64ri32, {reg(kRsp), reg(kRsp), imm(area)});
  a.compare_with_thread(kRsp, runtime::kThreadEntry);
  a.add(Op::JCC_1, {block(kLeaveNestedBlock), imm(kConditionNotEqual)});

  a.begin_block();  // leave
  a.load_thread(kRax, runtime::kThreadStatus);
  a.add(Op::ADD64ri32, {reg(kRsp), reg(kRsp), imm(kActivationBytes)});
  for (size_t i = std::size(kCalleeSaved); i > 0; --i) a.add(Op::POP64r, {reg(kCalleeSaved[i - 1])});
  a.add(Op::POP64r, {reg(kRbp)});
  a.add(Op::RET64, {});

  a.begin_block();  // leave a nested activation
  a.load(Op::MOV64rm, kRax, kRsp, runtime::kActivationOuter);
  a.store_thread(runtime::kThreadNested, kRax);
  a.add(Op::JMP_1, {block(kLeaveBlock)});

  a.begin_block();  // prepare(rsp), keeping what is still needed
  a.add(Op::PUSH64r, {reg(kRsi)});
  a.add(Op::PUSH64r, {reg(kRdi)});
  a.load(Op::MOV64rm, kRax, kRdi, runtime::kFuncRefAdapters);
  a.add(Op::LEA64r, {reg(kRdi), reg(kRsp), imm(1), {}, imm(16), {}});
  a.add(Op::CALL64m, {reg(kRax), imm(1), {}, imm(runtime::kAdaptersPrepare), {}});
  a.add(Op::POP64r, {reg(kRdi)});
  a.add(Op::POP64r, {reg(kRsi)});
  a.add(Op::JMP_1, {block(kRunBlock)});
  return a.finish();
}

// Called by guest code in its convention, r15 holding the HostFunction.
MachFunction& host_adapter(Assembly& a, const CallingConvention& abi, const FuncType& type) {
  uint32_t slots = std::max(slots_of(type.params), slots_of(type.results));
  int32_t frame = static_cast<int32_t>(aligned(8 * slots));
  a.begin_block();
  a.add(Op::PUSH64r, {reg(kRbp)});
  a.add(Op::MOV64rr, {reg(kRbp), reg(kRsp)});
  a.compare_with_thread(kRsp, runtime::kThreadStackLimit);
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
  emitter.emit(entry_adapter(entry, abi, type), FrameStyle::Bare, false, code);
  append_code(*image, code, runtime::RegionKind::EntryAdapter, ~0u);
  image->entry_adapter = 0;

  Assembly host;
  emitter.emit(host_adapter(host, abi, type), FrameStyle::Bare, false, code);
  image->host_adapter = append_code(*image, code, runtime::RegionKind::HostAdapter, ~0u);
  return image;
}

}  // namespace wago::codegen
