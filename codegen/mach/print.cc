// The text form of machine functions:
//
//   function 3
//   block0: -> block1, block2
//     v1 = MOV32rm [v0 + v2*4 + 16]          !memory-out-of-bounds
//     CMP32ri v1, 7
//     JCC_1 block1, l
//   block1 (loop, depth 1): ...
//     CALL64m [r15 + 16]                     (rdi) -> (rax)
//
// Definitions come before "=", extra operands behind the instruction as "(uses) -> (definitions)".

#include "codegen/mach/mach.h"

namespace wago::codegen {

namespace {

constexpr const char* kGprNames[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                     "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
constexpr const char* kConditions[] = {"o", "no", "b", "ae", "e", "ne", "be", "a",
                                       "s", "ns", "p", "np", "l", "ge", "le", "g"};

class Printer {
 public:
  explicit Printer(const MachFunction& function) : f_(function) {}

  std::string function() {
    text_ = "function " + std::to_string(f_.function) + "\n";
    for (uint32_t b = 0; b < f_.block_count; ++b) block(b);
    return std::move(text_);
  }

  std::string instruction(const MachInst& inst) {
    text_.clear();
    inst_text(inst);
    return std::move(text_);
  }

 private:
  void block(uint32_t index) {
    const MachBlock& b = f_.blocks[index];
    text_ += "block" + std::to_string(index);
    std::string notes;
    if (b.loop_header) notes += "loop, ";
    if (b.loop_depth) notes += "depth " + std::to_string(b.loop_depth) + ", ";
    if (b.cold) notes += "cold, ";
    if (!notes.empty()) text_ += " (" + notes.substr(0, notes.size() - 2) + ")";
    text_ += ":";
    for (size_t i = 0; i < b.succs.size(); ++i) {
      text_ += (i ? ", block" : " -> block") + std::to_string(b.succs[i]);
    }
    text_ += "\n";
    for (uint32_t i = b.begin; i < b.end; ++i) {
      text_ += "  ";
      inst_text(f_.insts[i]);
      text_ += "\n";
    }
  }

  void inst_text(const MachInst& inst) {
    std::span<const MachOperand> ops = f_.ops(inst), own = ops.first(ops.size() - inst.extra_count);
    bool pairs = inst.op == x64::Op::ParallelMove;
    const x64::OpDesc& desc = x64::desc(inst.op);
    size_t defs = 0;
    while (!pairs && defs < own.size() && own[defs].is_def) ++defs;
    for (size_t i = 0; i < defs; ++i) {
      if (i) text_ += ", ";
      operand(own[i]);
    }
    if (defs) text_ += " = ";
    text_ += desc.name;
    const char* separator = " ";
    for (size_t i = defs; i < own.size(); ++i) {
      if (pairs && !own[i].is_def) {
        text_ += " <- ";
      } else {
        text_ += separator;
      }
      separator = ", ";
      if (desc.memory >= 0 && i == static_cast<size_t>(desc.memory) && own.size() >= i + 5) {
        memory(own.subspan(i, 5));
        i += 4;
      } else if (i + 1 == own.size() && own[i].kind == MachOperand::Kind::Imm && takes_condition(inst.op)) {
        text_ += kConditions[own[i].value & 15];
      } else {
        operand(own[i]);
      }
    }
    if (inst.extra_count) extras(ops.last(inst.extra_count));
    if (inst.trap) text_ += " !" + std::string(base::spelling(static_cast<base::TrapCode>(inst.trap - 1)));
    if (inst.site != SiteKind::None) text_ += std::string(" ; ") + to_string(inst.site);
  }

  static bool takes_condition(x64::Op op) { return x64::desc(op).reads_flags && !x64::desc(op).writes_flags; }

  void extras(std::span<const MachOperand> operands) {
    for (bool defs : {false, true}) {
      text_ += defs ? " -> (" : " (";
      bool first = true;
      for (const MachOperand& o : operands) {
        if (o.is_def != defs) continue;
        if (!first) text_ += ", ";
        first = false;
        operand(o);
      }
      text_ += ")";
    }
  }

  void operand(const MachOperand& o) {
    switch (o.kind) {
      case MachOperand::Kind::None:
        text_ += "none";
        return;
      case MachOperand::Kind::Reg:
        reg(o.reg());
        return;
      case MachOperand::Kind::Imm:
        text_ += std::to_string(o.value);
        return;
      case MachOperand::Kind::Imm64:
        text_ += std::to_string(f_.wide_immediates[static_cast<size_t>(o.value)]);
        return;
      case MachOperand::Kind::Block:
        text_ += "block" + std::to_string(o.value);
        return;
      case MachOperand::Kind::Function:
        text_ += "function" + std::to_string(o.value);
        return;
      case MachOperand::Kind::Slot:
        text_ += "slot" + std::to_string(o.value);
        return;
      case MachOperand::Kind::Literal:
        literal(f_.literals[static_cast<size_t>(o.value)]);
        return;
      case MachOperand::Kind::JumpTable:
        text_ += "table" + std::to_string(o.value);
        return;
      case MachOperand::Kind::TrapStub:
        text_ += "trap:" + std::string(base::spelling(static_cast<base::TrapCode>(o.value)));
        return;
      case MachOperand::Kind::FsSegment:
        text_ += "fs";
        return;
      case MachOperand::Kind::Counter:
        text_ += "counter" + std::to_string(o.value);
        return;
    }
  }

  void literal(const Literal& l) {
    char buffer[48];
    if (l.bytes == 16) {
      snprintf(buffer, sizeof buffer, "0x%016llx'%016llx", static_cast<unsigned long long>(l.bits[1]),
               static_cast<unsigned long long>(l.bits[0]));
    } else {
      snprintf(buffer, sizeof buffer, "0x%0*llx", 2 * l.bytes, static_cast<unsigned long long>(l.bits[0]));
    }
    text_ += buffer;
  }

  void reg(Reg r) {
    if (!r.valid()) {
      text_ += "invalid";
    } else if (r.is_virtual()) {
      text_ += "v" + std::to_string(r.index());
    } else if (r.number() < 16) {
      text_ += kGprNames[r.number()];
    } else if (r.number() < 32) {
      text_ += "xmm" + std::to_string(r.number() - 16);
    } else {
      text_ += "r?" + std::to_string(r.number());
    }
  }

  void memory(std::span<const MachOperand> m) {
    text_ += m[4].kind == MachOperand::Kind::FsSegment ? "fs:[" : "[";
    const char* plus = "";
    if (m[0].kind != MachOperand::Kind::None) {
      operand(m[0]);
      plus = " + ";
    }
    if (m[2].kind != MachOperand::Kind::None) {
      text_ += plus;
      operand(m[2]);
      if (m[1].value != 1) text_ += "*" + std::to_string(m[1].value);
      plus = " + ";
    }
    int32_t displacement = m[3].value;
    if (displacement < 0 && *plus) {
      text_ += " - " + std::to_string(-int64_t{displacement});
    } else if (displacement != 0 || !*plus) {
      text_ += plus + std::to_string(displacement);
    }
    text_ += "]";
  }

  const MachFunction& f_;
  std::string text_;
};

}  // namespace

std::string print(const MachFunction& function) {
  return Printer(function).function();
}

std::string print(const MachFunction& function, const MachInst& inst) {
  return Printer(function).instruction(inst);
}

}  // namespace wago::codegen
