#include "runtime/validate.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <string>

#include "base/parallel.h"
#include "runtime/decode_limits.h"

namespace wago::runtime {

namespace {

// Few enough bodies that the last chunks even out between workers, many enough that taking one costs nothing.
constexpr size_t kChunkBodies = 64;

// What messages call the end of a block.
const char* block_name(Opcode opcode) {
  switch (opcode) {
    case Opcode::Loop:
      return "end of loop";
    case Opcode::If:
      return "end of if";
    case Opcode::Else:
      return "end of else";
    default:
      return "end of block";
  }
}

}  // namespace

std::optional<base::Error> validate_bodies(Module& module, const BodyContext& context, size_t count,
                                           unsigned workers) {
  std::mutex mutex;
  std::optional<base::Error> first;
  std::atomic<size_t> first_index = count;  // bodies after it need not be looked at
  std::vector<std::optional<FunctionValidator>> validators(std::max(workers, 1u));
  base::parallel_for(workers, count, kChunkBodies, [&](unsigned worker, size_t begin, size_t end) {
    if (!validators[worker]) validators[worker].emplace(context);
    for (size_t i = begin; i < end && i < first_index; ++i) {
      DecodeErrors errors;
      errors.enter_section("code section");
      const uint32_t function = module.imported_functions + static_cast<uint32_t>(i);
      if (validators[worker]->validate(function, module.bodies[i], errors)) continue;
      std::lock_guard lock(mutex);
      if (i >= first_index) continue;
      first_index = i;
      first = errors.take();
    }
  });
  return first;
}

bool FunctionValidator::validate(uint32_t function, FunctionBody& body, DecodeErrors& errors) {
  errors_ = &errors;
  errors.enter_function(function);
  if (!begin(function, body)) return false;
  const uint32_t end = body.begin + body.size;
  CheckedBodyReader reader(CheckedCursor(module_.bytes, body.code_begin, end, &errors));
  for (Instruction instruction; !reader.at_end();) {
    if (finished_) return errors.body_size_mismatch(reader.pc(), end - reader.pc());
    if (!reader.next(instruction) || !step(instruction)) return false;
  }
  if (!finished_) {
    const bool more = end < module_.bytes.size();
    return errors.end_missing(end, more ? std::optional(module_.bytes[end]) : std::nullopt);
  }
  body.max_stack = static_cast<uint32_t>(max_stack_);
  body.max_control = static_cast<uint32_t>(max_control_);
  body.calls = calls_;
  return true;
}

bool FunctionValidator::begin(uint32_t function, const FunctionBody& body) {
  const FuncType& type = module_.type_of_function(function);
  locals_.clear();
  locals_.reserve(type.params.size() + body.locals.size());
  for (ValueType param : type.params) locals_.push_back(operand(param));
  for (ValueType local : body.locals) locals_.push_back(operand(local));
  frames_.clear();
  stack_size_ = max_stack_ = max_control_ = 0;
  finished_ = calls_ = false;
  at_ = body.code_begin;
  return push_frame(Opcode::Block, BlockType::indexed(body.type_index));
}

bool FunctionValidator::step(const Instruction& instruction) {
  at_ = instruction.pc;
  opcode_ = instruction.opcode;
  const OpcodeInfo& opcode = info(instruction.opcode);
  if (!opcode.simple) return special(instruction);
  if (!check_entities(instruction, opcode.immediate)) return false;
  for (int i = opcode.params; i-- > 0;) {
    if (!pop(opcode.param[i])) return false;
  }
  return opcode.results == 0 || push(opcode.result);
}

// What the immediates of instructions with a fixed signature name must exist.
bool FunctionValidator::check_entities(const Instruction& instruction, Immediate immediate) {
  switch (immediate) {
    case Immediate::Memarg:
      return memory_access(instruction);
    case Immediate::MemargLane:
      return memory_access(instruction) && lane(instruction, instruction.bits[1]);
    case Immediate::Lane:
      return lane(instruction, instruction.bits[1]);
    case Immediate::Shuffle:
      for (uint32_t i = 0; i < 16; ++i) {
        if (!lane(instruction, instruction.bits[i / 8] >> 8 * (i % 8) & 0xff)) return false;
      }
      return true;
    case Immediate::Memory:
      return known_memory(instruction.b);
    case Immediate::MemoryMemory:
      return known_memory(instruction.a) && known_memory(instruction.b);
    case Immediate::DataMemory:
      return known_memory(instruction.b) && known_data(instruction.a);
    case Immediate::Data:
      return known_data(instruction.a);
    case Immediate::Element:
      return known_element(instruction.a);
    case Immediate::Table:
      return known_table(instruction.a);
    case Immediate::ElementTable: {
      if (!known_table(instruction.b) || !known_element(instruction.a)) return false;
      const ValueType table = module_.tables[instruction.b].element;
      const ValueType segment = module_.elements[instruction.a].type;
      return table == segment || errors_->table_types_differ(at_, subject(), table, segment);
    }
    case Immediate::TableTable: {
      if (!known_table(instruction.a) || !known_table(instruction.b)) return false;
      const ValueType to = module_.tables[instruction.a].element;
      const ValueType from = module_.tables[instruction.b].element;
      return to == from || errors_->table_types_differ(at_, subject(), to, from);
    }
    default:
      return true;
  }
}

bool FunctionValidator::memory_access(const Instruction& instruction) {
  if (!known_memory(instruction.b)) return false;
  return instruction.a <= info(instruction.opcode).natural_alignment ||
         errors_->alignment_too_large(at_, instruction.opcode, instruction.a);
}

bool FunctionValidator::lane(const Instruction& instruction, uint64_t index) {
  return index < info(instruction.opcode).lanes ||
         errors_->lane_out_of_range(at_, instruction.opcode, static_cast<uint32_t>(index));
}

// Instructions whose types depend on more than the opcode.
bool FunctionValidator::special(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::Unreachable:
      return unreachable(), true;
    case Opcode::Block:
    case Opcode::Loop:
    case Opcode::If:
      return block(instruction);
    case Opcode::Else:
      return else_();
    case Opcode::End:
      return end();
    case Opcode::Br:
      if (!check_label(instruction.a) || !match_all(label_types(instruction.a))) return false;
      return unreachable(), true;
    case Opcode::BrIf:
      return branch_if(instruction.a);
    case Opcode::BrTable:
      return branch_table(instruction);
    case Opcode::Return:
      if (!match_all(frames_.front().type.results(module_))) return false;
      return unreachable(), true;
    case Opcode::Call:
      if (instruction.a >= module_.function_count()) {
        return errors_->unknown(at_, "function", instruction.a, module_.function_count());
      }
      return call(module_.type_of_function(instruction.a));
    case Opcode::CallIndirect:
      return call_indirect(instruction);
    case Opcode::Drop: {
      Operand found;
      return pop_any(found, "a value");
    }
    case Opcode::Select:
      return select();
    case Opcode::SelectTyped:
      if (instruction.a != 1) return errors_->result_arity(at_, instruction.a);
      return pop(ValueType::I32) && pop(instruction.type) && pop(instruction.type) && push(instruction.type);
    case Opcode::LocalGet:
    case Opcode::LocalSet:
    case Opcode::LocalTee:
      return local(instruction);
    case Opcode::GlobalGet:
    case Opcode::GlobalSet:
      return global(instruction);
    case Opcode::TableGet:
    case Opcode::TableSet:
    case Opcode::TableGrow:
    case Opcode::TableFill:
      return table(instruction);
    case Opcode::RefNull:
      return push(instruction.type);
    case Opcode::RefIsNull:
      return is_null();
    case Opcode::RefFunc:
      return reference(instruction.a);
    default:
      WAGO_UNREACHABLE("a core instruction without a rule");
  }
}

