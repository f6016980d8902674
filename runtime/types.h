// WebAssembly types as the decoder reads them and everything after it uses them (core specification 2.0,
// section 2.3).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace wago {

// Numbered as in the binary format (section 5.3).
enum class ValueType : uint8_t {
  I32 = 0x7f,
  I64 = 0x7e,
  F32 = 0x7d,
  F64 = 0x7c,
  V128 = 0x7b,
  FuncRef = 0x70,
  ExternRef = 0x6f,
};

constexpr bool is_reference(ValueType type) {
  return type == ValueType::FuncRef || type == ValueType::ExternRef;
}
// Of those above: a byte cast to a ValueType may be none.
constexpr bool is_value_type(ValueType type) {
  const auto number = static_cast<uint8_t>(type);
  return (number >= static_cast<uint8_t>(ValueType::V128) &&
          number <= static_cast<uint8_t>(ValueType::I32)) ||
         is_reference(type);
}
// ABI slots (unsigned 64-bit words) a value takes: v128 takes two, low first.
constexpr uint32_t slots_of(ValueType type) {
  return type == ValueType::V128 ? 2 : 1;
}
// "i32", ..., "funcref".
const char* to_string(ValueType type);
// "an i32", ..., "a funcref".
std::string with_article(ValueType type);

struct FuncType {
  std::vector<ValueType> params;
  std::vector<ValueType> results;
  bool operator==(const FuncType&) const = default;
};
// "(i32, i64) -> (f64)"
std::string to_string(const FuncType& type);
// Slots of all values of a list.
uint32_t slots_of(const std::vector<ValueType>& types);

struct Limits {
  uint32_t min = 0;  // pages of 64 KiB, or table entries
  std::optional<uint32_t> max;
  bool operator==(const Limits&) const = default;
};
struct MemoryType {
  Limits limits;
  bool operator==(const MemoryType&) const = default;
};
struct TableType {
  ValueType element = ValueType::FuncRef;
  Limits limits;
  bool operator==(const TableType&) const = default;
};
struct GlobalType {
  ValueType value = ValueType::I32;
  bool mutable_ = false;
  bool operator==(const GlobalType&) const = default;
};

enum class ExternKind : uint8_t { Function = 0, Table = 1, Memory = 2, Global = 3 };
const char* to_string(ExternKind kind);  // "function", "table", "memory", "global"

constexpr uint64_t kPageBytes = 65536;
constexpr uint32_t kMaxPages = 65536;

// Machine code of one module: what distances within it reach.
constexpr uint64_t kMaxCodeBytes = (uint64_t{1} << 31) - 65536;

}  // namespace wago
