#include "codegen/ir/ir.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace wago::codegen {

namespace {

constexpr int8_t vector_arguments(std::string_view signature) {
  return static_cast<int8_t>(signature.find(':'));
}

constexpr OpInfo kOps[] = {
#define WAGO_IR_OP(id, name, args, flags) {name, args, flags},
#include "codegen/ir/ops.def"
};

constexpr VectorOpInfo kVectorOps[] = {
#define WAGO_IR_OP(id, name, args, flags) {},
#define WAGO_IR_VECTOR_OP(id, name, signature, shapes) {signature, shapes},
#include "codegen/ir/ops.def"
};

constexpr const char* kShapes[kLaneShapes] = {"i8x16", "i16x8", "i32x4", "i64x2", "f32x4", "f64x2"};

// Vectors that are looked through for an equal one: keeps functions with thousands of them linear.
constexpr size_t kVectorWindow = 64;

constexpr std::array<const char*, 10> kIntConds = {"eq",   "ne",   "lt_s", "lt_u", "gt_s",
                                                   "gt_u", "le_s", "le_u", "ge_s", "ge_u"};
constexpr std::array<const char*, 6> kFloatConds = {"eq", "ne", "lt", "gt", "le", "ge"};

}  // namespace

const char* to_string(Type type) {
  switch (type) {
    case Type::None:
      return "none";
    case Type::I32:
      return "i32";
    case Type::I64:
      return "i64";
    case Type::F32:
      return "f32";
    case Type::F64:
      return "f64";
    case Type::V128:
      return "v128";
  }
  WAGO_UNREACHABLE("type");
}

Type type_of(ValueType type) {
  switch (type) {
    case ValueType::I32:
      return Type::I32;
    case ValueType::I64:
    case ValueType::FuncRef:
    case ValueType::ExternRef:
      return Type::I64;
    case ValueType::F32:
      return Type::F32;
    case ValueType::F64:
      return Type::F64;
    case ValueType::V128:
      return Type::V128;
  }
  WAGO_UNREACHABLE("value type");
}

const OpInfo& info(Op op) {
  return kOps[static_cast<size_t>(op)];
}
const char* to_string(Op op) {
  return info(op).name;
}
const VectorOpInfo& vector_info(Op op) {
  return kVectorOps[static_cast<size_t>(op)];
}
const char* to_string(LaneShape shape) {
  return kShapes[static_cast<size_t>(shape)];
}

IntCond inverse(IntCond cond) {
  switch (cond) {
    case IntCond::Eq:
      return IntCond::Ne;
    case IntCond::Ne:
      return IntCond::Eq;
    case IntCond::LtS:
      return IntCond::GeS;
    case IntCond::LtU:
      return IntCond::GeU;
    case IntCond::GtS:
      return IntCond::LeS;
    case IntCond::GtU:
      return IntCond::LeU;
    case IntCond::LeS:
      return IntCond::GtS;
    case IntCond::LeU:
      return IntCond::GtU;
    case IntCond::GeS:
      return IntCond::LtS;
    case IntCond::GeU:
      return IntCond::LtU;
  }
  WAGO_UNREACHABLE("condition");
}

IntCond swapped(IntCond cond) {
  switch (cond) {
    case IntCond::Eq:
    case IntCond::Ne:
      return cond;
    case IntCond::LtS:
      return IntCond::GtS;
    case IntCond::LtU:
      return IntCond::GtU;
    case IntCond::GtS:
      return IntCond::LtS;
    case IntCond::GtU:
      return IntCond::LtU;
    case IntCond::LeS:
      return IntCond::GeS;
    case IntCond::LeU:
      return IntCond::GeU;
    case IntCond::GeS:
      return IntCond::LeS;
    case IntCond::GeU:
      return IntCond::LeU;
  }
  WAGO_UNREACHABLE("condition");
}

const char* to_string(IntCond cond) {
  return kIntConds[static_cast<size_t>(cond)];
}
const char* to_string(FloatCond cond) {
  return kFloatConds[static_cast<size_t>(cond)];
}

uint32_t access_bytes(Access access, Type type) {
  switch (access) {
    case Access::Full:
      return bytes_of(type);
    case Access::S8:
    case Access::U8:
      return 1;
    case Access::S16:
    case Access::U16:
      return 2;
    case Access::S32:
    case Access::U32:
      return 4;
  }
  WAGO_UNREACHABLE("access");
}

void IrFunction::clear() {
  function = 0;
  type = nullptr;
  insts.clear();
  block_count = 0;
  values.clear();
  arg_pool.clear();
  inline_sites.clear();
  vectors.resize(1);
  layout.clear();
  decisions.start(false);
  counted = false;
  executed.clear();
  ways.clear();
  counting_instructions = 0;
  unsplit_blocks = 0;
}

