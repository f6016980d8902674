// Selection for x86-64-v3: the state and the patterns, one file of patterns per group of operations.
//
// Blocks are visited last to first, and so are the instructions of each. At an instruction that must be
// computed, its tree is matched: an operand that has this one use, in the same block, may be *folded* into it
// and is then skipped when its own turn comes. What is folded is computed later than the IR says, so:
//   * pure operations may always be folded (their operands stay live longer, that is all);
//   * a load may be folded if nothing between it and the user could be seen to happen in the wrong order:
//   under
//     Bounds::Signals no write, call or possible trap, under Bounds::Explicit (where loads do not trap) no
//     write or call.
// Constants are never given a register of their own: they become immediates or literals, or are materialised
// just before each instruction that needs a register. A zero-extension needs no instruction either: its
// result is its operand's register.
//
// Registers: an i32 lies zero-extended in its 64-bit register, always. Every 32-bit operation sees to that by
// itself; from an i64, only `wrap` needs an instruction, and not even that where the user reads 32 bits
// (use32()).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "codegen/ir/ir.h"
#include "codegen/mach/calling_convention.h"
#include "codegen/mach/mach.h"
#include "codegen/select/mach_builder.h"
#include "runtime/abi.h"
#include "runtime/compiler.h"
#include "runtime/module.h"

namespace wago::codegen::x64 {

using IrOp = codegen::Op;  // Op alone is the machine's here

// The forms of a two-operand integer operation, 32 and 64 bits.
struct AluOps {
  Op rr[2], rm[2], ri[2], mr[2], mi[2];
};
extern const AluOps kAdd, kSub, kAnd, kOr, kXor, kCmp;
// Those that also exist as read-modify-write; nullptr for others.
const AluOps* alu_of(IrOp op);

// The forms of a scalar float operation, f32 and f64.
struct FloatOps {
  Op rr[2], rm[2];
  bool commutative;
};
extern const FloatOps kFloatAdd, kFloatSub, kFloatMul, kFloatDiv;

// The forms of a two-operand operation on whole vectors.
struct VectorOps {
  Op rr, rm;
  bool commutative = false;
};

// Operations that are not instructions of their own but operands: see Isel::define_constant().
constexpr bool is_constant(IrOp op) {
  return op == IrOp::Iconst || op == IrOp::Fconst || op == IrOp::Vconst;
}

// The forms of an operation on integer lanes, by shape; Op::Copy: none.
struct LaneOps {
  Op rr[4], rm[4];
  bool commutative;

  constexpr VectorOps operator[](LaneShape shape) const {
    size_t i = static_cast<size_t>(shape);
    return {rr[i], rm[i], commutative};
  }
};
extern const LaneOps kEqualLanes, kGreaterLanes, kMinLanesS, kMinLanesU, kMaxLanesS, kMaxLanesU;

// Immediates of VROUND*, by the operation, and of VCMP*.
int32_t rounding_mode(IrOp op);
int32_t compare_predicate(FloatCond cond);
constexpr int32_t kUnordered = 3;

// What flags must show for a condition to hold: `first`, or both, or either.
struct Condition {
  enum class Kind : uint8_t { One, And, Or };
  Kind kind = Kind::One;
  Cc first = Cc::Ne;
  Cc second = Cc::Ne;

  Condition inverse() const {
    Kind other = kind == Kind::One ? Kind::One : kind == Kind::And ? Kind::Or : Kind::And;
    return {other, opposite(first), opposite(second)};
  }
};

class Isel {
 public:
  void select(const runtime::Module& module, const runtime::CompileSettings& settings,
              const IrFunction& function, MachFunction& out);

 private:
  struct ValueState {
    Reg reg;
    uint32_t uses = 0;
    bool folded = false;
    bool free_wrap = false;  // a wrap of what has only 32 bits anyway: its result is its operand's register
  };
  // How many effects come before an instruction in its block: writes and calls, and those or possible traps.
  struct Epoch {
    uint32_t writes = 0;
    uint32_t effects = 0;
  };
  // value * scale + offset
  struct Index {
    Value value;
    uint8_t scale;
    uint64_t offset;
  };
  static constexpr int kBoundDepth = 4;  // definitions that upper_bound() looks through

