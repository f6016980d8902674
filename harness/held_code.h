// Code of the runtime, held so that it can be described after it is unmapped.
#pragma once

#include <cstddef>
#include <memory>

#include "runtime/code_map.h"

namespace wago::harness {

struct HeldCode {
  std::shared_ptr<const runtime::CodeImage> image;
  std::shared_ptr<const runtime::Module> module;  // null for adapters
  std::shared_ptr<const FuncType> signature;      // null for modules
  std::shared_ptr<const runtime::SourceLines> debug_info;
};

HeldCode hold(const runtime::MappedCode& code);

// Whether both are the same bytes of code for the same module or signature.
bool is_same_code(const HeldCode& a, const HeldCode& b);
// The same for what is the same code.
size_t hash_of(const HeldCode& code);

}  // namespace wago::harness
