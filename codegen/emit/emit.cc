#include "codegen/emit/emit.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/sha256.h"
#include "codegen/emit/x64/frame.h"
#include "codegen/llvm/encoder.h"
#include "runtime/abi.h"

namespace wago::codegen {

namespace {

constexpr uint32_t kLoopAlignment = 32;
// Frames up to this size are checked by rsp alone: runtime::kStackReserve covers them.
constexpr uint32_t kSmallFrame = 4096;
constexpr unsigned kConditionBelow = 2;  // x86 condition code B
constexpr unsigned kUnconditional = 16;
constexpr uint32_t kNowhere = ~0u;
constexpr uint32_t kLongestNop = 9;
// Entry adapters push it last of the registers that their callers want back; nobody else pushes it.
constexpr Reg kLastSavedByAdapters = kR15;

enum class TargetKind : uint8_t { Block, Stub };

struct Branch {
  uint32_t raw;       // bytes of other instructions before it
  uint8_t condition;  // x86 condition code, or kUnconditional
  bool near;          // 8-bit displacement
  TargetKind target_kind;
  uint32_t target;
};

struct BlockMark {
  uint32_t raw = 0;
  uint32_t branches = 0;  // before it
  uint32_t padding = 0;   // before it, in all: set by place()
  uint32_t position = 0;  // set by place()
  bool align = false;
  bool skipped = false;  // threaded through: emits nothing
  // For a report.
  uint32_t machine_instructions = 0;
  uint32_t raw_end = 0, branches_end = 0;  // of what always runs
  uint32_t falls_into = kNowhere;          // the block behind it, if that is padded
};

// A place in the code before branch sizes are known.
struct Mark {
  uint32_t raw;
  uint32_t branches;
  uint32_t block;
};

struct Stub {
  base::TrapCode code;
  uint32_t wasm_pc;
  uint32_t inline_site;
};

// A displacement from the end of its instruction to a literal or jump table.
// See BlockReport.
struct PendingExit {
  Mark mark;
  uint32_t stub;  // or kNowhere: the site is the mark
  uint32_t machine_instructions;
  uint32_t wasm_pc;
  uint32_t inline_site;
};

struct PendingTail {
  Mark begin;
  uint32_t branch;
  uint32_t way;
  uint32_t machine_instructions;  // 0, or the branch that it is
};

struct PendingField {
  Mark mark;
  MachOperand::Kind kind;
  uint32_t index;
  uint32_t tail;  // bytes of the instruction after the field
};

MachOperand reg(Reg r) {
  return {MachOperand::Kind::Reg, false, static_cast<int32_t>(r.bits())};
}
MachOperand imm(int64_t v) {
  return {MachOperand::Kind::Imm, false, static_cast<int32_t>(v)};
}

}  // namespace

struct Emitter::State {
  Encoder encoder;
  FrameLayout frame;
  MachFunction scratch;  // holds the operands of prologue and epilogue instructions

  std::vector<uint8_t> raw;
  std::vector<Branch> branches;
  std::vector<uint32_t> branch_bytes;  // prefix sums, see place()
  std::vector<BlockMark> blocks;
  std::vector<uint32_t> thread;  // final target of every block
  std::vector<uint32_t> chain;   // scratch of thread_jumps()
  std::vector<Stub> stubs;
  std::vector<PendingField> fields;
  std::vector<std::pair<Mark, CallFixup>> calls;
  std::vector<Mark> tls;
  std::vector<std::pair<Mark, CounterFixup>> counters;
  std::vector<PendingExit> exits;
  std::vector<PendingTail> tails;
  std::vector<std::pair<Mark, runtime::TrapSite>> traps;
  std::vector<std::pair<Mark, runtime::SourcePosition>> positions;
  std::vector<std::pair<Mark, runtime::EmittedSite>> sites;
  std::vector<std::pair<Mark, runtime::UnwindRow>> unwind;
  runtime::UnwindRule body_rule = runtime::UnwindRule::Entry;  // inside the frame
  std::vector<uint32_t> literal_offsets, table_offsets;
  uint32_t body_bytes = 0;