// --- control

bool FunctionValidator::block(const Instruction& instruction) {
  if (instruction.block.has_index() && !known_type(instruction.block.index())) return false;
  if (instruction.opcode == Opcode::If && !pop(ValueType::I32)) return false;
  const Types params = instruction.block.params(module_);
  return pop_all(params) && push_frame(instruction.opcode, instruction.block) && push_all(params);
}

bool FunctionValidator::else_() {
  Frame& frame = frames_.back();
  if (frame.opcode != Opcode::If) return errors_->misplaced_else(at_);
  if (!end_frame("else of if")) return false;
  frame.opcode = Opcode::Else;
  frame.unreachable = false;
  return push_all(frame.type.params(module_));
}

bool FunctionValidator::end() {
  const Frame frame = frames_.back();
  const bool function = frames_.size() == 1;
  if (frame.opcode == Opcode::If) {
    if (!std::ranges::equal(frame.type.params(module_), frame.type.results(module_))) {
      return errors_->if_without_else(at_);
    }
  }
  if (!end_frame(function ? "end of function" : block_name(frame.opcode))) return false;
  frames_.pop_back();
  finished_ = function;
  return function || push_all(frame.type.results(module_));
}

bool FunctionValidator::branch_if(uint32_t depth) {
  if (!check_label(depth) || !pop(ValueType::I32)) return false;
  const Types types = label_types(depth);
  // Pushing makes pretended values real.
  return has_all(types) || (pop_all(types) && push_all(types));
}

