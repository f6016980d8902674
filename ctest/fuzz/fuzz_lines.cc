// Fuzzes the reader of debug information: any bytes as the DWARF of a module must give lines or none, in
// time, without a word on stderr. The input is a list of edits to the debug sections of a module that has
// good ones, so that every input gets through the decoder and most of it is as compilers write it. Every
// instruction of every function is asked for.

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/check.h"
#include "codegen/llvm/line_reader.h"
#include "codegen/source_lines.h"
#include "runtime/module.h"

namespace {

using namespace wago;

struct Base {
  std::vector<uint8_t> bytes;
  std::vector<uint32_t> editable;  // offsets of the debug sections' bytes
};

Base read_base(const std::string& name) {
  Base base;
  std::ifstream in(std::string(WAGO_SOURCE_DIR) + "/ctest/engine/debug/" + name, std::ios::binary);
  base.bytes.assign(std::istreambuf_iterator<char>(in), {});
  auto module = runtime::decode_module(base.bytes);
  WAGO_CHECK_MSG(module.ok(), "the module to edit cannot be read");
  for (const runtime::CustomSection& section : (*module)->customs) {
    if (!section.name.starts_with(".debug_")) continue;
    for (uint32_t i = 0; i < section.size; ++i) base.editable.push_back(section.begin + i);
  }
  WAGO_CHECK(!base.editable.empty());
  return base;
}

// Each of four bytes: where (two), how, and with what.
void edit(Base& base, const uint8_t* data, size_t size) {
  for (size_t i = 0; i + 4 <= size; i += 4) {
    const size_t at = (data[i] | size_t{data[i + 1]} << 8) % base.editable.size();
    const uint8_t how = data[i + 2] % 4, with = data[i + 3];
    uint8_t& byte = base.bytes[base.editable[at]];
    if (how == 0) byte = with;
    if (how == 1) byte ^= static_cast<uint8_t>(1u << with % 8);
    if (how == 2) byte = static_cast<uint8_t>(byte + with % 7 - 3);
    if (how == 3) {  // from elsewhere
      for (size_t j = 0; j < with % 8u; ++j) {
        base.bytes[base.editable[(at + j) % base.editable.size()]] =
            base.bytes[base.editable[(at + with * 31u + j) % base.editable.size()]];
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Base bases[] = {read_base("lines4.wasm"), read_base("lines5.wasm")};
  if (size == 0) return 0;
  Base base = bases[data[0] % 2];
  edit(base, data + 1, size - 1);
  auto module = runtime::decode_module(std::move(base.bytes));
  WAGO_CHECK(module.ok());
  const auto lines = codegen::open_source_lines(*module);
  WAGO_CHECK(lines != nullptr);
  for (const runtime::FunctionBody& body : (*module)->bodies) {
    for (uint32_t at = 0; at < body.size; ++at) {
      for (const SourceFrame& frame : lines->at(body.begin + at)) {
        WAGO_CHECK(frame.function.size() <= codegen::kMaxSourceNameBytes);
        WAGO_CHECK(frame.file.size() <= codegen::kMaxSourceNameBytes);
      }
    }
  }
  WAGO_CHECK(lines->at((*module)->code_end).empty());
  return 0;
}