  // --- Driver (isel.cc)
  void prepare(const IrFunction& function);
  void count_uses();
  void compute_epochs(const Block& block);
  void select_block(uint32_t index);
  bool is_skipped(const Inst& inst) const;
  void visit(const Inst& inst);

  // --- Operands (isel.cc)
  Type type_of(Value v) const { return ir_->type_of(v); }
  bool is64(Value v) const { return ir_->type_of(v) == Type::I64; }
  static bool is64(const Inst& inst) { return inst.type == Type::I64; }
  Value arg(const Inst& inst, size_t i) const { return ir_->args(inst)[i]; }
  // The register of a value; of a constant, one that is defined here and now.
  Reg use(Value v);
  // For users that read 32 bits only: what is above them may be anything.
  Reg use32(Value v);
  // As many bits as the value's type has.
  Reg use_int(Value v) { return is64(v) ? use(v) : use32(v); }
  // Into a register of one's own, to be overwritten.
  void copy_value(Reg to, Value v);
  Reg reg_of(Value v);
  Reg result(const Inst& inst) { return reg_of(inst.result); }
  Reg new_reg(Type type);
  // The definition of `v` if it may be folded: an instruction of this block with no other use; nullptr
  // otherwise.
  const Inst* single(Value v) const;
  const Inst* single(Value v, IrOp op) const;
  void fold(Value v) { values_[v.index()].folded = true; }
  std::optional<uint64_t> constant(Value v) const;  // of integers
  std::optional<int32_t> imm32(Value v) const;  // the same, if it is a sign-extended immediate of its width
  Reg constant_reg(Type type, uint64_t bits);
  Reg shared_constant(Value v, const Inst& def);
  void define_shared_constants();
  void define_constant(Reg to, Type type, uint64_t bits);
  Address literal(uint64_t low, uint64_t high, uint8_t bytes);

  // --- Memory, globals, tables (memory.cc)
  bool load_may_move_here(Value v, const Inst& load) const;
  bool can_fold_load(Value v, Access access = Access::Full) const;
  // A memory operand for `v` if it is a load that may be folded here; folds it. Follow with mark_folded().
  std::optional<Address> fold_load(Value v, Access access = Access::Full);
  // `inst` faults where `access` would be out of bounds.
  void mark_access(MachInst& inst, const Inst& access);
  // `inst` has the operand that was folded last.
  void mark_folded(MachInst& inst);
  uint64_t upper_bound(Value v, int depth) const;
  Value look_through(Value v, const Inst& def);
  Index match_index(Value v, uint64_t offset);
  Address address(Value base, Value index, uint64_t offset);
  MachInst& load(Reg to, Type type, Access access, const Address& from);
  MachInst& store(const Address& to, Type type, Access access, Value value);
  MachInst& store_float(const Address& to, Type type, Value value);
  Address memory_bytes();
  Reg context_word(int32_t displacement);
  Address global_address(uint64_t global);
  Address table_entry(uint64_t table, Value index, base::TrapCode out_of_bounds);
  void select_load(const Inst& inst);
  void select_store(const Inst& inst);
  bool select_read_modify_write(const Inst& inst);
  void select_mem_base(const Inst& inst);
  void select_bounds_check(const Inst& inst);
  void select_memory_size(const Inst& inst);
  void select_global_get(const Inst& inst);
  void select_global_set(const Inst& inst);
  void select_table_get(const Inst& inst);
  void select_table_set(const Inst& inst);
  void select_table_size(const Inst& inst);
  void select_ref_func(const Inst& inst);

  // --- Integers (integer.cc)
  bool better_destination(Value candidate, Value than) const;
  void select_alu(const Inst& inst, const AluOps& ops, bool commutative);
  void unary(const Inst& inst, Op op, Value from);
  void lea(const Inst& inst, const Address& address);
  const Inst* small_shift(Value v) const;
  bool is_sum(const Inst& sum, Value x, int64_t addend) const;
  void select_add(const Inst& inst);
  void select_add_constant(const Inst& inst, Value a, int32_t addend);
  void select_sub(const Inst& inst);
  bool select_carry(const Inst& inst, Value to_carry, Value other);
  void select_and(const Inst& inst);
  bool select_bit_pattern(const Inst& inst, Value a, Value b);
  void select_xor(const Inst& inst);
  void select_mul(const Inst& inst);
  void select_mul_high(const Inst& inst, bool is_signed);
  void select_division(const Inst& inst, bool is_signed, bool remainder);
  void check_division(const Inst& inst, Reg dividend, Reg divisor, bool check_overflow);
  Value strip_count_mask(Value count, bool wide);
  void select_shift(const Inst& inst);
  void select_rotate(const Inst& inst);
  void select_count(const Inst& inst);
  void select_extend(const Inst& inst);
  void select_wrap(const Inst& inst);

