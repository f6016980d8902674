// The builder's state while it walks a body. Private to build.cc (what an instruction computes) and
// control.cc (where control goes).
//
// Code that cannot be reached is read and not built: from an unconditional branch to the `else` or `end` of
// the construct it stands in. So every value on `stack_` is real, and stack polymorphism never shows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "codegen/build/appender.h"
#include "codegen/build/build.h"
#include "codegen/build/lowering.h"
#include "codegen/build/scan.h"
#include "codegen/build/ssa.h"
#include "runtime/abi.h"
#include "runtime/code_reader.h"

namespace wago::codegen {

class IrBuilder::State {
 public:
  base::Result<void> build(const runtime::Module& module, uint32_t body_index,
                           const runtime::CompileSettings& settings, IrFunction& out);

 private:
  struct Frame {
    enum class Kind : uint8_t { Function, Block, Loop, If };
    Kind kind = Kind::Block;
    bool has_region = false;
    bool has_loop = false;       // its header is branched to
    uint32_t height = 0;         // of stack_ below the parameters
    BlockId label;               // target of branches to it, made with the first; a loop's header
    BlockId else_block;          // where the second arm starts; invalid if it is never reached
    bool else_is_merge = false;  // reached by an edge; otherwise the condition was known to be zero
    uint32_t saved_params = 0;   // in saved_params_: what the second arm starts with
    std::span<const ValueType> params, results;
    uint32_t br_table = 0;       // the last br_table that leads here
    uint32_t br_table_uses = 0;  // by how many of its entries
    BlockId br_table_block;      // their common way, if there is more than one
    // What a branch to it passes.
    std::span<const ValueType> label_types() const { return kind == Kind::Loop ? params : results; }
  };

  // build.cc
  void start(const runtime::Module& module, uint32_t body_index, const runtime::CompileSettings& settings,
             IrFunction& out);
  void walk();
  void executed(const runtime::Instruction& instruction, uint32_t end, BlockId block, size_t insts_before);
  void lower(const runtime::Instruction& instruction);
  void lower_row(const Lowering& row, const runtime::Instruction& instruction);
  void lower_compute(const Lowering& row, uint64_t imm);
  void lower_lane_access(const Lowering& row, const runtime::Instruction& instruction);
  Value load(Value index, Type type, Access access, uint64_t offset);
  void store(Value index, Value value, Access access, uint64_t offset);
  void lower_select();
  void lower_global_get(uint32_t index);
  void lower_call(const runtime::Instruction& instruction);
  void lower_helper(const runtime::Instruction& instruction);
  void call_helper(runtime::Helper helper, std::span<const uint32_t> constants, uint32_t popped, Type result);
  bool over_limit() const;
  base::Error limit_error() const;

  // control.cc
  void lower_control(const runtime::Instruction& instruction);
  void open_block(const runtime::Instruction& instruction);
  void open_loop(const runtime::Instruction& instruction);
  void open_if(const runtime::Instruction& instruction);
  void begin_else();
  void end_construct();
  void end_function();
  void merge_at_end(Frame& frame);
  void branch(Frame& frame);
  void branch_if(Frame& frame);
  void note_known_way();
  void branch_table(const runtime::Instruction& instruction);
  void table_entry(Frame& frame);
  void return_values(std::span<const Value> values);
  void unreachable();
  void skip_unreachable(const runtime::Instruction& instruction);
  Frame& push_frame(Frame::Kind kind, const runtime::Instruction& instruction);
  Frame& frame_at(uint32_t depth) { return frames_[frames_.size() - 1 - depth]; }
  BlockId label(Frame& frame);
  // An edge from the current block to the frame's label, with what is on top of the stack.
  void label_edge(Frame& frame);
  void begin_block(BlockId block) { appender_.set_block(block); }
  BlockId current() const { return appender_.block(); }

  void push(Value value) { stack_.push_back(value); }
  Value pop() {
    const Value value = stack_.back();
    stack_.pop_back();
    return value;
  }
  std::span<const Value> top(size_t count) const { return std::span(stack_).last(count); }
  void drop(size_t count) { stack_.resize(stack_.size() - count); }

  const runtime::Module* module_ = nullptr;
  const runtime::FunctionBody* body_ = nullptr;
  IrFunction* function_ = nullptr;
  bool explicit_bounds_ = false;
  uint64_t max_values_ = 0, max_merge_arguments_ = 0;
  bool interruptible_ = false;
  uint32_t range_lead_ = 0;  // since this pc there was only `else` and `end`
  BlockId range_block_;      // whose last range the next instruction continues; invalid: it starts one

  BodyScan scan_;
  SsaConstruction ssa_;
  Appender appender_;
  std::vector<Value> stack_;
  std::vector<Frame> frames_;
  std::vector<Value> saved_params_;
  std::vector<Type> local_types_;
  std::vector<Type> types_;
  std::vector<Value> args_;
  uint32_t next_construct_ = 0;  // in scan_.constructs()
  uint32_t br_tables_ = 0;
  bool reachable_ = true;
  uint32_t skipped_depth_ = 0;  // constructs open inside unreachable code
};

}  // namespace wago::codegen
