// Calls: to functions of this image, to imports, through tables, and to runtime helpers (conventions:
// runtime/abi.h).

#include "codegen/select/x64/isel.h"

namespace wago::codegen::x64 {

using base::TrapCode;
using runtime::Helper;

namespace {

// Where a function that leaves its context keeps it.
constexpr int32_t kSavedContext = -8;

struct HelperInfo {
  bool traps;
  TrapCode code;
};
const HelperInfo kHelpers[] = {
#define WAGO_HELPER(id, name, trap) {TrapCode::trap != TrapCode::Host, TrapCode::trap},
#include "runtime/helpers.def"
};

// System V's integer argument registers are the guest's.
constexpr std::span<const Reg> kHelperParams(kParamGprs);

}  // namespace

// A value into an 8-byte slot, the upper half zero where it is narrower.
void Isel::store_slot(const Address& to, Value value) {
  Type type = type_of(value);
  if (type == Type::I32) type = Type::I64;  // zero-extended in its register
  const Inst* def = ir_->def_of(value);
  if (type == Type::F32) {
    Reg bits = b_.gpr32();
    if (def && def->op == IrOp::Fconst) {
      define_constant(bits, Type::I32, def->imm);
    } else {
      b_.add(Op::VMOVPDI2DIrr, bits, use(value));
    }
    b_.add(Op::MOV64mr, to, bits);
  } else if (type == Type::I64) {
    b_.add(Op::MOV64mr, to, use(value));
  } else {
    store_float(to, type, value);
  }
}

// Values to where a convention wants them: the stack, then registers. `area` is the argument area's start.
void Isel::pass_values(std::span<const Value> values, std::span<const ValueLocation> places, Address area) {
  const int32_t start = area.displacement;
  for (size_t i = 0; i < values.size(); ++i) {
    if (places[i].reg.valid()) continue;
    area.displacement = start + static_cast<int32_t>(places[i].stack);
    store_slot(area, values[i]);
  }
  b_.begin_moves();
  for (size_t i = 0; i < values.size(); ++i) {
    if (places[i].reg.valid()) b_.move(places[i].reg, use(values[i]));
  }
  b_.end_moves();
}

void Isel::pass_arguments(std::span<const Value> values) {
  out_->is_leaf = false;
  out_->outgoing_bytes = std::max(out_->outgoing_bytes, callee_convention_.stack_bytes);
  pass_values(values, callee_convention_.params, Address::of(kRsp));
}

// The registers that the call added last reads and writes.
void Isel::finish_call(MachInst& call) {
  call.clobbers = kGuestCallClobbers;
  for (const ValueLocation& place : callee_convention_.params) {
    if (place.reg.valid()) b_.extra_use(place.reg);
  }
  for (const ValueLocation& place : callee_convention_.results) {
    if (place.reg.valid()) b_.extra_def(place.reg);
  }
}

void Isel::take_results(const Inst& inst) {
  auto value_at = [&](size_t i) { return Value(inst.result.index() + static_cast<uint32_t>(i)); };
  auto wanted = [&](size_t i) { return values_[value_at(i).index()].uses != 0; };
  std::span<const ValueLocation> places = callee_convention_.results;
  b_.begin_moves();
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i].reg.valid() && wanted(i)) b_.move(reg_of(value_at(i)), places[i].reg);
  }
  b_.end_moves();
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i].reg.valid() || !wanted(i)) continue;
    Value value = value_at(i);
    load(reg_of(value), type_of(value), Access::Full,
         Address::of(kRsp, static_cast<int32_t>(places[i].stack)));
  }
}

void Isel::select_call(const Inst& inst) {
  uint32_t callee = static_cast<uint32_t>(inst.imm);
  callee_convention_.assign(module_->type_of_function(callee));
  if (callee < module_->imported_functions) {
    select_imported_call(inst, layout_->imported_function(callee));
  } else {
    pass_arguments(ir_->args(inst));
    MachOperand function{MachOperand::Kind::Function, false, static_cast<int32_t>(callee)};
    finish_call(b_.add(Op::CALL64pcrel32, function));
  }
  take_results(inst);
}

// The callee's context replaces ours for the call.
void Isel::select_imported_call(const Inst& inst, int32_t import) {
  Reg code = b_.gpr64();  // read before r15 changes, and never again
  b_.add(Op::MOV64rm, code, Address::of(kContextReg, import));
  pass_arguments(ir_->args(inst));
  b_.add(Op::MOV64rm, kContextReg, Address::of(kContextReg, import + runtime::kFuncRefContext));
  finish_call(b_.add(Op::CALL64r, code));
  restore_context();
}

void Isel::restore_context() {
  out_->saves_context = true;
  b_.add(Op::MOV64rm, kContextReg, Address::of(kRbp, kSavedContext));
}

void Isel::select_call_indirect(const Inst& inst) {
  uint32_t type_index = static_cast<uint32_t>(inst.imm >> 32), table = static_cast<uint32_t>(inst.imm);
  callee_convention_.assign(module_->types[type_index]);
  std::span<const Value> args = ir_->args(inst);
  Address entry = table_entry(table, args.back(), TrapCode::UndefinedElement);
  Reg reference = b_.gpr64(), signature = b_.gpr32();
  b_.add(Op::MOV64rm, reference, entry);
  b_.add(Op::MOV32rm, signature, Address::of(kContextReg, layout_->type_id(type_index)));
  // A null reference faults here, in the page at address zero.
  b_.add(Op::CMP32rm, signature, Address::of(reference, runtime::kFuncRefTypeId)).trap =
      1 + static_cast<uint8_t>(TrapCode::UninitializedElement);
  b_.trap_if(Cc::Ne, TrapCode::IndirectCallTypeMismatch);
  pass_arguments(args.first(args.size() - 1));
  b_.add(Op::MOV64rm, kContextReg, Address::of(reference, runtime::kFuncRefContext));
  MachInst& call = b_.add(Op::CALL64m, Address::of(reference, runtime::kFuncRefCode));
  call.site = SiteKind::IndirectCall;
  finish_call(call);
  restore_context();
  take_results(inst);
}

void Isel::select_call_helper(const Inst& inst) {
  size_t helper = static_cast<size_t>(inst.imm);
  const HelperInfo& helper_info = kHelpers[helper];
  std::span<const Value> args = ir_->args(inst);
  WAGO_CHECK(args.size() < kHelperParams.size());
  out_->is_leaf = false;
  Reg table = context_word(runtime::kContextHelpers);
  b_.begin_moves();
  b_.move(kHelperParams[0], kContextReg);
  for (size_t i = 0; i < args.size(); ++i) b_.move(kHelperParams[i + 1], use(args[i]));
  b_.end_moves();
  int32_t entry = static_cast<int32_t>(helper * sizeof(runtime::HelperFn));
  MachInst& call = b_.add(Op::CALL64m, Address::of(table, entry));
  call.site = SiteKind::Libcall;
  call.clobbers = kHelperCallClobbers;
  for (size_t i = 0; i <= args.size(); ++i) b_.extra_use(kHelperParams[i]);
  b_.extra_def(kRax);
  if (helper_info.traps) {
    Reg status = b_.gpr64();
    b_.copy(status, kRax);
    b_.add(Op::TEST64rr, status, status);
    b_.trap_if(Cc::Ne, helper_info.code);
  } else if (inst.result_count == 1 && values_[inst.result.index()].uses) {
    // C++ may leave anything above its 32 bits.
    Reg answer = b_.gpr64();
    b_.copy(answer, kRax);
    b_.add(Op::MOV32rr, result(inst), answer);
  }
}

}  // namespace wago::codegen::x64
