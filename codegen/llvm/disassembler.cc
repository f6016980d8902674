#include "codegen/llvm/disassembler.h"

#include "codegen/llvm/target.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/Support/raw_ostream.h"

namespace wago::codegen {

struct Disassembler::State {
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> decoder;
  std::unique_ptr<llvm::MCInstPrinter> printer;
};

Disassembler::Disassembler() : state_(std::make_unique<State>()) {
  const LlvmTarget& t = llvm_target();
  state_->context =
      std::make_unique<llvm::MCContext>(t.triple, t.assembly.get(), t.registers.get(), t.subtarget.get());
  state_->decoder.reset(t.target->createMCDisassembler(*t.subtarget, *state_->context));
  constexpr unsigned kIntelSyntax = 1;
  state_->printer.reset(
      t.target->createMCInstPrinter(t.triple, kIntelSyntax, *t.assembly, *t.instructions, *t.registers));
  state_->printer->setPrintBranchImmAsAddress(true);
  state_->printer->setPrintImmHex(true);
}

Disassembler::~Disassembler() = default;

std::vector<Disassembled> Disassembler::disassemble(std::span<const uint8_t> bytes, uint64_t address) {
  std::vector<Disassembled> lines;
  llvm::ArrayRef<uint8_t> all(bytes.data(), bytes.size());
  for (uint64_t at = 0; at < bytes.size();) {
    llvm::MCInst inst;
    uint64_t size = 0;
    Disassembled line;
    line.offset = static_cast<uint32_t>(at);
    if (state_->decoder->getInstruction(inst, size, all.slice(at), address + at, llvm::nulls()) ==
        llvm::MCDisassembler::Success) {
      llvm::raw_string_ostream stream(line.text);
      // x86 branch displacements count from the end of the instruction.
      state_->printer->printInst(&inst, address + at + size, "", *llvm_target().subtarget, stream);
      stream.flush();
      // "\tmov\teax, ebx" -> "mov eax, ebx"
      if (!line.text.empty() && line.text[0] == '\t') line.text.erase(0, 1);
      for (char& c : line.text) {
        if (c == '\t') c = ' ';
      }
    } else {
      size = 1;
      line.text = "(bad)";
    }
    line.size = static_cast<uint32_t>(size);
    lines.push_back(std::move(line));
    at += size;
  }
  return lines;
}

}  // namespace wago::codegen
