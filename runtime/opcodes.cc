#include "runtime/opcodes.h"

#include <bit>
#include <string_view>

namespace wago::runtime {

namespace {

constexpr ValueType type_of_letter(char letter) {
  switch (letter) {
    case 'i':
      return ValueType::I32;
    case 'l':
      return ValueType::I64;
    case 'f':
      return ValueType::F32;
    case 'd':
      return ValueType::F64;
    case 'v':
      return ValueType::V128;
  }
  throw "opcodes.def: unknown letter in a signature";  // fails constant evaluation, hence the build
}

// What a lane index chooses from: 4 for "i32x4.extract_lane", for a shuffle the bytes of two vectors.
constexpr uint8_t lanes_of(std::string_view text, Immediate immediate, uint8_t access_bytes) {
  switch (immediate) {
    case Immediate::Shuffle:
      return 32;
    case Immediate::MemargLane:
      return static_cast<uint8_t>(16 / access_bytes);
    case Immediate::Lane: {
      uint8_t lanes = 0;
      for (size_t i = text.find('x') + 1; text[i] != '.'; ++i) {
        lanes = static_cast<uint8_t>(10 * lanes + (text[i] - '0'));
      }
      return lanes;
    }
    default:
      return 0;
  }
}

constexpr OpcodeInfo make_info(const char* text, Immediate immediate, std::string_view signature,
                               uint8_t access_bytes, Feature feature) {
  OpcodeInfo info;
  info.text = text;
  info.immediate = immediate;
  info.feature = feature;
  info.access_bytes = access_bytes;
  info.natural_alignment = access_bytes == 0 ? 0 : static_cast<uint8_t>(std::countr_zero(access_bytes));
  info.lanes = lanes_of(text, immediate, access_bytes);
  info.simple = signature != "*";
  if (!info.simple) return info;
  size_t colon = signature.find(':');
  for (char letter : signature.substr(0, colon)) info.param[info.params++] = type_of_letter(letter);
  for (char letter : signature.substr(colon + 1)) {
    info.result = type_of_letter(letter);
    ++info.results;
  }
  return info;
}

constexpr std::array<OpcodeInfo, kOpcodeCount> make_table() {
  std::array<OpcodeInfo, kOpcodeCount> table;
#define WAGO_OPCODE(id, prefix, number, text, immediate, signature, access_bytes, feature) \
  table[static_cast<size_t>(Opcode::id)] =                                                 \
      make_info(text, Immediate::immediate, signature, access_bytes, Feature::feature);
#include "runtime/opcodes.def"
  return table;
}

}  // namespace

constinit const std::array<OpcodeInfo, kOpcodeCount> kOpcodes = make_table();

const char* to_string(Feature feature) {
  switch (feature) {
    case Feature::Core:
      return "WebAssembly 2.0";
    case Feature::RelaxedSimd:
      return "relaxed SIMD";
    case Feature::TailCalls:
      return "tail calls";
    case Feature::Exceptions:
      return "exceptions";
    case Feature::LegacyExceptions:
      return "legacy exceptions";
    case Feature::FunctionReferences:
      return "typed function references";
    case Feature::Gc:
      return "garbage collection";
    case Feature::Threads:
      return "threads";
    case Feature::Unknown:
      break;
  }
  return "unknown";
}

}  // namespace wago::runtime
