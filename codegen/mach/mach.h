// Machine code before and after register allocation: MC instructions with virtual or physical registers.
//
// Operands follow LLVM MC's order for the opcode exactly (x86 memory operands are the usual five: base,
// scale, index, displacement, segment), so that emission is a one-to-one translation. After an instruction's
// MC operands come `extra_count` extra register operands: implicit physical uses and definitions (call
// arguments and results, rdx:rax of a division, cl of a shift).
//
// Rules between selection and allocation:
//  1. A virtual register may have several definitions. Tied operands name the same register: selection copies
//  first
//     (Copy d, a; ADD32rr d, d, b); allocation removes the copies it can.
//  2. All register uses of an instruction are read before any of its definitions is written. An operation
//  that writes
//     early is selected as several instructions or avoids sharing by other means.
//  3. Physical registers appear only in ParallelMove, Copy, extras, and fixed operands (r15, rbp, rsp); from
//  definition
//     to use they are live and allocation keeps everything else out. No physical register but r15, rbp and
//     rsp is live across a block boundary. r11 and xmm15 are never used by selection except inside one
//     emitted sequence that contains no virtual register definition point between their definition and use;
//     moves inserted by allocation may overwrite them at any instruction boundary, so in practice: do not use
//     them.
//  4. `clobbers` are overwritten by the instruction, after its uses are read.
//  5. Flags are never live across an instruction that allocation may insert moves around other than MOVs:
//  allocation inserts
//     only moves, loads and stores, none of which touches flags. Selection keeps the producer of flags and
//     their consumer in one block, with nothing between that writes flags.
//  6. Blocks are in layout order. A block with ParallelMove for its edge has a single successor. Every edge
//  has a
//     source with one successor or a target with one predecessor.
//
// After allocation every register is physical, ParallelMove and Copy are gone, spilled values are in `slots`.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/ids.h"
#include "base/vocabulary.h"
#include "codegen/decision_log.h"
#include "codegen/x64_tables.h"  // generated: x64::Op, x64::OpDesc, x64::desc()
#include "runtime/code_image.h"

namespace wago::codegen {

enum class RegClass : uint8_t { Gpr, Xmm };

// Physical registers: 0..15 general purpose by hardware number (rax rcx rdx rbx rsp rbp rsi rdi
// r8..r15), 16..31 xmm0..15. How wide an instruction uses one follows from the operand's register class in
// the MC tables.
class Reg {
 public:
  constexpr Reg() = default;
  static constexpr Reg gpr(uint32_t n) { return Reg(n); }
  static constexpr Reg xmm(uint32_t n) { return Reg(16 + n); }
  static constexpr Reg physical(uint32_t n) { return Reg(n); }
  static constexpr Reg virt(uint32_t n) { return Reg(kFirstVirtual + n); }
  static constexpr Reg from_bits(uint32_t bits) { return Reg(bits); }
  constexpr bool valid() const { return bits_ != kNone; }
  constexpr bool is_physical() const { return bits_ < 32; }
  constexpr bool is_virtual() const { return bits_ >= kFirstVirtual && bits_ != kNone; }
  constexpr uint32_t number() const { return bits_; }                 // of a physical register
  constexpr uint32_t index() const { return bits_ - kFirstVirtual; }  // of a virtual register
  constexpr uint32_t bits() const { return bits_; }
  constexpr RegClass physical_class() const { return bits_ < 16 ? RegClass::Gpr : RegClass::Xmm; }
  friend constexpr bool operator==(Reg a, Reg b) { return a.bits_ == b.bits_; }

 private:
  static constexpr uint32_t kNone = ~0u;
  static constexpr uint32_t kFirstVirtual = 64;
  constexpr explicit Reg(uint32_t bits) : bits_(bits) {}
  uint32_t bits_ = kNone;
};

constexpr Reg kRax = Reg::gpr(0), kRcx = Reg::gpr(1), kRdx = Reg::gpr(2), kRbx = Reg::gpr(3),
              kRsp = Reg::gpr(4), kRbp = Reg::gpr(5), kRsi = Reg::gpr(6), kRdi = Reg::gpr(7),
              kR8 = Reg::gpr(8), kR9 = Reg::gpr(9), kR10 = Reg::gpr(10), kR11 = Reg::gpr(11),
              kR12 = Reg::gpr(12), kR13 = Reg::gpr(13), kR14 = Reg::gpr(14), kR15 = Reg::gpr(15);
constexpr uint32_t bit(Reg r) {
  return uint32_t{1} << r.number();
}
constexpr Reg kContextReg = kR15;
constexpr Reg kScratchGpr = kR11;  // moves of allocation and frame code only
constexpr Reg kScratchXmm = Reg::xmm(15);
constexpr uint32_t kReservedRegs = bit(kRsp) | bit(kRbp) | bit(kR15) | bit(kR11) | bit(kScratchXmm);
constexpr uint32_t kAllocatableRegs = ~kReservedRegs;
constexpr uint32_t kGuestCallClobbers = ~(bit(kRsp) | bit(kRbp) | bit(kR15));
// System V: rbx, r12..r15 survive.
constexpr uint32_t kHelperCallClobbers =
    kGuestCallClobbers & ~(bit(kRbx) | bit(kR12) | bit(kR13) | bit(kR14));

struct MachOperand {
  enum class Kind : uint8_t {
    None,       // an absent register (no index, no segment)
    Reg,        // value: Reg::bits()
    Imm,        // value: signed 32-bit
    Imm64,      // value: index into MachFunction::wide_immediates
    Block,      // value: index of a MachBlock (branch target)
    Function,   // value: wasm function index (call target in the same image)
    Slot,       // value: index into MachFunction::slots; only as a memory base: [frame slot + displacement]
    Literal,    // value: index into MachFunction::literals; only as a memory base: [rip + literal]
    JumpTable,  // value: index into MachFunction::jump_tables; only as a memory base of LEA64r
    TrapStub,   // value: base::TrapCode; branch target: an out-of-line ud2 of this code at the instruction's
                // wasm_pc
    FsSegment,  // the fs segment register
    Counter,    // value: a counter of the function; only as a memory base: [its place in the own context]
  };
  Kind kind = Kind::None;
  bool is_def = false;  // Reg only
  int32_t value = 0;

