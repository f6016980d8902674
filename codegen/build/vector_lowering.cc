#include "codegen/build/lowering_table.h"

namespace wago::codegen {

namespace {

using runtime::Opcode;
using Kind = Lowering::Kind;

void add_memory(LoweringTable& table) {
  table.load(Opcode::V128Load, Access::Full);
  table.store(Opcode::V128Store, Access::Full);
  table.lane_access(Opcode::V128Load8Splat, Kind::LoadSplat, LaneShape::I8x16);
  table.lane_access(Opcode::V128Load16Splat, Kind::LoadSplat, LaneShape::I16x8);
  table.lane_access(Opcode::V128Load32Splat, Kind::LoadSplat, LaneShape::I32x4);
  table.lane_access(Opcode::V128Load64Splat, Kind::LoadSplat, LaneShape::I64x2);
  table.lane_access(Opcode::V128Load32Zero, Kind::LoadZero, LaneShape::I32x4);
  table.lane_access(Opcode::V128Load64Zero, Kind::LoadZero, LaneShape::I64x2);
  table.lane_access(Opcode::V128Load8x8S, Kind::LoadExtend, LaneShape::I16x8, Op::ViextendLowS);
  table.lane_access(Opcode::V128Load8x8U, Kind::LoadExtend, LaneShape::I16x8, Op::ViextendLowU);
  table.lane_access(Opcode::V128Load16x4S, Kind::LoadExtend, LaneShape::I32x4, Op::ViextendLowS);
  table.lane_access(Opcode::V128Load16x4U, Kind::LoadExtend, LaneShape::I32x4, Op::ViextendLowU);
  table.lane_access(Opcode::V128Load32x2S, Kind::LoadExtend, LaneShape::I64x2, Op::ViextendLowS);
  table.lane_access(Opcode::V128Load32x2U, Kind::LoadExtend, LaneShape::I64x2, Op::ViextendLowU);
  table.lane_access(Opcode::V128Load8Lane, Kind::LoadLane, LaneShape::I8x16);
  table.lane_access(Opcode::V128Load16Lane, Kind::LoadLane, LaneShape::I16x8);
  table.lane_access(Opcode::V128Load32Lane, Kind::LoadLane, LaneShape::I32x4);
  table.lane_access(Opcode::V128Load64Lane, Kind::LoadLane, LaneShape::I64x2);
  table.lane_access(Opcode::V128Store8Lane, Kind::StoreLane, LaneShape::I8x16);
  table.lane_access(Opcode::V128Store16Lane, Kind::StoreLane, LaneShape::I16x8);
  table.lane_access(Opcode::V128Store32Lane, Kind::StoreLane, LaneShape::I32x4);
  table.lane_access(Opcode::V128Store64Lane, Kind::StoreLane, LaneShape::I64x2);
}

void add_bits_and_lanes(LoweringTable& table) {
  table.vector(Opcode::V128Not, Op::Vnot);
  table.vector(Opcode::V128And, Op::Vand);
  table.vector(Opcode::V128Andnot, Op::Vandnot);
  table.vector(Opcode::V128Or, Op::Vor);
  table.vector(Opcode::V128Xor, Op::Vxor);
  table.vector(Opcode::V128Bitselect, Op::Vbitselect);
  table.vector(Opcode::V128AnyTrue, Op::VanyTrue);
  table.shuffle(Opcode::I8x16Shuffle);
  table.vector(Opcode::I8x16Swizzle, Op::Vswizzle);
  table.vector(Opcode::I8x16Splat, Op::Vsplat, LaneShape::I8x16);
  table.vector(Opcode::I16x8Splat, Op::Vsplat, LaneShape::I16x8);
  table.vector(Opcode::I32x4Splat, Op::Vsplat, LaneShape::I32x4);
  table.vector(Opcode::I64x2Splat, Op::Vsplat, LaneShape::I64x2);
  table.vector(Opcode::F32x4Splat, Op::Vsplat, LaneShape::F32x4);
  table.vector(Opcode::F64x2Splat, Op::Vsplat, LaneShape::F64x2);
  table.lane(Opcode::I8x16ExtractLaneS, Op::VextractS, LaneShape::I8x16);
  table.lane(Opcode::I8x16ExtractLaneU, Op::VextractU, LaneShape::I8x16);
  table.lane(Opcode::I8x16ReplaceLane, Op::Vreplace, LaneShape::I8x16);
  table.lane(Opcode::I16x8ExtractLaneS, Op::VextractS, LaneShape::I16x8);
  table.lane(Opcode::I16x8ExtractLaneU, Op::VextractU, LaneShape::I16x8);
  table.lane(Opcode::I16x8ReplaceLane, Op::Vreplace, LaneShape::I16x8);
  table.lane(Opcode::I32x4ExtractLane, Op::VextractU, LaneShape::I32x4);
  table.lane(Opcode::I32x4ReplaceLane, Op::Vreplace, LaneShape::I32x4);
  table.lane(Opcode::I64x2ExtractLane, Op::VextractU, LaneShape::I64x2);
  table.lane(Opcode::I64x2ReplaceLane, Op::Vreplace, LaneShape::I64x2);
  table.lane(Opcode::F32x4ExtractLane, Op::VextractU, LaneShape::F32x4);
  table.lane(Opcode::F32x4ReplaceLane, Op::Vreplace, LaneShape::F32x4);
  table.lane(Opcode::F64x2ExtractLane, Op::VextractU, LaneShape::F64x2);
  table.lane(Opcode::F64x2ReplaceLane, Op::Vreplace, LaneShape::F64x2);
}

void add_integers(LoweringTable& table) {
  table.vector(Opcode::I8x16Abs, Op::Viabs, LaneShape::I8x16);
  table.vector(Opcode::I8x16Neg, Op::Vineg, LaneShape::I8x16);
  table.vector(Opcode::I8x16Popcnt, Op::Vipopcnt, LaneShape::I8x16);
  table.vector(Opcode::I8x16AllTrue, Op::ViallTrue, LaneShape::I8x16);
  table.vector(Opcode::I8x16Bitmask, Op::Vibitmask, LaneShape::I8x16);
  table.vector(Opcode::I8x16Shl, Op::Vishl, LaneShape::I8x16);
  table.vector(Opcode::I8x16ShrS, Op::VishrS, LaneShape::I8x16);
  table.vector(Opcode::I8x16ShrU, Op::VishrU, LaneShape::I8x16);
  table.vector(Opcode::I8x16Add, Op::Viadd, LaneShape::I8x16);
  table.vector(Opcode::I8x16AddSatS, Op::ViaddSatS, LaneShape::I8x16);
  table.vector(Opcode::I8x16AddSatU, Op::ViaddSatU, LaneShape::I8x16);
  table.vector(Opcode::I8x16Sub, Op::Visub, LaneShape::I8x16);
  table.vector(Opcode::I8x16SubSatS, Op::VisubSatS, LaneShape::I8x16);
  table.vector(Opcode::I8x16SubSatU, Op::VisubSatU, LaneShape::I8x16);
  table.vector(Opcode::I8x16MinS, Op::ViminS, LaneShape::I8x16);
  table.vector(Opcode::I8x16MinU, Op::ViminU, LaneShape::I8x16);
  table.vector(Opcode::I8x16MaxS, Op::VimaxS, LaneShape::I8x16);
  table.vector(Opcode::I8x16MaxU, Op::VimaxU, LaneShape::I8x16);
  table.vector(Opcode::I8x16AvgrU, Op::ViavgrU, LaneShape::I8x16);
  table.vector(Opcode::I16x8Abs, Op::Viabs, LaneShape::I16x8);
  table.vector(Opcode::I16x8Neg, Op::Vineg, LaneShape::I16x8);
  table.vector(Opcode::I16x8Q15mulrSatS, Op::Viq15mulr, LaneShape::I16x8);
  table.vector(Opcode::I16x8AllTrue, Op::ViallTrue, LaneShape::I16x8);
  table.vector(Opcode::I16x8Bitmask, Op::Vibitmask, LaneShape::I16x8);
  table.vector(Opcode::I16x8Shl, Op::Vishl, LaneShape::I16x8);
  table.vector(Opcode::I16x8ShrS, Op::VishrS, LaneShape::I16x8);
  table.vector(Opcode::I16x8ShrU, Op::VishrU, LaneShape::I16x8);
  table.vector(Opcode::I16x8Add, Op::Viadd, LaneShape::I16x8);
  table.vector(Opcode::I16x8AddSatS, Op::ViaddSatS, LaneShape::I16x8);
  table.vector(Opcode::I16x8AddSatU, Op::ViaddSatU, LaneShape::I16x8);
  table.vector(Opcode::I16x8Sub, Op::Visub, LaneShape::I16x8);
  table.vector(Opcode::I16x8SubSatS, Op::VisubSatS, LaneShape::I16x8);
  table.vector(Opcode::I16x8SubSatU, Op::VisubSatU, LaneShape::I16x8);
  table.vector(Opcode::I16x8Mul, Op::Vimul, LaneShape::I16x8);
  table.vector(Opcode::I16x8MinS, Op::ViminS, LaneShape::I16x8);
  table.vector(Opcode::I16x8MinU, Op::ViminU, LaneShape::I16x8);
  table.vector(Opcode::I16x8MaxS, Op::VimaxS, LaneShape::I16x8);
  table.vector(Opcode::I16x8MaxU, Op::VimaxU, LaneShape::I16x8);
  table.vector(Opcode::I16x8AvgrU, Op::ViavgrU, LaneShape::I16x8);
  table.vector(Opcode::I32x4Abs, Op::Viabs, LaneShape::I32x4);
  table.vector(Opcode::I32x4Neg, Op::Vineg, LaneShape::I32x4);
  table.vector(Opcode::I32x4AllTrue, Op::ViallTrue, LaneShape::I32x4);
  table.vector(Opcode::I32x4Bitmask, Op::Vibitmask, LaneShape::I32x4);
  table.vector(Opcode::I32x4Shl, Op::Vishl, LaneShape::I32x4);
  table.vector(Opcode::I32x4ShrS, Op::VishrS, LaneShape::I32x4);
  table.vector(Opcode::I32x4ShrU, Op::VishrU, LaneShape::I32x4);
  table.vector(Opcode::I32x4Add, Op::Viadd, LaneShape::I32x4);
  table.vector(Opcode::I32x4Sub, Op::Visub, LaneShape::I32x4);
  table.vector(Opcode::I32x4Mul, Op::Vimul, LaneShape::I32x4);
  table.vector(Opcode::I32x4MinS, Op::ViminS, LaneShape::I32x4);
  table.vector(Opcode::I32x4MinU, Op::ViminU, LaneShape::I32x4);
  table.vector(Opcode::I32x4MaxS, Op::VimaxS, LaneShape::I32x4);
  table.vector(Opcode::I32x4MaxU, Op::VimaxU, LaneShape::I32x4);
  table.vector(Opcode::I32x4DotI16x8S, Op::Vidot, LaneShape::I32x4);
  table.vector(Opcode::I64x2Abs, Op::Viabs, LaneShape::I64x2);
  table.vector(Opcode::I64x2Neg, Op::Vineg, LaneShape::I64x2);
  table.vector(Opcode::I64x2AllTrue, Op::ViallTrue, LaneShape::I64x2);
  table.vector(Opcode::I64x2Bitmask, Op::Vibitmask, LaneShape::I64x2);
  table.vector(Opcode::I64x2Shl, Op::Vishl, LaneShape::I64x2);
  table.vector(Opcode::I64x2ShrS, Op::VishrS, LaneShape::I64x2);
  table.vector(Opcode::I64x2ShrU, Op::VishrU, LaneShape::I64x2);
  table.vector(Opcode::I64x2Add, Op::Viadd, LaneShape::I64x2);
  table.vector(Opcode::I64x2Sub, Op::Visub, LaneShape::I64x2);
  table.vector(Opcode::I64x2Mul, Op::Vimul, LaneShape::I64x2);
}

void add_widths(LoweringTable& table) {
  table.vector(Opcode::I8x16NarrowI16x8S, Op::VinarrowS, LaneShape::I8x16);
  table.vector(Opcode::I8x16NarrowI16x8U, Op::VinarrowU, LaneShape::I8x16);
  table.vector(Opcode::I16x8ExtaddPairwiseI8x16S, Op::ViextaddPairwiseS, LaneShape::I16x8);
  table.vector(Opcode::I16x8ExtaddPairwiseI8x16U, Op::ViextaddPairwiseU, LaneShape::I16x8);
  table.vector(Opcode::I32x4ExtaddPairwiseI16x8S, Op::ViextaddPairwiseS, LaneShape::I32x4);
  table.vector(Opcode::I32x4ExtaddPairwiseI16x8U, Op::ViextaddPairwiseU, LaneShape::I32x4);
  table.vector(Opcode::I16x8NarrowI32x4S, Op::VinarrowS, LaneShape::I16x8);
  table.vector(Opcode::I16x8NarrowI32x4U, Op::VinarrowU, LaneShape::I16x8);
  table.vector(Opcode::I16x8ExtendLowI8x16S, Op::ViextendLowS, LaneShape::I16x8);
  table.vector(Opcode::I16x8ExtendHighI8x16S, Op::ViextendHighS, LaneShape::I16x8);
  table.vector(Opcode::I16x8ExtendLowI8x16U, Op::ViextendLowU, LaneShape::I16x8);
  table.vector(Opcode::I16x8ExtendHighI8x16U, Op::ViextendHighU, LaneShape::I16x8);
  table.vector(Opcode::I16x8ExtmulLowI8x16S, Op::ViextmulLowS, LaneShape::I16x8);
  table.vector(Opcode::I16x8ExtmulHighI8x16S, Op::ViextmulHighS, LaneShape::I16x8);
  table.vector(Opcode::I16x8ExtmulLowI8x16U, Op::ViextmulLowU, LaneShape::I16x8);
  table.vector(Opcode::I16x8ExtmulHighI8x16U, Op::ViextmulHighU, LaneShape::I16x8);
  table.vector(Opcode::I32x4ExtendLowI16x8S, Op::ViextendLowS, LaneShape::I32x4);
  table.vector(Opcode::I32x4ExtendHighI16x8S, Op::ViextendHighS, LaneShape::I32x4);
  table.vector(Opcode::I32x4ExtendLowI16x8U, Op::ViextendLowU, LaneShape::I32x4);
  table.vector(Opcode::I32x4ExtendHighI16x8U, Op::ViextendHighU, LaneShape::I32x4);
  table.vector(Opcode::I32x4ExtmulLowI16x8S, Op::ViextmulLowS, LaneShape::I32x4);
  table.vector(Opcode::I32x4ExtmulHighI16x8S, Op::ViextmulHighS, LaneShape::I32x4);
  table.vector(Opcode::I32x4ExtmulLowI16x8U, Op::ViextmulLowU, LaneShape::I32x4);
  table.vector(Opcode::I32x4ExtmulHighI16x8U, Op::ViextmulHighU, LaneShape::I32x4);
  table.vector(Opcode::I64x2ExtendLowI32x4S, Op::ViextendLowS, LaneShape::I64x2);
  table.vector(Opcode::I64x2ExtendHighI32x4S, Op::ViextendHighS, LaneShape::I64x2);
  table.vector(Opcode::I64x2ExtendLowI32x4U, Op::ViextendLowU, LaneShape::I64x2);
  table.vector(Opcode::I64x2ExtendHighI32x4U, Op::ViextendHighU, LaneShape::I64x2);
  table.vector(Opcode::I64x2ExtmulLowI32x4S, Op::ViextmulLowS, LaneShape::I64x2);
  table.vector(Opcode::I64x2ExtmulHighI32x4S, Op::ViextmulHighS, LaneShape::I64x2);
  table.vector(Opcode::I64x2ExtmulLowI32x4U, Op::ViextmulLowU, LaneShape::I64x2);
  table.vector(Opcode::I64x2ExtmulHighI32x4U, Op::ViextmulHighU, LaneShape::I64x2);
}

void add_floats(LoweringTable& table) {
  table.vector(Opcode::F32x4Ceil, Op::Vfceil, LaneShape::F32x4);
  table.vector(Opcode::F32x4Floor, Op::Vffloor, LaneShape::F32x4);
  table.vector(Opcode::F32x4Trunc, Op::Vftrunc, LaneShape::F32x4);
  table.vector(Opcode::F32x4Nearest, Op::Vfnearest, LaneShape::F32x4);
  table.vector(Opcode::F64x2Ceil, Op::Vfceil, LaneShape::F64x2);
  table.vector(Opcode::F64x2Floor, Op::Vffloor, LaneShape::F64x2);
  table.vector(Opcode::F64x2Trunc, Op::Vftrunc, LaneShape::F64x2);
  table.vector(Opcode::F64x2Nearest, Op::Vfnearest, LaneShape::F64x2);
  table.vector(Opcode::F32x4Abs, Op::Vfabs, LaneShape::F32x4);
  table.vector(Opcode::F32x4Neg, Op::Vfneg, LaneShape::F32x4);
  table.vector(Opcode::F32x4Sqrt, Op::Vfsqrt, LaneShape::F32x4);
  table.vector(Opcode::F32x4Add, Op::Vfadd, LaneShape::F32x4);
  table.vector(Opcode::F32x4Sub, Op::Vfsub, LaneShape::F32x4);
  table.vector(Opcode::F32x4Mul, Op::Vfmul, LaneShape::F32x4);
  table.vector(Opcode::F32x4Div, Op::Vfdiv, LaneShape::F32x4);
  table.vector(Opcode::F32x4Min, Op::Vfmin, LaneShape::F32x4);
  table.vector(Opcode::F32x4Max, Op::Vfmax, LaneShape::F32x4);
  table.vector(Opcode::F32x4Pmin, Op::Vfpmin, LaneShape::F32x4);
  table.vector(Opcode::F32x4Pmax, Op::Vfpmax, LaneShape::F32x4);
  table.vector(Opcode::F64x2Abs, Op::Vfabs, LaneShape::F64x2);
  table.vector(Opcode::F64x2Neg, Op::Vfneg, LaneShape::F64x2);
  table.vector(Opcode::F64x2Sqrt, Op::Vfsqrt, LaneShape::F64x2);
  table.vector(Opcode::F64x2Add, Op::Vfadd, LaneShape::F64x2);
  table.vector(Opcode::F64x2Sub, Op::Vfsub, LaneShape::F64x2);
  table.vector(Opcode::F64x2Mul, Op::Vfmul, LaneShape::F64x2);
  table.vector(Opcode::F64x2Div, Op::Vfdiv, LaneShape::F64x2);
  table.vector(Opcode::F64x2Min, Op::Vfmin, LaneShape::F64x2);
  table.vector(Opcode::F64x2Max, Op::Vfmax, LaneShape::F64x2);
  table.vector(Opcode::F64x2Pmin, Op::Vfpmin, LaneShape::F64x2);
  table.vector(Opcode::F64x2Pmax, Op::Vfpmax, LaneShape::F64x2);
  table.vector(Opcode::F32x4DemoteF64x2Zero, Op::Vdemote);
  table.vector(Opcode::F64x2PromoteLowF32x4, Op::Vpromote);
  table.vector(Opcode::I32x4TruncSatF32x4S, Op::VtruncSatS, LaneShape::F32x4);
  table.vector(Opcode::I32x4TruncSatF32x4U, Op::VtruncSatU, LaneShape::F32x4);
  table.vector(Opcode::F32x4ConvertI32x4S, Op::VconvertS, LaneShape::F32x4);
  table.vector(Opcode::F32x4ConvertI32x4U, Op::VconvertU, LaneShape::F32x4);
  table.vector(Opcode::I32x4TruncSatF64x2SZero, Op::VtruncSatS, LaneShape::F64x2);
  table.vector(Opcode::I32x4TruncSatF64x2UZero, Op::VtruncSatU, LaneShape::F64x2);
  table.vector(Opcode::F64x2ConvertLowI32x4S, Op::VconvertS, LaneShape::F64x2);
  table.vector(Opcode::F64x2ConvertLowI32x4U, Op::VconvertU, LaneShape::F64x2);
}

void add_comparisons(LoweringTable& table) {
  table.vector(Opcode::I8x16Eq, Op::Vicmp, LaneShape::I8x16, IntCond::Eq);
  table.vector(Opcode::I8x16Ne, Op::Vicmp, LaneShape::I8x16, IntCond::Ne);
  table.vector(Opcode::I8x16LtS, Op::Vicmp, LaneShape::I8x16, IntCond::LtS);
  table.vector(Opcode::I8x16LtU, Op::Vicmp, LaneShape::I8x16, IntCond::LtU);
  table.vector(Opcode::I8x16GtS, Op::Vicmp, LaneShape::I8x16, IntCond::GtS);
  table.vector(Opcode::I8x16GtU, Op::Vicmp, LaneShape::I8x16, IntCond::GtU);
  table.vector(Opcode::I8x16LeS, Op::Vicmp, LaneShape::I8x16, IntCond::LeS);
  table.vector(Opcode::I8x16LeU, Op::Vicmp, LaneShape::I8x16, IntCond::LeU);
  table.vector(Opcode::I8x16GeS, Op::Vicmp, LaneShape::I8x16, IntCond::GeS);
  table.vector(Opcode::I8x16GeU, Op::Vicmp, LaneShape::I8x16, IntCond::GeU);
  table.vector(Opcode::I16x8Eq, Op::Vicmp, LaneShape::I16x8, IntCond::Eq);
  table.vector(Opcode::I16x8Ne, Op::Vicmp, LaneShape::I16x8, IntCond::Ne);
  table.vector(Opcode::I16x8LtS, Op::Vicmp, LaneShape::I16x8, IntCond::LtS);
  table.vector(Opcode::I16x8LtU, Op::Vicmp, LaneShape::I16x8, IntCond::LtU);
  table.vector(Opcode::I16x8GtS, Op::Vicmp, LaneShape::I16x8, IntCond::GtS);
  table.vector(Opcode::I16x8GtU, Op::Vicmp, LaneShape::I16x8, IntCond::GtU);
  table.vector(Opcode::I16x8LeS, Op::Vicmp, LaneShape::I16x8, IntCond::LeS);
  table.vector(Opcode::I16x8LeU, Op::Vicmp, LaneShape::I16x8, IntCond::LeU);
  table.vector(Opcode::I16x8GeS, Op::Vicmp, LaneShape::I16x8, IntCond::GeS);
  table.vector(Opcode::I16x8GeU, Op::Vicmp, LaneShape::I16x8, IntCond::GeU);
  table.vector(Opcode::I32x4Eq, Op::Vicmp, LaneShape::I32x4, IntCond::Eq);
  table.vector(Opcode::I32x4Ne, Op::Vicmp, LaneShape::I32x4, IntCond::Ne);
  table.vector(Opcode::I32x4LtS, Op::Vicmp, LaneShape::I32x4, IntCond::LtS);
  table.vector(Opcode::I32x4LtU, Op::Vicmp, LaneShape::I32x4, IntCond::LtU);
  table.vector(Opcode::I32x4GtS, Op::Vicmp, LaneShape::I32x4, IntCond::GtS);
  table.vector(Opcode::I32x4GtU, Op::Vicmp, LaneShape::I32x4, IntCond::GtU);
  table.vector(Opcode::I32x4LeS, Op::Vicmp, LaneShape::I32x4, IntCond::LeS);
  table.vector(Opcode::I32x4LeU, Op::Vicmp, LaneShape::I32x4, IntCond::LeU);
  table.vector(Opcode::I32x4GeS, Op::Vicmp, LaneShape::I32x4, IntCond::GeS);
  table.vector(Opcode::I32x4GeU, Op::Vicmp, LaneShape::I32x4, IntCond::GeU);
  table.vector(Opcode::F32x4Eq, Op::Vfcmp, LaneShape::F32x4, FloatCond::Eq);
  table.vector(Opcode::F32x4Ne, Op::Vfcmp, LaneShape::F32x4, FloatCond::Ne);
  table.vector(Opcode::F32x4Lt, Op::Vfcmp, LaneShape::F32x4, FloatCond::Lt);
  table.vector(Opcode::F32x4Gt, Op::Vfcmp, LaneShape::F32x4, FloatCond::Gt);
  table.vector(Opcode::F32x4Le, Op::Vfcmp, LaneShape::F32x4, FloatCond::Le);
  table.vector(Opcode::F32x4Ge, Op::Vfcmp, LaneShape::F32x4, FloatCond::Ge);
  table.vector(Opcode::F64x2Eq, Op::Vfcmp, LaneShape::F64x2, FloatCond::Eq);
  table.vector(Opcode::F64x2Ne, Op::Vfcmp, LaneShape::F64x2, FloatCond::Ne);
  table.vector(Opcode::F64x2Lt, Op::Vfcmp, LaneShape::F64x2, FloatCond::Lt);
  table.vector(Opcode::F64x2Gt, Op::Vfcmp, LaneShape::F64x2, FloatCond::Gt);
  table.vector(Opcode::F64x2Le, Op::Vfcmp, LaneShape::F64x2, FloatCond::Le);
  table.vector(Opcode::F64x2Ge, Op::Vfcmp, LaneShape::F64x2, FloatCond::Ge);
  table.vector(Opcode::I64x2Eq, Op::Vicmp, LaneShape::I64x2, IntCond::Eq);
  table.vector(Opcode::I64x2Ne, Op::Vicmp, LaneShape::I64x2, IntCond::Ne);
  table.vector(Opcode::I64x2LtS, Op::Vicmp, LaneShape::I64x2, IntCond::LtS);
  table.vector(Opcode::I64x2GtS, Op::Vicmp, LaneShape::I64x2, IntCond::GtS);
  table.vector(Opcode::I64x2LeS, Op::Vicmp, LaneShape::I64x2, IntCond::LeS);
  table.vector(Opcode::I64x2GeS, Op::Vicmp, LaneShape::I64x2, IntCond::GeS);
}

}  // namespace

void add_vector_lowerings(LoweringTable& table) {
  add_memory(table);
  add_bits_and_lanes(table);
  add_integers(table);
  add_widths(table);
  add_floats(table);
  add_comparisons(table);
}

}  // namespace wago::codegen
