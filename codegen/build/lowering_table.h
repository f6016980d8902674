// The table of lowerings while it is filled. Private to lowering.cc and vector_lowering.cc.
#pragma once

#include "codegen/build/lowering.h"

namespace wago::codegen {

class LoweringTable {
 public:
  void compute(runtime::Opcode opcode, Op op) { add(opcode, Lowering::Kind::Compute, op, 0); }
  void compute(runtime::Opcode opcode, Op op, IntCond cond) {
    add(opcode, Lowering::Kind::Compute, op, static_cast<uint8_t>(cond));
  }
  void compute(runtime::Opcode opcode, Op op, FloatCond cond) {
    add(opcode, Lowering::Kind::Compute, op, static_cast<uint8_t>(cond));
  }
  void load(runtime::Opcode opcode, Access access) {
    add(opcode, Lowering::Kind::Load, Op::Load, static_cast<uint8_t>(access));
  }
  void store(runtime::Opcode opcode, Access access) {
    add(opcode, Lowering::Kind::Store, Op::Store, static_cast<uint8_t>(access)).type =
        type_of(runtime::info(opcode).param[1]);
  }
  std::array<Lowering, runtime::kOpcodeCount> rows;

  void vector(runtime::Opcode opcode, Op op) { add(opcode, Lowering::Kind::Compute, op, 0); }
  void vector(runtime::Opcode opcode, Op op, LaneShape shape) {
    add(opcode, Lowering::Kind::Compute, op, vector_aux(shape));
  }
  void vector(runtime::Opcode opcode, Op op, LaneShape shape, IntCond cond) {
    add(opcode, Lowering::Kind::Compute, op, vector_aux(shape, static_cast<uint8_t>(cond)));
  }
  void vector(runtime::Opcode opcode, Op op, LaneShape shape, FloatCond cond) {
    add(opcode, Lowering::Kind::Compute, op, vector_aux(shape, static_cast<uint8_t>(cond)));
  }
  void lane(runtime::Opcode opcode, Op op, LaneShape shape) {
    add(opcode, Lowering::Kind::Lane, op, vector_aux(shape));
  }
  void shuffle(runtime::Opcode opcode) { add(opcode, Lowering::Kind::Shuffle, Op::Vshuffle, 0); }
  void lane_access(runtime::Opcode opcode, Lowering::Kind kind, LaneShape shape, Op op = Op::Trap) {
    add(opcode, kind, op, vector_aux(shape));
  }

 private:
  Lowering& add(runtime::Opcode opcode, Lowering::Kind kind, Op op, uint8_t aux) {
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

// Of the 128-bit instructions.
void add_vector_lowerings(LoweringTable& table);

}  // namespace wago::codegen