  const MachFunction* function = nullptr;
  FunctionCode* out = nullptr;
  FrameStyle style = FrameStyle::Standard;
  bool source_maps = false;
  uint32_t current_block = 0;
  const CounterPlan* plan = nullptr;
  BlockReport* report = nullptr;
  uint32_t block_instructions = 0;  // statistics.machine_instructions when the block began
  uint32_t block_conditionals = 0;  // branches to other blocks in it so far
  size_t next_tail = 0;             // of the plan's

  void reset() {
    raw.clear();
    branches.clear();
    blocks.assign(function->block_count, {});
    stubs.clear();
    fields.clear();
    calls.clear();
    tls.clear();
    counters.clear();
    exits.clear();
    tails.clear();
    next_tail = 0;
    traps.clear();
    positions.clear();
    sites.clear();
    unwind.clear();
    out->bytes.clear();
    out->calls.clear();
    out->tls_fields.clear();
    out->counters.clear();
    out->trap_sites.clear();
    out->positions.clear();
    out->emitted_sites.clear();
    out->unwind_rows.clear();
    out->statistics = {};
    current_block = 0;
  }

  Mark here() const {
    return {static_cast<uint32_t>(raw.size()), static_cast<uint32_t>(branches.size()), current_block};
  }

  // --- Control flow
  // ---------------------------------------------------------------------------------------------------

  // Where a block that only jumps leads; kNowhere for any other block.
  uint32_t jump_target(uint32_t b) const {
    const MachBlock& block = function->blocks[b];
    if (b == 0 || block.end != block.begin + 1) return kNowhere;
    if (plan && plan->blocks[b] != kNoCounter) return kNowhere;
    const MachInst& inst = function->insts[block.begin];
    if (inst.op != x64::Op::JMP_1) return kNowhere;
    const MachOperand& target = function->ops(inst)[0];
    return target.kind == MachOperand::Kind::Block ? static_cast<uint32_t>(target.value) : kNowhere;
  }

  void thread_jumps() {
    constexpr uint32_t kVisiting = kNowhere - 1;
    thread.assign(function->block_count, kNowhere);
    for (uint32_t b = 0; b < function->block_count; ++b) {
      chain.clear();
      uint32_t at = b;
      while (thread[at] == kNowhere && jump_target(at) != kNowhere) {
        thread[at] = kVisiting;
        chain.push_back(at);
        at = jump_target(at);
      }
      // A cycle of blocks that only jump is an infinite loop: the block where it closes stays and jumps to
      // itself.
      uint32_t final = thread[at] == kNowhere || thread[at] == kVisiting ? at : thread[at];
      thread[at] = final;
      for (uint32_t link : chain) thread[link] = final;
    }
    for (uint32_t b = 0; b < function->block_count; ++b) blocks[b].skipped = thread[b] != b;
  }

  uint32_t next_emitted(uint32_t b) const {
    for (++b; b < function->block_count && blocks[b].skipped;) ++b;
    return b;
  }

  uint32_t stub(base::TrapCode code, const MachInst& inst) {
    // Equal stubs mostly follow one another: the two checks of a division, say. Where it is counted how far
    // the code came, each has its own.
    for (size_t i = stubs.size(), tries = 0; i > 0 && tries < 4 && !plan; --i, ++tries) {
      const Stub& s = stubs[i - 1];
      if (s.code == code && s.wasm_pc == inst.wasm_pc && s.inline_site == inst.inline_site) {
        return static_cast<uint32_t>(i - 1);
      }
    }
    stubs.push_back({code, inst.wasm_pc, inst.inline_site});
    return static_cast<uint32_t>(stubs.size() - 1);
  }

  void branch(unsigned condition, const MachInst& inst, const MachOperand& target) {
    Branch b{static_cast<uint32_t>(raw.size()), static_cast<uint8_t>(condition), true, TargetKind::Block, 0};
    if (target.kind == MachOperand::Kind::TrapStub) {
      b.target_kind = TargetKind::Stub;
      b.target = stub(static_cast<base::TrapCode>(target.value), inst);
      if (report)
        exits.push_back({after_branch(), b.target, completed() + 1, inst.wasm_pc, inst.inline_site});
    } else {
      WAGO_CHECK(target.kind == MachOperand::Kind::Block);
      b.target = thread[static_cast<uint32_t>(target.value)];
    }
    branches.push_back(b);
  }

