#include "codegen/build/build.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "codegen/ir/print.h"
#include "codegen/ir/verify.h"
#include "codegen/passes/passes.h"

namespace wago::codegen {
namespace {

// Every function of every valid module of the specification's suite builds, and what is built holds the
// invariants of the IR, before and after the level 0 passes. Needs the suite: WAGO_SPEC_DIR.
TEST(BuildSpec, EveryFunctionVerifies) {
  const char* spec = std::getenv("WAGO_SPEC_DIR");
  if (spec == nullptr) GTEST_SKIP() << "WAGO_SPEC_DIR names no folder with the specification's suite";
  IrBuilder builder;
  PassPipeline passes;
  IrFunction function;
  uint32_t modules = 0, functions = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(std::string(spec) + "/core-2.0")) {
    if (entry.path().extension() != ".wasm") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
    auto module = runtime::decode_module(std::move(bytes));
    if (!module) continue;  // the decoder's tests see to it that this is right
    ++modules;
    for (const base::Bounds bounds : {base::Bounds::Signals, base::Bounds::Explicit}) {
      runtime::CompileSettings settings;
      settings.bounds = bounds;
      settings.level = 0;
      for (uint32_t i = 0; i < (*module)->bodies.size(); ++i) {
        ASSERT_TRUE(builder.build(**module, i, settings, function).ok()) << entry.path();
        ASSERT_EQ(verify(function), "") << entry.path() << "\n" << print(function);
        passes.run(**module, settings, function);
        ASSERT_EQ(verify(function, {true}), "") << entry.path() << "\n" << print(function);
        ++functions;
      }
    }
  }
  EXPECT_GT(modules, 500u);
  RecordProperty("functions", static_cast<int>(functions));
}

}  // namespace
}  // namespace wago::codegen
