#include "codegen/passes/hoist_invariants.h"

namespace wago::codegen {

namespace {

// How many loops an instruction is moved out of at most: keeps the pass linear where loops nest by the
// thousand.
constexpr int kMaxLevels = 32;

}  // namespace

bool HoistInvariants::is_outside(const IrFunction& function, const Loops& loops, Value value,
                                 BlockId header) const {
  const ValueInfo& info = function.value(value);
  const BlockId home = info.is_param ? BlockId(info.def) : function.insts[info.def].block;
  return !loops.contains(function, header, home);
}

void HoistInvariants::run(IrFunction& function, const ReversePostorder& order, const Loops& loops) {
  entering_.assign(function.block_count, BlockId());
  for (BlockId header : loops.headers()) {
    BlockId entry;
    int count = 0;
    for (BlockId pred : function.block(header).preds) {
      if (loops.contains(function, header, pred)) continue;
      entry = pred;
      ++count;
    }
    if (count == 1 && function.block(entry).succs.size() == 1) entering_[header.index()] = entry;
  }
  // In reverse postorder, so that the arguments of an operation have moved before it is looked at.
  for (BlockId block : order.blocks()) {
    if (!function.block(block).loop_header.valid()) continue;
    for (InstId id = function.block(block).first, next; id.valid(); id = next) {
      const Inst& inst = function.inst(id);
      next = inst.next;
      if (info(inst.op).flags != kPure || inst.arg_count == 0 || inst.result_count != 1) continue;
      BlockId target;
      BlockId header = function.block(block).loop_header;
      for (int level = 0; header.valid() && level < kMaxLevels; ++level, header = loops.outer(header)) {
        if (!entering_[header.index()].valid()) break;
        bool invariant = true;
        for (Value arg : function.args(inst))
          invariant = invariant && is_outside(function, loops, arg, header);
        if (!invariant) break;
        target = entering_[header.index()];
      }
      if (!target.valid()) continue;
      function.decisions.note(base::DecisionKind::Hoisted, inst);
      function.remove(id);
      function.insert_before(function.block(target).last, id);
    }
  }
}

}  // namespace wago::codegen