  Mark after_branch() const {
    Mark mark = here();
    ++mark.branches;
    return mark;
  }
  // Instructions of the current block so far.
  uint32_t completed() const { return out->statistics.machine_instructions - block_instructions; }

  // What always runs of the current block ends here.
  void end_of_always() {
    BlockMark& block = blocks[current_block];
    block.raw_end = static_cast<uint32_t>(raw.size());
    block.branches_end = static_cast<uint32_t>(branches.size());
    block.machine_instructions = completed();
  }

  // The current block goes on into the next, and through what pads that, where it would go by `inst`.
  void falls_through(uint32_t next, const MachInst& inst) {
    if (!report || !is_padded(next)) return;
    blocks[current_block].falls_into = next;
    if (block_conditionals != 0) tail(BlockTail::kLast, inst, 0);
  }

  void tail(uint32_t number, const MachInst& inst, uint32_t instructions) {
    if (!report) return;
    tails.push_back({here(), number, static_cast<uint32_t>(function->ops(inst)[0].value), instructions});
  }

  MachOperand counter_operand(uint32_t counter) const {
    return {MachOperand::Kind::Counter, false, static_cast<int32_t>(counter)};
  }
  void count(uint32_t counter) {
    frame_inst(x64::Op::INC64m, {counter_operand(counter), imm(1), {}, imm(0), {}});
  }
  // The same where flags are still wanted.
  void count_between_branches(uint32_t counter) {
    const MachOperand scratch_reg = reg(kScratchGpr), none;
    frame_inst(x64::Op::MOV64rm, {scratch_reg, counter_operand(counter), imm(1), none, imm(0), none});
    frame_inst(x64::Op::LEA64r, {scratch_reg, scratch_reg, imm(1), none, imm(1), none});
    frame_inst(x64::Op::MOV64mr, {counter_operand(counter), imm(1), none, imm(0), none, scratch_reg});
  }
  // The current block's tail with this number, if it is counted.
  const CounterPlan::Tail* planned_tail(uint32_t number) {
    if (!plan || next_tail == plan->tails.size()) return nullptr;
    const CounterPlan::Tail& next = plan->tails[next_tail];
    if (next.tail.block != current_block || next.tail.branch != number) return nullptr;
    ++next_tail;
    return &next;
  }

  void conditional_branch(const MachInst& inst) {
    std::span<const MachOperand> ops = function->ops(inst);
    if (inst.site == SiteKind::BoundsCheck) ++out->statistics.bounds_checks;
    if (inst.site == SiteKind::InterruptCheck) ++out->statistics.interrupt_checks;
    const bool to_block = ops[0].kind == MachOperand::Kind::Block;
    if (to_block && ++block_conditionals >= 2) {
      if (const CounterPlan::Tail* planned = planned_tail(block_conditionals)) {
        count_between_branches(planned->counter);
      }
      tail(block_conditionals, inst, 1);
    }
    branch(static_cast<unsigned>(ops[1].value), inst, ops[0]);
    ++out->statistics.machine_instructions;
    if (to_block && block_conditionals == 1) end_of_always();
  }

  // Counts the last tail, on the way on which the code without counters has it. True if that was all of the
  // jump.
  bool count_last_tail(const MachInst& inst, uint32_t to) {
    const CounterPlan::Tail* planned = planned_tail(BlockTail::kLast);
    if (!planned) return false;
    if (function->ops(inst)[0].value == static_cast<int32_t>(planned->tail.way)) {
      count(planned->counter);
      return false;
    }
    // jcc way; jmp other  ->  jncc other; count; jmp way
    Branch& last = branches.back();
    WAGO_CHECK(last.raw == raw.size() && last.condition != kUnconditional);
    const uint32_t way = last.target;
    last.condition ^= 1;
    last.target = to;
    count(planned->counter);
    branches.push_back({static_cast<uint32_t>(raw.size()), kUnconditional, true, TargetKind::Block, way});
    ++out->statistics.machine_instructions;
    return true;
  }

