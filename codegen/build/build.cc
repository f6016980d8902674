#include "codegen/build/build.h"

#include <array>

#include "base/huge_pages.h"
#include "codegen/build/state.h"

namespace wago::codegen {

using runtime::Instruction;
using runtime::Opcode;

namespace {

// Ends something, and is no instruction itself.
bool is_delimiter(const Instruction& instruction) {
  return instruction.opcode == Opcode::Else || instruction.opcode == Opcode::End;
}

}  // namespace

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
  out.decisions.built_instructions = static_cast<uint32_t>(out.insts.size());
  out.executed.end_built();
  return {};
}

void IrBuilder::State::start(const runtime::Module& module, uint32_t body_index,
                             const runtime::CompileSettings& settings, IrFunction& out) {
  module_ = &module;
  body_ = &module.bodies[body_index];
  function_ = &out;
  explicit_bounds_ = settings.bounds == base::Bounds::Explicit;
  interruptible_ = settings.interruptible;
  const FuncType& type = module.types[body_->type_index];
  out.clear();
  out.function = module.imported_functions + body_index;
  out.type = &type;
  out.counted = settings.counted;
  out.decisions.start(settings.source_maps);
  // Growing would touch twice the memory. An instruction takes two bytes of WebAssembly on average; what is
  // reserved and not used is never touched.
  base::reserve_large(out.insts, body_->size / 2);
  base::reserve_large(out.values, body_->size / 2);
  base::reserve_large(out.blocks, body_->size / 16);

  local_types_.clear();
  for (ValueType t : type.params) local_types_.push_back(type_of(t));
  for (ValueType t : body_->locals) local_types_.push_back(type_of(t));
  scan_.run(module, *body_, static_cast<uint32_t>(local_types_.size()));

  max_values_ = settings.max_function_values;
  // What is in proportion to the body is as welcome as the body.
  max_merge_arguments_ = uint64_t{settings.max_merge_arguments} + body_->size / 4;

  const BlockId entry = out.new_block();
  for (ValueType t : type.params) out.new_param(entry, type_of(t));
  appender_.start(out, ssa_);
  ssa_.start(out, scan_, out.block(entry).params, local_types_, appender_, max_merge_arguments_);

  stack_.clear();
  saved_params_.clear();
  frames_.clear();
  next_construct_ = 0;
  br_tables_ = 0;
  reachable_ = true;
  skipped_depth_ = 0;
  range_block_ = BlockId();
  range_lead_ = 0;
  Frame& frame = frames_.emplace_back();
  frame.kind = Frame::Kind::Function;
  frame.results = type.results;
}

void IrBuilder::State::walk() {
  runtime::BodyReader reader = runtime::read_body(*module_, *body_);
  for (Instruction instruction; !reader.at_end();) {
    reader.next(instruction);
    if (!reachable_) [[unlikely]] {
      if (!is_delimiter(instruction)) range_lead_ = reader.pc();
      skip_unreachable(instruction);
      continue;
    }
    appender_.set_pc(instruction.pc);
    const BlockId block = current();
    const size_t insts_before = function_->insts.size();
    const Lowering& row = kLowerings[static_cast<size_t>(instruction.opcode)];
    if (row.kind != Lowering::Kind::Other) {
      lower_row(row, instruction);
    } else {
      lower(instruction);
      if (over_limit()) return;
    }
    if (function_->counted) [[unlikely]]
      executed(instruction, reader.pc(), block, insts_before);
  }
}

// The instruction ran in `block`. One that can leave it before its end is the last of its range.
void IrBuilder::State::executed(const Instruction& instruction, uint32_t end, BlockId block,
                                size_t insts_before) {
  if (is_delimiter(instruction)) return;
  RangeList& list = function_->block(block).executed;
  ExecutedRanges& ranges = function_->executed;
  if (range_block_ == block && ranges.last(list).end == instruction.pc) {
    ranges.extend(list, end);
  } else {
    ranges.add(list, {~0u, instruction.pc, end, 1, range_lead_});
  }
  range_lead_ = end;
  range_block_ = block;
  for (size_t i = insts_before; i < function_->insts.size(); ++i) {
    if (info(function_->insts[i].op).flags & (kTraps | kCall)) range_block_ = BlockId();
  }
  if (instruction.opcode == Opcode::Unreachable) range_block_ = BlockId();
}

// A body can repeat a call with a thousand parameters and results millions of times, so its size does not
// bound any of these.
bool IrBuilder::State::over_limit() const {
  return ssa_.over_limit() || function_->values.size() > max_values_ ||
         function_->arg_pool.size() > max_values_ || saved_params_.size() > max_values_;
}

