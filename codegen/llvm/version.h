// Which LLVM this build encodes with, for people.
#pragma once

namespace wago::codegen {

const char* llvm_version();  // "19.1.7"

}  // namespace wago::codegen
