// The allocation checker. It knows the machine code before and after, and nothing of how the second came to
// be.
//
// It runs the allocated code symbolically. A state says for each place (register or spill slot, in lanes of
// eight bytes) which names of the code before it holds the current value of: virtual registers, and physical
// registers standing for themselves. States meet by intersection where paths meet, to a fixpoint; then every
// instruction is checked.
//
// Checked:
//  * every instruction before is there once, in order, in its block, unchanged but for registers; what may be
//  missing:
//    Copy, ParallelMove, Undef, and a rematerialisable definition;
//  * each register an instruction reads holds the value of the register it named before, on every path;
//  * fixed operands stay, and hold what was put there; tied operands are one register; classes agree;
//  * an instruction does not write two values, or a value and a clobber, to one register;
//  * what was added is a move, load, store or rematerialisation (so flags are unharmed) as wide as the value,
//  in
//    slots of allocation's own.
// Not checked: that moves are necessary or well placed; frame layout; literals, jump tables and other data;
// counts of FunctionStatistics; that Copy and ParallelMove were needed in the first place.

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "codegen/allocate/allocate.h"

namespace wago::codegen {

namespace {

// A lane of a place that holds (a lane of) a named value, of which `bytes` matter. 0: any value will do, so
// every lane holds it, whatever is written there.
struct Held {
  uint32_t name = 0;  // Reg::bits()
  uint8_t lane = 0;
  uint8_t bytes = 0;
  bool same_value(const Held& other) const { return name == other.name && lane == other.lane; }
  friend bool operator<(const Held& a, const Held& b) {
    return a.name != b.name ? a.name < b.name : a.lane < b.lane;
  }
};
using HeldSet = std::vector<Held>;  // sorted

struct SymbolicState {
  bool reached = false;
  std::vector<HeldSet> lanes;  // two of each place: registers by number, slots, values that can be made again
};

// A move that allocation added.
struct Transfer {
  uint32_t to = 0, from = 0;  // lanes
  uint8_t bytes = 8;          // 16: both lanes
  bool to_register = true;
};

class Checker {
 public:
  Checker(const MachFunction& before, const MachFunction& after) : before_(before), after_(after) {}

  std::string run() {
    if (!check_shape()) return error_;
    remade_place_.resize(before_.vregs.size());
    for (uint32_t v = 0; v < before_.vregs.size(); ++v) {
      if (before_.vregs[v].rematerialize != ~0u)
        remade_place_[v] = static_cast<uint32_t>(32 + after_.slots.size() + remade_count_++);
    }
    states_.resize(before_.block_count);
    states_[0] = entry_state();
    worklist_.push_back(0);
    queued_.assign(before_.block_count, false);
    while (!worklist_.empty() && error_.empty()) {
      uint32_t b = worklist_.front();
      worklist_.pop_front();
      queued_[b] = false;
      run_block(b, false);
    }
    for (uint32_t b = 0; b < before_.block_count && error_.empty(); ++b) {
      if (states_[b].reached) run_block(b, true);
    }
    return error_;
  }

 private:
  bool check_shape() {
    if (before_.block_count != after_.block_count) return fail("the number of blocks differs");
    for (uint32_t b = 0; b < before_.block_count; ++b) {
      if (before_.blocks[b].succs != after_.blocks[b].succs)
        return fail("the edges of " + name_block(b) + " differ");
    }
    if (after_.slots.size() < before_.slots.size()) return fail("slots are missing");
    return before_.block_count != 0 || fail("there are no blocks");
  }

  SymbolicState entry_state() const {
    SymbolicState state;
    state.reached = true;
    state.lanes.resize(2 * (32 + after_.slots.size() + remade_count_));
    for (uint32_t r = 0; r < 32; ++r) {
      state.lanes[2 * r] = {{r, 0, 8}};
      if (r >= 16) state.lanes[2 * r + 1] = {{r, 1, 8}};
    }
    return state;
  }

  // --- Failure
  // -------------------------------------------------------------------------------------------------