base::Error IrBuilder::State::limit_error() const {
  std::string limit = std::to_string(max_values_) + " values; raise EngineLimits::function_values,";
  if (ssa_.over_arguments()) {
    limit = std::to_string(max_merge_arguments_) +
            " arguments where control flow merges; raise EngineLimits::function_merge_arguments,";
  } else if (ssa_.over_limit()) {
    limit = std::to_string(kMaxMergeQuestions) + " values of locals where control flow merges;";
  }
  base::Place place;
  place.section = "code section";
  place.offset = body_->begin;
  return base::failed("function " + module_->function_name(function_->function) +
                          " is too large to compile: it needs more than " + limit +
                          (limit.back() == ',' ? " or" : "") + " split it into smaller functions",
                      place);
}

void IrBuilder::State::lower_row(const Lowering& row, const Instruction& instruction) {
  switch (row.kind) {
    case Lowering::Kind::Compute:
      return lower_compute(row, 0);
    case Lowering::Kind::Lane:
      return lower_compute(row, instruction.bits[1]);
    case Lowering::Kind::Shuffle:
      return lower_compute(row, function_->vector({instruction.bits[0], instruction.bits[1]}));
    case Lowering::Kind::Load:
      stack_.back() = load(stack_.back(), row.type, static_cast<Access>(row.aux), instruction.bits[0]);
      return;
    case Lowering::Kind::Store: {
      const Value value = pop();
      return store(pop(), value, static_cast<Access>(row.aux), instruction.bits[0]);
    }
    case Lowering::Kind::LoadSplat:
    case Lowering::Kind::LoadZero:
    case Lowering::Kind::LoadExtend:
    case Lowering::Kind::LoadLane:
    case Lowering::Kind::StoreLane:
      return lower_lane_access(row, instruction);
    case Lowering::Kind::Other:
      break;
  }
  WAGO_UNREACHABLE("lowering");
}

void IrBuilder::State::lower_compute(const Lowering& row, uint64_t imm) {
  Value args[3];
  for (uint32_t i = row.args; i-- > 0;) args[i] = pop();
  switch (row.args) {
    case 1:
      return push(appender_.compute(row.op, row.type, {args[0]}, imm, row.aux));
    case 2:
      return push(appender_.compute(row.op, row.type, {args[0], args[1]}, imm, row.aux));
    default:
      return push(appender_.compute(row.op, row.type, {args[0], args[1], args[2]}, imm, row.aux));
  }
}

Value IrBuilder::State::load(Value index, Type type, Access access, uint64_t offset) {
  const Value base = appender_.mem_base();
  if (explicit_bounds_) appender_.bounds_check(index, offset + access_bytes(access, type));
  const InstId id = appender_.append(Op::Load, type, {base, index}, offset, static_cast<uint8_t>(access));
  return function_->inst(id).result;
}

void IrBuilder::State::store(Value index, Value value, Access access, uint64_t offset) {
  const Value base = appender_.mem_base();
  if (explicit_bounds_) {
    appender_.bounds_check(index, offset + access_bytes(access, function_->type_of(value)));
  }
  appender_.append(Op::Store, Type::None, {base, index, value}, offset, static_cast<uint8_t>(access));
}

// A lane in memory, as an integer.
void IrBuilder::State::lower_lane_access(const Lowering& row, const Instruction& instruction) {
  using Kind = Lowering::Kind;
  const LaneShape shape = row.kind == Kind::LoadExtend ? LaneShape::I64x2 : shape_of(row.aux);
  const Type type = lane_type(shape);
  const uint32_t bytes = lane_bytes(shape);
  const Access access = bytes == 1 ? Access::U8 : bytes == 2 ? Access::U16 : Access::Full;
  const uint64_t offset = instruction.bits[0], lane = instruction.bits[1];
  if (row.kind == Kind::StoreLane) {
    const Value value = appender_.compute(Op::VextractU, type, {pop()}, lane, row.aux);
    return store(pop(), value, access, offset);
  }
  const bool into_vector = row.kind == Kind::LoadLane;
  const Value vector = into_vector ? pop() : Value();
  const Value loaded = load(pop(), type, access, offset);
  if (row.kind == Kind::LoadSplat) {
    return push(appender_.compute(Op::Vsplat, Type::V128, {loaded}, 0, row.aux));
  }
  const Value result = appender_.compute(Op::Vreplace, Type::V128,
                                         {into_vector ? vector : appender_.constant(Vector()), loaded},
                                         into_vector ? lane : 0, vector_aux(shape));
  if (row.kind != Kind::LoadExtend) return push(result);
  push(appender_.compute(row.op, Type::V128, {result}, 0, row.aux));
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
    case Opcode::V128Const:
      return push(appender_.constant(Vector{instruction.bits[0], instruction.bits[1]}));
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
        if (type == Type::V128) {
          return push(appender_.constant(Vector{global.init.bits[0], global.init.bits[1]}));
        }
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