  void jump(const MachInst& inst, uint32_t next) {
    const MachOperand& target = function->ops(inst)[0];
    if (target.kind == MachOperand::Kind::Block) {
      uint32_t to = thread[static_cast<uint32_t>(target.value)];
      if (count_last_tail(inst, to)) return;
      if (to == next) return falls_through(next, inst);
      // jcc next; jmp other  ->  jncc other
      if (branches.size() > blocks[current_block].branches) {
        Branch& last = branches.back();
        if (last.raw == raw.size() && last.condition != kUnconditional &&
            last.target_kind == TargetKind::Block && last.target == next) {
          last.condition ^= 1;
          last.target = to;
          falls_through(next, *(&inst - 1));
          return;
        }
      }
    }
    if (block_conditionals != 0) tail(BlockTail::kLast, inst, 1);
    branch(kUnconditional, inst, target);
    ++out->statistics.machine_instructions;
  }

  bool is_padded(uint32_t b) const {
    return b < function->block_count && b != 0 && function->blocks[b].loop_header &&
           !function->blocks[b].cold;
  }

  // --- Instructions
  // ---------------------------------------------------------------------------------------------------

  void emit_block(uint32_t b) {
    const MachBlock& block = function->blocks[b];
    current_block = b;
    blocks[b].raw = static_cast<uint32_t>(raw.size());
    blocks[b].branches = static_cast<uint32_t>(branches.size());
    blocks[b].align = is_padded(b);
    if (blocks[b].skipped) return;
    // What pads is at the end of the block before, and belongs to nothing there.
    if (source_maps && blocks[b].align) {
      sites.push_back({{blocks[b].raw, blocks[b].branches, b - 1}, {0, SiteKind::None}});
    }
    block_instructions = out->statistics.machine_instructions;
    block_conditionals = 0;
    if (plan && plan->blocks[b] != kNoCounter) count(plan->blocks[b]);
    if (b == 0 && style == FrameStyle::Standard) prologue();
    uint32_t next = next_emitted(b);
    for (uint32_t i = block.begin; i < block.end; ++i) {
      const MachInst& inst = function->insts[i];
      if (source_maps) {
        position(inst);
        site(inst.site);
      }
      if (inst.op == x64::Op::JMP_1) {
        jump(inst, next);
      } else if (inst.op == x64::Op::JCC_1) {
        conditional_branch(inst);
      } else {
        instruction(inst);
      }
    }
    if (block_conditionals == 0) end_of_always();
  }

  void instruction(const MachInst& inst) {
    if (inst.op == x64::Op::Undef) return;
    const x64::OpDesc& desc = x64::desc(inst.op);
    if (inst.trap) {
      traps.push_back({here(), {0, static_cast<base::TrapCode>(inst.trap - 1)}});
    }
    if (inst.trap || desc.is_call) position(inst);
    if (inst.trap && report) exits.push_back({here(), kNowhere, completed(), inst.wasm_pc, inst.inline_site});
    if (inst.op == x64::Op::RET64 && style == FrameStyle::Standard) epilogue();
    count(inst, desc);
    if (inst.op == x64::Op::CALL64pcrel32) {
      direct_call(function->ops(inst)[0]);
    } else {
      encode(*function, inst);
      follow_frame(inst.op, function->ops(inst));
    }
    if (desc.is_call && report) {
      exits.push_back({here(), kNowhere, completed(), inst.wasm_pc, inst.inline_site});
    }
  }

  void direct_call(const MachOperand& callee) {
    WAGO_CHECK(callee.kind == MachOperand::Kind::Function);
    const Encoder::Template& call = encoder.call();
    Mark field = here();
    raw.insert(raw.end(), call.bytes, call.bytes + call.size);
    field.raw += call.size - 4u;
    calls.push_back({field, {0, static_cast<uint32_t>(callee.value)}});
  }

  void encode(const MachFunction& owner, const MachInst& inst) {
    Mark mark = here();
    uint32_t field = encoder.encode(owner, inst, frame.slot_offsets, raw);
    int memory = x64::desc(inst.op).memory;
    if (memory < 0) return;
    std::span<const MachOperand> address = owner.ops(inst).subspan(static_cast<size_t>(memory), 5);
    if (address[4].kind == MachOperand::Kind::FsSegment) {
      // Only ever with a register as the other operand: the displacement ends the instruction.
      mark.raw = static_cast<uint32_t>(raw.size()) - 4;
      tls.push_back(mark);
    }
    if (address[0].kind == MachOperand::Kind::Counter) {
      mark.raw = static_cast<uint32_t>(raw.size()) - 4;
      counters.push_back({mark, {0, static_cast<uint32_t>(address[0].value)}});
    }
    if (field == Encoder::kNoField) return;
    const MachOperand& base = address[0];
    mark.raw = field;
    fields.push_back(
        {mark, base.kind, static_cast<uint32_t>(base.value), static_cast<uint32_t>(raw.size()) - field - 4});
  }

