#include <algorithm>
#include <cstdint>
#include <vector>

#include "codegen/mach/mach.h"

namespace wago::codegen {

namespace {

using Kind = MachOperand::Kind;

// Blocks times virtual registers up to which "defined before use" is followed along all paths.
constexpr uint64_t kMaxFlowBits = uint64_t{1} << 28;

class Verifier {
 public:
  Verifier(const MachFunction& function, bool allocated) : f_(function), allocated_(allocated) {}

  std::string run() {
    edges();
    for (block_ = 0; block_ < f_.block_count && error_.empty(); ++block_) block();
    if (error_.empty() && !allocated_) definitions();
    return error_;
  }

 private:
  void fail(const std::string& what) {
    if (error_.empty()) error_ = "block" + std::to_string(block_) + ": " + what;
  }
  void fail(const MachInst& inst, const std::string& what) {
    if (error_.empty()) fail(what + ": " + print(f_, inst));
  }

  // --- Rule 6
  void edges() {
    for (block_ = 0; block_ < f_.block_count; ++block_) {
      const MachBlock& b = f_.blocks[block_];
      for (uint32_t s : b.succs) {
        if (s >= f_.block_count) return fail("edge to a block that does not exist");
        const MachBlock& to = f_.blocks[s];
        if (std::count(to.preds.begin(), to.preds.end(), block_) !=
            std::count(b.succs.begin(), b.succs.end(), s))
          return fail("edge to block" + std::to_string(s) + " is not among its predecessors");
        if (b.succs.size() > 1 && to.preds.size() > 1 && !only_from(to, block_))
          return fail("critical edge to block" + std::to_string(s));
      }
      for (uint32_t p : b.preds) {
        if (p >= f_.block_count) return fail("predecessor that does not exist");
        const std::vector<uint32_t>& succs = f_.blocks[p].succs;
        if (std::find(succs.begin(), succs.end(), block_) == succs.end())
          return fail("predecessor block" + std::to_string(p) + " does not lead here");
      }
    }
  }
  static bool only_from(const MachBlock& to, uint32_t from) {
    return std::all_of(to.preds.begin(), to.preds.end(), [&](uint32_t p) { return p == from; });
  }

  void block() {
    const MachBlock& b = f_.blocks[block_];
    if (b.begin >= b.end || b.end > f_.insts.size()) return fail("no instructions");
    if (block_ > 0 && b.begin < f_.blocks[block_ - 1].end) return fail("overlaps the block before it");
    const MachInst& last = f_.insts[b.end - 1];
    if (!x64::desc(last.op).is_terminator && last.op != x64::Op::TRAP)
      return fail(last, "does not end in a terminator");
    bool flags = false;
    for (uint32_t i = b.begin; i < b.end && error_.empty(); ++i) {
      const MachInst& inst = f_.insts[i];
      const x64::OpDesc& desc = x64::desc(inst.op);
      operands(inst, desc);
      if (desc.reads_flags && !flags) fail(inst, "reads flags that nothing in its block sets");
      if (desc.writes_flags) flags = true;
      if (desc.is_call) flags = false;
      if (desc.is_terminator && i + 1 < b.end && !is_conditional(inst))
        fail(inst, "terminator inside a block");
    }
    if (error_.empty()) targets(b);
    if (error_.empty() && !allocated_) physical(b);
  }
  static bool is_conditional(const MachInst& inst) { return x64::desc(inst.op).reads_flags; }

  void targets(const MachBlock& b) {
    std::vector<uint32_t> reached;
    for (uint32_t i = b.begin; i < b.end; ++i) {
      for (const MachOperand& o : f_.ops(f_.insts[i])) {
        if (o.kind == Kind::Block) reached.push_back(static_cast<uint32_t>(o.value));
        if (o.kind != Kind::JumpTable) continue;
        const std::vector<uint32_t>& table = f_.jump_tables[static_cast<size_t>(o.value)];
        reached.insert(reached.end(), table.begin(), table.end());
      }
    }
    for (uint32_t r : reached) {
      if (std::find(b.succs.begin(), b.succs.end(), r) == b.succs.end())
        return fail("branch to block" + std::to_string(r) + ", which is no successor");
    }
    for (uint32_t s : b.succs) {
      if (std::find(reached.begin(), reached.end(), s) == reached.end())
        return fail("no branch to successor block" + std::to_string(s));
    }
  }

