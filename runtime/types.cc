#include "runtime/types.h"

namespace wago {

const char* to_string(ValueType type) {
  switch (type) {
    case ValueType::I32:
      return "i32";
    case ValueType::I64:
      return "i64";
    case ValueType::F32:
      return "f32";
    case ValueType::F64:
      return "f64";
    case ValueType::V128:
      return "v128";
    case ValueType::FuncRef:
      return "funcref";
    case ValueType::ExternRef:
      return "externref";
  }
  return "unknown";
}

std::string with_article(ValueType type) {
  return (type == ValueType::V128 || type == ValueType::FuncRef ? "a " : "an ") +
         std::string(to_string(type));
}

const char* to_string(ExternKind kind) {
  switch (kind) {
    case ExternKind::Function:
      return "function";
    case ExternKind::Table:
      return "table";
    case ExternKind::Memory:
      return "memory";
    case ExternKind::Global:
      return "global";
  }
  return "unknown";
}

namespace {
std::string list(const std::vector<ValueType>& types) {
  std::string text = "(";
  for (ValueType type : types) {
    if (text.size() > 1) text += ", ";
    text += to_string(type);
  }
  return text + ")";
}
}  // namespace

std::string to_string(const FuncType& type) {
  return list(type.params) + " -> " + list(type.results);
}

uint32_t slots_of(const std::vector<ValueType>& types) {
  uint32_t slots = 0;
  for (ValueType type : types) slots += slots_of(type);
  return slots;
}

}  // namespace wago
