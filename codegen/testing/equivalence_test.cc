// What is built does what the wasm says, and goes on doing so after the passes: random functions on random
// arguments, run from their bytes and as IR, must end the same way with the same memory, globals, and order
// of effects.
#include <gtest/gtest.h>

#include <cstdlib>

#include "codegen/build/build.h"
#include "codegen/ir/print.h"
#include "codegen/ir/verify.h"
#include "codegen/passes/passes.h"
#include "codegen/testing/assemble.h"
#include "codegen/testing/machine.h"
#include "codegen/testing/random_wasm.h"

namespace wago::codegen {
namespace {

using testing::Machine;
using testing::Outcome;

// A Machine with some content.
Machine machine(const runtime::Module& module, uint64_t fuel) {
  Machine m(65536);
  m.module = &module;
  for (uint32_t i = 0; i < 64; ++i) m.memory[i] = static_cast<uint8_t>(i * 37);
  m.globals = {3, 4, 0x40000000, 0x4000000000000000, 42, 0, 0, 0};
  m.fuel = fuel;
  return m;
}

class Equivalence : public ::testing::Test {
 protected:
  // True if the seed's function was compared.
  void compare(uint64_t seed) {
    const std::string text = testing::random_wasm(seed);
    auto bytes = testing::assemble(text);
    ASSERT_TRUE(bytes.ok()) << bytes.error().message << "\n" << text;
    auto module = runtime::decode_module(std::move(*bytes));
    ASSERT_TRUE(module.ok()) << "seed " << seed << ": " << module.error().message << "\n" << text;
    for (const base::Bounds bounds : {base::Bounds::Signals, base::Bounds::Explicit}) {
      for (int level = -1; level <= 1; ++level) {
        runtime::CompileSettings settings;
        settings.bounds = bounds;
        settings.level = level;
        settings.interruptible = seed % 4 == 0;
        ASSERT_TRUE(builder_.build(**module, 0, settings, function_).ok());
        const std::string before = print(function_);
        if (level >= 0) passes_.run(**module, settings, function_);
        const std::string wrong = verify(function_, {level >= 0});
        ASSERT_EQ(wrong, "") << "seed " << seed << " level " << level << "\n" << print(function_);
        for (const auto& args : testing::kRandomArguments) {
          Machine wasm = machine(**module, 20'000);
          const Outcome expected = testing::interpret_wasm(**module, 0, args, wasm);
          if (expected.kind == Outcome::Kind::OutOfFuel) continue;
          Machine ir = machine(**module, 1'000'000);
          const Outcome got = testing::interpret_ir(function_, args, ir);
          ++compared_;
          ASSERT_TRUE(got == expected && ir.same_state(wasm))
              << "seed " << seed << " level " << level << " args " << args[0] << " " << args[1] << ": "
              << to_string(got) << ", expected " << to_string(expected) << "\n"
              << text << "\n"
              << before << "\n"
              << print(function_);
        }
      }
    }
  }

  uint64_t compared_ = 0;
  IrBuilder builder_;
  PassPipeline passes_;
  IrFunction function_;
};

TEST_F(Equivalence, RandomFunctions) {
  const char* count = std::getenv("WAGO_RANDOM_FUNCTIONS");
  const uint64_t seeds = count != nullptr ? std::strtoull(count, nullptr, 10) : 500;
  const char* first = std::getenv("WAGO_RANDOM_SEED");
  const uint64_t begin = first != nullptr ? std::strtoull(first, nullptr, 10) : 1;
  for (uint64_t seed = begin; seed < begin + seeds && !HasFatalFailure(); ++seed) compare(seed);
  EXPECT_GT(compared_, seeds * 10);
}

}  // namespace
}  // namespace wago::codegen
