// LLVM's X86 target, opened once a process: what encoder and disassembler share. Private to codegen/llvm.
#pragma once

#include <memory>

#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"

namespace wago::codegen {

// Immutable once made, and shared by threads.
struct LlvmTarget {
  const llvm::Target* target = nullptr;
  llvm::Triple triple;
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
  std::unique_ptr<llvm::MCAsmInfo> assembly;
};
const LlvmTarget& llvm_target();

}  // namespace wago::codegen
