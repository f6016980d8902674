#include "codegen/passes/remove_dead_code.h"

namespace wago::codegen {

namespace {

bool has_effect(const Inst& inst) {
  return (info(inst.op).flags & (kTraps | kWrites | kCall | kTerminator | kCounts)) != 0;
}

// A constant, of the module or of the instance: not worth a word.
bool is_made_anywhere(const Inst& inst) {
  return inst.arg_count == 0 && info(inst.op).flags == kPure;
}

}  // namespace

void RemoveDeadCode::run(IrFunction& function) {
  live_.assign(function.values.size(), 0);
  worklist_.clear();
  incoming_.compute(function);
  mark_roots(function);
  while (!worklist_.empty()) {
    const Value value = worklist_.back();
    worklist_.pop_back();
    mark_operands(function, value);
  }
  sweep(function);
}

void RemoveDeadCode::mark_roots(const IrFunction& function) {
  for (const Inst& inst : function.insts) {
    if (!inst.block.valid() || !has_effect(inst)) continue;
    for (const Value arg : function.args(inst)) mark(arg);
  }
  for (const Value param : function.block(BlockId(0)).params) mark(param);
}

void RemoveDeadCode::mark_operands(const IrFunction& function, Value value) {
  const ValueInfo& v = function.value(value);
  if (!v.is_param) {
    const Inst& inst = function.insts[v.def];
    if (has_effect(inst)) return;  // a root
    for (const Value arg : function.args(inst)) mark(arg);
    return;
  }
  for (const IncomingEdges::Ref& ref : incoming_.of(BlockId(v.def))) {
    mark(function.args(function.block(ref.from).succs[ref.successor])[v.index]);
  }
}

void RemoveDeadCode::sweep(IrFunction& function) {
  for (uint32_t b = 0; b < function.block_count; ++b) {
    if (b != 0) sweep_params(function, BlockId(b));
    InstId next;
    for (InstId i = function.blocks[b].first; i.valid(); i = next) {
      const Inst& inst = function.inst(i);
      next = inst.next;
      if (has_effect(inst)) continue;
      bool needed = false;
      for (uint32_t r = 0; r < inst.result_count; ++r) needed |= live_[inst.result.index() + r] != 0;
      if (needed) continue;
      if (!is_made_anywhere(inst)) function.decisions.note(base::DecisionKind::Unused, inst);
      function.remove(i);
    }
  }
}

void RemoveDeadCode::sweep_params(IrFunction& function, BlockId id) {
  std::vector<Value>& params = function.block(id).params;
  uint32_t kept = 0;
  for (const Value param : params) kept += live_[param.index()];
  if (kept == params.size()) return;
  for (const IncomingEdges::Ref& ref : incoming_.of(id)) {
    Edge& edge = function.block(ref.from).succs[ref.successor];
    const std::span<Value> args = function.args(edge);
    uint32_t to = 0;
    for (uint32_t i = 0; i < params.size(); ++i) {
      if (live_[params[i].index()]) args[to++] = args[i];
    }
    edge.args_count = kept;
  }
  uint32_t to = 0;
  for (const Value param : params) {
    if (!live_[param.index()]) continue;
    function.value(param).index = to;
    params[to++] = param;
  }
  params.resize(kept);
}

}  // namespace wago::codegen
