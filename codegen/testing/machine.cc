#include "codegen/testing/machine.h"

#include <cstring>

namespace wago::codegen::testing {

std::string to_string(const Outcome& outcome) {
  switch (outcome.kind) {
    case Outcome::Kind::Trapped:
      return "trap " + std::string(base::spelling(outcome.trap));
    case Outcome::Kind::OutOfFuel:
      return "out of fuel";
    case Outcome::Kind::Returned:
      break;
  }
  std::string text = "returned";
  for (const uint64_t value : outcome.values) text += " " + std::to_string(value);
  return text;
}

uint64_t Machine::outside(uint64_t what, std::span<const uint64_t> args) {
  note(what);
  for (const uint64_t arg : args) note(arg);
  uint64_t address = history % memory.size();
  memory[address] = static_cast<uint8_t>(history >> 32);
  globals[0] = static_cast<uint32_t>(history >> 20);
  globals[1] ^= history;
  return history;
}

uint64_t Machine::load(uint64_t address, Access access, Type type) const {
  uint64_t bits = 0;
  std::memcpy(&bits, &memory[address], access_bytes(access, type));
  switch (access) {
    case Access::S8:
      bits = static_cast<uint64_t>(int64_t{static_cast<int8_t>(bits)});
      break;
    case Access::S16:
      bits = static_cast<uint64_t>(int64_t{static_cast<int16_t>(bits)});
      break;
    case Access::S32:
      bits = static_cast<uint64_t>(int64_t{static_cast<int32_t>(bits)});
      break;
    default:
      break;
  }
  return bytes_of(type) == 4 ? static_cast<uint32_t>(bits) : bits;
}

void Machine::store(uint64_t address, Access access, Type type, uint64_t value) {
  std::memcpy(&memory[address], &value, access_bytes(access, type));
}

Outcome call(Op op, uint64_t imm, std::span<const Type> results, std::span<const uint64_t> args,
             Machine& machine) {
  const runtime::Module* module = machine.module;
  if (op == Op::Call && module != nullptr && imm >= module->imported_functions) {
    return interpret_wasm(*module, static_cast<uint32_t>(imm) - module->imported_functions, args, machine);
  }
  uint64_t bits = machine.outside(static_cast<uint64_t>(op) << 56 | imm, args);
  Outcome outcome;
  for (const Type type : results) {
    outcome.values.push_back(bytes_of(type) == 4 ? static_cast<uint32_t>(bits) : bits);
    bits = bits * 31 + 7;
  }
  return outcome;
}

std::string to_string(const WasmCounts& counts) {
  std::string text;
  for (const auto& [place, times] : counts) {
    text +=
        std::to_string(place.first) + ":" + std::to_string(place.second) + " " + std::to_string(times) + "\n";
  }
  return text;
}

}  // namespace wago::codegen::testing