  // Only the last round reports: before the fixpoint a state claims too much, never too little.
  bool fail(const std::string& message) {
    if (error_.empty()) error_ = message;
    return false;
  }
  std::string name_block(uint32_t b) const { return "block " + std::to_string(b); }
  static std::string name_reg(uint32_t bits) {
    Reg reg = Reg::from_bits(bits);
    if (reg.is_virtual()) return "v" + std::to_string(reg.index());
    return (reg.number() < 16 ? "gpr" : "xmm") + std::to_string(reg.number() % 16);
  }
  std::string at(uint32_t inst) const {
    return name_block(block_) + ", instruction " + std::to_string(inst) + " (" +
           x64::desc(before_.insts[inst].op).name + "): ";
  }
  std::string at_inserted(uint32_t inst) const {
    return name_block(block_) + ", instruction " + std::to_string(inst) + " after allocation (" +
           x64::desc(after_.insts[inst].op).name + "): ";
  }
  std::string names(const HeldSet& set) const {
    std::string text;
    for (const Held& held : set) text += (text.empty() ? "" : ", ") + name_reg(held.name);
    return text.empty() ? "nothing known" : text;
  }

  // --- One block
  // -----------------------------------------------------------------------------------------------

  void run_block(uint32_t b, bool report) {
    block_ = b;
    report_ = report;
    state_ = states_[b];
    const MachBlock& old_block = before_.blocks[b];
    uint32_t next = old_block.begin;  // of `before`, not yet done
    for (uint32_t i = after_.blocks[b].begin; i < after_.blocks[b].end; ++i) {
      // Names change before values are moved to suit: the width of a move is that of the new name.
      if (!pass_over(next, next_original(i, next))) return;
      const MachInst& inst = after_.insts[i];
      if (is_repetition(inst)) {
        if (!apply_rematerialization(i)) return;
        continue;
      }
      if (inst.origin == MachInst::kInserted) {
        if (!apply_inserted(i)) return;
        continue;
      }
      if (inst.origin != next || next >= old_block.end) {
        fail(at_inserted(i) + "out of order, twice, or in another block");
        return;
      }
      if (!apply_original(inst.origin, i)) return;
      ++next;
      // What comes behind a branch is not executed where it is taken.
      for (const MachOperand& operand : after_.ops(inst)) {
        if (operand.kind == MachOperand::Kind::Block) flow_to(static_cast<uint32_t>(operand.value));
      }
    }
    if (!pass_over(next, old_block.end)) return;
    for (uint32_t successor : old_block.succs) flow_to(successor);
  }

  // A definition that was not dropped carries its own site.
  bool is_repetition(const MachInst& inst) const {
    return inst.site == SiteKind::Rematerialize && inst.origin < before_.insts.size() &&
           is_remade(inst.origin);
  }

  // Of `before`: what the first unchanged instruction from `i` on was, or the end of the block.
  uint32_t next_original(uint32_t i, uint32_t at_least) const {
    uint32_t end = after_.blocks[block_].end, old_end = before_.blocks[block_].end;
    while (i < end && (after_.insts[i].origin == MachInst::kInserted || is_repetition(after_.insts[i]))) ++i;
    return i == end ? old_end : std::clamp(after_.insts[i].origin, at_least, old_end);
  }

  bool is_remade(uint32_t inst) const {
    std::span<const MachOperand> operands = before_.ops(before_.insts[inst]);
    return !operands.empty() && operands[0].is_reg() && operands[0].is_def &&
           operands[0].reg().is_virtual() && before_.vregs[operands[0].reg().index()].rematerialize == inst;
  }

  // Instructions of `before` that left no instruction of their own.
  bool pass_over(uint32_t& next, uint32_t to) {
    for (; next < to; ++next) {
      uint32_t i = next;
      const MachInst& inst = before_.insts[i];
      std::span<const MachOperand> operands = before_.ops(inst);
      if (inst.op == x64::Op::Copy || inst.op == x64::Op::ParallelMove) {
        rename(operands);
      } else if (inst.op == x64::Op::Undef) {
        kill(operands[0].reg().bits());
        for (HeldSet& set : state_.lanes) {
          for (uint8_t lane : {uint8_t{0}, uint8_t{1}}) insert(set, {operands[0].reg().bits(), lane, 0});
        }
      } else if (is_remade(i)) {
        kill(operands[0].reg().bits());
        define_remade(operands[0].reg());
      } else {
        return fail(at(i) + "is missing after allocation");
      }
    }
    return true;
  }