  void position(const MachInst& inst) {
    runtime::SourcePosition p{0, inst.wasm_pc, inst.inline_site};
    Mark mark = here();
    if (!positions.empty()) {
      const auto& [last_mark, last] = positions.back();
      if (last.wasm_pc == p.wasm_pc && last.inline_site == p.inline_site) return;
      if (last_mark.raw == mark.raw && last_mark.branches == mark.branches) positions.pop_back();
    }
    positions.push_back({mark, p});
  }

  void site(SiteKind kind) {
    if (sites.empty() || sites.back().second.kind != kind) sites.push_back({here(), {0, kind}});
  }

  void count(const MachInst& inst, const x64::OpDesc& desc) {
    runtime::FunctionStatistics& s = out->statistics;
    ++s.machine_instructions;
    if (desc.is_call) {
      ++s.calls;
      if (inst.site == SiteKind::IndirectCall) ++s.indirect_calls;
      if (inst.site == SiteKind::Libcall) ++s.helper_calls;
    }
  }

  // --- Frame
  // ----------------------------------------------------------------------------------------------------------

  void frame_inst(x64::Op op, std::initializer_list<MachOperand> operands, SiteKind kind = SiteKind::Frame) {
    scratch.operands.assign(operands);
    MachInst inst;
    inst.op = op;
    inst.operand_count = static_cast<uint8_t>(operands.size());
    if (source_maps) site(kind);
    encode(scratch, inst);
    follow_frame(op, scratch.operands);
    ++out->statistics.machine_instructions;
  }

  void unwind_by(runtime::UnwindRule rule) { unwind.push_back({here(), {0, rule}}); }

  // What an instruction that was just encoded makes of the frame.
  void follow_frame(x64::Op op, std::span<const MachOperand> ops) {
    using runtime::UnwindRule;
    using x64::Op;
    auto is = [&](size_t operand, Reg r) { return ops[operand].is_reg() && ops[operand].reg() == r; };
    if (op == Op::PUSH64r && is(0, kRbp)) {
      unwind_by(UnwindRule::Pushed);
    } else if (op == Op::MOV64rr && is(0, kRbp) && is(1, kRsp)) {
      unwind_by(body_rule = UnwindRule::Framed);
    } else if (op == Op::PUSH64r && is(0, kLastSavedByAdapters)) {
      unwind_by(body_rule = UnwindRule::Adapter);
    } else if (op == Op::LEAVE64 || (op == Op::POP64r && is(0, kRbp))) {
      unwind_by(UnwindRule::Entry);
    } else if (op == Op::RET64) {
      unwind_by(body_rule);
    }
  }

  void prologue() {
    using x64::Op;
    const MachOperand none;
    if (source_maps) position(MachInst());
    frame_inst(Op::PUSH64r, {reg(kRbp)});
    frame_inst(Op::MOV64rr, {reg(kRbp), reg(kRsp)});
    if (frame.checks_stack) {
      Reg lowest = kRsp;
      if (frame.bytes > kSmallFrame) {
        lowest = kScratchGpr;
        frame_inst(Op::LEA64r, {reg(lowest), reg(kRsp), imm(1), none, imm(-int64_t{frame.bytes}), none},
                   SiteKind::StackCheck);
      }
      frame_inst(Op::CMP64rm,
                 {reg(lowest), none, imm(1), none, imm(0), {MachOperand::Kind::FsSegment, false, 0}},
                 SiteKind::StackCheck);
      MachInst check;  // at wasm pc 0: the function's own beginning
      branch(kConditionBelow, check,
             {MachOperand::Kind::TrapStub, false, static_cast<int32_t>(base::TrapCode::StackExhausted)});
      ++out->statistics.stack_checks;
      ++out->statistics.machine_instructions;
    }
    if (frame.bytes > 0) frame_inst(Op::SUB64ri32, {reg(kRsp), reg(kRsp), imm(frame.bytes)});
    if (function->saves_context) {
      frame_inst(Op::MOV64mr, {reg(kRbp), imm(1), none, imm(-8), none, reg(kContextReg)});
    }
  }

