// Functions -> image: layout in index order, calls between functions resolved.
#pragma once

#include <vector>

#include "codegen/emit/emit.h"
#include "runtime/code_image.h"

namespace wago::codegen {

constexpr uint32_t kFunctionAlignment = 64;

// Appends a function's code at the next multiple of kFunctionAlignment, with regions, trap sites, positions
// and fields, and returns its offset. Calls stay unresolved.
uint32_t append_code(runtime::CodeImage& image, const FunctionCode& code, runtime::RegionKind kind,
                     uint32_t function);

// Makes the image of a module's functions, which are appended in index order as they are compiled: what would
// wait for others is what compiling a large module needs most memory for.
class ImageLinker {
 public:
  // `count` functions are to come, of which the first is `first_function`, from `wasm_bytes` bytes of bodies.
  ImageLinker(uint32_t first_function, uint32_t count, uint64_t wasm_bytes);
  // The next function, whose body begins at `wasm_begin` in the module. Precondition: the image stays below
  // runtime::kMaxCodeBytes.
  // Returns where it is in the image.
  uint32_t append(const FunctionCode& code, uint32_t wasm_begin);
  // All functions have been appended. Checked: every direct call's target is among them.
  runtime::CodeImage finish() &&;

 private:
  uint32_t first_function_;
  runtime::CodeImage image_;
  std::vector<CallFixup> calls_;  // with offsets in the image
};

}  // namespace wago::codegen
