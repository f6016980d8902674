// The two adapters of a signature between C++ and guest code; what they do is stated in runtime/abi.h.
#pragma once

#include <memory>

#include "codegen/emit/emit.h"
#include "runtime/code_image.h"
#include "runtime/types.h"

namespace wago::codegen {

// An image of its own with entry adapter and host adapter. Linear in the signature.
std::shared_ptr<const runtime::CodeImage> emit_adapters(Emitter& emitter, const FuncType& type);

}  // namespace wago::codegen
