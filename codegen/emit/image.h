// Functions -> image: layout in index order, calls between functions resolved.
#pragma once

#include <span>

#include "codegen/emit/emit.h"
#include "runtime/code_image.h"

namespace wago::codegen {

constexpr uint32_t kFunctionAlignment = 64;

// Appends a function's code at the next multiple of kFunctionAlignment, with regions, trap sites, positions
// and fields, and returns its offset. Calls stay unresolved.
uint32_t append_code(runtime::CodeImage& image, const FunctionCode& code, runtime::RegionKind kind,
                     uint32_t function);

// An image of all functions of a module. codes[i] is function first_function + i, and wasm_begin[i] its
// body's offset. Checked: every direct call's target is among them. What is in the image is freed in `codes`
// as it goes: the two together are what compiling a large module needs most memory for.
void link_image(runtime::CodeImage& image, std::span<FunctionCode> codes, uint32_t first_function,
                std::span<const uint32_t> wasm_begin);

}  // namespace wago::codegen
