// Bytes -> text, through LLVM's MCDisassembler: for dumps, tests and readers.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace wago::codegen {

struct Disassembled {
  uint32_t offset = 0;  // from the start of the bytes
  uint32_t size = 0;    // bytes; 1 where the bytes are no instruction
  std::string text;     // Intel syntax, "(bad)" where the bytes are no instruction
};

// Stateless for callers; one object per thread.
class Disassembler {
 public:
  Disassembler();
  ~Disassembler();
  // Linear sweep. `address` is that of bytes[0], for branch targets.
  std::vector<Disassembled> disassemble(std::span<const uint8_t> bytes, uint64_t address = 0);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace wago::codegen