uint64_t IrFunction::vector(Vector vector) {
  if (vector == Vector()) return 0;
  const size_t oldest = vectors.size() - std::min(vectors.size(), kVectorWindow);
  for (size_t i = vectors.size(); i-- > oldest;) {
    if (vectors[i] == vector) return i;
  }
  vectors.push_back(vector);
  return vectors.size() - 1;
}

BlockId IrFunction::new_block() {
  const uint32_t index = block_count++;
  if (index == blocks.size()) {
    blocks.emplace_back();
    return BlockId(index);
  }
  // A block of an earlier function: its vectors keep their capacity.
  Block& block = blocks[index];
  block.first = block.last = InstId();
  block.params.clear();
  block.succs.clear();
  block.preds.clear();
  block.loop_depth = 0;
  block.loop_header = BlockId();
  block.cold = false;
  block.executed = RangeList();
  return BlockId(index);
}

Value IrFunction::new_param(BlockId id, Type param_type) {
  const Value value(static_cast<uint32_t>(values.size()));
  std::vector<Value>& params = block(id).params;
  values.push_back({param_type, true, id.index(), static_cast<uint32_t>(params.size())});
  params.push_back(value);
  return value;
}

namespace {

void set_args(IrFunction& function, Inst& inst, std::span<const Value> args) {
  inst.arg_count = static_cast<uint16_t>(args.size());
  if (args.size() <= 3) {
    for (size_t i = 0; i < args.size(); ++i) inst.inline_args[i] = args[i];
    return;
  }
  inst.inline_args[0] = Value(static_cast<uint32_t>(function.arg_pool.size()));
  function.arg_pool.insert(function.arg_pool.end(), args.begin(), args.end());
}

}  // namespace

InstId IrFunction::new_inst(Op op, Type result_type, std::span<const Value> args, uint64_t imm, uint8_t aux) {
  const InstId id(static_cast<uint32_t>(insts.size()));
  Inst& inst = insts.emplace_back();
  inst.op = op;
  inst.type = result_type;
  inst.aux = aux;
  inst.imm = imm;
  set_args(*this, inst, args);
  if (result_type != Type::None) {
    inst.result = Value(static_cast<uint32_t>(values.size()));
    inst.result_count = 1;
    values.push_back({result_type, false, id.index(), 0});
  }
  return id;
}

InstId IrFunction::new_inst(Op op, std::span<const Type> results, std::span<const Value> args, uint64_t imm) {
  const InstId id(static_cast<uint32_t>(insts.size()));
  Inst& inst = insts.emplace_back();
  inst.op = op;
  inst.type = results.empty() ? Type::None : results[0];
  inst.imm = imm;
  set_args(*this, inst, args);
  if (!results.empty()) inst.result = Value(static_cast<uint32_t>(values.size()));
  inst.result_count = static_cast<uint16_t>(results.size());
  for (uint32_t i = 0; i < results.size(); ++i) values.push_back({results[i], false, id.index(), i});
  return id;
}

void IrFunction::append(BlockId to, InstId id) {
  Block& b = block(to);
  Inst& i = inst(id);
  i.block = to;
  i.prev = b.last;
  i.next = InstId();
  if (b.last.valid()) {
    inst(b.last).next = id;
  } else {
    b.first = id;
  }
  b.last = id;
}

void IrFunction::insert_before(InstId position, InstId id) {
  Inst& at = inst(position);
  Inst& i = inst(id);
  i.block = at.block;
  i.prev = at.prev;
  i.next = position;
  if (at.prev.valid()) {
    inst(at.prev).next = id;
  } else {
    block(at.block).first = id;
  }
  at.prev = id;
}

void IrFunction::remove(InstId id) {
  Inst& i = inst(id);
  Block& b = block(i.block);
  (i.prev.valid() ? inst(i.prev).next : b.first) = i.next;
  (i.next.valid() ? inst(i.next).prev : b.last) = i.prev;
  i.prev = i.next = InstId();
  i.block = BlockId();
}

void IrFunction::add_edge(BlockId from, BlockId to, std::span<const Value> args) {
  Edge edge;
  edge.target = to;
  edge.args_begin = static_cast<uint32_t>(arg_pool.size());
  edge.args_count = static_cast<uint32_t>(args.size());
  arg_pool.insert(arg_pool.end(), args.begin(), args.end());
  block(from).succs.push_back(edge);
  block(to).preds.push_back(from);
}

}  // namespace wago::codegen
