// The modules of shapes.h, at sizes where every check of the compiler's own can run, do what they say in
// every configuration.
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>

#include "ctest/scale/shapes.h"
#include "wago/wago.h"

namespace wago::scale {

// In names of tests, instead of the bytes.
void PrintTo(const Shape& shape, std::ostream* out) {
  *out << shape.test_n << " " << shape.what_n;
}

namespace {

class Shapes : public ::testing::TestWithParam<Shape> {};

TEST_P(Shapes, ComputeTheirResult) {
  const Shape& shape = GetParam();
  const std::vector<uint8_t> bytes = shape.build(shape.test_n);
  for (const EngineSettings& settings :
       {EngineSettings{.bounds = Bounds::Signals, .level = 1},
        EngineSettings{.bounds = Bounds::Explicit, .level = 1},
        EngineSettings{.bounds = Bounds::Explicit, .level = 0, .spill_everything = true}}) {
    EngineSettings checked = settings;
    checked.check_allocation = checked.verify_ir = true;
    const Engine engine = Engine::open(checked).value();
    const Result<Module> module = engine.compile(bytes);
    ASSERT_TRUE(module.ok()) << module.error().to_string();
    const InstantiateResult instance = Linker(engine).instantiate(*module);
    ASSERT_TRUE(instance.ok());
    for (Slot argument : {Slot{3}, Slot{1}, Slot{1000}}) {
      Slot result = 0;
      const auto called = instance.value().call("run", {&argument, 1}, {&result, 1});
      ASSERT_TRUE(called.ok() && called->ok());
      EXPECT_EQ(result, shape.result(shape.test_n, static_cast<uint32_t>(argument)))
          << "argument " << argument << ", level " << settings.level;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Scale, Shapes, ::testing::ValuesIn(shapes().begin(), shapes().end()),
                         [](const auto& test) {
                           std::string name = test.param.name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// A table may have 65,520 targets, and no more; the refusal says so.
TEST(Limits, ATableWithTooManyTargetsIsRefused) {
  for (const Shape& shape : shapes()) {
    if (std::string_view(shape.name) != "table-targets") continue;
    const auto refused = Engine::open().value().compile(shape.build(100'000));
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(refused.error().message.find("65520"), std::string::npos) << refused.error().message;
  }
}

}  // namespace
}  // namespace wago::scale
