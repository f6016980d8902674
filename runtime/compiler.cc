#include "runtime/compiler.h"

#include "runtime/source_lines.h"

namespace wago::runtime {

std::shared_ptr<const SourceLines> Compiler::source_lines(std::shared_ptr<const Module>) const {
  return nullptr;
}

}  // namespace wago::runtime