bool FunctionValidator::branch_table(const Instruction& instruction) {
  if (!pop(ValueType::I32)) return false;
  Labels last(instruction);
  for (uint32_t i = 0; i < instruction.a; ++i) last.next();
  const uint32_t default_depth = last.next();
  if (!check_label(default_depth)) return false;
  const Types default_types = label_types(default_depth);
  Types matched;
  Labels labels(instruction);
  for (uint32_t i = 0; i < instruction.a; ++i) {
    const uint32_t depth = labels.next();
    if (!check_label(depth)) return false;
    const Types types = label_types(depth);
    if (types.size() != default_types.size()) {
      return errors_->branch_arity(at_, types.size(), default_types.size());
    }
    if (types.data() == matched.data()) continue;  // tables mostly repeat few types
    if (!match_all(types)) return false;
    matched = types;
  }
  if (!match_all(default_types)) return false;
  return unreachable(), true;
}

bool FunctionValidator::call(const FuncType& type) {
  calls_ = true;
  return pop_all(type.params) && push_all(type.results);
}

bool FunctionValidator::call_indirect(const Instruction& instruction) {
  if (!known_table(instruction.b)) return false;
  if (module_.tables[instruction.b].element != ValueType::FuncRef) {
    return errors_->table_not_functions(at_, instruction.b);
  }
  return known_type(instruction.a) && pop(ValueType::I32) && call(module_.types[instruction.a]);
}

// --- parametric, variables, tables, references

bool FunctionValidator::select() {
  Operand second, first;
  if (!pop(ValueType::I32) || !pop_any(second, "a number") || !pop_any(first, "a number")) return false;
  for (Operand found : {second, first}) {
    if (found != kUnknown && is_reference(static_cast<ValueType>(found))) {
      return errors_->operand_type(at_, "select without a type", "a number", static_cast<ValueType>(found));
    }
  }
  if (first != kUnknown && second != kUnknown && first != second) {
    return errors_->operand_type(at_, "select", to_string(static_cast<ValueType>(first)),
                                 static_cast<ValueType>(second));
  }
  return push_operand(first == kUnknown ? second : first);
}

bool FunctionValidator::local(const Instruction& instruction) {
  if (instruction.a >= locals_.size()) return errors_->unknown(at_, "local", instruction.a, locals_.size());
  const auto type = static_cast<ValueType>(locals_[instruction.a]);
  if (instruction.opcode != Opcode::LocalGet && !pop(type)) return false;
  return instruction.opcode == Opcode::LocalSet || push(type);
}

bool FunctionValidator::global(const Instruction& instruction) {
  if (instruction.a >= module_.globals.size()) {
    return errors_->unknown(at_, "global", instruction.a, module_.globals.size());
  }
  const GlobalType& type = module_.globals[instruction.a].type;
  if (instruction.opcode == Opcode::GlobalGet) return push(type.value);
  if (!type.mutable_) return errors_->global_immutable(at_, instruction.a);
  return pop(type.value);
}

bool FunctionValidator::table(const Instruction& instruction) {
  if (!known_table(instruction.a)) return false;
  const ValueType element = module_.tables[instruction.a].element;
  switch (instruction.opcode) {
    case Opcode::TableGet:
      return pop(ValueType::I32) && push(element);
    case Opcode::TableSet:
      return pop(element) && pop(ValueType::I32);
    case Opcode::TableGrow:
      return pop(ValueType::I32) && pop(element) && push(ValueType::I32);
    default:
      return pop(ValueType::I32) && pop(element) && pop(ValueType::I32);  // table.fill
  }
}

bool FunctionValidator::is_null() {
  Operand found;
  if (!pop_any(found, "a reference")) return false;
  if (found != kUnknown && !is_reference(static_cast<ValueType>(found))) {
    return errors_->operand_type(at_, subject(), "a reference", static_cast<ValueType>(found));
  }
  return push(ValueType::I32);
}

bool FunctionValidator::reference(uint32_t function) {
  if (function >= module_.function_count()) {
    return errors_->unknown(at_, "function", function, module_.function_count());
  }
  if (!(*context_.declared)[function]) return errors_->undeclared_reference(at_, function);
  return push(ValueType::FuncRef);
}

// --- operands

bool FunctionValidator::grow(size_t more) {
  if (stack_size_ + more > kMaxOperands) {
    return errors_->over_limit(at_, "operands on the stack", stack_size_ + more, kMaxOperands);
  }
  if (stack_size_ + more > stack_.size()) stack_.resize(2 * (stack_size_ + more) + 64);
  return true;
}

bool FunctionValidator::push_operand(Operand operand) {
  if (stack_size_ == stack_.size() && !grow(1)) return false;
  stack_[stack_size_++] = operand;
  max_stack_ = std::max(max_stack_, stack_size_);
  return true;
}

bool FunctionValidator::push(ValueType type) {
  return push_operand(operand(type));
}

// Types and operands are the same bytes, so that lists of a thousand of them cost little more than one: a
// call of two bytes can name so many.
static_assert(sizeof(ValueType) == 1);

