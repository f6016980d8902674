// Entry, edges and terminators.

#include <algorithm>

#include "codegen/select/x64/isel.h"

namespace wago::codegen::x64 {

namespace {

// From this many targets on, the default included, a switch goes through a table; fewer fit one comparison.
constexpr size_t kMinTableTargets = 4;

}  // namespace

void Isel::select_entry() {
  const Block& entry = ir_->block(block_);
  b_.begin_group(0, ~0u);
  b_.begin_moves();
  for (size_t i = 0; i < entry.params.size(); ++i) {
    const ValueLocation& place = own_convention_.params[i];
    if (place.reg.valid() && values_[entry.params[i].index()].uses)
      b_.move(reg_of(entry.params[i]), place.reg);
  }
  b_.end_moves();
  for (size_t i = 0; i < entry.params.size(); ++i) {
    const ValueLocation& place = own_convention_.params[i];
    Value param = entry.params[i];
    if (place.reg.valid() || !values_[param.index()].uses) continue;
    int32_t displacement = kIncomingArea + static_cast<int32_t>(place.stack);
    load(reg_of(param), type_of(param), Access::Full, Address::of(kRbp, displacement));
  }
}

// --- Edges

// Arguments into the target's parameters, all at once. Constants follow: by then every parameter's old value
// was read.
void Isel::pass_edge(const Edge& edge) {
  const std::vector<Value>& params = ir_->block(edge.target).params;
  std::span<const Value> args = ir_->args(edge);
  auto wanted = [&](size_t i) { return values_[params[i].index()].uses != 0; };
  auto constant_of = [&](size_t i) -> const Inst* {
    const Inst* def = ir_->def_of(args[i]);
    return def && is_constant(def->op) ? def : nullptr;
  };
  b_.begin_moves();
  for (size_t i = 0; i < args.size(); ++i) {
    if (wanted(i) && !constant_of(i)) b_.move(reg_of(params[i]), use(args[i]));
  }
  b_.end_moves();
  for (size_t i = 0; i < args.size(); ++i) {
    if (const Inst* def = wanted(i) ? constant_of(i) : nullptr)
      define_constant(reg_of(params[i]), def->type, def->imm);
  }
}

MachOperand Isel::target(size_t successor) const {
  return MachBuilder::block(block_index_[ir_->block(block_).succs[successor].target.index()]);
}

void Isel::select_jump(const Inst&) {
  pass_edge(ir_->block(block_).succs[0]);
  b_.add(Op::JMP_1, target(0));
}

// Emission drops the final jump, or inverts the last condition, where a target follows.
void Isel::branch(Condition condition, const MachOperand& yes, const MachOperand& no) {
  if (condition.kind == Condition::Kind::And) return branch(condition.inverse(), no, yes);
  b_.add(Op::JCC_1, yes, condition.first);
  if (condition.kind == Condition::Kind::Or) b_.add(Op::JCC_1, yes, condition.second);
  b_.add(Op::JMP_1, no);
}

// A block that can only go on to one other has to end in a jump: allocation moves values before its
// terminator, over any register that a computed jump might still read.
bool Isel::has_one_target() const {
  const std::vector<Edge>& succs = ir_->block(block_).succs;
  return std::all_of(succs.begin(), succs.end(), [&](const Edge& e) { return e.target == succs[0].target; });
}

void Isel::select_branch(const Inst& inst) {
  if (has_one_target()) return select_jump(inst);
  Condition found = condition(arg(inst, 0));
  branch(found, target(0), target(1));
}

void Isel::select_br_table(const Inst& inst) {
  Value index = arg(inst, 0);
  size_t count = ir_->block(block_).succs.size(), last = count - 1;
  if (has_one_target()) return select_jump(inst);
  if (count < kMinTableTargets) {
    if (count == 2) return branch(compare_zero(IntCond::Eq, index), target(0), target(1));
    b_.add(Op::CMP32ri, use_int(index), 1);
    b_.add(Op::JCC_1, target(0), Cc::B);
    b_.add(Op::JCC_1, target(1), Cc::E);
    b_.add(Op::JMP_1, target(2));
    return;
  }
  // The index is clamped to the default's entry, so that the block has one exit.
  Reg clamped = use(index);
  if (upper_bound(index, kBoundDepth) > last) {
    Reg largest = constant_reg(Type::I32, last), from = clamped;
    clamped = b_.gpr32();
    b_.add(Op::CMP32ri, from, static_cast<int32_t>(last));
    b_.copy(clamped, from);
    b_.add(Op::CMOV32rr, clamped, clamped, largest, Cc::A);
  }
  std::vector<uint32_t>& table = out_->jump_tables.emplace_back();
  for (size_t i = 0; i < count; ++i) table.push_back(static_cast<uint32_t>(target(i).value));
  Reg begin = b_.gpr64(), place = b_.gpr64();
  uint32_t number = static_cast<uint32_t>(out_->jump_tables.size() - 1);
  b_.add(Op::LEA64r, begin, Address::symbol(MachOperand::Kind::JumpTable, number));
  b_.add(Op::MOVSX64rm32, place, Address::of(begin, clamped, sizeof(int32_t)));
  b_.add(Op::ADD64rr, place, place, begin);
  b_.add(Op::JMP64r, place);
}

void Isel::select_return(const Inst& inst) {
  std::span<const Value> values = ir_->args(inst);
  pass_values(values, own_convention_.results, Address::of(kRbp, kIncomingArea));
  b_.add(Op::RET64);
  for (const ValueLocation& place : own_convention_.results) {
    if (place.reg.valid()) b_.extra_use(place.reg);
  }
}

void Isel::select_trap(const Inst& inst) {
  b_.add(Op::TRAP).trap = 1 + inst.aux;
}

// The comparison the prologue made, with the rsp it made it with: it holds again unless the limit was raised.
void Isel::select_check_interrupt() {
  out_->checks_interrupts = true;
  b_.add(Op::CMP64rm, kRbp, Address::thread(runtime::kThreadStackLimit)).site = SiteKind::InterruptCheck;
  b_.trap_if(Cc::B, base::TrapCode::StackExhausted).site = SiteKind::InterruptCheck;
}

// Ways are the first of the function's counters.
void Isel::select_count_way(const Inst& inst) {
  Address counter = Address::symbol(MachOperand::Kind::Counter, static_cast<uint32_t>(inst.imm));
  counter.index = use(arg(inst, 0));
  counter.scale = sizeof(uint64_t);
  b_.add(Op::INC64m, counter);
}

}  // namespace wago::codegen::x64