  void flow_to(uint32_t b) {
    SymbolicState& target = states_[b];
    bool changed = false;
    if (!target.reached) {
      target = state_;
      changed = true;
    } else {
      for (size_t l = 0; l < target.lanes.size(); ++l) changed |= meet(target.lanes[l], state_.lanes[l]);
    }
    if (changed && !queued_[b]) {
      queued_[b] = true;
      worklist_.push_back(b);
    }
  }

  // Keeps what both hold; where different numbers of bytes matter, the greater.
  static bool meet(HeldSet& into, const HeldSet& other) {
    bool changed = false;
    size_t kept = 0, o = 0;
    for (Held held : into) {
      while (o < other.size() && other[o] < held) ++o;
      if (o == other.size() || !other[o].same_value(held)) {
        changed = true;
        continue;
      }
      if (other[o].bytes > held.bytes) {
        held.bytes = other[o].bytes;
        changed = true;
      }
      into[kept++] = held;
    }
    into.resize(kept);
    return changed;
  }

  static void insert(HeldSet& set, Held held) {
    auto it = std::lower_bound(set.begin(), set.end(), held);
    if (it != set.end() && it->same_value(held))
      *it = held;
    else
      set.insert(it, held);
  }

  void kill(uint32_t name) {
    for (HeldSet& set : state_.lanes)
      std::erase_if(set, [name](const Held& held) { return held.name == name; });
  }

  void define(uint32_t name, uint32_t place, uint8_t bytes) {
    insert(state_.lanes[2 * place], {name, 0, std::min<uint8_t>(bytes, 8)});
    if (bytes == 16) insert(state_.lanes[2 * place + 1], {name, 1, 8});
  }

  // What can be made again is, once defined, always there to be had.
  void define_remade(Reg name) {
    if (name.is_virtual() && before_.vregs[name.index()].rematerialize != ~0u)
      define(name.bits(), remade_place_[name.index()], bytes_of(name));
  }

  uint8_t bytes_of(Reg reg) const {
    if (reg.is_virtual()) return before_.vregs[reg.index()].bytes;
    return reg.number() < 16 ? 8 : 16;
  }

  // Copy and ParallelMove move no value: what holds the source now holds the target as well.
  void rename(std::span<const MachOperand> operands) {
    struct Pair {
      uint32_t from, to;
    };
    std::vector<Pair> pairs;
    std::vector<uint32_t> targets;
    for (size_t k = 0; k + 1 < operands.size(); k += 2) {
      pairs.push_back({operands[k + 1].reg().bits(), operands[k].reg().bits()});
      targets.push_back(operands[k].reg().bits());
    }
    std::sort(pairs.begin(), pairs.end(), [](Pair a, Pair b) { return a.from < b.from; });
    std::sort(targets.begin(), targets.end());
    for (HeldSet& set : state_.lanes) {
      HeldSet result;
      for (const Held& held : set) {
        if (!std::binary_search(targets.begin(), targets.end(), held.name)) result.push_back(held);
        auto it = std::lower_bound(pairs.begin(), pairs.end(), held.name,
                                   [](Pair pair, uint32_t name) { return pair.from < name; });
        for (; it != pairs.end() && it->from == held.name; ++it) {
          uint8_t whole = bytes_of(Reg::from_bits(it->to));
          if (held.lane == 1 && whole < 16) continue;
          result.push_back({it->to, held.lane, std::min<uint8_t>(held.bytes, std::min<uint8_t>(whole, 8))});
        }
      }
      std::sort(result.begin(), result.end());
      set = std::move(result);
    }
  }

  // --- Added instructions
  // --------------------------------------------------------------------------------------

  bool apply_rematerialization(uint32_t i) {
    const MachInst& inst = after_.insts[i];
    const MachInst& original = before_.insts[inst.origin];
    std::span<const MachOperand> operands = after_.ops(inst), originals = before_.ops(original);
    if (inst.op != original.op || operands.size() != originals.size())
      return fail(at_inserted(i) + "is not the definition it repeats");
    for (size_t k = 1; k < operands.size(); ++k) {
      if (operands[k].kind != originals[k].kind || operands[k].value != originals[k].value)
        return fail(at_inserted(i) + "differs from the definition it repeats in operand " +
                    std::to_string(k));
    }
    Reg name = originals[0].reg();
    if (!operands[0].is_reg() || !fits(name, operands[0].reg()))
      return fail(at_inserted(i) + "defines a register of the wrong class");
    for (uint32_t lane : {0, 1})
      state_.lanes[2 * operands[0].reg().number() + lane] =
          state_.lanes[2 * remade_place_[name.index()] + lane];
    return true;
  }