  Reg reg() const { return Reg::from_bits(static_cast<uint32_t>(value)); }
  bool is_reg() const { return kind == Kind::Reg; }
};
static_assert(sizeof(MachOperand) == 8);

// What an instruction is there for, beyond what the wasm instruction asks: readers show it.
using runtime::SiteKind;
const char* to_string(SiteKind kind);

struct MachInst {
  x64::Op op = x64::Op::Copy;
  uint8_t operand_count = 0;  // extras included
  uint8_t extra_count = 0;
  uint8_t trap = 0;  // 1 + base::TrapCode a fault at this instruction means; 0: cannot fault
  SiteKind site = SiteKind::None;
  uint16_t reserved = 0;
  uint32_t first_operand = 0;  // in MachFunction::operands
  uint32_t wasm_pc = 0;
  uint32_t inline_site = ~0u;
  uint32_t clobbers = 0;  // physical registers, by bit
  // After allocation: the index of this instruction before it, of the definition repeated by a Rematerialize,
  // or kInserted. The checker relates the two by it.
  uint32_t origin = kInserted;
  static constexpr uint32_t kInserted = ~0u;
};

struct MachBlock {
  uint32_t begin = 0, end = 0;  // instructions [begin, end) of MachFunction::insts
  std::vector<uint32_t> succs;  // MachBlock indices, each once whatever the number of edges
  std::vector<uint32_t> preds;
  uint32_t loop_depth = 0;
  bool loop_header = false;  // aligned to 32 bytes
  bool cold = false;
};

struct VRegInfo {
  RegClass cls = RegClass::Gpr;
  uint8_t bytes = 8;  // 4, 8 or 16: what a spill stores. Reloading 4 bytes zero-extends.
  // The single defining instruction, if it has no register uses but r15, no flags effect, and may be executed
  // again anywhere instead of a reload; ~0u otherwise.
  uint32_t rematerialize = ~0u;
};

struct Literal {
  uint64_t bits[2] = {0, 0};
  uint8_t bytes = 8;  // 4, 8 or 16, aligned to itself
};

struct MachFunction {
  uint32_t function = 0;  // wasm function index
  std::vector<MachInst> insts;
  std::vector<MachOperand> operands;
  std::vector<uint64_t> wide_immediates;
  std::vector<MachBlock> blocks;  // layout order; [0, block_count)
  uint32_t block_count = 0;
  std::vector<VRegInfo> vregs;
  std::vector<uint8_t> slots;  // spill slots: bytes of each (4, 8, 16); emission places them
  std::vector<Literal> literals;
  std::vector<std::vector<uint32_t>> jump_tables;  // MachBlock indices
  uint32_t outgoing_bytes = 0;                     // stack arguments and results of calls, at [rsp + ...]
  bool saves_context = false;  // makes calls that change r15: the prologue stores it at [rbp - 8]
  bool is_leaf = true;         // no calls at all
  // Compares rbp with the stack limit in its loops, so its prologue must have done so before.
  bool checks_interrupts = false;

  DecisionLog decisions;  // of selection alone

  // Counted by allocation for FunctionStatistics.
  uint32_t spills = 0, reloads = 0, rematerialized = 0, moves = 0;

  void clear();  // keeps capacity
  std::span<MachOperand> ops(const MachInst& i) {
    return std::span<MachOperand>(operands).subspan(i.first_operand, i.operand_count);
  }
  std::span<const MachOperand> ops(const MachInst& i) const {
    return std::span<const MachOperand>(operands).subspan(i.first_operand, i.operand_count);
  }
  Reg new_vreg(RegClass cls, uint8_t bytes);
  uint32_t literal(uint64_t low, uint64_t high, uint8_t bytes);  // merges equal ones
};

// "v3 = ADD32rr v3, v7" one instruction a line, blocks with their edges: dumps, file tests.
std::string print(const MachFunction& function);
std::string print(const MachFunction& function, const MachInst& inst);
// Rules 1, 3 and 6 above, operand counts and kinds against the tables. An empty string, or what is wrong and
// where.
std::string verify(const MachFunction& function, bool allocated);

}  // namespace wago::codegen
