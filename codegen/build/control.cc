#include "base/vocabulary.h"
#include "codegen/build/state.h"

namespace wago::codegen {

using runtime::Instruction;
using runtime::Opcode;

void IrBuilder::State::lower_control(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::Block:
      return open_block(instruction);
    case Opcode::Loop:
      return open_loop(instruction);
    case Opcode::If:
      return open_if(instruction);
    case Opcode::Else:
      return begin_else();
    case Opcode::End:
      return end_construct();
    case Opcode::Br:
      return branch(frame_at(instruction.a));
    case Opcode::BrIf:
      return branch_if(frame_at(instruction.a));
    case Opcode::BrTable:
      return branch_table(instruction);
    case Opcode::Return:
      return branch(frames_.front());
    case Opcode::Unreachable:
      appender_.append(Op::Trap, Type::None, {}, 0, static_cast<uint8_t>(base::TrapCode::Unreachable));
      return unreachable();
    default:
      WAGO_UNREACHABLE(runtime::to_string(instruction.opcode));
  }
}

void IrBuilder::State::unreachable() {
  reachable_ = false;
  skipped_depth_ = 0;
}

void IrBuilder::State::skip_unreachable(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::Block:
    case Opcode::Loop:
    case Opcode::If:
      ++skipped_depth_;
      ++next_construct_;
      return;
    case Opcode::Else:
      if (skipped_depth_ != 0) return;
      appender_.set_pc(instruction.pc);
      return begin_else();
    case Opcode::End:
      if (skipped_depth_ != 0) {
        --skipped_depth_;
        return;
      }
      appender_.set_pc(instruction.pc);
      return end_construct();
    default:
      return;
  }
}

IrBuilder::State::Frame& IrBuilder::State::push_frame(Frame::Kind kind, const Instruction& instruction) {
  Frame& frame = frames_.emplace_back();
  frame.kind = kind;
  frame.params = instruction.block.params(*module_);
  frame.results = instruction.block.results(*module_);
  frame.height = static_cast<uint32_t>(stack_.size() - frame.params.size());
  return frame;
}

BlockId IrBuilder::State::label(Frame& frame) {
  if (!frame.label.valid()) frame.label = function_->new_block();
  return frame.label;
}

void IrBuilder::State::label_edge(Frame& frame) {
  ssa_.add_edge(current(), label(frame), appender_.pc(), top(frame.label_types().size()));
}

void IrBuilder::State::open_block(const Instruction& instruction) {
  const BodyScan::Construct& construct = scan_.constructs()[next_construct_++];
  Frame& frame = push_frame(Frame::Kind::Block, instruction);
  if (!construct.branched) return;
  frame.has_region = true;
  ssa_.open_region();
}

void IrBuilder::State::open_loop(const Instruction& instruction) {
  const BodyScan::Construct& construct = scan_.constructs()[next_construct_++];
  Frame& frame = push_frame(Frame::Kind::Loop, instruction);
  if (!construct.branched) return;
  frame.has_loop = true;
  label_edge(frame);
  appender_.append(Op::Jump, Type::None, {});
  ssa_.open_loop(instruction.pc, construct.end_pc, frame.label);
  for (uint32_t i = 0; i < frame.params.size(); ++i) {
    stack_[frame.height + i] = ssa_.loop_stack_param(frame.label, i, type_of(frame.params[i]));
  }
  begin_block(frame.label);
  if (interruptible_) appender_.append(Op::CheckInterrupt, Type::None, {});
}

void IrBuilder::State::open_if(const Instruction& instruction) {
  const BodyScan::Construct& construct = scan_.constructs()[next_construct_++];
  Value condition = pop();
  Frame& frame = push_frame(Frame::Kind::If, instruction);
  frame.has_region = true;
  ssa_.open_region();
  if (construct.has_else) {
    frame.saved_params = static_cast<uint32_t>(saved_params_.size());
    const std::span<const Value> params = top(frame.params.size());
    saved_params_.insert(saved_params_.end(), params.begin(), params.end());
  }
  const bool opposite = simplify_condition(condition, *function_);
  const ConstantBits known = constant_bits(*function_, condition);
  const BlockId before = current();
  if (known.known) {
    note_known_way();
    if ((static_cast<uint32_t>(known.bits) != 0) == opposite) {  // the first arm is never reached
      if (construct.has_else) {
        frame.else_block = before;
      } else {
        label_edge(frame);
        appender_.append(Op::Jump, Type::None, {});
      }
      unreachable();
    }
  } else {
    appender_.append(Op::Branch, Type::None, {condition});
    const BlockId then_block = function_->new_block();
    if (!opposite) function_->add_edge(before, then_block, {});
    if (construct.has_else) {
      frame.else_block = function_->new_block();
      frame.else_is_merge = true;
      ssa_.add_edge(before, frame.else_block, instruction.pc, {});
    } else {
      label_edge(frame);
    }
    if (opposite) function_->add_edge(before, then_block, {});
    begin_block(then_block);
  }
  if (construct.has_else) ssa_.open_region();  // of the first arm
}

