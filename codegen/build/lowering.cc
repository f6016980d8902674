#include "codegen/build/lowering.h"

namespace wago::codegen {

namespace {

using runtime::Opcode;

class Table {
 public:
  void compute(Opcode opcode, Op op) { add(opcode, Lowering::Kind::Compute, op, 0); }
  void compute(Opcode opcode, Op op, IntCond cond) {
    add(opcode, Lowering::Kind::Compute, op, static_cast<uint8_t>(cond));
  }
  void compute(Opcode opcode, Op op, FloatCond cond) {
    add(opcode, Lowering::Kind::Compute, op, static_cast<uint8_t>(cond));
  }
  void load(Opcode opcode, Access access) {
    add(opcode, Lowering::Kind::Load, Op::Load, static_cast<uint8_t>(access));
  }
  void store(Opcode opcode, Access access) {
    add(opcode, Lowering::Kind::Store, Op::Store, static_cast<uint8_t>(access)).type =
        type_of(runtime::info(opcode).param[1]);
  }
  std::array<Lowering, runtime::kOpcodeCount> rows;

 private:
  Lowering& add(Opcode opcode, Lowering::Kind kind, Op op, uint8_t aux) {
    const runtime::OpcodeInfo& opcode_info = runtime::info(opcode);
    Lowering& row = rows[static_cast<size_t>(opcode)];
    row.kind = kind;
    row.op = op;
    row.aux = aux;
    row.args = opcode_info.params;
    if (opcode_info.results != 0) row.type = type_of(opcode_info.result);
    return row;
  }
};

std::array<Lowering, runtime::kOpcodeCount> make_table() {
  Table table;
  table.compute(Opcode::I32Eq, Op::Icmp, IntCond::Eq);
  table.compute(Opcode::I32Ne, Op::Icmp, IntCond::Ne);
  table.compute(Opcode::I32LtS, Op::Icmp, IntCond::LtS);
  table.compute(Opcode::I32LtU, Op::Icmp, IntCond::LtU);
  table.compute(Opcode::I32GtS, Op::Icmp, IntCond::GtS);
  table.compute(Opcode::I32GtU, Op::Icmp, IntCond::GtU);
  table.compute(Opcode::I32LeS, Op::Icmp, IntCond::LeS);
  table.compute(Opcode::I32LeU, Op::Icmp, IntCond::LeU);
  table.compute(Opcode::I32GeS, Op::Icmp, IntCond::GeS);
  table.compute(Opcode::I32GeU, Op::Icmp, IntCond::GeU);
  table.compute(Opcode::I32Eqz, Op::Ieqz);
  table.compute(Opcode::I32Clz, Op::Iclz);
  table.compute(Opcode::I32Ctz, Op::Ictz);
  table.compute(Opcode::I32Popcnt, Op::Ipopcnt);
  table.compute(Opcode::I32Add, Op::Iadd);
  table.compute(Opcode::I32Sub, Op::Isub);
  table.compute(Opcode::I32Mul, Op::Imul);
  table.compute(Opcode::I32DivS, Op::IdivS);
  table.compute(Opcode::I32DivU, Op::IdivU);
  table.compute(Opcode::I32RemS, Op::IremS);
  table.compute(Opcode::I32RemU, Op::IremU);
  table.compute(Opcode::I32And, Op::Iand);
  table.compute(Opcode::I32Or, Op::Ior);
  table.compute(Opcode::I32Xor, Op::Ixor);
  table.compute(Opcode::I32Shl, Op::Ishl);
  table.compute(Opcode::I32ShrS, Op::IshrS);
  table.compute(Opcode::I32ShrU, Op::IshrU);
  table.compute(Opcode::I32Rotl, Op::Irotl);
  table.compute(Opcode::I32Rotr, Op::Irotr);
  table.compute(Opcode::I32Extend8S, Op::Iextend8);
  table.compute(Opcode::I32Extend16S, Op::Iextend16);
  table.compute(Opcode::I64Eq, Op::Icmp, IntCond::Eq);
  table.compute(Opcode::I64Ne, Op::Icmp, IntCond::Ne);
  table.compute(Opcode::I64LtS, Op::Icmp, IntCond::LtS);
  table.compute(Opcode::I64LtU, Op::Icmp, IntCond::LtU);
  table.compute(Opcode::I64GtS, Op::Icmp, IntCond::GtS);
  table.compute(Opcode::I64GtU, Op::Icmp, IntCond::GtU);
  table.compute(Opcode::I64LeS, Op::Icmp, IntCond::LeS);
  table.compute(Opcode::I64LeU, Op::Icmp, IntCond::LeU);
  table.compute(Opcode::I64GeS, Op::Icmp, IntCond::GeS);
  table.compute(Opcode::I64GeU, Op::Icmp, IntCond::GeU);
  table.compute(Opcode::I64Eqz, Op::Ieqz);
  table.compute(Opcode::I64Clz, Op::Iclz);
  table.compute(Opcode::I64Ctz, Op::Ictz);
  table.compute(Opcode::I64Popcnt, Op::Ipopcnt);
  table.compute(Opcode::I64Add, Op::Iadd);
  table.compute(Opcode::I64Sub, Op::Isub);
  table.compute(Opcode::I64Mul, Op::Imul);
  table.compute(Opcode::I64DivS, Op::IdivS);
  table.compute(Opcode::I64DivU, Op::IdivU);
  table.compute(Opcode::I64RemS, Op::IremS);
  table.compute(Opcode::I64RemU, Op::IremU);
  table.compute(Opcode::I64And, Op::Iand);
  table.compute(Opcode::I64Or, Op::Ior);
  table.compute(Opcode::I64Xor, Op::Ixor);
  table.compute(Opcode::I64Shl, Op::Ishl);
  table.compute(Opcode::I64ShrS, Op::IshrS);
  table.compute(Opcode::I64ShrU, Op::IshrU);
  table.compute(Opcode::I64Rotl, Op::Irotl);
  table.compute(Opcode::I64Rotr, Op::Irotr);
  table.compute(Opcode::I64Extend8S, Op::Iextend8);
  table.compute(Opcode::I64Extend16S, Op::Iextend16);
  table.compute(Opcode::I64Extend32S, Op::Iextend32);
  table.compute(Opcode::F32Eq, Op::Fcmp, FloatCond::Eq);
  table.compute(Opcode::F32Ne, Op::Fcmp, FloatCond::Ne);
  table.compute(Opcode::F32Lt, Op::Fcmp, FloatCond::Lt);
  table.compute(Opcode::F32Gt, Op::Fcmp, FloatCond::Gt);
  table.compute(Opcode::F32Le, Op::Fcmp, FloatCond::Le);
  table.compute(Opcode::F32Ge, Op::Fcmp, FloatCond::Ge);
  table.compute(Opcode::F32Abs, Op::Fabs);
  table.compute(Opcode::F32Neg, Op::Fneg);
  table.compute(Opcode::F32Ceil, Op::Fceil);
  table.compute(Opcode::F32Floor, Op::Ffloor);
  table.compute(Opcode::F32Trunc, Op::Ftrunc);
  table.compute(Opcode::F32Nearest, Op::Fnearest);
  table.compute(Opcode::F32Sqrt, Op::Fsqrt);
  table.compute(Opcode::F32Add, Op::Fadd);
  table.compute(Opcode::F32Sub, Op::Fsub);
  table.compute(Opcode::F32Mul, Op::Fmul);
  table.compute(Opcode::F32Div, Op::Fdiv);
  table.compute(Opcode::F32Min, Op::Fmin);
  table.compute(Opcode::F32Max, Op::Fmax);
  table.compute(Opcode::F32Copysign, Op::Fcopysign);
  table.compute(Opcode::F64Eq, Op::Fcmp, FloatCond::Eq);
  table.compute(Opcode::F64Ne, Op::Fcmp, FloatCond::Ne);
  table.compute(Opcode::F64Lt, Op::Fcmp, FloatCond::Lt);
  table.compute(Opcode::F64Gt, Op::Fcmp, FloatCond::Gt);
  table.compute(Opcode::F64Le, Op::Fcmp, FloatCond::Le);
  table.compute(Opcode::F64Ge, Op::Fcmp, FloatCond::Ge);
  table.compute(Opcode::F64Abs, Op::Fabs);
  table.compute(Opcode::F64Neg, Op::Fneg);
  table.compute(Opcode::F64Ceil, Op::Fceil);
  table.compute(Opcode::F64Floor, Op::Ffloor);
  table.compute(Opcode::F64Trunc, Op::Ftrunc);
  table.compute(Opcode::F64Nearest, Op::Fnearest);
  table.compute(Opcode::F64Sqrt, Op::Fsqrt);
  table.compute(Opcode::F64Add, Op::Fadd);
  table.compute(Opcode::F64Sub, Op::Fsub);
  table.compute(Opcode::F64Mul, Op::Fmul);
  table.compute(Opcode::F64Div, Op::Fdiv);
  table.compute(Opcode::F64Min, Op::Fmin);
  table.compute(Opcode::F64Max, Op::Fmax);
  table.compute(Opcode::F64Copysign, Op::Fcopysign);
  table.compute(Opcode::I32WrapI64, Op::Wrap);
  table.compute(Opcode::I64ExtendI32S, Op::Sext);
  table.compute(Opcode::I64ExtendI32U, Op::Zext);
  table.compute(Opcode::I32TruncF32S, Op::TruncS);
  table.compute(Opcode::I32TruncSatF32S, Op::TruncSatS);
  table.compute(Opcode::F32ConvertI32S, Op::ConvertS);
  table.compute(Opcode::I32TruncF32U, Op::TruncU);
  table.compute(Opcode::I32TruncSatF32U, Op::TruncSatU);
  table.compute(Opcode::F32ConvertI32U, Op::ConvertU);
  table.compute(Opcode::I32TruncF64S, Op::TruncS);
  table.compute(Opcode::I32TruncSatF64S, Op::TruncSatS);
  table.compute(Opcode::F64ConvertI32S, Op::ConvertS);
  table.compute(Opcode::I32TruncF64U, Op::TruncU);
  table.compute(Opcode::I32TruncSatF64U, Op::TruncSatU);
  table.compute(Opcode::F64ConvertI32U, Op::ConvertU);
  table.compute(Opcode::I64TruncF32S, Op::TruncS);
  table.compute(Opcode::I64TruncSatF32S, Op::TruncSatS);
  table.compute(Opcode::F32ConvertI64S, Op::ConvertS);
  table.compute(Opcode::I64TruncF32U, Op::TruncU);
  table.compute(Opcode::I64TruncSatF32U, Op::TruncSatU);
  table.compute(Opcode::F32ConvertI64U, Op::ConvertU);
  table.compute(Opcode::I64TruncF64S, Op::TruncS);
  table.compute(Opcode::I64TruncSatF64S, Op::TruncSatS);
  table.compute(Opcode::F64ConvertI64S, Op::ConvertS);
  table.compute(Opcode::I64TruncF64U, Op::TruncU);
  table.compute(Opcode::I64TruncSatF64U, Op::TruncSatU);
  table.compute(Opcode::F64ConvertI64U, Op::ConvertU);
  table.compute(Opcode::F32DemoteF64, Op::Demote);
  table.compute(Opcode::F64PromoteF32, Op::Promote);
  table.compute(Opcode::I32ReinterpretF32, Op::Bitcast);
  table.compute(Opcode::I64ReinterpretF64, Op::Bitcast);
  table.compute(Opcode::F32ReinterpretI32, Op::Bitcast);
  table.compute(Opcode::F64ReinterpretI64, Op::Bitcast);
  table.load(Opcode::I32Load, Access::Full);
  table.load(Opcode::I32Load8S, Access::S8);
  table.load(Opcode::I32Load8U, Access::U8);
  table.load(Opcode::I32Load16S, Access::S16);
  table.load(Opcode::I32Load16U, Access::U16);
  table.load(Opcode::I64Load, Access::Full);
  table.load(Opcode::I64Load8S, Access::S8);
  table.load(Opcode::I64Load8U, Access::U8);
  table.load(Opcode::I64Load16S, Access::S16);
  table.load(Opcode::I64Load16U, Access::U16);
  table.load(Opcode::I64Load32S, Access::S32);
  table.load(Opcode::I64Load32U, Access::U32);
  table.load(Opcode::F32Load, Access::Full);
  table.load(Opcode::F64Load, Access::Full);
  table.store(Opcode::I32Store, Access::Full);
  table.store(Opcode::I32Store8, Access::U8);
  table.store(Opcode::I32Store16, Access::U16);
  table.store(Opcode::I64Store, Access::Full);
  table.store(Opcode::I64Store8, Access::U8);
  table.store(Opcode::I64Store16, Access::U16);
  table.store(Opcode::I64Store32, Access::U32);
  table.store(Opcode::F32Store, Access::Full);
  table.store(Opcode::F64Store, Access::Full);
  return table.rows;
}

}  // namespace

const std::array<Lowering, runtime::kOpcodeCount> kLowerings = make_table();

}  // namespace wago::codegen
