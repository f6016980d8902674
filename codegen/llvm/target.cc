#include "codegen/llvm/target.h"

#include "base/check.h"
#include "llvm/MC/MCTargetOptions.h"

extern "C" void LLVMInitializeX86TargetInfo();
extern "C" void LLVMInitializeX86TargetMC();
extern "C" void LLVMInitializeX86Disassembler();

namespace wago::codegen {

const LlvmTarget& llvm_target() {
  static const LlvmTarget* const shared = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86Disassembler();
    auto* t = new LlvmTarget;  // lives as long as the process: threads may use it during exit
    const char* triple = "x86_64-unknown-linux-gnu";
    t->triple = llvm::Triple(triple);
    std::string error;
    t->target = llvm::TargetRegistry::lookupTarget(triple, error);
    WAGO_CHECK_MSG(t->target, error.c_str());
    t->registers.reset(t->target->createMCRegInfo(triple));
    t->instructions.reset(t->target->createMCInstrInfo());
    t->subtarget.reset(t->target->createMCSubtargetInfo(triple, "x86-64-v3", ""));
    t->assembly.reset(t->target->createMCAsmInfo(*t->registers, triple, llvm::MCTargetOptions()));
    return t;
  }();
  return *shared;
}

}  // namespace wago::codegen
