// The compiler's intermediate representation: SSA with block parameters.
//
// Invariants (verify.h checks them):
//  1. Every value has one definition, an instruction's result or a block parameter, that dominates its uses.
//  2. Every reachable block ends in exactly one terminator, which is its last instruction; block 0 is the
//  entry, has no
//     predecessor, and its parameters are the function's.
//  3. An edge passes exactly as many arguments, of the same types, as its target has parameters. Edges with
//  arguments
//     leave only blocks with a single successor once split_critical_edges() has run (before selection).
//  4. References are I64 (a FuncRef address or a host's handle; null is 0).
//  5. I32 values are thought of as 32 bits; what their 64-bit register's upper half holds is selection's
//  business.
//
// Everything lives in vectors indexed by typed ids, and an IrFunction is reused for function after function:
// clear() keeps the capacity, so compiling allocates only while the largest function so far grows.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/ids.h"
#include "base/vocabulary.h"
#include "codegen/decision_log.h"
#include "codegen/ir/executed.h"
#include "runtime/types.h"

namespace wago::codegen {

struct ValueTag;
struct InstTag;
struct BlockTag;
using Value = base::Id<ValueTag>;
using InstId = base::Id<InstTag>;
using BlockId = base::Id<BlockTag>;

enum class Type : uint8_t { None, I32, I64, F32, F64, V128 };
const char* to_string(Type type);
constexpr bool is_int(Type type) {
  return type == Type::I32 || type == Type::I64;
}
constexpr bool is_float(Type type) {
  return type == Type::F32 || type == Type::F64;
}
constexpr uint32_t bytes_of(Type type) {
  switch (type) {
    case Type::I32:
    case Type::F32:
      return 4;
    case Type::I64:
    case Type::F64:
      return 8;
    case Type::V128:
      return 16;
    case Type::None:
      return 0;
  }
  return 0;
}
Type type_of(ValueType type);  // references become I64

enum class Op : uint16_t {
#define WAGO_IR_OP(id, name, args, flags) id,
#include "codegen/ir/ops.def"
};
const char* to_string(Op op);

enum OpFlags : uint8_t {
  kPure = 1,
  kTraps = 2,
  kReads = 4,
  kWrites = 8,
  kCall = 16,
  kTerminator = 32,
  kCounts = 64,
};
constexpr int kVariadic = -1;
struct OpInfo {
  const char* name;
  int8_t args;
  uint8_t flags;
};
const OpInfo& info(Op op);

// How an operation divides a vector into lanes.
enum class LaneShape : uint8_t { I8x16, I16x8, I32x4, I64x2, F32x4, F64x2 };
constexpr uint8_t kLaneShapes = 6;
const char* to_string(LaneShape shape);
constexpr uint32_t lane_bytes(LaneShape shape) {
  constexpr uint8_t kBytes[kLaneShapes] = {1, 2, 4, 8, 4, 8};
  return kBytes[static_cast<size_t>(shape)];
}
constexpr uint32_t lane_count(LaneShape shape) {
  return 16 / lane_bytes(shape);
}
constexpr Type lane_type(LaneShape shape) {  // of a lane as a value of its own
  constexpr Type kTypes[kLaneShapes] = {Type::I32, Type::I32, Type::I32, Type::I64, Type::F32, Type::F64};
  return kTypes[static_cast<size_t>(shape)];
}

// Inst::aux of an operation on vectors: the shape, and for comparisons the condition as variant.
constexpr uint8_t vector_aux(LaneShape shape, uint8_t variant = 0) {
  return static_cast<uint8_t>(static_cast<uint8_t>(shape) | variant << 4);
}
constexpr LaneShape shape_of(uint8_t aux) {
  return static_cast<LaneShape>(aux & 15);
}
constexpr uint8_t variant_of(uint8_t aux) {
  return aux >> 4;
}

// Sets of shapes, by bit.
enum LaneShapes : uint8_t {
  kI8x16 = 1,
  kI16x8 = 2,
  kI32x4 = 4,
  kI64x2 = 8,
  kF32x4 = 16,
  kF64x2 = 32,
  kIntShapes = 15,
  kFloatShapes = 48,
  kAllShapes = 63,
};
struct VectorOpInfo {
  const char* signature = nullptr;  // as in ops.def; nullptr: not an operation on vectors
  uint8_t shapes = 0;
};
const VectorOpInfo& vector_info(Op op);

// A vector as an immediate: bytes 0 to 7, and 8 to 15, little-endian.
struct Vector {
  uint64_t low = 0, high = 0;
  bool operator==(const Vector&) const = default;
};
// The low bits of `bits` in every lane.
constexpr Vector splat(LaneShape shape, uint64_t bits) {
  const uint32_t width = 8 * lane_bytes(shape);
  if (width < 64) bits &= (uint64_t{1} << width) - 1;
  for (uint32_t filled = width; filled < 64; filled *= 2) bits |= bits << filled;
  return {bits, bits};
}
// Whether `imm` is an index into IrFunction::vectors.
constexpr bool has_vector_imm(Op op) {
  return op == Op::Vconst || op == Op::Vshuffle;
}

enum class IntCond : uint8_t { Eq, Ne, LtS, LtU, GtS, GtU, LeS, LeU, GeS, GeU };
enum class FloatCond : uint8_t { Eq, Ne, Lt, Gt, Le, Ge };
IntCond inverse(IntCond cond);  // !(a cond b) == a inverse(cond) b
IntCond swapped(IntCond cond);  // a cond b == b swapped(cond) a
const char* to_string(IntCond cond);
const char* to_string(FloatCond cond);

// How a Load or Store touches memory. Full: as wide as the value's type.
enum class Access : uint8_t { Full, S8, U8, S16, U16, S32, U32 };  // stores use Full, U8, U16, U32
uint32_t access_bytes(Access access, Type type);

struct Inst {
  Op op = Op::Trap;
  Type type = Type::None;
  uint8_t aux = 0;             // IntCond, FloatCond, Access, TrapCode or vector_aux()
  uint32_t wasm_pc = 0;        // bytes from FunctionBody::begin, in the function the instruction came from
  uint32_t inline_site = ~0u;  // index into IrFunction::inline_sites
  Value result;                // first of result_count consecutive values
  uint16_t result_count = 0;
  uint16_t arg_count = 0;
  Value inline_args[3];  // arg_count <= 3; else inline_args[0] is the offset in IrFunction::arg_pool
  InstId prev, next;     // in the block
  BlockId block;         // invalid: removed
  uint64_t imm = 0;
};

struct Edge {
  BlockId target;
  uint32_t args_begin = 0;  // in IrFunction::arg_pool
  uint32_t args_count = 0;
  RangeList executed;  // of functions that are counted; in edges only where the block has several
};

struct Block {
  InstId first, last;
  std::vector<Value> params;
  std::vector<Edge> succs;
  std::vector<BlockId> preds;  // one entry an edge, in no order; kept by the CFG functions below
  uint32_t loop_depth = 0;     // analyze_loops()
  BlockId loop_header;         // innermost loop's header, invalid outside of loops
  bool cold = false;           // ends in a trap: laid out after the rest
  RangeList executed;          // of functions that are counted, see executed.h
};

struct ValueInfo {
  Type type = Type::None;
  bool is_param = false;
  uint32_t def = ~0u;  // InstId index, or BlockId index for parameters
  uint32_t index = 0;  // which result, or which parameter
};

// A callee placed inside this function: see runtime::InlineSite.
struct IrInlineSite {
  uint32_t callee = 0;
  uint32_t call_pc = 0;
  uint32_t parent = ~0u;
};

class IrFunction {
 public:
  uint32_t function = 0;  // wasm function index
  const FuncType* type = nullptr;
  std::vector<Inst> insts;
  std::vector<Block> blocks;  // [0, block_count)
  uint32_t block_count = 0;
  std::vector<ValueInfo> values;
  std::vector<Value> arg_pool;
  std::vector<IrInlineSite> inline_sites;
  std::vector<Vector> vectors{Vector()};  // that instructions have as `imm`; the first one is always zero
  std::vector<BlockId> layout;            // order of emission; block 0 first. Set by order_blocks().
  uint32_t unsplit_blocks = 0;            // block_count before critical edges were split
  DecisionLog decisions;                  // from building on
  // Of functions that are counted.
  bool counted = false;
  ExecutedRanges executed;
  std::vector<RangeList> ways;         // what runs in each way of a CountWay
  uint32_t counting_instructions = 0;  // made for CountWays

