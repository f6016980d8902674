// Build-time generator: writes codegen/x64_tables.h and .cc for the opcodes in mach/x64_opcodes.def, from
// LLVM's MC tables. LLVM does not install its X86 opcode and register enumerations, so they are looked up by
// name here, once; a name that LLVM does not have fails the build.
//
// Usage: generate_tables HEADER SOURCE

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "llvm/MC/MCInstrDesc.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/TargetRegistry.h"

extern "C" void LLVMInitializeX86TargetInfo();
extern "C" void LLVMInitializeX86TargetMC();

namespace {

constexpr const char* kPseudos[] = {
#define WAGO_X64_PSEUDO(name) #name,
#include "codegen/mach/x64_pseudo.def"
};
constexpr const char* kOpcodes[] = {
#define WAGO_X64_OPCODE(name) #name,
#include "codegen/mach/x64_opcodes.def"
};

// By hardware number, then by width 1, 2, 4, 8.
constexpr const char* kGprNames[16][4] = {
    {"AL", "AX", "EAX", "RAX"},      {"CL", "CX", "ECX", "RCX"},      {"DL", "DX", "EDX", "RDX"},
    {"BL", "BX", "EBX", "RBX"},      {"SPL", "SP", "ESP", "RSP"},     {"BPL", "BP", "EBP", "RBP"},
    {"SIL", "SI", "ESI", "RSI"},     {"DIL", "DI", "EDI", "RDI"},     {"R8B", "R8W", "R8D", "R8"},
    {"R9B", "R9W", "R9D", "R9"},     {"R10B", "R10W", "R10D", "R10"}, {"R11B", "R11W", "R11D", "R11"},
    {"R12B", "R12W", "R12D", "R12"}, {"R13B", "R13W", "R13D", "R13"}, {"R14B", "R14W", "R14D", "R14"},
    {"R15B", "R15W", "R15D", "R15"}};

[[noreturn]] void fail(const std::string& message) {
  std::fprintf(stderr, "generate_tables: %s\n", message.c_str());
  std::exit(1);
}

class Tables {
 public:
  Tables() {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86TargetMC();
    std::string error;
    const llvm::Target* target = llvm::TargetRegistry::lookupTarget("x86_64-unknown-linux-gnu", error);
    if (!target) fail(error);
    instructions_.reset(target->createMCInstrInfo());
    registers_.reset(target->createMCRegInfo("x86_64-unknown-linux-gnu"));
    for (unsigned i = 0; i < instructions_->getNumOpcodes(); ++i)
      opcodes_[instructions_->getName(i).str()] = i;
    for (unsigned i = 1; i < registers_->getNumRegs(); ++i) register_numbers_[registers_->getName(i)] = i;
  }

  unsigned opcode(const char* name) const {
    auto it = opcodes_.find(name);
    if (it == opcodes_.end())
      fail(std::string("LLVM has no X86 opcode called ") + name + "; see mach/x64_opcodes.def");
    return it->second;
  }
  unsigned reg(const std::string& name) const {
    auto it = register_numbers_.find(name);
    if (it == register_numbers_.end()) fail("LLVM has no X86 register called " + name);
    return it->second;
  }

  std::string row(const char* name) const {
    unsigned number = opcode(name);
    const llvm::MCInstrDesc& desc = instructions_->get(number);
    if (desc.getNumOperands() > 10)
      fail(std::string(name) + " has more operands than x64_desc.h provides for");
    int tied = -1, memory = -1;
    // The address that LEA computes is no memory operand to LLVM, but has its five parts.
    if (std::string(name).starts_with("LEA") && desc.getNumOperands() == 6) memory = 1;
    std::string widths;
    for (unsigned i = 0; i < desc.getNumOperands(); ++i) {
      const llvm::MCOperandInfo& operand = desc.operands()[i];
      if (desc.getOperandConstraint(i, llvm::MCOI::TIED_TO) == 0) tied = static_cast<int>(i);
      if (memory < 0 && operand.OperandType == llvm::MCOI::OPERAND_MEMORY) memory = static_cast<int>(i);
      widths += (i ? ", " : "") + std::to_string(width(operand));
    }
    if (widths.empty()) widths = "0";
    bool reads_flags = false, writes_flags = false;
    unsigned uses = 0, defs = 0;
    for (llvm::MCPhysReg r : desc.implicit_uses()) note(r, uses, reads_flags);
    for (llvm::MCPhysReg r : desc.implicit_defs()) note(r, defs, writes_flags);
    char buffer[512];
    std::snprintf(buffer, sizeof buffer,
                  "    {\"%s\", %u, %u, %u, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, 0x%xu, 0x%xu, {%s}},\n",
                  name, number, desc.getNumOperands(), desc.getNumDefs(), tied, memory, desc.mayLoad(),
                  desc.mayStore(), reads_flags, writes_flags, desc.isBranch(), desc.isCall(), desc.isReturn(),
                  desc.isTerminator(), uses, defs, widths.c_str());
    return buffer;
  }

