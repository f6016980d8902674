#include "runtime/local_names.h"

#include <gtest/gtest.h>

#include "runtime/module.h"
#include "runtime/testing/module_builder.h"

namespace wago::runtime {
namespace {

using testing::Bytes;
using testing::Code;
using testing::ModuleBuilder;

// An import of two parameters, and a function of one and two locals; function names stand in front.
std::shared_ptr<const Module> module_with(const std::vector<uint8_t>& local_names) {
  using enum ValueType;
  ModuleBuilder builder;
  builder.import_function("m", "f", builder.type({I32, F64}, {}));
  builder.function(builder.type({I64}, {}), {{1, I32}, {1, F32}}, Code().end());
  const Bytes functions = Bytes{1}.u32(1).name("defined");
  Bytes section = Bytes{0x01}.sized(functions).byte(0x02).u32(static_cast<uint32_t>(local_names.size()));
  for (uint8_t byte : local_names) section.byte(byte);
  builder.custom("name", section);
  auto module = decode_module(builder.build());
  EXPECT_TRUE(module) << module.error().to_string();
  return *module;
}

TEST(LocalNames, ParametersAndLocalsOfImportsAndFunctions) {
  const auto module = module_with(Bytes{2}
                                      .u32(0)
                                      .u32(1)
                                      .u32(1)
                                      .name("y")
                                      .u32(1)
                                      .u32(3)
                                      .u32(0)
                                      .name("n")
                                      .u32(1)
                                      .name("i")
                                      .u32(2)
                                      .name("x")
                                      .get());
  const LocalNames names(*module);
  EXPECT_EQ(names.of(0, 0), "");
  EXPECT_EQ(names.of(0, 1), "y");
  EXPECT_EQ(names.of(1, 0), "n");
  EXPECT_EQ(names.of(1, 1), "i");
  EXPECT_EQ(names.of(1, 2), "x");
  EXPECT_EQ(names.of(1, 3), "");
  EXPECT_EQ(names.of(2, 0), "");
  EXPECT_EQ(module->function_name(1), "defined");
}

TEST(LocalNames, WhatIsNotThereHasNoNameAndTheFirstOfTwoHolds) {
  // Function 9, local 7, an empty name, functions out of order, a local twice.
  const auto module = module_with(Bytes{4}
                                      .u32(9)
                                      .u32(1)
                                      .u32(0)
                                      .name("none")
                                      .u32(1)
                                      .u32(4)
                                      .u32(7)
                                      .name("none")
                                      .u32(2)
                                      .name("first")
                                      .u32(2)
                                      .name("second")
                                      .u32(0)
                                      .name("")
                                      .u32(0)
                                      .u32(1)
                                      .u32(0)
                                      .name("a")
                                      .u32(1)
                                      .u32(1)
                                      .u32(1)
                                      .name("i")
                                      .get());
  const LocalNames names(*module);
  EXPECT_EQ(names.of(9, 0), "");
  EXPECT_EQ(names.of(1, 7), "");
  EXPECT_EQ(names.of(1, 2), "first");
  EXPECT_EQ(names.of(1, 0), "");
  EXPECT_EQ(names.of(0, 0), "a");
  EXPECT_EQ(names.of(1, 1), "i");
}

TEST(LocalNames, DamageCostsTheNamesBehindItOnly) {
  const std::vector<uint8_t> whole =
      Bytes{2}.u32(0).u32(1).u32(0).name("a").u32(1).u32(2).u32(0).name("b").u32(1).name("c").get();
  for (size_t size = 0; size <= whole.size(); ++size) {
    const auto module = module_with({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)});
    const LocalNames names(*module);
    EXPECT_EQ(names.of(0, 0), size >= 6 ? "a" : "") << size;
    EXPECT_EQ(names.of(1, 0), size >= 11 ? "b" : "") << size;
    EXPECT_EQ(names.of(1, 1), size == whole.size() ? "c" : "") << size;
  }
  std::vector<uint8_t> damaged = whole;
  damaged[10] = 0xff;  // "b", no UTF-8
  const auto module = module_with(damaged);
  EXPECT_EQ(LocalNames(*module).of(0, 0), "a");
  EXPECT_EQ(LocalNames(*module).of(1, 1), "");
  // Counts that nothing follows.
  const auto boastful =
      module_with(Bytes{0xff, 0xff, 0xff, 0xff, 0x0f}.u32(1).u32(0xffffffff).u32(0).name("n").get());
  EXPECT_EQ(LocalNames(*boastful).of(1, 0), "n");
}

TEST(LocalNames, ModuleWithoutThemHasNone) {
  ModuleBuilder builder;
  builder.function(builder.type({ValueType::I32}, {}), {}, Code().end());
  auto module = decode_module(builder.build());
  ASSERT_TRUE(module);
  EXPECT_EQ(LocalNames(**module).of(0, 0), "");
}

}  // namespace
}  // namespace wago::runtime
