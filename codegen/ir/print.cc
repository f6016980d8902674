#include "codegen/ir/print.h"

#include <cstdio>

#include "base/vocabulary.h"

namespace wago::codegen {

namespace {

constexpr const char* kAccesses[] = {"full", "s8", "u8", "s16", "u16", "s32", "u32"};
constexpr const char* kHelpers[] = {
#define WAGO_HELPER(id, name, trap) #name,
#include "runtime/helpers.def"
};

std::string hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string name(Value value) {
  return value.valid() ? "v" + std::to_string(value.index()) : "v?";
}
std::string name(BlockId block) {
  return block.valid() ? "block" + std::to_string(block.index()) : "block?";
}
std::string typed(const IrFunction& function, Value value) {
  return name(value) + ":" + to_string(function.type_of(value));
}

std::string shape_text(const Inst& inst) {
  return std::string(".") + to_string(shape_of(inst.aux));
}

std::string aux_text(const Inst& inst) {
  switch (aux_form(inst.op)) {
    case AuxForm::None:
      return "";
    case AuxForm::IntCond:
      return std::string(".") + to_string(static_cast<IntCond>(inst.aux));
    case AuxForm::FloatCond:
      return std::string(".") + to_string(static_cast<FloatCond>(inst.aux));
    case AuxForm::Access:
      return inst.aux == 0 ? "" : std::string(".") + to_string(static_cast<Access>(inst.aux));
    case AuxForm::Trap:
      return "." + std::string(base::spelling(static_cast<base::TrapCode>(inst.aux)));
    case AuxForm::Shape:
      return shape_text(inst);
    case AuxForm::ShapeIntCond:
      return shape_text(inst) + "." + to_string(static_cast<IntCond>(variant_of(inst.aux)));
    case AuxForm::ShapeFloatCond:
      return shape_text(inst) + "." + to_string(static_cast<FloatCond>(variant_of(inst.aux)));
  }
  WAGO_UNREACHABLE("aux");
}

std::string vector_text(const IrFunction& function, uint64_t index) {
  if (index >= function.vectors.size()) return "?";
  const Vector& vector = function.vectors[index];
  char text[40];
  std::snprintf(text, sizeof text, "0x%016llx%016llx", static_cast<unsigned long long>(vector.high),
                static_cast<unsigned long long>(vector.low));
  return text;
}

std::string imm_text(const IrFunction& function, const Inst& inst) {
  switch (imm_form(inst.op)) {
    case ImmForm::None:
      return "";
    case ImmForm::Signed:
      return "#" + std::to_string(inst.type == Type::I32 ? int64_t{static_cast<int32_t>(inst.imm)}
                                                         : static_cast<int64_t>(inst.imm));
    case ImmForm::Hex:
      return "#" + hex(inst.imm);
    case ImmForm::Unsigned:
      return "#" + std::to_string(inst.imm);
    case ImmForm::Pair:
      return "#" + std::to_string(inst.imm >> 32) + ":" + std::to_string(static_cast<uint32_t>(inst.imm));
    case ImmForm::Helper:
      return std::string("#") + (helper_name(inst.imm) != nullptr ? helper_name(inst.imm) : "?");
    case ImmForm::Vector:
      return "#" + vector_text(function, inst.imm);
  }
  WAGO_UNREACHABLE("imm");
}

template <class Values>
std::string list(const Values& values) {
  std::string text;
  for (const Value value : values) text += (text.empty() ? "" : ", ") + name(value);
  return text;
}

std::string edge_text(const IrFunction& function, const Edge& edge) {
  std::string text = name(edge.target);
  if (edge.args_count != 0) text += "(" + list(function.args(edge)) + ")";
  return text;
}

std::string types_text(const std::vector<ValueType>& types) {
  std::string text;
  for (const ValueType type : types)
    text += (text.empty() ? "" : ", ") + std::string(to_string(type_of(type)));
  return "(" + text + ")";
}

std::string block_text(const IrFunction& function, BlockId id) {
  const Block& block = function.block(id);
  std::string text = name(id);
  if (!block.params.empty()) {
    std::string params;
    for (const Value param : block.params) params += (params.empty() ? "" : ", ") + typed(function, param);
    text += "(" + params + ")";
  }
  text += ":";
  if (block.cold) text += "  ; cold";
  if (block.loop_depth != 0) text += "  ; loop depth " + std::to_string(block.loop_depth);
  text += "\n";
  for (InstId inst = block.first; inst.valid(); inst = function.inst(inst).next) {
    text += "  " + print(function, inst) + "\n";
  }
  return text;
}

}  // namespace

ImmForm imm_form(Op op) {
  switch (op) {
    case Op::Iconst:
      return ImmForm::Signed;
    case Op::Fconst:
      return ImmForm::Hex;
    case Op::BoundsCheck:
    case Op::Load:
    case Op::Store:
    case Op::GlobalGet:
    case Op::GlobalSet:
    case Op::TableGet:
    case Op::TableSet:
    case Op::TableSize:
    case Op::RefFunc:
    case Op::Call:
    case Op::CountWay:
    case Op::VextractS:
    case Op::VextractU:
    case Op::Vreplace:
      return ImmForm::Unsigned;
    case Op::Vconst:
    case Op::Vshuffle:
      return ImmForm::Vector;
    case Op::CallIndirect:
      return ImmForm::Pair;
    case Op::CallHelper:
      return ImmForm::Helper;
    default:
      return ImmForm::None;
  }
}

AuxForm aux_form(Op op) {
  switch (op) {
    case Op::Icmp:
      return AuxForm::IntCond;
    case Op::Fcmp:
      return AuxForm::FloatCond;
    case Op::Load:
    case Op::Store:
      return AuxForm::Access;
    case Op::Trap:
      return AuxForm::Trap;
    case Op::Vicmp:
      return AuxForm::ShapeIntCond;
    case Op::Vfcmp:
      return AuxForm::ShapeFloatCond;
    default:
      return vector_info(op).shapes == 0 ? AuxForm::None : AuxForm::Shape;
  }
}

const char* to_string(Access access) {
  return kAccesses[static_cast<size_t>(access)];
}
const char* helper_name(uint64_t helper) {
  return helper < std::size(kHelpers) ? kHelpers[helper] : nullptr;
}

std::string print(const IrFunction& function, InstId id) {
  const Inst& inst = function.inst(id);
  std::string text;
  for (uint32_t i = 0; i < inst.result_count; ++i) {
    text += (i == 0 ? "" : ", ") + typed(function, Value(inst.result.index() + i));
  }
  if (!text.empty()) text += " = ";
  text += to_string(inst.op) + aux_text(inst);
  std::string operands = list(function.args(inst));
  auto add = [&operands](const std::string& operand) {
    if (!operand.empty()) operands += (operands.empty() ? "" : ", ") + operand;
  };
  add(imm_text(function, inst));
  if (inst.block.valid() && (info(inst.op).flags & kTerminator) != 0) {
    for (const Edge& edge : function.block(inst.block).succs) add(edge_text(function, edge));
  }
  if (!operands.empty()) text += " " + operands;
  if (inst.wasm_pc != 0 || inst.inline_site != ~0u) text += " @" + hex(inst.wasm_pc).substr(2);
  if (inst.inline_site != ~0u) text += "/" + std::to_string(inst.inline_site);
  return text;
}

std::string print(const IrFunction& function) {
  std::string text = "function " + std::to_string(function.function);
  if (function.type != nullptr) {
    text += " " + types_text(function.type->params) + " -> " + types_text(function.type->results);
  }
  text += "\n";
  if (!function.layout.empty()) {
    for (const BlockId block : function.layout) text += block_text(function, block);
    return text;
  }
  for (uint32_t i = 0; i < function.block_count; ++i) {
    if (i == 0 || function.blocks[i].first.valid()) text += block_text(function, BlockId(i));
  }
  return text;
}

}  // namespace wago::codegen
