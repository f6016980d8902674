#include "codegen/passes/number_values.h"

#include <algorithm>
#include <bit>

namespace wago::codegen {

namespace {

bool is_numbered(const Inst& inst) {
  const uint8_t flags = info(inst.op).flags;
  // Constants are made where they are used, and cost nothing to have twice.
  if (inst.op == Op::Iconst || inst.op == Op::Fconst || inst.op == Op::BoundsCheck) return false;
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

void NumberValues::run(IrFunction& function, const ReversePostorder& order, const Dominators& dominators) {
  const uint32_t size = std::bit_ceil(static_cast<uint32_t>(function.insts.size()) + 16);
  buckets_.assign(size, kNone);
  entries_.clear();
  replacements_.start(function);
  for (BlockId block : order.blocks()) {
    for (InstId id = function.block(block).first, next; id.valid(); id = next) {
      Inst& inst = function.inst(id);
      next = inst.next;
      for (Value& arg : function.args(inst)) arg = replacements_.resolve(arg);
      if (!is_numbered(inst)) continue;
      uint32_t& bucket = buckets_[hash_of(inst) & (size - 1)];
      // A short chain of the nearest: longer ones come from code with thousands of equal operations in
      // sibling blocks.
      constexpr int kChain = 8;
      int looked = 0;
      Value found;
      for (uint32_t e = bucket; e != kNone && looked < kChain && !found.valid();
           e = entries_[e].next, ++looked) {
        const Inst& earlier = function.inst(entries_[e].inst);
        if (equal(earlier, inst) && dominators.dominates(earlier.block, block)) found = earlier.result;
      }
      if (found.valid()) {
        replacements_.replace(inst.result, found);
        function.remove(id);
      } else {
        entries_.push_back({id, bucket});
        bucket = static_cast<uint32_t>(entries_.size() - 1);
      }
    }
  }
  replacements_.apply(function);
}

}  // namespace wago::codegen
