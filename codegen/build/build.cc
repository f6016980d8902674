#include "codegen/build/build.h"

#include <array>

#include "codegen/build/state.h"

namespace wago::codegen {

using runtime::Instruction;
using runtime::Opcode;

IrBuilder::IrBuilder() : state_(std::make_unique<State>()) {}
IrBuilder::~IrBuilder() = default;

base::Result<void> IrBuilder::build(const runtime::Module& module, uint32_t body,
                                    const runtime::CompileSettings& settings, IrFunction& out) {
  return state_->build(module, body, settings, out);
}

base::Result<void> IrBuilder::State::build(const runtime::Module& module, uint32_t body_index,
                                           const runtime::CompileSettings& settings, IrFunction& out) {
  start(module, body_index, settings, out);
  walk();
  if (over_limit()) return limit_error();
  ssa_.finish();
  return {};
}

void IrBuilder::State::start(const runtime::Module& module, uint32_t body_index,
                             const runtime::CompileSettings& settings, IrFunction& out) {
  module_ = &module;
  body_ = &module.bodies[body_index];
  function_ = &out;
  explicit_bounds_ = settings.bounds == base::Bounds::Explicit;
  const FuncType& type = module.types[body_->type_index];
  out.clear();
  out.function = module.imported_functions + body_index;
  out.type = &type;

  local_types_.clear();
  for (ValueType t : type.params) local_types_.push_back(type_of(t));
  for (ValueType t : body_->locals) local_types_.push_back(type_of(t));
  scan_.run(module, *body_, static_cast<uint32_t>(local_types_.size()));

  const BlockId entry = out.new_block();
  for (ValueType t : type.params) out.new_param(entry, type_of(t));
  appender_.start(out, ssa_);
  ssa_.start(out, scan_, out.block(entry).params, local_types_, appender_);

  stack_.clear();
  saved_params_.clear();
  frames_.clear();
  next_construct_ = 0;
  br_tables_ = 0;
  reachable_ = true;
  skipped_depth_ = 0;
  Frame& frame = frames_.emplace_back();
  frame.kind = Frame::Kind::Function;
  frame.results = type.results;
}

void IrBuilder::State::walk() {
  runtime::BodyReader reader = runtime::read_body(*module_, *body_);
  for (Instruction instruction; !reader.at_end();) {
    reader.next(instruction);
    if (!reachable_) [[unlikely]] {
      skip_unreachable(instruction);
      continue;
    }
    appender_.set_pc(instruction.pc);
    const Lowering& row = kLowerings[static_cast<size_t>(instruction.opcode)];
    if (row.kind != Lowering::Kind::Other) {
      lower_row(row, instruction);
    } else {
      lower(instruction);
      if (over_limit()) return;
    }
  }
}

bool IrBuilder::State::over_limit() const {
  return ssa_.over_limit() || function_->values.size() > kMaxValues ||
         function_->arg_pool.size() > kMaxValues || saved_params_.size() > kMaxValues;
}

base::Error IrBuilder::State::limit_error() const {
  const std::string limit = ssa_.over_limit() ? "more than " + std::to_string(kMaxMergeArguments) +
                                                    " values where control flow merges"
                                              : "more than " + std::to_string(kMaxValues) + " values";
  base::Place place;
  place.section = "code section";
  place.offset = body_->begin;
  return base::failed("function " + module_->function_name(function_->function) +
                          " is too large to compile: it needs " + limit + "; split it into smaller functions",
                      place);
}

void IrBuilder::State::lower_row(const Lowering& row, const Instruction& instruction) {
  switch (row.kind) {
    case Lowering::Kind::Compute:
      if (row.args == 2) {
        const Value right = pop();
        stack_.back() = appender_.compute(row.op, row.type, {stack_.back(), right}, 0, row.aux);
      } else {
        stack_.back() = appender_.compute(row.op, row.type, {stack_.back()}, 0, row.aux);
      }
      return;
    case Lowering::Kind::Load:
      return lower_load(row, instruction.bits[0]);
    case Lowering::Kind::Store:
      return lower_store(row, instruction.bits[0]);
    case Lowering::Kind::Other:
      break;
  }
  WAGO_UNREACHABLE("lowering");
}

void IrBuilder::State::lower_load(const Lowering& row, uint64_t offset) {
  const Value index = stack_.back();
  const Value base = appender_.mem_base();
  if (explicit_bounds_) {
    appender_.bounds_check(index, offset + access_bytes(static_cast<Access>(row.aux), row.type));
  }
  const InstId load = appender_.append(Op::Load, row.type, {base, index}, offset, row.aux);
  stack_.back() = function_->inst(load).result;
}

void IrBuilder::State::lower_store(const Lowering& row, uint64_t offset) {
  const Value value = pop();
  const Value index = pop();
  const Value base = appender_.mem_base();
  if (explicit_bounds_) {
    appender_.bounds_check(index, offset + access_bytes(static_cast<Access>(row.aux), row.type));
  }
  appender_.append(Op::Store, Type::None, {base, index, value}, offset, row.aux);
}

void IrBuilder::State::lower(const Instruction& instruction) {
  const uint32_t pc = instruction.pc;
  auto push_new = [this](Op op, Type type, std::initializer_list<Value> args, uint64_t imm) {
    push(function_->inst(appender_.append(op, type, args, imm)).result);
  };
  switch (instruction.opcode) {
    case Opcode::Nop:
      return;
    case Opcode::Drop:
      pop();
      return;
    case Opcode::LocalGet:
      return push(ssa_.get(instruction.a, pc));
    case Opcode::LocalSet:
      return ssa_.set(instruction.a, pc, pop());
    case Opcode::LocalTee:
      return ssa_.set(instruction.a, pc, stack_.back());
    case Opcode::I32Const:
      return push(appender_.constant(Type::I32, instruction.bits[0]));
    case Opcode::I64Const:
      return push(appender_.constant(Type::I64, instruction.bits[0]));
    case Opcode::F32Const:
      return push(appender_.constant(Type::F32, instruction.bits[0]));
    case Opcode::F64Const:
      return push(appender_.constant(Type::F64, instruction.bits[0]));
    case Opcode::Select:
    case Opcode::SelectTyped:
      return lower_select();
    case Opcode::GlobalGet:
      return lower_global_get(instruction.a);
    case Opcode::GlobalSet:
      appender_.append(Op::GlobalSet, Type::None, {pop()}, instruction.a);
      return;
    case Opcode::TableGet: {
      const Value index = pop();
      return push_new(Op::TableGet, Type::I64, {index}, instruction.a);
    }
    case Opcode::TableSet: {
      const Value reference = pop();
      const Value index = pop();
      appender_.append(Op::TableSet, Type::None, {index, reference}, instruction.a);
      return;
    }
    case Opcode::TableSize:
      return push_new(Op::TableSize, Type::I32, {}, instruction.a);
    case Opcode::MemorySize:
      return push_new(Op::MemorySize, Type::I32, {}, 0);
    case Opcode::RefNull:
      return push(appender_.constant(Type::I64, 0));
    case Opcode::RefFunc:
      return push(appender_.compute(Op::RefFunc, Type::I64, {}, instruction.a));
    case Opcode::RefIsNull:
      stack_.back() = appender_.compute(Op::Ieqz, Type::I32, {stack_.back()});
      return;
    case Opcode::Call:
    case Opcode::CallIndirect:
      return lower_call(instruction);
    case Opcode::MemoryGrow:
    case Opcode::MemoryFill:
    case Opcode::MemoryCopy:
    case Opcode::MemoryInit:
    case Opcode::DataDrop:
    case Opcode::TableGrow:
    case Opcode::TableFill:
    case Opcode::TableCopy:
    case Opcode::TableInit:
    case Opcode::ElemDrop:
      return lower_helper(instruction);
    default:
      return lower_control(instruction);
  }
}

void IrBuilder::State::lower_select() {
  const Value condition = pop();
  const Value if_zero = pop();
  const Value if_nonzero = stack_.back();
  stack_.back() =
      appender_.compute(Op::Select, function_->type_of(if_nonzero), {condition, if_nonzero, if_zero});
}

// An immutable global is a constant of the instance, and if the module defines it, often one of the module.
void IrBuilder::State::lower_global_get(uint32_t index) {
  const runtime::Global& global = module_->globals[index];
  const Type type = type_of(global.type.value);
  if (global.type.mutable_) {
    return push(function_->inst(appender_.append(Op::GlobalGet, type, {}, index)).result);
  }
  if (index >= module_->imported_globals) {
    using Kind = runtime::ConstExpr::Kind;
    switch (global.init.kind) {
      case Kind::Value:
        return push(appender_.constant(type, global.init.bits[0]));
      case Kind::RefFunc:
        return push(appender_.compute(Op::RefFunc, Type::I64, {}, global.init.index));
      case Kind::RefNull:
        return push(appender_.constant(Type::I64, 0));
      case Kind::GlobalGet:
        break;
    }
  }
  push(appender_.compute(Op::GlobalGet, type, {}, index));
}

void IrBuilder::State::lower_call(const Instruction& instruction) {
  const bool indirect = instruction.opcode == Opcode::CallIndirect;
  const FuncType& type = indirect ? module_->types[instruction.a] : module_->type_of_function(instruction.a);
  const size_t arg_count = type.params.size() + (indirect ? 1 : 0);
  types_.clear();
  for (ValueType t : type.results) types_.push_back(type_of(t));
  const uint64_t imm = indirect ? uint64_t{instruction.a} << 32 | instruction.b : instruction.a;
  const InstId call =
      appender_.append_call(indirect ? Op::CallIndirect : Op::Call, types_, top(arg_count), imm);
  drop(arg_count);
  const uint32_t first = function_->inst(call).result.index();
  for (uint32_t i = 0; i < types_.size(); ++i) push(Value(first + i));
}

void IrBuilder::State::lower_helper(const Instruction& instruction) {
  using runtime::Helper;
  const uint32_t a = instruction.a, b = instruction.b;
  switch (instruction.opcode) {
    case Opcode::MemoryGrow:
      return call_helper(Helper::MemoryGrow, {}, 1, Type::I32);
    case Opcode::MemoryFill:
      return call_helper(Helper::MemoryFill, {}, 3, Type::None);
    case Opcode::MemoryCopy:
      return call_helper(Helper::MemoryCopy, {}, 3, Type::None);
    case Opcode::MemoryInit:
      return call_helper(Helper::MemoryInit, std::array{a}, 3, Type::None);
    case Opcode::DataDrop:
      return call_helper(Helper::DataDrop, std::array{a}, 0, Type::None);
    case Opcode::TableGrow:
      return call_helper(Helper::TableGrow, std::array{a}, 2, Type::I32);
    case Opcode::TableFill:
      return call_helper(Helper::TableFill, std::array{a}, 3, Type::None);
    case Opcode::TableCopy:
      return call_helper(Helper::TableCopy, std::array{a, b}, 3, Type::None);
    case Opcode::TableInit:
      return call_helper(Helper::TableInit, std::array{b, a}, 3, Type::None);
    case Opcode::ElemDrop:
      return call_helper(Helper::ElemDrop, std::array{a}, 0, Type::None);
    default:
      WAGO_UNREACHABLE("helper");
  }
}

// Constants, then what the instruction pops, in the order in which it was pushed.
void IrBuilder::State::call_helper(runtime::Helper helper, std::span<const uint32_t> constants,
                                   uint32_t popped, Type result) {
  args_.clear();
  for (uint32_t c : constants) args_.push_back(appender_.constant(Type::I64, c));
  const std::span<const Value> operands = top(popped);
  args_.insert(args_.end(), operands.begin(), operands.end());
  drop(popped);
  const InstId call = appender_.append(Op::CallHelper, result, args_, static_cast<uint64_t>(helper));
  if (result != Type::None) push(function_->inst(call).result);
}

}  // namespace wago::codegen