bool FunctionValidator::push_all(Types types) {
  if (types.empty()) return true;
  if (!grow(types.size())) return false;
  std::memcpy(stack_.data() + stack_size_, types.data(), types.size());
  stack_size_ += types.size();
  max_stack_ = std::max(max_stack_, stack_size_);
  return true;
}

bool FunctionValidator::pop(ValueType wanted) {
  if (!frame_empty() && stack_[stack_size_ - 1] == operand(wanted)) [[likely]] {
    --stack_size_;
    return true;
  }
  Operand found;
  if (!pop_any(found, to_string(wanted))) return false;
  if (found == kUnknown) return true;
  return errors_->operand_type(at_, subject(), to_string(wanted), static_cast<ValueType>(found));
}

bool FunctionValidator::pop_any(Operand& found, std::string_view wanted) {
  if (!frame_empty()) {
    found = stack_[--stack_size_];
    return true;
  }
  found = kUnknown;
  return frames_.back().unreachable || errors_->operand_missing(at_, subject(), wanted);
}

bool FunctionValidator::pop_all(Types types) {
  if (!match_all(types)) return false;
  stack_size_ -= std::min(types.size(), stack_size_ - frames_.back().height);
  return true;
}

bool FunctionValidator::has_all(Types types) const {
  if (types.empty()) return true;
  if (stack_size_ - frames_.back().height < types.size()) return false;
  return std::memcmp(stack_.data() + (stack_size_ - types.size()), types.data(), types.size()) == 0;
}

bool FunctionValidator::match_all(Types types) {
  if (has_all(types)) [[likely]]
    return true;
  const Frame& frame = frames_.back();
  if (frame.unreachable && has_all_or_pretends(types)) return true;
  // It does not match; taking the values one by one says where.
  for (size_t i = types.size(); i-- > 0;) {
    if (!pop(types[i])) return false;
  }
  WAGO_UNREACHABLE("operands that matched one by one but not together");
}

// The known values on top are right, and the block has no others below them.
bool FunctionValidator::has_all_or_pretends(Types types) const {
  const size_t known = std::min(types.size(), stack_size_ - frames_.back().height);
  const Operand* found = stack_.data() + (stack_size_ - known);
  const ValueType* wanted = types.data() + (types.size() - known);
  bool match = true;
  for (size_t i = 0; i < known; ++i) match &= (found[i] == operand(wanted[i])) | (found[i] == kUnknown);
  return match;
}

// --- frames

bool FunctionValidator::push_frame(Opcode opcode, BlockType type) {
  if (frames_.size() > kMaxNesting)
    return errors_->over_limit(at_, "nested blocks", frames_.size(), kMaxNesting);
  frames_.push_back(Frame{opcode, false, static_cast<uint32_t>(stack_size_), type});
  max_control_ = std::max(max_control_, frames_.size());
  return true;
}

// Takes the frame's results off the stack and makes sure that nothing else is left of it.
bool FunctionValidator::end_frame(std::string_view subject) {
  subject_ = subject;
  const bool popped = pop_all(frames_.back().type.results(module_));
  subject_ = {};
  if (!popped) return false;
  if (frame_empty()) return true;
  return errors_->operands_left(at_, subject, stack_size_ - frames_.back().height);
}

void FunctionValidator::unreachable() {
  stack_size_ = frames_.back().height;
  frames_.back().unreachable = true;
}

bool FunctionValidator::check_label(uint32_t depth) {
  return depth < frames_.size() || errors_->unknown_label(at_, depth, frames_.size());
}

FunctionValidator::Types FunctionValidator::label_types(uint32_t depth) const {
  const Frame& frame = frames_[frames_.size() - 1 - depth];
  return frame.opcode == Opcode::Loop ? frame.type.params(module_) : frame.type.results(module_);
}

// --- what immediates name

bool FunctionValidator::known_table(uint32_t index) {
  return index < module_.tables.size() || errors_->unknown(at_, "table", index, module_.tables.size());
}
bool FunctionValidator::known_memory(uint32_t index) {
  return index < module_.memories.size() || errors_->unknown(at_, "memory", index, module_.memories.size());
}
bool FunctionValidator::known_data(uint32_t index) {
  if (!context_.data_count) return errors_->data_count_required(at_, index);
  return index < *context_.data_count || errors_->unknown(at_, "data segment", index, *context_.data_count);
}
bool FunctionValidator::known_element(uint32_t index) {
  return index < module_.elements.size() ||
         errors_->unknown(at_, "elem segment", index, module_.elements.size());
}
bool FunctionValidator::known_type(uint32_t index) {
  return index < module_.types.size() || errors_->unknown(at_, "type", index, module_.types.size());
}

}  // namespace wago::runtime
