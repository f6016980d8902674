// The instruction set as data, generated from opcodes.def. An Opcode is the instruction's number plus a base
// for its prefix byte, so that decoding is one addition and every table over opcodes is indexed directly.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/types.h"

namespace wago::runtime {

// What follows the opcode in a body, in this order. Instruction in code_reader.h says where each part is
// kept.
enum class Immediate : uint8_t {
  None,
  Block,       // block type
  Label,       // label depth
  LabelTable,  // vector of label depths, default depth
  Function,    // function index
  TypeTable,   // type index, table index
  Local,
  Global,
  Table,
  Element,
  Data,
  Memarg,        // alignment log2, offset
  Memory,        // zero byte
  DataMemory,    // data index, zero byte
  MemoryMemory,  // zero byte, zero byte: destination, source
  ElementTable,  // element index, table index
  TableTable,    // table index, table index: destination, source
  I32,           // signed LEB128
  I64,           // signed LEB128
  F32,           // 4 bytes
  F64,           // 8 bytes
  RefType,       // reference type
  SelectTypes,   // vector of value types
  V128,          // 16 bytes
  Lane,          // byte
  MemargLane,    // as Memarg, then byte
  Shuffle,       // 16 lane bytes
};

enum class Feature : uint8_t {
  Core,  // WebAssembly 2.0: what is built
  RelaxedSimd,
  TailCalls,
  Exceptions,
  LegacyExceptions,
  FunctionReferences,
  Gc,
  Threads,
  Unknown,  // no instruction has this number
};
// "relaxed SIMD", "tail calls", ...: for "... is not supported yet".
const char* to_string(Feature feature);

constexpr uint32_t kOpcodeCount = 0x600;

// Base of the opcodes behind a prefix byte, 0 for the others; and how many numbers the base leaves room for.
constexpr uint32_t opcode_base(uint32_t prefix) {
  return prefix == 0xfb   ? 0x100
         : prefix == 0xfc ? 0x200
         : prefix == 0xfd ? 0x300
         : prefix == 0xfe ? 0x500
                          : 0;
}
constexpr uint32_t opcode_room(uint32_t prefix) {
  return prefix == 0xfd ? 0x200 : 0x100;
}
constexpr bool is_opcode_prefix(uint32_t byte) {
  return byte >= 0xfb && byte <= 0xfe;
}

enum class Opcode : uint16_t {
#define WAGO_OPCODE(id, prefix, number, text, immediate, signature, access_bytes, feature) \
  id = opcode_base(prefix) + number,
#include "runtime/opcodes.def"
};

struct OpcodeInfo {
  const char* text = nullptr;  // "i32.add"; nullptr: no such instruction
  Immediate immediate = Immediate::None;
  Feature feature = Feature::Unknown;
  bool simple = false;            // operand and result types are the ones below, always
  uint8_t access_bytes = 0;       // memory accesses: width
  uint8_t natural_alignment = 0;  // log2 of access_bytes
  uint8_t lanes = 0;              // lane indices among the immediates are below it
  uint8_t params = 0;
  uint8_t results = 0;      // 0 or 1
  ValueType param[3] = {};  // the last one is on top of the stack
  ValueType result = ValueType::I32;
};

extern const std::array<OpcodeInfo, kOpcodeCount> kOpcodes;

inline const OpcodeInfo& info(Opcode opcode) {
  return kOpcodes[static_cast<size_t>(opcode)];
}
// The text format's name, "i32.add"; the two encodings of select share theirs.
inline const char* to_string(Opcode opcode) {
  return info(opcode).text;
}

}  // namespace wago::runtime
