#include "codegen/passes/inline_calls.h"

#include <algorithm>
#include <optional>

#include "codegen/ir/analysis.h"

namespace wago::codegen {

using base::DecisionKind;

namespace {

bool is_guest_call(const Inst& inst) {
  return inst.op == Op::Call || inst.op == Op::CallIndirect;
}

uint32_t callee_bytes(const runtime::Module& module, const Inst& call) {
  return module.bodies[call.imm - module.imported_functions].size;
}

// Why a call has no body that could be placed, if so.
std::optional<DecisionKind> without_body(const runtime::Module& module, const Inst& call) {
  if (call.op == Op::CallIndirect) return DecisionKind::NotInlinedIndirect;
  if (call.imm < module.imported_functions) return DecisionKind::NotInlinedImported;
  return std::nullopt;
}

// `budget`: bytes that the function may still take in.
DecisionKind decide(const runtime::Module& module, const IrFunction& function, const Inst& call,
                    uint32_t budget) {
  if (const auto reason = without_body(module, call)) return *reason;
  if (call.imm == function.function) return DecisionKind::NotInlinedRecursive;
  const uint32_t bytes = callee_bytes(module, call);
  if (bytes > InlineCalls::kMaxCalleeBytes) return DecisionKind::NotInlinedLarge;
  return bytes > budget ? DecisionKind::NotInlinedBudget : DecisionKind::Inlined;
}

void note(IrFunction& function, DecisionKind decision, const Inst& call) {
  function.decisions.note(decision, call, call.op == Op::Call ? static_cast<uint32_t>(call.imm) : ~0u);
}

}  // namespace

void InlineCalls::run(const runtime::Module& module, const runtime::CompileSettings& settings,
                      IrFunction& function) {
  const uint32_t own_bytes = module.bodies[function.function - module.imported_functions].size;
  uint32_t budget = std::max(kMinBudgetBytes, own_bytes);
  module_ = &module;
  calls_.clear();
  for (uint32_t b = 0; b < function.block_count; ++b) {
    for (InstId id = function.blocks[b].first; id.valid(); id = function.inst(id).next) {
      const Inst& inst = function.inst(id);
      if (!is_guest_call(inst)) continue;
      const DecisionKind decision = decide(module, function, inst, budget);
      note(function, decision, inst);
      if (decision != DecisionKind::Inlined) continue;
      budget -= callee_bytes(module, inst);
      calls_.push_back(id);
    }
  }
  if (calls_.empty()) return;
  replaced_.clear();
  const size_t own_instructions = function.insts.size();
  // From the last to the first: each call's block ends where the one behind it began, so that what moves when
  // it is split stays short.
  for (size_t i = calls_.size(); i-- > 0;) {
    const InstId call = calls_[i];
    const uint32_t callee = static_cast<uint32_t>(function.inst(call).imm);
    // A callee that cannot be built here is reported when it is compiled itself.
    if (!builder_.build(module, callee - module.imported_functions, settings, callee_)) continue;
    place(function, call);
  }
  function.decisions.placed_instructions = static_cast<uint32_t>(function.insts.size() - own_instructions);
  replaced_.apply(function);
  rebuild_predecessors(function);
}

void InlineCalls::place(IrFunction& function, InstId call) {
  const Inst& inst = function.inst(call);
  site_ = static_cast<uint32_t>(function.inline_sites.size());
  function.inline_sites.push_back({static_cast<uint32_t>(inst.imm), inst.wasm_pc, inst.inline_site});
  function.decisions.note_inlined(callee_.decisions, site_);
  values_.assign(callee_.values.size(), Value());
  const std::span<const Value> args = function.args(inst);
  for (size_t i = 0; i < args.size(); ++i) values_[callee_.blocks[0].params[i].index()] = args[i];
  const Inst& last = callee_.inst(callee_.blocks[0].last);
  if (last.op == Op::Return) {
    place_straight(function, call);
  } else {
    place_blocks(function, call);
  }
}

// The entry block returns: its instructions go before the call, and the call's results are the returned
// values.
void InlineCalls::place_straight(IrFunction& function, InstId call) {
  const BlockId home = function.inst(call).block;
  if (function.counted) {
    RangeList& ranges = function.block(home).executed;
    RangeList rest = function.executed.cut_behind(ranges, function.inst(call).wasm_pc);
    copy_ranges(function, BlockId(0), home);
    function.executed.append(ranges, rest);
  }
  copy_block(function, BlockId(0), home, call, BlockId());
  const std::span<const Value> returned = callee_.args(callee_.inst(callee_.blocks[0].last));
  for (uint32_t i = 0; i < function.inst(call).result_count; ++i) {
    replaced_.replace(Value(function.inst(call).result.index() + i), mapped(returned[i]));
  }
  function.remove(call);
}

void InlineCalls::place_blocks(IrFunction& function, InstId call) {
  const BlockId home = function.inst(call).block;
  const BlockId continuation = split_after(function, call);
  order_.compute(callee_);
  blocks_.assign(callee_.block_count, BlockId());
  blocks_[0] = home;
  for (BlockId block : order_.blocks().subspan(1)) {
    BlockId& copy = blocks_[block.index()];
    copy = function.new_block();
    for (Value param : callee_.block(block).params) {
      values_[param.index()] = function.new_param(copy, callee_.type_of(param));
    }
  }
  function.remove(call);
  for (BlockId block : order_.blocks()) {
    if (function.counted) copy_ranges(function, block, blocks_[block.index()]);
    copy_block(function, block, blocks_[block.index()], InstId(), continuation);
  }
}

// Moves what follows the call into a new block, whose parameters are the call's results. Predecessors are
// made anew at the end of the pass.
BlockId InlineCalls::split_after(IrFunction& function, InstId call) {
  const BlockId home = function.inst(call).block;
  const BlockId continuation = function.new_block();
  for (InstId id = function.inst(call).next, next; id.valid(); id = next) {
    next = function.inst(id).next;
    function.remove(id);
    function.append(continuation, id);
  }
  Block& from = function.block(home);
  Block& to = function.block(continuation);
  to.succs = std::move(from.succs);
  from.succs.clear();
  const Inst& inst = function.inst(call);
  if (function.counted) to.executed = function.executed.cut_behind(from.executed, inst.wasm_pc);
  for (uint32_t i = 0; i < inst.result_count; ++i) {
    const Value result(inst.result.index() + i);
    ValueInfo& info = function.value(result);
    info.is_param = true;
    info.def = continuation.index();
    info.index = i;
    to.params.push_back(result);
  }
  return continuation;
}

void InlineCalls::copy_ranges(IrFunction& function, BlockId from, BlockId to) {
  RangeList ranges = function.executed.copy(callee_.executed, callee_.block(from).executed, site_);
  function.executed.append(function.block(to).executed, ranges);
}

// Copies the instructions of a callee's block to the end of `to`, or in front of `before`. A return becomes a
// jump to the continuation; where there is none, the terminator is left out.
void InlineCalls::copy_block(IrFunction& function, BlockId from, BlockId to, InstId before,
                             BlockId continuation) {
  const Block& source = callee_.block(from);
  for (InstId id = source.first; id.valid(); id = callee_.inst(id).next) {
    const Inst& original = callee_.inst(id);
    const bool is_return = original.op == Op::Return;
    if (is_return && !continuation.valid()) return;
    args_.clear();
    for (Value arg : callee_.args(original)) args_.push_back(mapped(arg));
    InstId copy;
    if (is_return) {
      copy = function.new_inst(Op::Jump, Type::None, {});
    } else if (original.result_count <= 1) {
      const uint64_t imm =
          has_vector_imm(original.op) ? function.vector(callee_.vectors[original.imm]) : original.imm;
      copy = function.new_inst(original.op, original.type, args_, imm, original.aux);
    } else {
      std::vector<Type> types;
      for (uint32_t i = 0; i < original.result_count; ++i) {
        types.push_back(callee_.type_of(Value(original.result.index() + i)));
      }
      copy = function.new_inst(original.op, types, args_, original.imm);
    }
    Inst& inst = function.inst(copy);
    inst.wasm_pc = original.wasm_pc;
    inst.inline_site = site_;
    if (is_guest_call(inst)) {
      note(function, without_body(*module_, inst).value_or(DecisionKind::NotInlinedNested), inst);
    }
    for (uint32_t i = 0; i < original.result_count; ++i) {
      values_[original.result.index() + i] = Value(inst.result.index() + i);
    }
    if (before.valid()) {
      function.insert_before(before, copy);
    } else {
      function.append(to, copy);
    }
    if (is_return) function.add_edge(to, continuation, args_);
  }
  for (const Edge& edge : source.succs) {
    args_.clear();
    for (Value arg : callee_.args(edge)) args_.push_back(mapped(arg));
    function.add_edge(to, blocks_[edge.target.index()], args_);
  }
}

}  // namespace wago::codegen
