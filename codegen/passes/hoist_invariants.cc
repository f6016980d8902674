#include "codegen/passes/hoist_invariants.h"

namespace wago::codegen {

namespace {

// Whether a block lies in the loop of a header: walks outwards, as deep as loops nest.
bool is_inside(const IrFunction& function, const Loops& loops, BlockId block, BlockId header) {
  for (BlockId at = function.block(block).loop_header; at.valid(); at = loops.outer(at)) {
    if (at == header) return true;
  }
  return false;
}

}  // namespace

bool HoistInvariants::is_outside(const IrFunction& function, const Loops& loops, Value value,
                                 BlockId header) const {
  const ValueInfo& info = function.value(value);
  const BlockId home = info.is_param ? BlockId(info.def) : function.insts[info.def].block;
  return !is_inside(function, loops, home, header);
}

void HoistInvariants::run(IrFunction& function, const ReversePostorder& order, const Loops& loops) {
  entering_.assign(function.block_count, BlockId());
  for (BlockId header : loops.headers()) {
    BlockId entry;
    int count = 0;
    for (BlockId pred : function.block(header).preds) {
      if (is_inside(function, loops, pred, header)) continue;
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
      for (BlockId header = function.block(block).loop_header; header.valid(); header = loops.outer(header)) {
        if (!entering_[header.index()].valid()) break;
        bool invariant = true;
        for (Value arg : function.args(inst))
          invariant = invariant && is_outside(function, loops, arg, header);
        if (!invariant) break;
        target = entering_[header.index()];
      }
      if (!target.valid()) continue;
      function.remove(id);
      function.insert_before(function.block(target).last, id);
    }
  }
}

}  // namespace wago::codegen
