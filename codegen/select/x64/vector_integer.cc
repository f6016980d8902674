// Operations on integer lanes: arithmetic, comparisons, shifts, tests, changes of width.

#include <bit>

#include "codegen/select/x64/isel.h"

namespace wago::codegen::x64 {

// Sets the flags for "no lane is zero".
Condition Isel::test_all_true(const Inst& inst) {
  static constexpr Op kCompare[] = {Op::VPCMPEQBrr, Op::VPCMPEQWrr, Op::VPCMPEQDrr, Op::VPCMPEQQrr};
  Reg zeros = constant_reg(Type::V128, 0), is_zero = vector_reg();
  b_.add(kCompare[std::countr_zero(lane_bytes(shape_of(inst.aux)))], is_zero, use(arg(inst, 0)), zeros);
  b_.add(Op::VPTESTrr, is_zero, is_zero);
  return {Condition::Kind::One, Cc::E, Cc::E};
}

void Isel::select_vector_integer(const Inst& inst) {
  select_vector_float(inst);
}

}  // namespace wago::codegen::x64
