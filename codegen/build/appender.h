// Appends instructions to the block being built: simplified, and numbered, so that an operation whose result
// is already there is not emitted again. Numbers hold wherever their definition dominates: while its region
// is open.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "codegen/build/ssa.h"
#include "codegen/ir/ir.h"
#include "codegen/ir/simplify.h"

namespace wago::codegen {

class Appender final : public ConstantSource, public ZeroSource {
 public:
  // Expects block 0. Both references must outlive the building.
  void start(IrFunction& function, const SsaConstruction& ssa);

  void set_block(BlockId block) { block_ = block; }
  BlockId block() const { return block_; }
  void set_pc(uint32_t pc) { pc_ = pc; }
  uint32_t pc() const { return pc_; }

  // The value of an operation: an existing one, or a new instruction's.
  Value compute(Op op, Type type, std::initializer_list<Value> args, uint64_t imm = 0, uint8_t aux = 0);
  Value constant(Type type, uint64_t bits) override;
  Value constant(Vector vector);

  // An instruction as it is.
  InstId append(Op op, Type type, std::initializer_list<Value> args, uint64_t imm = 0, uint8_t aux = 0) {
    return append(op, type, std::span(args.begin(), args.size()), imm, aux);
  }
  InstId append(Op op, Type type, std::span<const Value> args, uint64_t imm = 0, uint8_t aux = 0);
  InstId append_call(Op op, std::span<const Type> results, std::span<const Value> args, uint64_t imm);

  // Of the whole function: they live at the head of the entry block.
  Value zero(Type type) override;
  Value mem_base();

  // No check is emitted where an earlier one covers it.
  void bounds_check(Value index, uint64_t end);

 private:
  struct Slot {
    uint32_t hash = 0;
    uint32_t generation = 0;  // of another function: empty
    InstId inst;
    RegionId region;
  };

  Value number(const Expression& expression);
  Slot& find_slot(const Expression& expression);
  bool matches(const Expression& expression, const Inst& inst) const;
  bool holds(const Slot& slot) const { return slot.generation == generation_ && ssa_->is_open(slot.region); }
  void occupy(Slot& slot, InstId inst, RegionId region);
  void make_room();
  Value at_entry(Op op, Type type);

  IrFunction* function_ = nullptr;
  const SsaConstruction* ssa_ = nullptr;
  BlockId block_;
  uint32_t pc_ = 0;
  Value zeros_[6];  // by Type
  Value mem_base_;
  std::vector<Slot> slots_;
  uint32_t used_ = 0;
  uint32_t generation_ = 0;
};

}  // namespace wago::codegen
