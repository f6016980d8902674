#include "codegen/llvm/version.h"

#include "llvm/Config/llvm-config.h"

namespace wago::codegen {

const char* llvm_version() {
  return LLVM_VERSION_STRING;
}

}  // namespace wago::codegen
