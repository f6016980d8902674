// Reads a function body instruction by instruction: opcode and immediates, nothing of their meaning. The loop
// is one template over a cursor, so that the validator (CheckedCursor, byte_cursor.h) and everybody after it
// (UncheckedCursor: the body is known to be valid) see the same instructions by construction.
//
//   BodyReader reader = read_body(module, body);
//   for (Instruction instruction; !reader.at_end();) {
//     reader.next(instruction);
//     ...
//   }
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

#include "runtime/module.h"
#include "runtime/opcodes.h"
#include "runtime/types.h"

namespace wago::runtime {

// A block's type as encoded (section 5.4.1): empty, one result, or an index into Module::types.
class BlockType {
 public:
  BlockType() = default;  // empty
  static BlockType one_result(ValueType type) { return BlockType(-static_cast<int64_t>(type)); }
  static BlockType indexed(uint32_t type_index) { return BlockType(type_index); }

  bool has_index() const { return code_ >= 0; }
  uint32_t index() const { return static_cast<uint32_t>(code_); }
  // Valid as long as the module.
  std::span<const ValueType> params(const Module& module) const {
    if (has_index()) return module.types[index()].params;
    return {};
  }
  std::span<const ValueType> results(const Module& module) const {
    if (has_index()) return module.types[index()].results;
    if (code_ == kEmpty) return {};
    return {&kEveryByte[-code_], 1};
  }

 private:
  explicit BlockType(int64_t code) : code_(code) {}
  static constexpr int64_t kEmpty = -0x40;
  // The type whose encoding is the index: something for a span of one type to point to.
  static constexpr std::array<ValueType, 128> kEveryByte = [] {
    std::array<ValueType, 128> types{};
    for (size_t i = 0; i < types.size(); ++i) types[i] = static_cast<ValueType>(i);
    return types;
  }();
  int64_t code_ = kEmpty;  // type index, or minus the byte
};

// One instruction. Which fields mean something depends on info(opcode).immediate:
//   Block                     block
//   Label                     a: depth
//   LabelTable                a: number of depths before the default; read them through Labels
//   Function, Local, Global, Table, Element, Data    a: index
//   TypeTable                 a: type, b: table
//   Memarg, MemargLane        a: alignment log2, b: memory, bits[0]: offset; bits[1]: lane
//   Memory                    b: memory
//   DataMemory                a: data segment, b: memory
//   ElementTable              a: element segment, b: table
//   MemoryMemory, TableTable  a: destination, b: source
//   I32, F32                  bits[0]: bit pattern, zero-extended
//   I64, F64                  bits[0]: bit pattern
//   V128, Shuffle             bits[0] low, bits[1] high
//   Lane                      bits[1]: lane
//   RefType                   type
//   SelectTypes               a: number of types, in a valid body 1; type: the first
struct Instruction {
  Opcode opcode = Opcode::Unreachable;
  ValueType type = ValueType::I32;
  uint32_t pc = 0;  // bytes from FunctionBody::begin
  uint32_t a = 0;
  uint32_t b = 0;
  BlockType block;
  uint64_t bits[2] = {0, 0};
  const uint8_t* labels = nullptr;
};

// Trusts its bytes.
class UncheckedCursor {
 public:
  static constexpr bool kChecked = false;
  UncheckedCursor(const uint8_t* at, const uint8_t* end, uint32_t pc)
      : origin_(at - pc), at_(at), end_(end) {}

  bool at_end() const { return at_ == end_; }
  uint32_t pc() const { return static_cast<uint32_t>(at_ - origin_); }
  const uint8_t* position() const { return at_; }

  uint8_t byte() { return *at_++; }
  uint32_t u32() { return static_cast<uint32_t>(unsigned_leb()); }
  int32_t s32() { return static_cast<int32_t>(signed_leb()); }
  int64_t s64() { return signed_leb(); }
  uint32_t fixed32() { return fixed<uint32_t>(); }
  uint64_t fixed64() { return fixed<uint64_t>(); }
  ValueType value_type() { return static_cast<ValueType>(byte()); }
  ValueType reference_type() { return static_cast<ValueType>(byte()); }
  BlockType block_type() {
    if (*at_ == 0x40) return ++at_, BlockType();
    if ((*at_ & 0xc0) == 0x40) return BlockType::one_result(value_type());
    return BlockType::indexed(static_cast<uint32_t>(signed_leb()));
  }
  uint32_t zero_index() { return byte(); }
  uint32_t alignment() { return u32(); }
  void skip_labels(uint32_t count) {
    for (uint64_t i = 0; i <= count; ++i) u32();
  }

 private:
  uint64_t unsigned_leb() {
    uint64_t value = *at_ & 0x7f;
    for (int shift = 7; (*at_++ & 0x80) != 0; shift += 7) value |= uint64_t{*at_ & 0x7fu} << shift;
    return value;
  }
  int64_t signed_leb() {
    uint64_t value = 0;
    int shift = 0;
    uint8_t next;
    do {
      next = *at_++;
      value |= uint64_t{next & 0x7fu} << shift;
      shift += 7;
    } while ((next & 0x80) != 0);
    if (shift < 64 && (next & 0x40) != 0) value |= ~uint64_t{0} << shift;
    return static_cast<int64_t>(value);
  }
  template <class T>
  T fixed() {
    T value;
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }

