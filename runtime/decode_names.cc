// The name section (appendix, custom sections): module and function names, and where those of locals are
// (local_names.h). It is a courtesy: what is damaged is left out, what was read before stays.

#include "runtime/decode_limits.h"
#include "runtime/decoder.h"

namespace wago::runtime {

namespace {

enum NameSubsection : uint8_t { kModuleName = 0, kFunctionNames = 1, kLocalNames = 2 };

void read_function_names(Module& module, CheckedCursor& in) {
  const uint32_t count = in.u32();
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t function = in.u32();
    const std::string_view name = in.name("a function's name");
    if (in.failed()) return;
    if (function >= module.function_count() || name.empty()) continue;
    if (module.function_names.empty()) module.function_names.resize(module.function_count());
    if (module.function_names[function].empty()) module.function_names[function] = name;
  }
}

}  // namespace

void read_names(Module& module, uint32_t begin, uint32_t end) {
  DecodeErrors ignored;
  CheckedCursor in(module.bytes, begin, end, &ignored);
  while (!in.at_end()) {
    const uint8_t id = in.byte();
    const uint32_t size = in.u32();
    const uint32_t start = in.offset();
    if (in.bytes(size) == nullptr) return;
    CheckedCursor contents(module.bytes, start, start + size, &ignored);
    if (id == kModuleName && module.name.empty()) module.name = contents.name("the module's name");
    if (id == kFunctionNames) read_function_names(module, contents);
    if (id == kLocalNames && module.local_names_end == 0) {
      module.local_names_begin = start;
      module.local_names_end = start + size;
    }
  }
}

}  // namespace wago::runtime