  void epilogue() {
    if (frame.bytes > 0) {
      frame_inst(x64::Op::LEAVE64, {});
    } else {
      frame_inst(x64::Op::POP64r, {reg(kRbp)});
    }
  }

  // --- Layout
  // ---------------------------------------------------------------------------------------------------------

  static uint32_t size_of(const Branch& b) { return b.near ? 2 : b.condition == kUnconditional ? 5 : 6; }

  // Positions of all blocks with the present branch sizes.
  void place() {
    branch_bytes.resize(branches.size() + 1);
    branch_bytes[0] = 0;
    for (size_t i = 0; i < branches.size(); ++i) branch_bytes[i + 1] = branch_bytes[i] + size_of(branches[i]);
    uint32_t padding = 0;
    for (BlockMark& b : blocks) {
      uint32_t at = b.raw + branch_bytes[b.branches] + padding;
      if (b.align && !b.skipped) padding += -at & (kLoopAlignment - 1);
      b.padding = padding;
      b.position = b.raw + branch_bytes[b.branches] + padding;
    }
    body_bytes = static_cast<uint32_t>(raw.size()) + branch_bytes.back() + padding;
  }

  uint32_t target_position(const Branch& b) const {
    return b.target_kind == TargetKind::Block ? blocks[b.target].position : body_bytes + 2 * b.target;
  }

  void relax() {
    for (bool changed = true; changed;) {
      place();
      changed = false;
      uint32_t block = 0;
      for (size_t i = 0; i < branches.size(); ++i) {
        Branch& b = branches[i];
        while (block + 1 < blocks.size() && blocks[block + 1].branches <= i) ++block;
        if (!b.near) continue;
        int64_t end = int64_t{b.raw} + branch_bytes[i + 1] + blocks[block].padding;
        int64_t distance = int64_t{target_position(b)} - end;
        if (distance >= -128 && distance <= 127) continue;
        b.near = false;
        changed = true;
      }
    }
  }

  uint32_t resolve(const Mark& m) const { return m.raw + branch_bytes[m.branches] + blocks[m.block].padding; }

  void write_body() {
    std::vector<uint8_t>& bytes = out->bytes;
    bytes.reserve(body_bytes + 2 * stubs.size() + 16 * function->literals.size() + 64);
    uint32_t copied = 0;
    uint32_t next_branch = 0;
    auto copy_to = [&](uint32_t end) {
      bytes.insert(bytes.end(), raw.begin() + copied, raw.begin() + end);
      copied = end;
    };
    for (size_t b = 0; b < blocks.size(); ++b) {
      bool last = b + 1 == blocks.size();
      uint32_t end_branch = last ? static_cast<uint32_t>(branches.size()) : blocks[b + 1].branches;
      write_padding(blocks[b].position - static_cast<uint32_t>(bytes.size()));
      for (; next_branch < end_branch; ++next_branch) {
        copy_to(branches[next_branch].raw);
        write_branch(branches[next_branch]);
      }
      copy_to(last ? static_cast<uint32_t>(raw.size()) : blocks[b + 1].raw);
    }
    WAGO_CHECK(bytes.size() == body_bytes);
  }

  void write_padding(uint32_t count) {
    while (count > 0) {
      std::span<const uint8_t> nop = encoder.nop(std::min(count, kLongestNop));
      out->bytes.insert(out->bytes.end(), nop.begin(), nop.end());
      count -= static_cast<uint32_t>(nop.size());
    }
  }