  void clear();  // keeps capacity

  Inst& inst(InstId id) { return insts[id.index()]; }
  const Inst& inst(InstId id) const { return insts[id.index()]; }
  Block& block(BlockId id) { return blocks[id.index()]; }
  const Block& block(BlockId id) const { return blocks[id.index()]; }
  ValueInfo& value(Value id) { return values[id.index()]; }
  const ValueInfo& value(Value id) const { return values[id.index()]; }
  Type type_of(Value id) const { return values[id.index()].type; }

  std::span<Value> args(Inst& i) {
    return i.arg_count <= 3 ? std::span<Value>(i.inline_args, i.arg_count)
                            : std::span<Value>(arg_pool).subspan(i.inline_args[0].index(), i.arg_count);
  }
  std::span<const Value> args(const Inst& i) const {
    return const_cast<IrFunction*>(this)->args(const_cast<Inst&>(i));
  }
  std::span<Value> args(const Edge& e) {
    return std::span<Value>(arg_pool).subspan(e.args_begin, e.args_count);
  }
  std::span<const Value> args(const Edge& e) const {
    return std::span<const Value>(arg_pool).subspan(e.args_begin, e.args_count);
  }
  // The instruction that defines a value, or nullptr for block parameters.
  const Inst* def_of(Value id) const {
    const ValueInfo& v = values[id.index()];
    return v.is_param ? nullptr : &insts[v.def];
  }

  // The index of a vector, which may be there already: equal ones nearby are one.
  uint64_t vector(Vector vector);
  BlockId new_block();
  Value new_param(BlockId block, Type type);
  // Creates an instruction and its results, not yet in a block.
  InstId new_inst(Op op, Type type, std::span<const Value> args, uint64_t imm = 0, uint8_t aux = 0);
  InstId new_inst(Op op, std::span<const Type> results, std::span<const Value> args, uint64_t imm);  // calls
  void append(BlockId block, InstId inst);
  void insert_before(InstId position, InstId inst);
  void remove(InstId inst);  // unlinks; its results must be unused
  void add_edge(BlockId from, BlockId to, std::span<const Value> args);
};

}  // namespace wago::codegen