  // --- Comparisons (compare.cc)
  Condition condition(Value v);
  Condition compare_zero(IntCond cond, Value v);
  // Whether `v` is computed right before the instruction being selected, by an operation whose flags show if
  // it is zero; then it will be.
  bool take_flags_of(Value v);
  // Whether the flags of this operation are wanted: it has to set them last.
  bool flags_wanted(const Inst& inst) const { return inst.result == flags_value_; }
  Condition compare(IntCond cond, Value a, Value b);
  Condition compare(FloatCond cond, Value a, Value b);
  void test_bits(Value a, Value b);
  void set(Reg to, Condition condition);
  void conditional_move(Reg to, Condition condition, Value if_true, Value if_false);
  void conditional_move(Reg to, Condition condition, Reg if_true, Reg if_false, bool wide);
  void select_compare(const Inst& inst);
  void select_select(const Inst& inst);
  bool select_by_mask(const Inst& inst);

  // --- Floats (float.cc, convert.cc)
  bool can_fold_float(Value v) const;
  std::optional<Address> fold_float(Value v);
  Address sign_mask(Type type, bool sign);
  void select_float_binary(const Inst& inst, const FloatOps& ops);
  void select_min_max(const Inst& inst, bool is_max);
  void select_sign(const Inst& inst);
  void select_copysign(const Inst& inst);
  void select_sqrt(const Inst& inst);
  void select_round(const Inst& inst);
  Address float_literal(Type type, double value);
  Reg zero_xmm(Type type);
  void compare_floats(Type type, Reg a, const Address& b);
  void select_convert_from_int(const Inst& inst, bool is_signed);
  void convert_u64_to_f64(Reg to, Reg from);
  void convert_u64_to_f32(Reg to, Reg from);
  void select_truncate(const Inst& inst, bool is_signed);
  void truncate_u64(Reg to, Reg from, Type from_type);
  void select_truncate_saturating(const Inst& inst, bool is_signed);
  void saturate_signed(Reg to, Reg from, Type from_type, bool wide);
  void saturate_u64(Reg to, Reg from, Type from_type);
  void select_precision(const Inst& inst);
  void select_bitcast(const Inst& inst);

  // --- Vectors (vector.cc): what all of them share
  std::optional<Vector> vector_constant(Value v) const;
  bool can_fold_vector(Value v) const;
  // A memory operand for a constant or a load of 16 bytes that may be folded. Follow with mark_folded().
  std::optional<Address> fold_vector(Value v);
  // The same for the lower 8 bytes of a vector whose upper ones are not looked at.
  std::optional<Address> fold_low_half(Value v);
  // 16 bytes with `bits` in every lane.
  Address vector_literal(LaneShape shape, uint64_t bits);
  Reg vector_reg() { return b_.xmm(16); }
  void vector_unary(const Inst& inst, Op rr, Op rm);
  void vector_binary(const Inst& inst, const VectorOps& ops);
  void vector_binary(Reg to, const VectorOps& ops, Value a, Value b);
  // --- Vectors: bits, lanes and memory (vector.cc), by kind of lanes (vector_integer.cc, vector_float.cc)
  void select_splat(const Inst& inst);
  void select_extract(const Inst& inst);
  bool select_lane_store(const Inst& inst);
  void select_replace(const Inst& inst);
  void select_zero_extended(const Inst& inst);
  void select_replace_f32(const Inst& inst);
  void select_replace_f64(const Inst& inst);
  void select_swizzle(const Inst& inst);
  void select_not(const Inst& inst);
  void select_bitselect(const Inst& inst);
  bool is_vector_test(const Inst& inst) const;
  void select_vector_select(const Inst& inst);
  void select_shuffle(const Inst& inst);  // shuffle.cc
  void shuffle_one(const Inst& inst, Value a, const std::array<uint8_t, 16>& indices);
  void shuffle_two(const Inst& inst, Value a, Value b, const std::array<uint8_t, 16>& indices);
  void select_vector(const Inst& inst);
  void select_vector_integer(const Inst& inst);
  void select_vector_float(const Inst& inst);

