#include "codegen/select/x64/isel.h"

#include <algorithm>

#include "base/huge_pages.h"

namespace wago::codegen::x64 {

namespace {

RegClass class_of(Type type) {
  return is_int(type) ? RegClass::Gpr : RegClass::Xmm;
}

// Neither a zero-extended nor a sign-extended 32-bit immediate.
bool is_wide(uint64_t bits) {
  int64_t value = static_cast<int64_t>(bits);
  return bits > UINT32_MAX && value != static_cast<int32_t>(value);
}

constexpr size_t kMaxSharedConstants = 4;

}  // namespace

void Isel::select(const runtime::Module& module, const runtime::CompileSettings& settings,
                  const IrFunction& function, MachFunction& out) {
  module_ = &module;
  ir_ = &function;
  out_ = &out;
  explicit_bounds_ = settings.bounds == base::Bounds::Explicit;
  layout_.emplace(module);
  out.clear();
  out.function = function.function;
  out.decisions.start(settings.source_maps);
  own_convention_.assign(*function.type);
  b_.begin(out, function.insts.size());
  prepare(function);
  count_uses();
  for (size_t i = function.layout.size(); i-- > 0;) select_block(static_cast<uint32_t>(i));
  b_.finish();
}

// A switch may lead to one block by many edges: to machine code they are one.
static void keep_one_of_each(std::vector<uint32_t>& blocks) {
  if (blocks.size() < 2 || (blocks.size() == 2 && blocks[0] != blocks[1])) return;
  std::sort(blocks.begin(), blocks.end());
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
}

void Isel::prepare(const IrFunction& function) {
  base::reserve_large(values_, function.values.size());
  values_.assign(function.values.size(), {});
  base::reserve_large(epochs_, function.insts.size());
  epochs_.resize(function.insts.size());
  block_index_.assign(function.block_count, ~0u);
  uint32_t count = static_cast<uint32_t>(function.layout.size());
  for (uint32_t i = 0; i < count; ++i) block_index_[function.layout[i].index()] = i;
  if (out_->blocks.size() < count) out_->blocks.resize(count);
  out_->block_count = count;
  for (uint32_t i = 0; i < count; ++i) {
    const Block& from = function.block(function.layout[i]);
    MachBlock& to = out_->blocks[i];
    to.succs.clear();
    to.preds.clear();
    for (const Edge& edge : from.succs) to.succs.push_back(block_index_[edge.target.index()]);
    for (BlockId pred : from.preds) to.preds.push_back(block_index_[pred.index()]);
    keep_one_of_each(to.succs);
    keep_one_of_each(to.preds);
    to.loop_depth = from.loop_depth;
    // Where the backward branch goes: the loop's header, or what the layout put before it.
    to.loop_header = std::any_of(to.preds.begin(), to.preds.end(), [i](uint32_t pred) { return pred >= i; });
    to.cold = from.cold;
  }
}

void Isel::count_uses() {
  for (BlockId id : ir_->layout) {
    const Block& block = ir_->block(id);
    for (InstId i = block.first; i.valid(); i = ir_->inst(i).next) {
      const Inst& inst = ir_->inst(i);
      for (Value v : ir_->args(inst)) ++values_[v.index()].uses;
      if (inst.op == IrOp::Wrap) {
        values_[inst.result.index()].free_wrap = upper_bound(arg(inst, 0), kBoundDepth) <= UINT32_MAX;
      }
    }
    for (const Edge& edge : block.succs) {
      for (Value v : ir_->args(edge)) ++values_[v.index()].uses;
    }
  }
}

// Counts effects before each instruction of the block.
void Isel::compute_epochs(const Block& block) {
  Epoch now;
  for (InstId i = block.first; i.valid(); i = ir_->inst(i).next) {
    const Inst& inst = ir_->inst(i);
    epochs_[i.index()] = now;
    uint8_t flags = info(inst.op).flags;
    bool writes = flags & (kWrites | kCall);
    bool access = inst.op == IrOp::Load || inst.op == IrOp::Store;
    if (writes) ++now.writes;
    if (writes || ((flags & kTraps) && !(access && explicit_bounds_))) ++now.effects;
  }
}

void Isel::select_block(uint32_t index) {
  block_ = ir_->layout[index];
  const Block& block = ir_->block(block_);
  compute_epochs(block);
  flags_value_ = Value();
  b_.begin_block();
  for (InstId i = block.last; i.valid(); i = ir_->inst(i).prev) {
    const Inst& inst = ir_->inst(i);
    if (is_skipped(inst)) continue;
    root_ = &inst;
    root_epoch_ = epochs_[i.index()];
    folded_access_ = nullptr;
    if (info(inst.op).flags & kCall) define_shared_constants();
    b_.begin_group(inst.wasm_pc, inst.inline_site);
    visit(inst);
  }
  define_shared_constants();
  if (index == 0) select_entry();
}

// Folded into its user, or materialised there, or of no use.
bool Isel::is_skipped(const Inst& inst) const {
  if (is_constant(inst.op) || inst.op == IrOp::Zext) return true;
  if (inst.result_count != 1) return false;
  const ValueState& state = values_[inst.result.index()];
  if (state.folded || state.free_wrap) return true;
  uint8_t flags = info(inst.op).flags;
  bool removable = !(flags & (kTraps | kCall | kWrites)) || (inst.op == IrOp::Load && explicit_bounds_);
  return state.uses == 0 && removable;
}

void Isel::visit(const Inst& inst) {
  switch (inst.op) {
    case IrOp::Iconst:
    case IrOp::Fconst:
    case IrOp::Vconst:
    case IrOp::Zext:
      return;  // never reached: is_skipped()
    case IrOp::Iadd:
      return select_add(inst);
    case IrOp::Isub:
      return select_sub(inst);
    case IrOp::Imul:
      return select_mul(inst);
    case IrOp::IdivS:
      return select_division(inst, true, false);
    case IrOp::IdivU:
      return select_division(inst, false, false);
    case IrOp::IremS:
      return select_division(inst, true, true);
    case IrOp::IremU:
      return select_division(inst, false, true);
    case IrOp::ImulHighU:
      return select_mul_high(inst, false);
    case IrOp::ImulHighS:
      return select_mul_high(inst, true);
    case IrOp::Iand:
      return select_and(inst);
    case IrOp::Ior:
      return select_alu(inst, kOr, true);
    case IrOp::Ixor:
      return select_xor(inst);
    case IrOp::Ishl:
    case IrOp::IshrS:
    case IrOp::IshrU:
      return select_shift(inst);
    case IrOp::Irotl:
    case IrOp::Irotr:
      return select_rotate(inst);
    case IrOp::Iclz:
    case IrOp::Ictz:
    case IrOp::Ipopcnt:
      return select_count(inst);
    case IrOp::Iextend8:
    case IrOp::Iextend16:
    case IrOp::Iextend32:
    case IrOp::Sext:
      return select_extend(inst);
    case IrOp::Ieqz:
    case IrOp::Icmp:
    case IrOp::Fcmp:
      return select_compare(inst);
    case IrOp::Fadd:
      return select_float_binary(inst, kFloatAdd);
    case IrOp::Fsub:
      return select_float_binary(inst, kFloatSub);
    case IrOp::Fmul:
      return select_float_binary(inst, kFloatMul);
    case IrOp::Fdiv:
      return select_float_binary(inst, kFloatDiv);
    case IrOp::Fmin:
      return select_min_max(inst, false);
    case IrOp::Fmax:
      return select_min_max(inst, true);
    case IrOp::Fcopysign:
      return select_copysign(inst);
    case IrOp::Fabs:
    case IrOp::Fneg:
      return select_sign(inst);
    case IrOp::Fsqrt:
      return select_sqrt(inst);
    case IrOp::Fceil:
    case IrOp::Ffloor:
    case IrOp::Ftrunc:
    case IrOp::Fnearest:
      return select_round(inst);
    case IrOp::Wrap:
      return select_wrap(inst);
    case IrOp::TruncS:
      return select_truncate(inst, true);
    case IrOp::TruncU:
      return select_truncate(inst, false);
    case IrOp::TruncSatS:
      return select_truncate_saturating(inst, true);
    case IrOp::TruncSatU:
      return select_truncate_saturating(inst, false);
    case IrOp::ConvertS:
      return select_convert_from_int(inst, true);
    case IrOp::ConvertU:
      return select_convert_from_int(inst, false);
    case IrOp::Demote:
    case IrOp::Promote:
      return select_precision(inst);
    case IrOp::Bitcast:
      return select_bitcast(inst);
    case IrOp::Select:
      return select_select(inst);
    case IrOp::MemBase:
      return select_mem_base(inst);
    case IrOp::BoundsCheck:
      return select_bounds_check(inst);
    case IrOp::Load:
      return select_load(inst);
    case IrOp::Store:
      return select_store(inst);
    case IrOp::MemorySize:
      return select_memory_size(inst);
    case IrOp::GlobalGet:
      return select_global_get(inst);
    case IrOp::GlobalSet:
      return select_global_set(inst);
    case IrOp::TableGet:
      return select_table_get(inst);
    case IrOp::TableSet:
      return select_table_set(inst);
    case IrOp::TableSize:
      return select_table_size(inst);
    case IrOp::RefFunc:
      return select_ref_func(inst);
    case IrOp::CheckInterrupt:
      return select_check_interrupt();
    case IrOp::CountWay:
      return select_count_way(inst);
    case IrOp::Call:
      return select_call(inst);
    case IrOp::CallIndirect:
      return select_call_indirect(inst);
    case IrOp::CallHelper:
      return select_call_helper(inst);
    case IrOp::Jump:
      return select_jump(inst);
    case IrOp::Branch:
      return select_branch(inst);
    case IrOp::BrTable:
      return select_br_table(inst);
    case IrOp::Return:
      return select_return(inst);
    case IrOp::Trap:
      return select_trap(inst);
    default:
      return select_vector(inst);
  }
}

// --- Operands

Reg Isel::new_reg(Type type) {
  return out_->new_vreg(class_of(type), static_cast<uint8_t>(bytes_of(type)));
}

Reg Isel::reg_of(Value v) {
  Reg& reg = values_[v.index()].reg;
  if (!reg.valid()) reg = new_reg(type_of(v));
  return reg;
}

Reg Isel::use(Value v) {
  if (const Inst* def = ir_->def_of(v)) {
    if (def->op == IrOp::Zext || values_[v.index()].free_wrap) return use(arg(*def, 0));
    if (is_constant(def->op)) {
      if (def->op == IrOp::Iconst && is_wide(def->imm) && values_[v.index()].uses > 1)
        return shared_constant(v, *def);
      return constant_reg(def->type, def->imm);
    }
  }
  return reg_of(v);
}

Reg Isel::use32(Value v) {
  if (const Inst* wrap = single(v, IrOp::Wrap)) {
    fold(v);
    return use(arg(*wrap, 0));
  }
  return use(v);
}

void Isel::copy_value(Reg to, Value v) {
  if (std::optional<uint64_t> bits = constant(v)) {
    define_constant(to, type_of(v), *bits);
  } else {
    b_.copy(to, use_int(v));
  }
}

const Inst* Isel::single(Value v) const {
  const ValueInfo& value = ir_->value(v);
  if (value.is_param || values_[v.index()].uses != 1) return nullptr;
  const Inst& def = ir_->insts[value.def];
  return def.block == block_ && def.result_count == 1 ? &def : nullptr;
}

const Inst* Isel::single(Value v, IrOp op) const {
  const Inst* def = single(v);
  return def && def->op == op ? def : nullptr;
}

std::optional<uint64_t> Isel::constant(Value v) const {
  const Inst* def = ir_->def_of(v);
  if (!def || def->op != IrOp::Iconst) return std::nullopt;
  return def->imm;
}

std::optional<int32_t> Isel::imm32(Value v) const {
  const Inst* def = ir_->def_of(v);
  if (!def || def->op != IrOp::Iconst) return std::nullopt;
  if (def->type == Type::I32) return static_cast<int32_t>(def->imm);
  int64_t wide = static_cast<int64_t>(def->imm);
  if (wide != static_cast<int32_t>(wide)) return std::nullopt;
  return static_cast<int32_t>(wide);
}

// Changes no flags: constants are needed between a comparison and its user. `bits` of a vector: its index.
void Isel::define_constant(Reg to, Type type, uint64_t bits) {
  if (!is_int(type)) {
    if (bits == 0) {
      Reg any = new_reg(type);
      b_.add(Op::Undef, any);
      b_.add(Op::VXORPSrr, to, any, any);
      return;
    }
    if (type == Type::V128) {
      const Vector& vector = ir_->vectors[bits];
      b_.add(Op::VMOVUPSrm, to, literal(vector.low, vector.high, 16));
      return;
    }
    uint8_t bytes = static_cast<uint8_t>(bytes_of(type));
    b_.add(type == Type::F32 ? Op::VMOVSSrm : Op::VMOVSDrm, to, literal(bits, 0, bytes));
  } else if (bits <= UINT32_MAX) {
    b_.add(Op::MOV32ri, to, static_cast<int32_t>(bits));
  } else if (static_cast<int64_t>(bits) == static_cast<int32_t>(bits)) {
    b_.add(Op::MOV64ri32, to, static_cast<int32_t>(bits));
  } else {
    b_.add(Op::MOV64ri, to, b_.wide(bits));
  }
}

Reg Isel::constant_reg(Type type, uint64_t bits) {
  Reg reg = new_reg(type);
  define_constant(reg, type, bits);
  if (is_int(type) || bits != 0) b_.rematerializable();
  return reg;
}

// A constant of ten bytes is defined once for all users of a block, or of the part of it between two calls:
// above the first of them, which is the last to be selected.
Reg Isel::shared_constant(Value v, const Inst& def) {
  for (const auto& [value, reg] : shared_constants_) {
    if (value == v) return reg;
  }
  if (shared_constants_.size() == kMaxSharedConstants) {
    auto [oldest, reg] = shared_constants_.front();
    define_constant(reg, type_of(oldest), ir_->def_of(oldest)->imm);
    b_.rematerializable();
    shared_constants_.erase(shared_constants_.begin());
  }
  return shared_constants_.emplace_back(v, new_reg(def.type)).second;
}

void Isel::define_shared_constants() {
  if (shared_constants_.empty()) return;
  const Inst& first = ir_->inst(ir_->block(block_).first);
  b_.begin_group(first.wasm_pc, first.inline_site);
  for (const auto& [value, reg] : shared_constants_) {
    define_constant(reg, type_of(value), ir_->def_of(value)->imm);
    b_.rematerializable();
  }
  shared_constants_.clear();
}

Address Isel::literal(uint64_t low, uint64_t high, uint8_t bytes) {
  return Address::symbol(MachOperand::Kind::Literal, out_->literal(low, high, bytes));
}

}  // namespace wago::codegen::x64