  // --- Operand counts, kinds and classes; rule 1
  void operands(const MachInst& inst, const x64::OpDesc& desc) {
    if (inst.extra_count > inst.operand_count || inst.first_operand + inst.operand_count > f_.operands.size())
      return fail("operands out of range");
    std::span<const MachOperand> ops = f_.ops(inst);
    std::span<const MachOperand> own = ops.first(ops.size() - inst.extra_count);
    for (const MachOperand& o : ops.last(inst.extra_count)) {
      if (!o.is_reg() || !o.reg().valid() || !o.reg().is_physical())
        return fail(inst, "extra operand that is no physical register");
    }
    if (desc.mc_opcode == 0) return pseudo(inst, own);
    if (own.size() != desc.operand_count)
      return fail(inst, "takes " + std::to_string(desc.operand_count) + " operands");
    for (size_t i = 0; i < own.size() && error_.empty(); ++i) {
      if (desc.memory >= 0 && i == static_cast<size_t>(desc.memory)) {
        memory(inst, own.subspan(i, 5));
        i += 4;
        continue;
      }
      if (own[i].is_def != (i < desc.def_count)) return fail(inst, "definitions differ from the table's");
      if (desc.width[i]) {
        if (!own[i].is_reg()) return fail(inst, "operand " + std::to_string(i) + " must be a register");
        register_operand(inst, own[i].reg(), desc.width[i] == 16 ? RegClass::Xmm : RegClass::Gpr);
      } else if (own[i].kind == Kind::Reg || own[i].kind == Kind::None || own[i].kind == Kind::Slot ||
                 own[i].kind == Kind::Literal || own[i].kind == Kind::JumpTable) {
        return fail(inst, "operand " + std::to_string(i) + " must be an immediate or a target");
      }
    }
    if (desc.tied >= 0 && own[0].value != own[static_cast<size_t>(desc.tied)].value)
      fail(inst, "operand " + std::to_string(desc.tied) + " must be the register it defines");
  }

  void pseudo(const MachInst& inst, std::span<const MachOperand> own) {
    if (allocated_ && inst.op != x64::Op::Undef) return fail(inst, "pseudo after allocation");
    size_t count = own.size();
    bool shaped = inst.op == x64::Op::Undef  ? count == 1
                  : inst.op == x64::Op::Copy ? count == 2
                                             : count > 0 && count % 2 == 0;
    if (!shaped) return fail(inst, "wrong number of operands");
    for (size_t i = 0; i < count; ++i) {
      if (!own[i].is_reg() || !own[i].reg().valid()) return fail(inst, "takes registers only");
      if (own[i].is_def != (i % 2 == 0)) return fail(inst, "definitions and uses must alternate");
      if (i % 2 && class_of(own[i].reg()) != class_of(own[i - 1].reg()))
        return fail(inst, "moves between classes");
    }
    for (size_t i = 0; i < count; i += 2) {
      for (size_t k = i + 2; k < count && count <= 32; k += 2) {
        if (own[i].reg() == own[k].reg()) return fail(inst, "defines a register twice");
      }
    }
  }

  void memory(const MachInst& inst, std::span<const MachOperand> m) {
    for (const MachOperand& o : m) {
      if (o.is_def) return fail(inst, "a memory operand defines nothing");
    }
    switch (m[0].kind) {
      case Kind::Reg:
        register_operand(inst, m[0].reg(), RegClass::Gpr);
        break;
      case Kind::None:
      case Kind::Slot:
      case Kind::Literal:
      case Kind::JumpTable:
      case Kind::Counter:
        break;
      default:
        return fail(inst, "bad memory base");
    }
    int32_t scale = m[1].value;
    if (m[1].kind != Kind::Imm || (scale != 1 && scale != 2 && scale != 4 && scale != 8))
      return fail(inst, "bad scale");
    if (m[2].is_reg()) {
      register_operand(inst, m[2].reg(), RegClass::Gpr);
      if (m[2].reg() == kRsp) return fail(inst, "rsp as an index");
      if (m[0].kind == Kind::Literal || m[0].kind == Kind::JumpTable)
        return fail(inst, "index with a symbol");
    } else if (m[2].kind != Kind::None) {
      return fail(inst, "bad index");
    }
    if (m[3].kind != Kind::Imm) return fail(inst, "bad displacement");
    if (m[4].kind != Kind::None && m[4].kind != Kind::FsSegment) return fail(inst, "bad segment");
  }

