#include "codegen/build/build.h"

#include <gtest/gtest.h>

#include "codegen/ir/print.h"
#include "codegen/ir/verify.h"
#include "codegen/testing/assemble.h"
#include "codegen/testing/file_test.h"

namespace wago::codegen {
namespace {

// The IR of the last function of a case.
std::string build_case(const std::string& input) {
  auto bytes = testing::assemble(input);
  if (!bytes) return bytes.error().to_string();
  auto module = runtime::decode_module(std::move(*bytes));
  if (!module) return module.error().to_string();
  runtime::CompileSettings settings;
  if (input.find("; explicit bounds") != std::string::npos) settings.bounds = base::Bounds::Explicit;
  settings.interruptible = input.find("; interruptible") != std::string::npos;
  IrBuilder builder;
  IrFunction function;
  const uint32_t last = static_cast<uint32_t>((*module)->bodies.size()) - 1;
  if (auto built = builder.build(**module, last, settings, function); !built)
    return built.error().to_string();
  const std::string wrong = verify(function);
  return print(function) + (wrong.empty() ? "" : "wrong: " + wrong + "\n");
}

TEST(Build, Cases) {
  testing::run_file_tests("codegen/build/cases", build_case);
}

// 300 locals, 200 exits, all different at each: 60,000 arguments are no problem; ten times as many are
// refused.
std::string exits(uint32_t locals, uint32_t count) {
  std::string text = "func (i32) -> (i32) (locals";
  for (uint32_t i = 0; i < locals; ++i) text += " i32";
  text += ")\nblock\n";
  for (uint32_t i = 0; i < count; ++i) text += "local.get 0\nbr_if 0\n";
  for (uint32_t i = 1; i <= locals; ++i) text += "i32.const 1\nlocal.set " + std::to_string(i) + "\n";
  text += "end\nlocal.get 0\n";
  for (uint32_t i = 1; i <= locals; ++i) text += "local.get " + std::to_string(i) + "\ni32.add\n";
  return text + "end\n";
}

TEST(Build, RefusesMoreMergesThanFit) {
  EXPECT_EQ(build_case(exits(300, 200)).substr(0, 10), "function 0");
  const std::string refused = build_case(exits(1000, 610));
  EXPECT_NE(refused.find("function 0 is too large to compile"), std::string::npos) << refused.substr(0, 300);
  EXPECT_NE(
      refused.find("arguments where control flow merges; raise EngineLimits::function_merge_arguments, or "
                   "split it"),
      std::string::npos)
      << refused.substr(0, 300);
}

// A thousand parameters handed on through ifs in ifs: every second arm keeps them all.
TEST(Build, RefusesMoreWaitingParametersThanFit) {
  std::string types;
  for (int i = 0; i < 1000; ++i) types += " i32";
  std::string text = "type (" + types + ") -> (" + types + ")\nfunc (" + types + ") -> (" + types + ")\n";
  for (int i = 0; i < 1000; ++i) text += "local.get " + std::to_string(i) + "\n";
  constexpr int kNested = 17000;
  for (int i = 0; i < kNested; ++i) text += "local.get 0\nif (type 0)\n";
  for (int i = 0; i < kNested; ++i) text += "else\nend\n";
  const std::string refused = build_case(text + "end\n");
  EXPECT_NE(refused.find("is too large to compile: it needs more than"), std::string::npos)
      << refused.substr(0, 300);
}

}  // namespace
}  // namespace wago::codegen