void IrBuilder::State::begin_else() {
  Frame& frame = frames_.back();
  if (reachable_) {
    label_edge(frame);
    appender_.append(Op::Jump, Type::None, {});
  }
  ssa_.close_region(appender_.pc(), frame.else_is_merge ? frame.else_block : BlockId());
  stack_.resize(frame.height);
  const auto params = saved_params_.begin() + frame.saved_params;
  stack_.insert(stack_.end(), params, params + static_cast<ptrdiff_t>(frame.params.size()));
  saved_params_.resize(frame.saved_params);
  if (frame.else_block.valid()) {
    reachable_ = true;
    begin_block(frame.else_block);
  } else {
    unreachable();
  }
}

void IrBuilder::State::end_construct() {
  Frame& frame = frames_.back();
  switch (frame.kind) {
    case Frame::Kind::Function:
      return end_function();
    case Frame::Kind::Loop:
      if (frame.has_loop) ssa_.close_loop();
      break;
    case Frame::Kind::Block:
    case Frame::Kind::If:
      if (frame.has_region) merge_at_end(frame);
      break;
  }
  frames_.pop_back();
  if (!reachable_) unreachable();
}

void IrBuilder::State::merge_at_end(Frame& frame) {
  if (reachable_) {
    label_edge(frame);
    appender_.append(Op::Jump, Type::None, {});
  }
  ssa_.close_region(appender_.pc(), frame.label);
  reachable_ = frame.label.valid();
  stack_.resize(frame.height);
  if (!reachable_) return;
  begin_block(frame.label);
  for (uint32_t i = 0; i < frame.results.size(); ++i) {
    push(ssa_.stack_value(frame.label, i, type_of(frame.results[i])));
  }
}

void IrBuilder::State::end_function() {
  Frame& frame = frames_.back();
  if (reachable_) return_values(top(frame.results.size()));
  reachable_ = false;
  if (!frame.label.valid()) return;
  begin_block(frame.label);
  stack_.clear();
  for (uint32_t i = 0; i < frame.results.size(); ++i) {
    push(ssa_.stack_value(frame.label, i, type_of(frame.results[i])));
  }
  return_values(stack_);
}

void IrBuilder::State::return_values(std::span<const Value> values) {
  appender_.append(Op::Return, Type::None, values);
}

void IrBuilder::State::branch(Frame& frame) {
  if (frame.kind == Frame::Kind::Function) {
    return_values(top(frame.results.size()));
  } else {
    label_edge(frame);
    appender_.append(Op::Jump, Type::None, {});
  }
  unreachable();
}

void IrBuilder::State::note_known_way() {
  function_->decisions.note(base::DecisionKind::BranchFolded, appender_.pc());
}

void IrBuilder::State::branch_if(Frame& frame) {
  Value condition = pop();
  const bool opposite = simplify_condition(condition, *function_);
  const ConstantBits known = constant_bits(*function_, condition);
  if (known.known) {
    note_known_way();
    if ((static_cast<uint32_t>(known.bits) != 0) != opposite) branch(frame);
    return;
  }
  appender_.append(Op::Branch, Type::None, {condition});
  const BlockId before = current();
  const BlockId next = function_->new_block();
  if (opposite) function_->add_edge(before, next, {});
  label_edge(frame);
  if (!opposite) function_->add_edge(before, next, {});
  begin_block(next);
}

void IrBuilder::State::branch_table(const Instruction& instruction) {
  const Value index = pop();
  runtime::Labels labels(instruction);
  if (const ConstantBits known = constant_bits(*function_, index); known.known) {
    note_known_way();
    const uint32_t chosen = static_cast<uint32_t>(known.bits);
    uint32_t depth = labels.next();
    for (uint32_t i = 0; i < instruction.a && i < chosen; ++i) depth = labels.next();
    return branch(frame_at(depth));
  }
  ++br_tables_;
  for (uint64_t i = 0; i <= instruction.a; ++i) {
    Frame& frame = frame_at(labels.next());
    if (frame.br_table != br_tables_) {
      frame.br_table = br_tables_;
      frame.br_table_uses = 0;
      frame.br_table_block = BlockId();
    }
    ++frame.br_table_uses;
  }
  appender_.append(Op::BrTable, Type::None, {index});
  labels = runtime::Labels(instruction);
  for (uint64_t i = 0; i <= instruction.a; ++i) table_entry(frame_at(labels.next()));
  unreachable();
}

// Entries that lead to the same label share a block on the way there, so that its arguments are passed once.
void IrBuilder::State::table_entry(Frame& frame) {
  if (frame.br_table_uses == 1) return label_edge(frame);
  const BlockId table = current();
  if (!frame.br_table_block.valid()) {
    frame.br_table_block = function_->new_block();
    begin_block(frame.br_table_block);
    label_edge(frame);
    appender_.append(Op::Jump, Type::None, {});
    begin_block(table);
  }
  function_->add_edge(table, frame.br_table_block, {});
}

}  // namespace wago::codegen
