// The compiler behind runtime::Compiler: all stages over all functions, on as many threads as the settings
// say.
#pragma once

#include <memory>
#include <string>

#include "runtime/compiler.h"

namespace wago::codegen {

std::unique_ptr<runtime::Compiler> make_compiler();

// Every stage's text of one function, for dumps and tests: the IR as built, after the passes, machine code
// before and after allocation, and the bytes disassembled.
struct StageDump {
  std::string built, optimized, selected, allocated, assembly;
};
base::Result<StageDump> dump_stages(const runtime::Module& module, uint32_t function,
                                    const runtime::CompileSettings& settings);

}  // namespace wago::codegen