  // --- Integer lanes (vector_integer.cc)
  Reg ones_vector();
  Reg vector_constant_reg(Vector value);
  void select_multiply_64(const Inst& inst);
  void select_q15_multiply(const Inst& inst);
  void select_vector_abs(const Inst& inst);
  void select_vector_neg(const Inst& inst);
  void select_byte_popcnt(const Inst& inst);
  void select_vector_shift(const Inst& inst);
  // A vector register whose lower half is (count & mask) + addend.
  Reg shift_amount(Value count, int32_t mask, int32_t addend);
  void shift_bytes(const Inst& inst, Reg from, Value count);
  void shift_by_constant(const Inst& inst, int32_t count);
  void shift_signed_by_constant(const Inst& inst, Reg from, int32_t count);
  void select_extend_half(const Inst& inst);
  void extend_high(Reg to, LaneShape shape, bool is_signed, Reg from);
  void select_extending_multiply(const Inst& inst);
  void select_add_pairs(const Inst& inst);

  // --- Float lanes (vector_float.cc)
  void select_lane_min_max(const Inst& inst);
  void select_lane_round(const Inst& inst);
  void saturate_f32_lanes_signed(const Inst& inst);
  void saturate_f32_lanes_unsigned(const Inst& inst);
  void saturate_f64_lanes_signed(const Inst& inst);
  void saturate_f64_lanes_unsigned(const Inst& inst);
  void select_convert_lanes(const Inst& inst, bool is_signed);
  void convert_low_half(const Inst& inst, Op rr, Op rm);

  // --- Comparisons of vectors (vector_compare.cc)
  void compare_lanes(Reg to, LaneShape shape, IntCond cond, Value a, Value b);
  bool compare_with_next(Reg to, LaneShape shape, IntCond cond, Value a, Value b);
  static bool is_inverted_mask(LaneShape shape, IntCond cond);
  void compare_float_lanes(const Inst& inst);
  Condition test_vector(const Inst& test);
  Condition test_comparison(const Inst& compare, bool all);
  Condition test_all_ones(Reg mask);
  Condition test_all_true(LaneShape shape, Value v);
  Condition test_common_bits(const Inst& inst);
  bool is_mask(Value v, uint32_t bytes) const;
  void select_bitmask(const Inst& inst);

  // --- Control (control.cc)
  void select_entry();
  void pass_edge(const Edge& edge);
  MachOperand target(size_t successor) const;
  bool has_one_target() const;
  void branch(Condition condition, const MachOperand& yes, const MachOperand& no);
  void select_jump(const Inst& inst);
  void select_branch(const Inst& inst);
  void select_br_table(const Inst& inst);
  void select_return(const Inst& inst);
  void select_trap(const Inst& inst);
  void select_check_interrupt();
  void select_count_way(const Inst& inst);

  // --- Calls (call.cc)
  void store_slot(const Address& to, Value value);
  void pass_values(std::span<const Value> values, std::span<const ValueLocation> places, Address area);
  void pass_arguments(std::span<const Value> values);
  void finish_call(MachInst& call);
  void take_results(const Inst& inst);
  void restore_context();
  void select_call(const Inst& inst);
  void select_imported_call(const Inst& inst, int32_t import);
  void select_call_indirect(const Inst& inst);
  void select_call_helper(const Inst& inst);

  const runtime::Module* module_ = nullptr;
  const IrFunction* ir_ = nullptr;
  MachFunction* out_ = nullptr;
  bool explicit_bounds_ = false;
  std::optional<runtime::ContextLayout> layout_;
  CallingConvention own_convention_, callee_convention_;
  MachBuilder b_;
  std::vector<ValueState> values_;
  std::vector<Epoch> epochs_;          // by InstId
  std::vector<uint32_t> block_index_;  // place in the layout, by BlockId
  BlockId block_;                      // being selected
  const Inst* root_ = nullptr;         // the instruction whose tree is being matched
  Epoch root_epoch_;                   // of that instruction
  Value flags_value_;                  // see take_flags_of()
  std::vector<std::pair<Value, Reg>> shared_constants_;
  const Inst* folded_access_ = nullptr;  // the load of fold_load()'s last operand, if that may trap
};

}  // namespace wago::codegen::x64