 private:
  unsigned width(const llvm::MCOperandInfo& operand) const {
    if (operand.isLookupPtrRegClass()) return 8;
    if (operand.RegClass < 0) return 0;
    const llvm::MCRegisterClass& cls = registers_->getRegClass(operand.RegClass);
    if (cls.contains(reg("XMM0"))) return 16;
    for (unsigned w = 0; w < 4; ++w) {
      if (cls.contains(reg(kGprNames[0][w]))) return 1u << w;
      // Classes that leave rax out: index registers and the like.
      if (cls.contains(reg(kGprNames[1][w]))) return 1u << w;
    }
    return 0;
  }

  void note(llvm::MCPhysReg r, unsigned& mask, bool& flags) const {
    if (r == reg("EFLAGS")) flags = true;
    for (unsigned n = 0; n < 16; ++n) {
      if (n != 4 && registers_->isSubRegisterEq(reg(kGprNames[n][3]), r)) mask |= 1u << n;
      if (r == reg("XMM" + std::to_string(n))) mask |= 1u << (16 + n);
    }
  }

  std::unique_ptr<llvm::MCInstrInfo> instructions_;
  std::unique_ptr<llvm::MCRegisterInfo> registers_;
  std::map<std::string, unsigned> opcodes_;
  std::map<std::string, unsigned> register_numbers_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) fail("usage: generate_tables HEADER SOURCE");
  Tables tables;

  std::ofstream header(argv[1]);
  header << "// Generated by codegen/llvm/generate_tables.cc; do not edit.\n#pragma once\n\n"
            "#include <cstdint>\n\n#include \"codegen/mach/x64_desc.h\"\n\nnamespace wago::codegen::x64 {\n\n"
            "enum class Op : uint16_t {\n";
  for (const char* name : kPseudos) header << "  " << name << ",\n";
  for (const char* name : kOpcodes) header << "  " << name << ",\n";
  header << "  kCount,\n};\n\nextern const OpDesc kDescs[];\n"
            "inline const OpDesc& desc(Op op) { return kDescs[static_cast<uint16_t>(op)]; }\n\n"
            "// LLVM's register numbers: general purpose by log2 of the width in bytes and hardware number; "
            "xmm; others.\n"
            "extern const uint16_t kMcGpr[4][16];\nextern const uint16_t kMcXmm[16];\n";
  header << "constexpr uint16_t kMcRip = " << tables.reg("RIP") << ", kMcFs = " << tables.reg("FS") << ";\n\n"
         << "}  // namespace wago::codegen::x64\n";

  std::ofstream source(argv[2]);
  source << "// Generated by codegen/llvm/generate_tables.cc; do not edit.\n#include "
            "\"codegen/x64_tables.h\"\n\n"
            "namespace wago::codegen::x64 {\n\nconst OpDesc kDescs[] = {\n";
  for (const char* name : kPseudos) {
    source << "    {\"" << name << "\", 0, 0, 0, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0u, 0u, {0}},\n";
  }
  for (const char* name : kOpcodes) source << tables.row(name);
  source << "};\n\nconst uint16_t kMcGpr[4][16] = {\n";
  for (unsigned w = 0; w < 4; ++w) {
    source << "    {";
    for (unsigned n = 0; n < 16; ++n) source << tables.reg(kGprNames[n][w]) << (n < 15 ? ", " : "},\n");
  }
  source << "};\n\nconst uint16_t kMcXmm[16] = {";
  for (unsigned n = 0; n < 16; ++n)
    source << tables.reg("XMM" + std::to_string(n)) << (n < 15 ? ", " : "};\n");
  source << "\n}  // namespace wago::codegen::x64\n";
  header.close();
  source.close();
  if (!header || !source) fail("cannot write the tables");
  return 0;
}
