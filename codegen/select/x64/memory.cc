// Linear memory, globals and tables.

#include <algorithm>
#include <bit>

#include "codegen/select/x64/isel.h"

namespace wago::codegen::x64 {

using base::TrapCode;
using runtime::kMaxFoldedOffset;

// --- Folding

bool Isel::load_may_move_here(Value v, const Inst& load) const {
  const Epoch& then = epochs_[ir_->value(v).def];
  if (load.op == IrOp::GlobalGet || explicit_bounds_) return then.writes == root_epoch_.writes;
  return then.effects + 1 == root_epoch_.effects;  // nothing but itself
}

bool Isel::can_fold_load(Value v, Access access) const {
  const Inst* def = single(v);
  if (!def) return false;
  if (def->op == IrOp::Load) {
    return static_cast<Access>(def->aux) == access && load_may_move_here(v, *def);
  }
  return def->op == IrOp::GlobalGet && access == Access::Full && load_may_move_here(v, *def);
}

std::optional<Address> Isel::fold_load(Value v, Access access) {
  if (!can_fold_load(v, access)) return std::nullopt;
  fold(v);
  const Inst& load = *ir_->def_of(v);
  if (load.op == IrOp::GlobalGet) {
    folded_access_ = nullptr;
    return global_address(load.imm);
  }
  folded_access_ = &load;
  return address(arg(load, 0), arg(load, 1), load.imm);
}

void Isel::mark_access(MachInst& inst, const Inst& access) {
  if (!explicit_bounds_) inst.trap = 1 + static_cast<uint8_t>(TrapCode::MemoryOutOfBounds);
  inst.wasm_pc = access.wasm_pc;
  inst.inline_site = access.inline_site;
}

void Isel::mark_folded(MachInst& inst) {
  if (folded_access_) mark_access(inst, *folded_access_);
  folded_access_ = nullptr;
}

// --- Addresses

// The largest value `v` can have, as far as its definition tells.
uint64_t Isel::upper_bound(Value v, int depth) const {
  const uint64_t all = is64(v) ? UINT64_MAX : UINT32_MAX;
  const Inst* def = ir_->def_of(v);
  if (!def || depth == 0) return all;
  switch (def->op) {
    case IrOp::Iconst:
      return def->imm;
    case IrOp::Iand:
      return std::min(upper_bound(arg(*def, 0), depth - 1), upper_bound(arg(*def, 1), depth - 1));
    case IrOp::IshrU: {
      std::optional<uint64_t> count = constant(arg(*def, 1));
      if (!count) return all;
      return upper_bound(arg(*def, 0), depth - 1) >> (*count & (is64(v) ? 63 : 31));
    }
    case IrOp::Ishl: {
      std::optional<uint64_t> count = constant(arg(*def, 1));
      if (!count) return all;
      uint64_t bound = upper_bound(arg(*def, 0), depth - 1), shift = *count & (is64(v) ? 63 : 31);
      return bound <= all >> shift ? bound << shift : all;
    }
    case IrOp::Load:
      switch (static_cast<Access>(def->aux)) {
        case Access::U8:
          return UINT8_MAX;
        case Access::U16:
          return UINT16_MAX;
        case Access::U32:
          return UINT32_MAX;
        default:
          return all;
      }
    case IrOp::Zext:
      return upper_bound(arg(*def, 0), depth - 1);
    case IrOp::Wrap:
      return std::min<uint64_t>(upper_bound(arg(*def, 0), depth - 1), all);
    case IrOp::ImulHighU: {
      auto a = static_cast<unsigned __int128>(upper_bound(arg(*def, 0), depth - 1));
      return static_cast<uint64_t>(a * upper_bound(arg(*def, 1), depth - 1) >> (is64(v) ? 64 : 32));
    }
    case IrOp::IremU: {
      std::optional<uint64_t> divisor = constant(arg(*def, 1));
      return divisor && *divisor ? *divisor - 1 : all;
    }
    case IrOp::Select:
      return std::max(upper_bound(arg(*def, 1), depth - 1), upper_bound(arg(*def, 2), depth - 1));
    case IrOp::Icmp:
    case IrOp::Fcmp:
    case IrOp::Ieqz:
      return 1;
    default:
      return all;
  }
}

// Uses the first operand of `def` instead of its result `v`, which is not computed at all once nothing else
// uses it.
Value Isel::look_through(Value v, const Inst& def) {
  Value operand = arg(def, 0);
  if (--values_[v.index()].uses == 0) {
    fold(v);
  } else {
    ++values_[operand.index()].uses;
  }
  return operand;
}

// An index that is a sum or a multiple, where the operation provably does not wrap at 32 bits, becomes part
// of the address.
Isel::Index Isel::match_index(Value v, uint64_t offset) {
  Index index{v, 1, offset};
  for (int rounds = 0; rounds < 2 && index.scale == 1; ++rounds) {
    const Inst* def = ir_->def_of(index.value);
    if (!def || def->block != block_) break;
    if (def->op == IrOp::Iadd) {
      std::optional<uint64_t> addend = constant(arg(*def, 1));
      if (!addend || index.offset + *addend >= kMaxFoldedOffset) break;
      if (upper_bound(arg(*def, 0), kBoundDepth) + *addend > UINT32_MAX) break;
      index.offset += *addend;
      index.value = look_through(index.value, *def);
    } else if (def->op == IrOp::Ishl) {
      std::optional<uint64_t> shift = constant(arg(*def, 1));
      if (!shift || *shift > 3 || upper_bound(arg(*def, 0), kBoundDepth) << *shift > UINT32_MAX) break;
      index.value = look_through(index.value, *def);
      index.scale = static_cast<uint8_t>(1u << *shift);
    } else {
      break;
    }
  }
  return index;
}

Address Isel::address(Value base, Value index, uint64_t offset) {
  Reg base_reg = use(base);
  if (std::optional<uint64_t> known = constant(index)) {
    uint64_t total = *known + offset;
    if (total < kMaxFoldedOffset) return Address::of(base_reg, static_cast<int32_t>(total));
    return Address::of(base_reg, constant_reg(Type::I64, total), 1);
  }
  if (offset >= kMaxFoldedOffset) {
    Reg sum = b_.gpr64();
    b_.add(Op::LEA64r, sum, Address::of(constant_reg(Type::I64, offset), use(index), 1));
    return Address::of(base_reg, sum, 1);
  }
  Index matched = match_index(index, offset);
  return Address::of(base_reg, use(matched.value), matched.scale, static_cast<int32_t>(matched.offset));
}

// --- Loads and stores

MachInst& Isel::load(Reg to, Type type, Access access, const Address& from) {
  bool wide = type == Type::I64;
  switch (access) {
    case Access::Full:
      switch (type) {
        case Type::I32:
          return b_.add(Op::MOV32rm, to, from);
        case Type::I64:
          return b_.add(Op::MOV64rm, to, from);
        case Type::F32:
          return b_.add(Op::VMOVSSrm, to, from);
        case Type::F64:
          return b_.add(Op::VMOVSDrm, to, from);
        case Type::V128:
          return b_.add(Op::VMOVUPSrm, to, from);
        case Type::None:
          break;
      }
      break;
    case Access::S8:
      return b_.add(wide ? Op::MOVSX64rm8 : Op::MOVSX32rm8, to, from);
    case Access::U8:
      return b_.add(Op::MOVZX32rm8, to, from);
    case Access::S16:
      return b_.add(wide ? Op::MOVSX64rm16 : Op::MOVSX32rm16, to, from);
    case Access::U16:
      return b_.add(Op::MOVZX32rm16, to, from);
    case Access::S32:
      return b_.add(Op::MOVSX64rm32, to, from);
    case Access::U32:
      return b_.add(Op::MOV32rm, to, from);
  }
  WAGO_UNREACHABLE("load without a type");
}

void Isel::select_load(const Inst& inst) {
  Address from = address(arg(inst, 0), arg(inst, 1), inst.imm);
  mark_access(load(result(inst), inst.type, static_cast<Access>(inst.aux), from), inst);
}

MachInst& Isel::store(const Address& to, Type type, Access access, Value value) {
  if (is_float(type) || type == Type::V128) return store_float(to, type, value);
  uint32_t bytes = access_bytes(access, type);
  if (std::optional<int32_t> bits = imm32(value)) {
    switch (bytes) {
      case 1:
        return b_.add(Op::MOV8mi, to, static_cast<int8_t>(*bits));
      case 2:
        return b_.add(Op::MOV16mi, to, static_cast<int16_t>(*bits));
      case 4:
        return b_.add(Op::MOV32mi, to, *bits);
      default:
        return b_.add(Op::MOV64mi32, to, *bits);
    }
  }
  Reg from = bytes == 8 ? use(value) : use32(value);
  constexpr Op kStores[] = {Op::MOV8mr, Op::MOV16mr, Op::MOV32mr, Op::MOV64mr};
  return b_.add(kStores[std::countr_zero(bytes)], to, from);
}

MachInst& Isel::store_float(const Address& to, Type type, Value value) {
  const Inst* def = ir_->def_of(value);
  if (def && def->op == IrOp::Fconst) {
    if (type == Type::F32) return b_.add(Op::MOV32mi, to, static_cast<int32_t>(def->imm));
    int64_t bits = static_cast<int64_t>(def->imm);
    if (bits == static_cast<int32_t>(bits)) return b_.add(Op::MOV64mi32, to, static_cast<int32_t>(bits));
  }
  Reg from = use(value);
  Op op = type == Type::F32 ? Op::VMOVSSmr : type == Type::F64 ? Op::VMOVSDmr : Op::VMOVUPSmr;
  return b_.add(op, to, from);
}

void Isel::select_store(const Inst& inst) {
  if (select_read_modify_write(inst) || select_lane_store(inst)) return;
  Value value = arg(inst, 2);
  Address to = address(arg(inst, 0), arg(inst, 1), inst.imm);
  mark_access(store(to, type_of(value), static_cast<Access>(inst.aux), value), inst);
}

// store(a, op(load(a), x)): one instruction that reads and writes.
bool Isel::select_read_modify_write(const Inst& inst) {
  Value value = arg(inst, 2);
  if (static_cast<Access>(inst.aux) != Access::Full || !is_int(type_of(value))) return false;
  const Inst* op = single(value);
  const AluOps* alu = op ? alu_of(op->op) : nullptr;
  if (!alu) return false;
  size_t candidates = op->op == IrOp::Isub ? 1 : 2;
  for (size_t side = 0; side < candidates; ++side) {
    Value loaded = arg(*op, side);
    const Inst* from = single(loaded, IrOp::Load);
    if (!from || !can_fold_load(loaded, Access::Full) || from->imm != inst.imm) continue;
    if (arg(*from, 0) != arg(inst, 0) || arg(*from, 1) != arg(inst, 1)) continue;
    fold(value);
    fold(loaded);
    --values_[arg(inst, 0).index()].uses;  // once for both
    --values_[arg(inst, 1).index()].uses;
    Value other = arg(*op, 1 - side);
    size_t wide = is64(value);
    std::optional<int32_t> immediate = imm32(other);
    Reg operand = immediate ? Reg() : use_int(other);
    Address place = address(arg(inst, 0), arg(inst, 1), inst.imm);
    mark_access(immediate ? b_.add(alu->mi[wide], place, *immediate) : b_.add(alu->mr[wide], place, operand),
                *from);
    return true;
  }
  return false;
}

void Isel::select_mem_base(const Inst& inst) {
  b_.add(Op::MOV64rm, result(inst), Address::of(kContextReg, runtime::kContextMemoryBase));
  b_.rematerializable();
}

// --- Memory sizes

Address Isel::memory_bytes() {
  return Address::of(context_word(runtime::kContextMemory), runtime::kMemoryViewBytes);
}

// A word of the context that never changes while the instance lives.
Reg Isel::context_word(int32_t displacement) {
  Reg word = b_.gpr64();
  b_.add(Op::MOV64rm, word, Address::of(kContextReg, displacement));
  b_.rematerializable();
  return word;
}

// index + imm > bytes: traps. The sum is exact in 64 bits.
void Isel::select_bounds_check(const Inst& inst) {
  Value index = arg(inst, 0);
  std::optional<uint64_t> known = constant(index);
  uint64_t total = inst.imm + known.value_or(0);
  const uint64_t smallest = module_->memories.empty() ? 0 : module_->memories[0].limits.min * kPageBytes;
  if (known && total <= smallest) return;
  Address bytes = memory_bytes();
  Cc outside = Cc::A;
  if (known && total <= INT32_MAX) {
    b_.add(Op::CMP64mi32, bytes, static_cast<int32_t>(total)).site = SiteKind::BoundsCheck;
    outside = Cc::B;
  } else {
    Reg end;
    if (known) {
      end = constant_reg(Type::I64, total);
    } else if (total <= INT32_MAX) {
      end = b_.gpr64();
      b_.add(Op::LEA64r, end, Address::of(use(index), static_cast<int32_t>(total))).site =
          SiteKind::BoundsCheck;
    } else {
      end = b_.gpr64();
      Address sum = Address::of(constant_reg(Type::I64, total), use(index), 1);
      b_.add(Op::LEA64r, end, sum).site = SiteKind::BoundsCheck;
    }
    b_.add(Op::CMP64rm, end, bytes).site = SiteKind::BoundsCheck;
  }
  b_.trap_if(outside, TrapCode::MemoryOutOfBounds).site = SiteKind::BoundsCheck;
}

void Isel::select_memory_size(const Inst& inst) {
  Reg bytes = b_.gpr64();
  b_.add(Op::MOV64rm, bytes, memory_bytes());
  b_.add(Op::SHR64ri, bytes, bytes, std::countr_zero(kPageBytes));
  b_.copy(result(inst), bytes);
}

// --- Globals

Address Isel::global_address(uint64_t global) {
  uint32_t index = static_cast<uint32_t>(global);
  if (!layout_->global_is_pointer(index)) return Address::of(kContextReg, layout_->global(index));
  return Address::of(context_word(layout_->global(index)));
}

void Isel::select_global_get(const Inst& inst) {
  Address from = global_address(inst.imm);
  load(result(inst), inst.type, Access::Full, from);
}

void Isel::select_global_set(const Inst& inst) {
  Value value = arg(inst, 0);
  Address to = global_address(inst.imm);
  store(to, type_of(value), Access::Full, value);
}

// --- Tables

Address Isel::table_entry(uint64_t table, Value index, TrapCode out_of_bounds) {
  Reg view = context_word(layout_->table(static_cast<uint32_t>(table)));
  Reg place = use(index);
  b_.add(Op::CMP64rm, place, Address::of(view, runtime::kTableViewSize)).site = SiteKind::BoundsCheck;
  b_.trap_if(Cc::Ae, out_of_bounds).site = SiteKind::BoundsCheck;
  Reg entries = b_.gpr64();
  b_.add(Op::MOV64rm, entries, Address::of(view, runtime::kTableViewEntries));
  return Address::of(entries, place, sizeof(uint64_t));
}

void Isel::select_table_get(const Inst& inst) {
  Address entry = table_entry(inst.imm, arg(inst, 0), TrapCode::TableOutOfBounds);
  b_.add(Op::MOV64rm, result(inst), entry);
}

void Isel::select_table_set(const Inst& inst) {
  Reg reference = use(arg(inst, 1));
  Address entry = table_entry(inst.imm, arg(inst, 0), TrapCode::TableOutOfBounds);
  b_.add(Op::MOV64mr, entry, reference);
}

void Isel::select_table_size(const Inst& inst) {
  Reg view = context_word(layout_->table(static_cast<uint32_t>(inst.imm)));
  b_.add(Op::MOV32rm, result(inst), Address::of(view, runtime::kTableViewSize));  // at most 2^32 - 1
}

void Isel::select_ref_func(const Inst& inst) {
  Reg functions = context_word(runtime::kContextFunctions);
  int32_t offset = static_cast<int32_t>(module_->reference_indices[inst.imm] * sizeof(runtime::FuncRef));
  b_.add(Op::LEA64r, result(inst), Address::of(functions, offset));
}

}  // namespace wago::codegen::x64
