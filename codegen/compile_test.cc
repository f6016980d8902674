// A module as a whole: what its image is does not depend on who compiled which function when.
#include "codegen/compile.h"

#include <gtest/gtest.h>

#include "runtime/testing/module_builder.h"

namespace wago::codegen {
namespace {

using runtime::Opcode;
using runtime::testing::Code;
using runtime::testing::ModuleBuilder;
using enum ValueType;

// Functions that call each other in both directions, trap, inline one of their number and need the stack
// limit. Some are large, whose scratch is given back; the first is by far the largest, so that with several
// workers all others wait for it.
std::shared_ptr<const runtime::Module> mixed_module() {
  constexpr uint32_t kFunctions = 150;
  ModuleBuilder module;
  const uint32_t type = module.type({I32}, {I32});
  const uint32_t imported = module.import_function("host", "f", type);
  module.memory(1);
  for (uint32_t i = 0; i < kFunctions; ++i) {
    Code code;
    const uint32_t blocks = i == 0 ? 3000 : i % 50 == 7 ? 700 : i * 37 % 29;
    code.op(Opcode::LocalGet, 0);
    for (uint32_t block = 0; block < blocks; ++block) {
      code.op(Opcode::I32Load, 2, block * 4).op(Opcode::LocalGet, 0).op(Opcode::I32DivU);
      if (block % 8 == 3) code.op(Opcode::Call, 1 + (i * 31 + block) % kFunctions);
      if (block % 64 == 60) code.op(Opcode::Call, imported);
    }
    module.function(type, {}, code.end());
  }
  auto decoded = runtime::decode_module(module.build());
  EXPECT_TRUE(decoded.ok()) << decoded.error().to_string();
  return *decoded;
}

TEST(Compile, TheImageIsTheSameWhateverTheWorkers) {
  const auto module = mixed_module();
  ASSERT_GE(module->bodies.front().size, 20'000u);
  const auto compiler = make_compiler();
  runtime::CompileSettings settings;
  settings.source_maps = true;
  const auto alone = compiler->compile(*module, settings);
  ASSERT_TRUE(alone.ok());
  EXPECT_FALSE((*alone)->inline_sites.empty());
  EXPECT_FALSE((*alone)->tls_fixups.empty());
  for (unsigned workers : {2u, 3u, 8u}) {
    settings.workers = workers;
    for (int turn = 0; turn < 3; ++turn) {
      const auto together = compiler->compile(*module, settings);
      ASSERT_TRUE(together.ok());
      EXPECT_TRUE(**together == **alone) << workers << " workers";
    }
  }
}

TEST(Compile, ALimitOfCodeIsRefusedInTheSameWordsWhateverTheWorkers) {
  const auto module = mixed_module();
  const auto compiler = make_compiler();
  runtime::CompileSettings settings;
  settings.max_code_bytes = 10'000;
  const auto alone = compiler->compile(*module, settings);
  ASSERT_FALSE(alone.ok());
  EXPECT_NE(alone.error().message.find("more than the limit of 10000 code bytes"), std::string::npos);
  settings.workers = 3;
  const auto together = compiler->compile(*module, settings);
  ASSERT_FALSE(together.ok());
  EXPECT_EQ(together.error().to_string(), alone.error().to_string());
}

}  // namespace
}  // namespace wago::codegen