  void write_branch(const Branch& b) {
    const Encoder::Template& t =
        b.condition == kUnconditional ? encoder.jump(b.near) : encoder.conditional_jump(b.condition, b.near);
    std::vector<uint8_t>& bytes = out->bytes;
    bytes.insert(bytes.end(), t.bytes, t.bytes + t.size);
    int64_t distance = int64_t{target_position(b)} - static_cast<int64_t>(bytes.size());
    if (b.near) {
      WAGO_CHECK(distance >= -128 && distance <= 127);
      bytes.back() = static_cast<uint8_t>(distance);
    } else {
      patch(static_cast<uint32_t>(bytes.size()) - 4, distance);
    }
  }

  void patch(uint32_t offset, int64_t value) {
    WAGO_CHECK(value == static_cast<int32_t>(value));
    int32_t field = static_cast<int32_t>(value);
    std::memcpy(out->bytes.data() + offset, &field, 4);
  }

  void write_stubs() {
    out->stubs_begin = static_cast<uint32_t>(out->bytes.size());
    const Encoder::Template& undefined = encoder.undefined();
    WAGO_CHECK(undefined.size == 2);  // what target_position() counts on
    if (source_maps && !stubs.empty()) out->emitted_sites.push_back({out->stubs_begin, SiteKind::None});
    for (const Stub& s : stubs) {
      uint32_t at = static_cast<uint32_t>(out->bytes.size());
      out->bytes.insert(out->bytes.end(), undefined.bytes, undefined.bytes + undefined.size);
      out->trap_sites.push_back({at, s.code});
      out->positions.push_back({at, s.wasm_pc, s.inline_site});
    }
    out->statistics.machine_instructions += static_cast<uint32_t>(stubs.size());
  }

  // Starts a literal of `size` bytes: aligned, the gap filled with breakpoints.
  uint32_t begin_literal(uint32_t size) {
    while (out->bytes.size() & (size - 1)) out->bytes.push_back(0xcc);
    uint32_t at = static_cast<uint32_t>(out->bytes.size());
    out->literals_begin = std::min(out->literals_begin, at);
    return at;
  }

  void write_literals() {
    out->literals_begin = kNowhere;
    literal_offsets.assign(function->literals.size(), 0);
    for (uint32_t size : {16u, 8u, 4u}) {
      for (size_t i = 0; i < function->literals.size(); ++i) {
        const Literal& literal = function->literals[i];
        if (literal.bytes != size) continue;
        literal_offsets[i] = begin_literal(size);
        const uint8_t* data = reinterpret_cast<const uint8_t*>(literal.bits);
        out->bytes.insert(out->bytes.end(), data, data + size);
      }
    }
    table_offsets.clear();
    for (const std::vector<uint32_t>& targets : function->jump_tables) {
      uint32_t table = begin_literal(4);
      table_offsets.push_back(table);
      out->bytes.resize(table + 4 * targets.size());
      for (size_t k = 0; k < targets.size(); ++k) {
        patch(table + 4 * static_cast<uint32_t>(k), int64_t{blocks[thread[targets[k]]].position} - table);
      }
    }
    out->literals_begin = std::min(out->literals_begin, static_cast<uint32_t>(out->bytes.size()));
  }

  void resolve_marks() {
    for (auto& [mark, call] : calls) out->calls.push_back({resolve(mark), call.function});
    out->block_offsets.clear();
    for (const BlockMark& b : blocks) out->block_offsets.push_back(b.position);
    for (const Mark& mark : tls) out->tls_fields.push_back(resolve(mark));
    for (const auto& [mark, counter] : counters) out->counters.push_back({resolve(mark), counter.counter});
    for (auto& [mark, trap] : traps) {
      trap.offset = resolve(mark);
      out->trap_sites.push_back(trap);
    }
    for (auto& [mark, p] : positions) {
      p.offset = resolve(mark);
      out->positions.push_back(p);
    }
    std::vector<runtime::EmittedSite>& emitted = out->emitted_sites;
    for (const auto& [mark, one] : sites) {
      const uint32_t offset = resolve(mark);
      if (!emitted.empty() && emitted.back().offset == offset) emitted.pop_back();
      if (emitted.empty() || emitted.back().kind != one.kind) emitted.push_back({offset, one.kind});
    }
    for (auto& [mark, row] : unwind) {
      row.offset = resolve(mark);
      out->unwind_rows.push_back(row);
    }
  }

