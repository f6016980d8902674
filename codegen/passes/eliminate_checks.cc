#include "codegen/passes/eliminate_checks.h"

namespace wago::codegen {

using base::DecisionKind;

namespace {

bool in_minimum(const runtime::Module& module, const IrFunction& function, const Inst& check) {
  const Inst* index = function.def_of(check.inline_args[0]);
  if (index == nullptr || index->op != Op::Iconst) return false;
  return index->imm + check.imm <= module.memories[0].limits.min * kPageBytes;
}

}  // namespace

void EliminateChecks::run(const runtime::Module& module, IrFunction& function, const ReversePostorder& order,
                          const Dominators& dominators) {
  strongest_.assign(function.values.size(), InstId());
  for (BlockId block : order.blocks()) {
    for (InstId id = function.block(block).first, next; id.valid(); id = next) {
      const Inst& inst = function.inst(id);
      next = inst.next;
      if (inst.op != Op::BoundsCheck) continue;
      InstId& earlier = strongest_[inst.inline_args[0].index()];
      const bool dominated = earlier.valid() && dominators.dominates(function.inst(earlier).block, block);
      const bool implied = dominated && function.inst(earlier).imm >= inst.imm;
      if (implied || in_minimum(module, function, inst)) {
        function.decisions.note(
            implied ? DecisionKind::BoundsCheckImplied : DecisionKind::BoundsCheckConstant, inst);
        function.remove(id);
      } else {
        earlier = id;
      }
    }
  }
}

}  // namespace wago::codegen
