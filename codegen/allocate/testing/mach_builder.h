// Builds machine functions for tests, block by block in layout order.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "codegen/mach/mach.h"

namespace wago::codegen::testing {

struct RegMove {
  Reg to, from;
};

class MachBuilder {
 public:
  explicit MachBuilder(MachFunction& function) : function_(function) {}

  Reg vreg(RegClass cls, uint8_t bytes) {
    function_.vregs.push_back({cls, bytes, ~0u});
    return Reg::virt(static_cast<uint32_t>(function_.vregs.size() - 1));
  }
  Reg gpr(uint8_t bytes = 8) { return vreg(RegClass::Gpr, bytes); }
  Reg xmm(uint8_t bytes = 8) { return vreg(RegClass::Xmm, bytes); }

  // Blocks are numbered as they are started.
  uint32_t start_block(uint32_t loop_depth = 0, bool loop_header = false);
  uint32_t next_block() const { return function_.block_count; }
  // A branch to a block that does not exist yet names it by patch().
  MachOperand block(uint32_t index) const {
    return {MachOperand::Kind::Block, false, static_cast<int32_t>(index)};
  }

  static MachOperand def(Reg reg) { return {MachOperand::Kind::Reg, true, static_cast<int32_t>(reg.bits())}; }
  static MachOperand use(Reg reg) {
    return {MachOperand::Kind::Reg, false, static_cast<int32_t>(reg.bits())};
  }
  static MachOperand imm(int32_t value) { return {MachOperand::Kind::Imm, false, value}; }
  static MachOperand none() { return {}; }

  MachInst& inst(x64::Op op, std::vector<MachOperand> operands, std::vector<MachOperand> extras = {},
                 uint32_t clobbers = 0);

  void load_constant(Reg to, int32_t value);  // may be made again
  void copy(Reg to, Reg from) { inst(x64::Op::Copy, {def(to), use(from)}); }
  void moves(const std::vector<RegMove>& pairs);
  void binary(x64::Op op, Reg to, Reg a, Reg b);  // two-address: to = Copy a; to = op to, b
  void load(x64::Op op, Reg to, Reg base);
  void store(x64::Op op, Reg base, Reg value);
  void call(const std::vector<Reg>& arguments, const std::vector<Reg>& results, uint32_t clobbers);
  void compare(Reg a, Reg b) { inst(x64::Op::CMP64rr, {use(a), use(b)}); }
  // Ends the block; both targets must be set by patch_targets() or be known.
  void jump(uint32_t target);
  void branch(int32_t condition, uint32_t taken, uint32_t otherwise);
  void ret(const std::vector<Reg>& results = {});

  // After the last block: edges from the branches' operands and jump tables.
  void finish();

  MachFunction& function() { return function_; }

 private:
  void close_block();
  MachFunction& function_;
};

}  // namespace wago::codegen::testing