  void resolve_fields() {
    for (const PendingField& f : fields) {
      uint32_t at = resolve(f.mark);
      uint32_t target =
          f.kind == MachOperand::Kind::Literal ? literal_offsets[f.index] : table_offsets[f.index];
      patch(at, int64_t{target} - (int64_t{at} + 4 + f.tail));
    }
  }

  // Padding in front of a block.
  uint32_t padding_of(uint32_t b) const { return blocks[b].padding - (b == 0 ? 0 : blocks[b - 1].padding); }
  static uint32_t nops(uint32_t bytes) { return (bytes + kLongestNop - 1) / kLongestNop; }

  // To the block or tail that runs into it.
  void add_padding() {
    size_t tail = 0;
    for (uint32_t b = 0; b < blocks.size(); ++b) {
      while (tail < report->tails.size() && report->tails[tail].block <= b) ++tail;
      if (blocks[b].falls_into == kNowhere) continue;
      const uint32_t bytes = padding_of(blocks[b].falls_into);
      const bool in_tail = tail != 0 && report->tails[tail - 1].block == b;
      (in_tail ? report->tails[tail - 1].size : report->blocks[b].size) += bytes;
      (in_tail ? report->tails[tail - 1].machine_instructions : report->blocks[b].machine_instructions) +=
          nops(bytes);
    }
  }

  void fill_report() {
    report->blocks.clear();
    for (uint32_t b = 0; b < blocks.size(); ++b) {
      const BlockMark& mark = blocks[b];
      BlockReport::Block& block = report->blocks.emplace_back();
      block.begin = mark.position;
      if (mark.skipped) continue;
      block.size = resolve({mark.raw_end, mark.branches_end, b}) - block.begin;
      block.machine_instructions = mark.machine_instructions;
    }
    report->tails.clear();
    for (const PendingTail& tail : tails) {
      const Mark& begin = tail.begin;
      const Mark end{begin.raw, begin.branches + tail.machine_instructions, begin.block};
      const uint32_t at = resolve(begin);
      report->tails.push_back(
          {begin.block, tail.branch, tail.way, at, resolve(end) - at, tail.machine_instructions});
    }
    add_padding();
    report->exits.clear();
    for (const PendingExit& exit : exits) {
      const uint32_t offset = resolve(exit.mark);
      report->exits.push_back({exit.mark.block, exit.wasm_pc, exit.inline_site,
                               exit.stub == kNowhere ? offset : out->stubs_begin + 2 * exit.stub, offset,
                               exit.machine_instructions});
    }
  }

  void fill_statistics() {
    runtime::FunctionStatistics& s = out->statistics;
    s.frame_bytes = frame.bytes;
    s.spills = function->spills;
    s.reloads = function->reloads;
    s.rematerialized = function->rematerialized;
    s.moves = function->moves;
    s.blocks = function->block_count;
  }

  void run() {
    reset();
    if (style == FrameStyle::Standard) {
      frame.compute(*function);
    } else {
      frame = {};
    }
    thread_jumps();
    unwind_by(runtime::UnwindRule::Entry);
    for (uint32_t b = 0; b < function->block_count; ++b) emit_block(b);
    relax();
    write_body();
    resolve_marks();
    write_stubs();
    write_literals();
    resolve_fields();
    fill_statistics();
    if (report) fill_report();
  }
};

Emitter::Emitter() : state_(std::make_unique<State>()) {}
Emitter::~Emitter() = default;

void Emitter::emit(const MachFunction& function, FrameStyle style, bool source_maps, FunctionCode& out,
                   const CounterPlan* plan, BlockReport* report) {
  State& s = *state_;
  s.plan = plan;
  s.report = report;
  s.function = &function;
  s.out = &out;
  s.style = style;
  s.source_maps = source_maps;
  s.run();
}

std::array<uint8_t, 32> identity_hash(const FunctionCode& code) {
  base::Sha256 hash;
  std::vector<uint8_t> masked = code.bytes;
  for (const CallFixup& call : code.calls) std::memset(masked.data() + call.offset, 0, 4);
  for (uint32_t field : code.tls_fields) std::memset(masked.data() + field, 0, 4);
  hash.update_u64(masked.size());
  hash.update(masked);
  for (const CallFixup& call : code.calls) hash.update_u64(call.function);
  return hash.finish();
}

}  // namespace wago::codegen
