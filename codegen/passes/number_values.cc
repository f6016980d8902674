#include "codegen/passes/number_values.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/huge_pages.h"

namespace wago::codegen {

namespace {

bool is_numbered(const Inst& inst) {
  const uint8_t flags = info(inst.op).flags;
  // Constants are made where they are used, and cost nothing to have twice.
  if (inst.op == Op::Iconst || inst.op == Op::Fconst || inst.op == Op::Vconst || inst.op == Op::BoundsCheck) {
    return false;
  }
  return (flags == kPure || flags == kTraps) && inst.arg_count <= 3 && inst.result_count == 1;
}

uint32_t hash_of(const Inst& inst) {
  uint64_t h =
      static_cast<uint64_t>(inst.op) | uint64_t{inst.aux} << 16 | static_cast<uint64_t>(inst.type) << 24;
  auto mix = [&h](uint64_t word) { h = (h ^ word) * 0x9e3779b97f4a7c15u, h ^= h >> 29; };
  mix(inst.imm);
  for (uint32_t i = 0; i < inst.arg_count; ++i) mix(inst.inline_args[i].index());
  return static_cast<uint32_t>(h >> 16);
}

bool equal(const Inst& a, const Inst& b) {
  return a.op == b.op && a.type == b.type && a.aux == b.aux && a.imm == b.imm && a.arg_count == b.arg_count &&
         std::equal(a.inline_args, a.inline_args + a.arg_count, b.inline_args);
}

}  // namespace

bool NumberValues::run(IrFunction& function, const ReversePostorder& order, const Dominators& dominators) {
  function_ = &function;
  const uint32_t bucket_count =
      std::bit_ceil(static_cast<uint32_t>(function.insts.size()) - function.counting_instructions + 16);
  base::reserve_large(buckets_, bucket_count);
  buckets_.assign(bucket_count, kNone);
  entries_.clear();
  replaced_.clear();
  bool folds_branch = false;
  for (BlockId block : order.blocks()) {
    for (InstId id = function.block(block).first, next; id.valid(); id = next) {
      Inst& inst = function.inst(id);
      next = inst.next;
      for (Value& arg : function.args(inst)) arg = replaced_.resolve(arg);
      if (inst.op == Op::Branch || inst.op == Op::BrTable) {
        folds_branch |= simplify_branch(function.block(block));
      } else if (is_numbered(inst) && !simplify_in_place(id) && is_numbered(function.inst(id))) {
        const Value found = find(function.inst(id), block, dominators);
        if (found.valid()) {
          function.decisions.note(base::DecisionKind::Numbered, function.inst(id));
          replaced_.replace(function.inst(id).result, found);
          function.remove(id);
        } else {
          remember(id);
        }
      }
    }
  }
  replaced_.apply(function);
  return folds_branch;
}

Value NumberValues::constant(Type type, uint64_t bits) {
  const InstId id = function_->new_inst(is_float(type) ? Op::Fconst : Op::Iconst, type, {}, bits);
  function_->inst(id).wasm_pc = function_->inst(current_).wasm_pc;
  function_->inst(id).inline_site = function_->inst(current_).inline_site;
  function_->insert_before(current_, id);
  return function_->inst(id).result;
}

// True if the instruction is gone, because its result is a value that was there.
bool NumberValues::simplify_in_place(InstId id) {
  current_ = id;
  const Inst& before = function_->inst(id);
  Expression e;
  e.op = before.op;
  e.type = before.type;
  e.aux = before.aux;
  e.imm = before.imm;
  e.arg_count = static_cast<uint8_t>(before.arg_count);
  std::copy(before.inline_args, before.inline_args + before.arg_count, e.args);
  const Op op = e.op;
  const Value existing = simplify(e, *function_, *this);
  Inst& inst = function_->inst(id);
  note_simplified(function_->decisions, op, e, existing, inst.wasm_pc, inst.inline_site);
  if (existing.valid()) {
    replaced_.replace(inst.result, existing);
    function_->remove(id);
    return true;
  }
  inst.op = e.op;
  inst.aux = e.aux;
  inst.imm = e.imm;
  inst.arg_count = e.arg_count;
  std::copy(e.args, e.args + 3, inst.inline_args);
  return false;
}

// True if the way is known.
bool NumberValues::simplify_branch(Block& block) {
  Inst& inst = function_->inst(block.last);
  if (inst.op == Op::Branch && simplify_condition(inst.inline_args[0], *function_)) {
    std::swap(block.succs[0], block.succs[1]);
  }
  return constant_bits(*function_, inst.inline_args[0]).known;
}

// Near those of operations on values of the same time, so that a large function's table is walked along and
// not jumped about in.
uint32_t& NumberValues::bucket_of(const Inst& inst, uint32_t hash) {
  constexpr uint32_t kSpread = 64;  // buckets for the operations on one newest value
  uint32_t newest = 0;
  for (uint32_t i = 0; i < inst.arg_count; ++i) newest = std::max(newest, inst.inline_args[i].index());
  return buckets_[(newest + hash % kSpread) & (buckets_.size() - 1)];
}

// Looks at a short chain of the nearest: longer ones come from code with thousands of equal operations in
// sibling blocks.
Value NumberValues::find(const Inst& inst, BlockId block, const Dominators& dominators) {
  constexpr int kChain = 8;
  const uint32_t hash = hash_of(inst);
  uint32_t e = bucket_of(inst, hash);
  for (int looked = 0; e != kNone && looked < kChain; e = entries_[e].next, ++looked) {
    if (entries_[e].hash != hash) continue;
    const Inst& earlier = function_->inst(entries_[e].inst);
    if (equal(earlier, inst) && dominators.dominates(earlier.block, block)) return earlier.result;
  }
  return Value();
}

void NumberValues::remember(InstId id) {
  const uint32_t hash = hash_of(function_->inst(id));
  uint32_t& bucket = bucket_of(function_->inst(id), hash);
  entries_.push_back({id, hash, bucket});
  bucket = static_cast<uint32_t>(entries_.size() - 1);
}

}  // namespace wago::codegen