  const uint8_t* origin_;
  const uint8_t* at_;
  const uint8_t* end_;
};

// The depths of a br_table whose instruction has been read: `a` of them, then the default.
class Labels {
 public:
  explicit Labels(const Instruction& instruction) : cursor_(instruction.labels, nullptr, 0) {}
  uint32_t next() { return cursor_.u32(); }

 private:
  UncheckedCursor cursor_;
};

template <class Cursor>
class BasicBodyReader {
 public:
  explicit BasicBodyReader(Cursor cursor) : cursor_(cursor) {}

  bool at_end() const { return cursor_.at_end(); }
  uint32_t pc() const { return cursor_.pc(); }  // of the instruction next() will read
  // False, with a checked cursor only, if the instruction is malformed or not supported.
  bool next(Instruction& instruction) {
    instruction.pc = cursor_.pc();
    uint32_t number = cursor_.byte();
    if (is_opcode_prefix(number)) [[unlikely]] {
      const uint32_t prefix = number;
      number = cursor_.u32();
      if constexpr (Cursor::kChecked) {
        if (!cursor_.check_number(instruction.pc, prefix, number)) return false;
      }
      number += opcode_base(prefix);
    }
    instruction.opcode = static_cast<Opcode>(number);
    const OpcodeInfo& opcode = info(instruction.opcode);
    if constexpr (Cursor::kChecked) {
      if (opcode.feature != Feature::Core && !cursor_.check_feature(instruction.pc, instruction.opcode))
        return false;
    }
    read_immediates(opcode.immediate, instruction);
    if constexpr (Cursor::kChecked) return !cursor_.failed();
    return true;
  }

  Cursor& cursor() { return cursor_; }

 private:
  void read_immediates(Immediate immediate, Instruction& to) {
    switch (immediate) {
      case Immediate::None:
        break;
      case Immediate::Block:
        to.block = cursor_.block_type();
        break;
      case Immediate::Label:
      case Immediate::Function:
      case Immediate::Local:
      case Immediate::Global:
      case Immediate::Table:
      case Immediate::Element:
      case Immediate::Data:
        to.a = cursor_.u32();
        break;
      case Immediate::TypeTable:
      case Immediate::ElementTable:
      case Immediate::TableTable:
        to.a = cursor_.u32();
        to.b = cursor_.u32();
        break;
      case Immediate::LabelTable:
        to.a = cursor_.u32();
        to.labels = cursor_.position();
        cursor_.skip_labels(to.a);
        break;
      case Immediate::Memarg:
        read_memarg(to);
        break;
      case Immediate::MemargLane:
        read_memarg(to);
        to.bits[1] = cursor_.byte();
        break;
      case Immediate::Memory:
        to.b = cursor_.zero_index();
        break;
      case Immediate::DataMemory:
        to.a = cursor_.u32();
        to.b = cursor_.zero_index();
        break;
      case Immediate::MemoryMemory:
        to.a = cursor_.zero_index();
        to.b = cursor_.zero_index();
        break;
      case Immediate::I32:
        to.bits[0] = static_cast<uint32_t>(cursor_.s32());
        break;
      case Immediate::I64:
        to.bits[0] = static_cast<uint64_t>(cursor_.s64());
        break;
      case Immediate::F32:
        to.bits[0] = cursor_.fixed32();
        break;
      case Immediate::F64:
        to.bits[0] = cursor_.fixed64();
        break;
      case Immediate::RefType:
        to.type = cursor_.reference_type();
        break;
      case Immediate::SelectTypes:
        to.a = cursor_.u32();
        for (uint32_t i = 0; i < to.a; ++i) {
          ValueType type = cursor_.value_type();
          if (i == 0) to.type = type;
          if constexpr (Cursor::kChecked) {
            if (cursor_.failed()) return;
          }
        }
        break;
      case Immediate::V128:
      case Immediate::Shuffle:
        to.bits[0] = cursor_.fixed64();
        to.bits[1] = cursor_.fixed64();
        break;
      case Immediate::Lane:
        to.bits[1] = cursor_.byte();
        break;
    }
  }
  void read_memarg(Instruction& to) {
    to.a = cursor_.alignment();
    to.b = 0;
    to.bits[0] = cursor_.u32();
  }

  Cursor cursor_;
};

using BodyReader = BasicBodyReader<UncheckedCursor>;

// From the first instruction to the final `end`, which is read as well. The module must be valid and outlive
// the reader.
inline BodyReader read_body(const Module& module, const FunctionBody& body) {
  const uint8_t* bytes = module.bytes.data();
  return BodyReader(
      UncheckedCursor(bytes + body.code_begin, bytes + body.begin + body.size, body.code_begin - body.begin));
}

}  // namespace wago::runtime
