#include "runtime/instruction_text.h"

#include <bit>
#include <charconv>
#include <cinttypes>
#include <cmath>
#include <cstdio>

namespace wago::runtime {

namespace {

std::string number(int64_t value) {
  return " " + std::to_string(value);
}

std::string hex(uint64_t value, int digits) {
  char text[24];
  std::snprintf(text, sizeof text, "%0*" PRIx64, digits, value);
  return text;
}

template <class Float>
std::string float_text(Float value, uint64_t bits) {
  if (std::isnan(value)) return " nan:0x" + hex(bits, 1);
  char text[64];
  const auto done = std::to_chars(text, text + sizeof text, value);
  return " " + std::string(text, done.ptr);
}

std::string indexed(uint32_t index) {
  return index == 0 ? std::string() : number(index);
}

std::string access(const Instruction& it) {
  return it.bits[0] == 0 ? std::string() : " offset=" + std::to_string(it.bits[0]);
}

std::string block_text(const Module& module, const BlockType& type) {
  if (type.has_index()) return " (type " + std::to_string(type.index()) + ")";
  const auto results = type.results(module);
  return results.empty() ? std::string() : " (result " + std::string(to_string(results[0])) + ")";
}

std::string shuffle_text(const Instruction& it) {
  std::string text;
  for (uint32_t lane = 0; lane < 16; ++lane) text += number(it.bits[lane / 8] >> 8 * (lane % 8) & 0xff);
  return text;
}

std::string immediates(const Module& module, const Instruction& it) {
  switch (info(it.opcode).immediate) {
    case Immediate::None:
      return {};
    case Immediate::Block:
      return block_text(module, it.block);
    case Immediate::LabelTable:
      return " of " + std::to_string(it.a + 1);
    case Immediate::Label:
    case Immediate::Function:
    case Immediate::Local:
    case Immediate::Global:
    case Immediate::Element:
    case Immediate::Data:
      return number(it.a);
    case Immediate::Table:
      return indexed(it.a);
    case Immediate::TypeTable:
      return indexed(it.b) + " (type " + std::to_string(it.a) + ")";
    case Immediate::Memarg:
      return access(it);
    case Immediate::MemargLane:
      return access(it) + number(static_cast<int64_t>(it.bits[1]));
    case Immediate::Memory:
    case Immediate::MemoryMemory:
      return {};
    case Immediate::DataMemory:
      return number(it.a);
    case Immediate::ElementTable:
      return indexed(it.b) + number(it.a);
    case Immediate::TableTable:
      return it.a == 0 && it.b == 0 ? std::string() : number(it.a) + number(it.b);
    case Immediate::I32:
      return number(static_cast<int32_t>(it.bits[0]));
    case Immediate::I64:
      return number(static_cast<int64_t>(it.bits[0]));
    case Immediate::F32:
      return float_text(std::bit_cast<float>(static_cast<uint32_t>(it.bits[0])), it.bits[0]);
    case Immediate::F64:
      return float_text(std::bit_cast<double>(it.bits[0]), it.bits[0]);
    case Immediate::RefType:
      return it.type == ValueType::FuncRef ? " func" : " extern";
    case Immediate::SelectTypes:
      return " (result " + std::string(to_string(it.type)) + ")";
    case Immediate::V128:
      return " 0x" + hex(it.bits[1], 16) + hex(it.bits[0], 16);
    case Immediate::Lane:
      return number(static_cast<int64_t>(it.bits[1]));
    case Immediate::Shuffle:
      return shuffle_text(it);
  }
  return {};
}

}  // namespace

std::string text_of(const Module& module, const Instruction& instruction) {
  return to_string(instruction.opcode) + immediates(module, instruction);
}

}  // namespace wago::runtime