  bool apply_inserted(uint32_t i) {
    Transfer transfer;
    if (!decode_transfer(after_.insts[i], transfer))
      return fail(at_inserted(i) + "is not a move of allocation");
    HeldSet low = carried(transfer.from, transfer.bytes);
    if (transfer.bytes == 16) {
      state_.lanes[transfer.to + 1] = carried(transfer.from + 1, 8);
    } else if (transfer.to_register) {
      state_.lanes[transfer.to + 1] = carried(transfer.to + 1, 0);
    }
    state_.lanes[transfer.to] = std::move(low);
    return true;
  }

  HeldSet carried(uint32_t lane, uint8_t bytes) const {
    HeldSet set = state_.lanes[lane];
    std::erase_if(set, [bytes](const Held& held) { return held.bytes > bytes; });
    return set;
  }

  bool decode_transfer(const MachInst& inst, Transfer& out) const {
    using x64::Op;
    std::span<const MachOperand> operands = after_.ops(inst);
    switch (inst.op) {
      case Op::MOV32rr:
      case Op::MOV64rr:
      case Op::VMOVAPSrr:
        out.bytes = inst.op == Op::MOV32rr ? 4 : inst.op == Op::MOV64rr ? 8 : 16;
        if (!operands[0].is_reg() || !operands[1].is_reg()) return false;
        out.to = 2 * operands[0].reg().number();
        out.from = 2 * operands[1].reg().number();
        return true;
      case Op::MOV32rm:
      case Op::MOV64rm:
      case Op::VMOVSSrm:
      case Op::VMOVSDrm:
      case Op::VMOVUPSrm:
        out.bytes = width_of(inst.op);
        out.to = 2 * operands[0].reg().number();
        return decode_slot(operands.subspan(1, 5), out.bytes, false, out.from);
      case Op::MOV32mr:
      case Op::MOV64mr:
      case Op::VMOVSSmr:
      case Op::VMOVSDmr:
      case Op::VMOVUPSmr:
        out.bytes = width_of(inst.op);
        out.to_register = false;
        out.from = 2 * operands[5].reg().number();
        return decode_slot(operands.subspan(0, 5), out.bytes, true, out.to);
      default:
        return false;
    }
  }

  static uint8_t width_of(x64::Op op) {
    using x64::Op;
    switch (op) {
      case Op::MOV32rm:
      case Op::MOV32mr:
      case Op::VMOVSSrm:
      case Op::VMOVSSmr:
        return 4;
      case Op::VMOVUPSrm:
      case Op::VMOVUPSmr:
        return 16;
      default:
        return 8;
    }
  }

  // A slot is written whole (a slot of 16 bytes by halves, or whole), and never read beyond its end.
  bool decode_slot(std::span<const MachOperand> memory, uint8_t bytes, bool store, uint32_t& lane) const {
    if (memory[0].kind != MachOperand::Kind::Slot || memory[2].kind != MachOperand::Kind::None) return false;
    uint32_t slot = static_cast<uint32_t>(memory[0].value);
    uint32_t displacement = static_cast<uint32_t>(memory[3].value);
    if (slot < before_.slots.size() || slot >= after_.slots.size()) return false;
    uint8_t size = after_.slots[slot];
    if (displacement + bytes > size || (displacement != 0 && displacement != 8)) return false;
    if (store && bytes != std::min<uint8_t>(size, 8) && bytes != size) return false;
    lane = 2 * (32 + slot) + (displacement == 8 ? 1 : 0);
    return true;
  }

  // --- Instructions that were there
  // ----------------------------------------------------------------------------

  bool fits(Reg name, Reg place) const {
    if (!place.is_physical()) return false;
    RegClass cls = name.is_physical() ? name.physical_class() : before_.vregs[name.index()].cls;
    return cls == place.physical_class();
  }

  void write_register(Reg reg) {
    for (uint32_t lane : {0, 1}) {
      state_.lanes[2 * reg.number() + lane] = carried(2 * reg.number() + lane, 0);
    }
  }

