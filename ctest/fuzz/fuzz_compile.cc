// Fuzzes the whole compiler: whatever module the decoder accepts must compile, or be refused for a limit,
// with every check of the compiler's own on. The input is taken twice: as a module, and as the decisions of a
// generator of valid modules. What the compiler gives must not depend on the number of threads.

#include <cstdint>
#include <vector>

#include "base/check.h"
#include "codegen/compile.h"
#include "ctest/fuzz/generate_module.h"
#include "runtime/module.h"

namespace {

using namespace wago;

constexpr size_t kMaxChoices = 3000;        // more only repeats what fewer do
constexpr uint32_t kMaxBodyBytes = 20'000;  // of all functions of a module

// A few bits of every input, so that a module is compiled in one of the configurations, and its neighbours in
// others.
uint32_t hash_of(std::span<const uint8_t> bytes) {
  uint32_t hash = 0x811c9dc5;
  for (uint8_t byte : bytes) hash = (hash ^ byte) * 0x01000193;
  return hash ^ hash >> 15;
}

std::string code_bytes(const runtime::CodeImage& image) {
  return {image.bytes.begin(), image.bytes.end()};
}

void compile(const runtime::Module& module, uint32_t choice) {
  static const std::unique_ptr<runtime::Compiler> compiler = codegen::make_compiler();
  runtime::CompileSettings settings;
  settings.level = choice & 1;
  settings.bounds = choice & 2 ? base::Bounds::Explicit : base::Bounds::Signals;
  settings.spill_everything = choice & 4;
  settings.source_maps = choice & 8;
  settings.interruptible = choice & 0x80;
  settings.check_allocation = settings.verify_ir = true;
  auto alone = compiler->compile(module, settings);
  if (choice & 0x70) return;  // one in eight is compiled again
  settings.workers = 2;
  settings.source_maps = !settings.source_maps;
  settings.check_allocation = settings.verify_ir = false;
  auto again = compiler->compile(module, settings);
  WAGO_CHECK(alone.ok() == again.ok());
  if (alone.ok()) {
    WAGO_CHECK(code_bytes(**alone) == code_bytes(**again));
  } else {
    WAGO_CHECK(alone.error().to_string() == again.error().to_string());
  }
}

void compile_if_valid(std::vector<uint8_t> bytes, bool must_be_valid) {
  const uint32_t choice = hash_of(bytes);
  auto module = runtime::decode_module(std::move(bytes));
  if (!module) {
    WAGO_CHECK_MSG(!must_be_valid, module.error().to_string().c_str());
    return;
  }
  uint64_t body_bytes = 0;
  for (const runtime::FunctionBody& body : (*module)->bodies) body_bytes += body.size;
  if (body_bytes <= kMaxBodyBytes) compile(**module, choice);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const uint8_t> input(data, size);
  compile_if_valid({input.begin(), input.end()}, false);
  compile_if_valid(fuzz::generate_module(input.first(std::min(size, kMaxChoices))), true);
  return 0;
}