  RegClass class_of(Reg r) const { return r.is_physical() ? r.physical_class() : f_.vregs[r.index()].cls; }

  void register_operand(const MachInst& inst, Reg r, RegClass cls) {
    if (!r.valid()) return fail(inst, "invalid register");
    if (r.is_virtual()) {
      if (allocated_) return fail(inst, "virtual register after allocation");
      if (r.index() >= f_.vregs.size()) return fail(inst, "unknown virtual register");
    } else if (!allocated_ && r != kContextReg && r != kRbp && r != kRsp) {
      return fail(inst, "physical register as an ordinary operand");
    }
    if (class_of(r) != cls) fail(inst, "register of the wrong class");
  }

  // --- Rule 3: physical registers are live inside one block only (and on entry), and nothing overwrites
  // them.
  void physical(const MachBlock& b) {
    uint32_t live = 0;
    for (uint32_t i = b.end; i-- > b.begin;) {
      const MachInst& inst = f_.insts[i];
      uint32_t defs = 0, uses = 0;
      for (const MachOperand& o : f_.ops(inst)) {
        if (o.is_reg() && o.reg().is_physical()) (o.is_def ? defs : uses) |= bit(o.reg());
      }
      defs &= kAllocatableRegs;
      uses &= kAllocatableRegs;
      if (live & inst.clobbers & ~defs) return fail(inst, "clobbers a physical register that is used later");
      live = (live & ~defs) | uses;
    }
    if (live && block_ != 0) fail("physical register live on entry");
  }

  // --- Every use has a definition on every path to it.
  void definitions() {
    size_t words = (f_.vregs.size() + 63) / 64;
    if (uint64_t{f_.block_count} * words * 64 > kMaxFlowBits) return;
    std::vector<uint64_t> live_in(f_.block_count * words), live(words);
    std::vector<uint32_t> work;
    for (uint32_t b = 0; b < f_.block_count; ++b) work.push_back(b);
    while (!work.empty()) {
      uint32_t b = work.back();
      work.pop_back();
      std::fill(live.begin(), live.end(), 0);
      for (uint32_t s : f_.blocks[b].succs) {
        for (size_t w = 0; w < words; ++w) live[w] |= live_in[s * words + w];
      }
      for (uint32_t i = f_.blocks[b].end; i-- > f_.blocks[b].begin;) flow(f_.insts[i], live);
      bool grew = false;
      for (size_t w = 0; w < words; ++w) {
        grew |= (live[w] & ~live_in[b * words + w]) != 0;
        live_in[b * words + w] |= live[w];
      }
      if (grew) work.insert(work.end(), f_.blocks[b].preds.begin(), f_.blocks[b].preds.end());
    }
    block_ = 0;
    for (uint32_t v = 0; v < f_.vregs.size(); ++v) {
      if (f_.block_count && live_in[v / 64] >> (v % 64) & 1)
        return fail("v" + std::to_string(v) + " is used where it may not be defined");
    }
  }

  void flow(const MachInst& inst, std::vector<uint64_t>& live) {
    for (bool defs : {true, false}) {
      for (const MachOperand& o : f_.ops(inst)) {
        if (!o.is_reg() || !o.reg().is_virtual() || o.is_def != defs) continue;
        uint32_t v = o.reg().index();
        if (defs) {
          live[v / 64] &= ~(uint64_t{1} << (v % 64));
        } else {
          live[v / 64] |= uint64_t{1} << (v % 64);
        }
      }
    }
  }

  const MachFunction& f_;
  const bool allocated_;
  uint32_t block_ = 0;
  std::string error_;
};

}  // namespace

std::string verify(const MachFunction& function, bool allocated) {
  return Verifier(function, allocated).run();
}

}  // namespace wago::codegen
