#include "codegen/build/appender.h"

#include <algorithm>
#include <iterator>

namespace wago::codegen {

namespace {

uint32_t hash_of(const Expression& e) {
  uint64_t h = static_cast<uint64_t>(e.op) << 16 | static_cast<uint64_t>(e.type) << 8 | e.aux;
  auto mix = [&h](uint64_t word) {
    h = (h ^ word) * 0x9e3779b97f4a7c15u;
    h ^= h >> 29;
  };
  if (e.op != Op::BoundsCheck) mix(e.imm);
  mix(uint64_t{e.args[0].index()} << 32 | e.args[1].index());
  if (e.arg_count == 3) mix(e.args[2].index());
  return static_cast<uint32_t>(h >> 24);
}

}  // namespace

void Appender::start(IrFunction& function, const SsaConstruction& ssa) {
  function_ = &function;
  ssa_ = &ssa;
  block_ = BlockId(0);
  pc_ = 0;
  std::fill(std::begin(zeros_), std::end(zeros_), Value());
  mem_base_ = Value();
  used_ = 0;
  ++generation_;
  if (slots_.empty() || generation_ == 0) {
    slots_.assign(std::max<size_t>(slots_.size(), 1024), Slot());
    generation_ = 1;
  }
}

Value Appender::compute(Op op, Type type, std::initializer_list<Value> args, uint64_t imm, uint8_t aux) {
  Expression e;
  e.op = op;
  e.type = type;
  e.aux = aux;
  e.imm = imm;
  e.arg_count = static_cast<uint8_t>(args.size());
  std::copy(args.begin(), args.end(), e.args);
  const Value existing = simplify(e, *function_, *this);
  note_simplified(function_->decisions, op, e, existing, pc_);
  return existing.valid() ? existing : number(e);
}

Value Appender::constant(Type type, uint64_t bits) {
  Expression e;
  e.op = is_float(type) ? Op::Fconst : Op::Iconst;
  e.type = type;
  e.imm = bits;
  return number(e);
}

Value Appender::constant(Vector vector) {
  Expression e;
  e.op = Op::Vconst;
  e.type = Type::V128;
  e.imm = function_->vector(vector);
  return number(e);
}

Value Appender::number(const Expression& e) {
  Slot& slot = find_slot(e);
  if (holds(slot)) {
    if (e.arg_count != 0) function_->decisions.note(base::DecisionKind::Numbered, pc_);
    return function_->inst(slot.inst).result;
  }
  const InstId id = append(e.op, e.type, std::span(e.args, e.arg_count), e.imm, e.aux);
  occupy(slot, id, ssa_->region());
  return function_->inst(id).result;
}

InstId Appender::append(Op op, Type type, std::span<const Value> args, uint64_t imm, uint8_t aux) {
  const InstId id = function_->new_inst(op, type, args, imm, aux);
  function_->inst(id).wasm_pc = pc_;
  function_->append(block_, id);
  return id;
}

InstId Appender::append_call(Op op, std::span<const Type> results, std::span<const Value> args,
                             uint64_t imm) {
  const InstId id = function_->new_inst(op, results, args, imm);
  function_->inst(id).wasm_pc = pc_;
  function_->append(block_, id);
  return id;
}

Value Appender::at_entry(Op op, Type type) {
  const InstId id = function_->new_inst(op, type, std::span<const Value>());
  const InstId first = function_->block(BlockId(0)).first;
  if (first.valid()) {
    function_->insert_before(first, id);
  } else {
    function_->append(BlockId(0), id);
  }
  Expression e;
  e.op = op;
  e.type = type;
  occupy(find_slot(e), id, RegionId(0));
  return function_->inst(id).result;
}

Value Appender::zero(Type type) {
  Value& value = zeros_[static_cast<size_t>(type)];
  if (!value.valid()) {
    value = at_entry(is_float(type) ? Op::Fconst : type == Type::V128 ? Op::Vconst : Op::Iconst, type);
  }
  return value;
}

Value Appender::mem_base() {
  if (!mem_base_.valid()) mem_base_ = at_entry(Op::MemBase, Type::I64);
  return mem_base_;
}

void Appender::bounds_check(Value index, uint64_t end) {
  Expression e;
  e.op = Op::BoundsCheck;
  e.arg_count = 1;
  e.args[0] = index;
  Slot& slot = find_slot(e);
  if (holds(slot) && function_->inst(slot.inst).imm >= end) {
    return function_->decisions.note(base::DecisionKind::BoundsCheckImplied, pc_);
  }
  occupy(slot, append(Op::BoundsCheck, Type::None, {index}, end), ssa_->region());
}

bool Appender::matches(const Expression& e, const Inst& inst) const {
  return inst.op == e.op && inst.type == e.type && inst.aux == e.aux && inst.arg_count == e.arg_count &&
         (inst.imm == e.imm || e.op == Op::BoundsCheck) &&
         std::equal(e.args, e.args + e.arg_count, inst.inline_args);
}

// The expression's slot, or the empty one where it belongs; there is always room for one more.
Appender::Slot& Appender::find_slot(const Expression& e) {
  if (2 * used_ >= slots_.size()) make_room();
  const uint32_t hash = hash_of(e);
  const uint32_t mask = static_cast<uint32_t>(slots_.size() - 1);
  for (uint32_t i = hash & mask;; i = (i + 1) & mask) {
    Slot& slot = slots_[i];
    if (slot.generation != generation_) {
      slot.hash = hash;
      return slot;
    }
    if (slot.hash == hash && matches(e, function_->inst(slot.inst))) return slot;
  }
}

void Appender::occupy(Slot& slot, InstId inst, RegionId region) {
  if (slot.generation != generation_) ++used_;
  slot.generation = generation_;
  slot.inst = inst;
  slot.region = region;
}

// Forgets what is in regions that have been closed: most of it, so that the table stays as small, and as
// near, as the numbers that hold. What was thrown out or added pays for the sweep.
void Appender::make_room() {
  uint32_t holding = 0;
  for (const Slot& slot : slots_) holding += holds(slot);
  std::vector<Slot> old(4 * size_t{holding} > slots_.size() ? 2 * slots_.size() : slots_.size());
  old.swap(slots_);
  const uint32_t mask = static_cast<uint32_t>(slots_.size() - 1);
  for (const Slot& slot : old) {
    if (!holds(slot)) continue;
    uint32_t i = slot.hash & mask;
    while (slots_[i].generation == generation_) i = (i + 1) & mask;
    slots_[i] = slot;
  }
  used_ = holding;
}

}  // namespace wago::codegen