  bool holds(uint32_t place, Reg name) const {
    auto has = [&](uint8_t lane) {
      const HeldSet& set = state_.lanes[2 * place + lane];
      return std::any_of(set.begin(), set.end(),
                         [&](const Held& held) { return held.name == name.bits() && held.lane == lane; });
    };
    bool wide = name.is_virtual() && bytes_of(name) == 16;
    return has(0) && (!wide || has(1));
  }

  bool apply_original(uint32_t old_index, uint32_t i) {
    const MachInst& old_inst = before_.insts[old_index];
    const MachInst& inst = after_.insts[i];
    std::span<const MachOperand> olds = before_.ops(old_inst), news = after_.ops(inst);
    if (old_inst.op != inst.op || olds.size() != news.size() || old_inst.extra_count != inst.extra_count ||
        old_inst.trap != inst.trap || old_inst.site != inst.site || old_inst.wasm_pc != inst.wasm_pc ||
        old_inst.inline_site != inst.inline_site || old_inst.clobbers != inst.clobbers)
      return fail(at(old_index) + "was changed by allocation");
    int tied = x64::desc(inst.op).tied;
    if (tied >= 0 && news[0].is_reg() && !(news[0].reg() == news[static_cast<size_t>(tied)].reg()))
      return fail(at(old_index) + "tied operands in different registers");
    for (size_t k = 0; k < olds.size(); ++k) {
      if (!check_operand(old_index, k, olds[k], news[k])) return false;
    }
    for (uint32_t r = 0; r < 32; ++r) {
      if ((inst.clobbers >> r & 1) != 0) write_register(Reg::physical(r));
    }
    for (const MachOperand& old_operand : olds) {
      if (old_operand.is_reg() && old_operand.is_def) kill(old_operand.reg().bits());
    }
    return apply_definitions(old_index, olds, news);
  }

  bool check_operand(uint32_t old_index, size_t k, const MachOperand& old_operand,
                     const MachOperand& operand) {
    std::string where = report_ ? at(old_index) + "operand " + std::to_string(k) + " " : std::string();
    if (old_operand.kind != operand.kind || old_operand.is_def != operand.is_def)
      return fail(where + "was changed");
    if (!old_operand.is_reg()) return old_operand.value == operand.value || fail(where + "was changed");
    Reg name = old_operand.reg(), place = operand.reg();
    if (name.is_physical() ? !(name == place) : !fits(name, place))
      return fail(where + "(" + name_reg(name.bits()) +
                  ") is in a register of another class or not where it is fixed");
    if (name.is_virtual() && (kReservedRegs & bit(place)) != 0)
      return fail(where + "is in a reserved register");
    if (operand.is_def || !report_ || holds(place.number(), name)) return true;
    return fail(where + "reads " + name_reg(name.bits()) + " from " + name_reg(place.bits()) +
                ", which holds " + names(state_.lanes[2 * place.number()]));
  }

  bool apply_definitions(uint32_t old_index, std::span<const MachOperand> olds,
                         std::span<const MachOperand> news) {
    uint32_t written = 0;
    for (size_t k = 0; k < olds.size(); ++k) {
      if (!olds[k].is_reg() || !olds[k].is_def) continue;
      Reg name = olds[k].reg(), place = news[k].reg();
      if ((written & bit(place)) != 0)
        return fail(at(old_index) + "writes " + name_reg(place.bits()) + " twice");
      if (name.is_virtual() && (before_.insts[old_index].clobbers & bit(place)) != 0)
        return fail(at(old_index) + "defines " + name_reg(name.bits()) + " in a register it clobbers");
      written |= bit(place);
      write_register(place);
      define(name.bits(), place.number(), bytes_of(name));
      define_remade(name);
    }
    return true;
  }

  const MachFunction& before_;
  const MachFunction& after_;
  // Places after registers and slots: one for each value that can be made again, which holds it from
  // definition on.
  std::vector<uint32_t> remade_place_;
  uint32_t remade_count_ = 0;
  std::vector<SymbolicState> states_;  // at the entry of each block
  std::deque<uint32_t> worklist_;
  std::vector<bool> queued_;
  SymbolicState state_;
  uint32_t block_ = 0;
  bool report_ = false;
  std::string error_;
};

}  // namespace

std::string check_allocation(const MachFunction& before, const MachFunction& after) {
  return Checker(before, after).run();
}

}  // namespace wago::codegen
