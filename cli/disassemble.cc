#include "cli/disassemble.h"

#include <memory>

#include "codegen/llvm/disassembler.h"

namespace wago::cli {

diff::Disassemble disassembler() {
  auto own = std::make_shared<codegen::Disassembler>();
  return [own](std::span<const uint8_t> bytes, uint64_t address) {
    std::vector<diff::MachineInstruction> instructions;
    for (codegen::Disassembled& line : own->disassemble(bytes, address)) {
      instructions.push_back({line.offset, line.size, std::move(line.text)});
    }
    return instructions;
  };
}

}  // namespace wago::cli
