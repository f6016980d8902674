#include "codegen/passes/forward_memory.h"

#include <algorithm>

namespace wago::codegen {

using base::DecisionKind;

namespace {

void leave_out(IrFunction& function, InstId id, DecisionKind reason) {
  function.decisions.note(reason, function.inst(id));
  function.remove(id);
}

}  // namespace

void ForwardMemory::forget() {
  memory_.clear();
  globals_.clear();
}

void ForwardMemory::run(const runtime::Module& module, IrFunction& function, const ReversePostorder& order) {
  replaced_.clear();
  forget();
  BlockId previous;
  for (BlockId block : order.blocks()) {
    const std::vector<BlockId>& preds = function.block(block).preds;
    if (preds.size() != 1 || preds[0] != previous) forget();
    for (InstId id = function.block(block).first, next; id.valid(); id = next) {
      next = function.inst(id).next;
      visit(module, function, id);
    }
    previous = block;
  }
  replaced_.apply(function);
}

void ForwardMemory::visit(const runtime::Module& module, IrFunction& function, InstId id) {
  Inst& inst = function.inst(id);
  for (Value& arg : function.args(inst)) arg = replaced_.resolve(arg);
  switch (inst.op) {
    case Op::Load:
      if (load(inst)) leave_out(function, id, DecisionKind::LoadForwarded);
      return;
    case Op::Store:
      return store(function, inst);
    case Op::GlobalGet:
      if (global_get(inst)) leave_out(function, id, DecisionKind::GlobalForwarded);
      return;
    case Op::GlobalSet:
      return global_set(module, inst);
    default:
      if (info(inst.op).flags & kCall) forget();
  }
}

// True if the load's value is known: its result has been replaced.
bool ForwardMemory::load(const Inst& inst) {
  const Access access = static_cast<Access>(inst.aux);
  for (const Known& known : memory_) {
    if (known.index == inst.inline_args[1] && known.offset == inst.imm && known.access == access &&
        known.type == inst.type) {
      replaced_.replace(inst.result, known.value);
      return true;
    }
  }
  if (memory_.size() == kRemembered) memory_.erase(memory_.begin());
  memory_.push_back({inst.inline_args[1], inst.imm, access, inst.type, inst.result});
  return false;
}

void ForwardMemory::store(const IrFunction& function, const Inst& inst) {
  const Value index = inst.inline_args[1], value = inst.inline_args[2];
  const Type type = function.type_of(value);
  const Access access = static_cast<Access>(inst.aux);
  const uint64_t begin = inst.imm, end = begin + access_bytes(access, type);
  // What survives has the same index and lies beside the bytes written.
  std::erase_if(memory_, [&](const Known& known) {
    const uint64_t known_end = known.offset + access_bytes(known.access, known.type);
    return known.index != index || (known.offset < end && begin < known_end);
  });
  if (access != Access::Full) return;
  if (memory_.size() == kRemembered) memory_.erase(memory_.begin());
  memory_.push_back({index, begin, access, type, value});
}

bool ForwardMemory::global_get(const Inst& inst) {
  const uint32_t global = static_cast<uint32_t>(inst.imm);
  for (const KnownGlobal& known : globals_) {
    if (known.global == global) {
      replaced_.replace(inst.result, known.value);
      return true;
    }
  }
  if (globals_.size() == kRemembered) globals_.erase(globals_.begin());
  globals_.push_back({global, inst.result});
  return false;
}

void ForwardMemory::global_set(const runtime::Module& module, const Inst& inst) {
  const uint32_t global = static_cast<uint32_t>(inst.imm);
  // Two imported globals may be one cell; a global that the module defines is no other's.
  const bool imported = global < module.imported_globals;
  std::erase_if(globals_, [&](const KnownGlobal& known) {
    return known.global == global || (imported && known.global < module.imported_globals);
  });
  if (globals_.size() == kRemembered) globals_.erase(globals_.begin());
  globals_.push_back({global, inst.inline_args[0]});
}

}  // namespace wago::codegen
