#include "cli/values.h"

#include <gtest/gtest.h>

namespace wago::cli {
namespace {

using enum ValueType;
using Slots = std::vector<uint64_t>;

std::string refusal(const FuncType& type, std::vector<std::string> arguments) {
  auto slots = parse_arguments("f", type, arguments);
  if (slots) return "accepted";
  EXPECT_EQ(slots.error().kind, base::ErrorKind::Usage);
  return slots.error().message;
}

Slots accepted(const FuncType& type, std::vector<std::string> arguments) {
  auto slots = parse_arguments("f", type, arguments);
  EXPECT_TRUE(slots) << slots.error().message;
  return slots ? *slots : Slots{};
}

TEST(Values, ArgumentsAreReadAsTheSignatureSays) {
  EXPECT_EQ(accepted({{I32, I64, F32, F64}, {}}, {"-1", "-1", "1", "1"}),
            (Slots{0xffffffff, ~uint64_t{0}, 0x3f800000, 0x3ff0000000000000}));
  EXPECT_EQ(accepted({{FuncRef, ExternRef}, {}}, {"null", "null"}), (Slots{0, 0}));
  EXPECT_EQ(accepted({{V128}, {}}, {"0x10000000000000002"}), (Slots{2, 1}));
  EXPECT_EQ(accepted({{V128}, {}}, {"0xff"}), (Slots{255, 0}));
}

TEST(Values, ASuffixOverridesHowTheTextIsRead) {
  EXPECT_EQ(accepted({{I64}, {}}, {"7:i64"}), Slots{7});
  EXPECT_EQ(accepted({{F64}, {}}, {"0x7ff0000000000001:i64"}), Slots{0x7ff0000000000001});
  EXPECT_EQ(accepted({{I32}, {}}, {"1.5:f32"}), Slots{0x3fc00000});
  EXPECT_EQ(accepted({{F32}, {}}, {"nan:0x200000:f32"}), Slots{0x7fa00000});
  EXPECT_EQ(accepted({{F32}, {}}, {"nan:0x200000"}), Slots{0x7fa00000});
}

TEST(Values, WhatDoesNotFitIsRefusedWithItsPlace) {
  EXPECT_EQ(refusal({{I32}, {I32}}, {}), "f takes 1 argument, 0 were given; its type is (i32) -> (i32)");
  EXPECT_EQ(refusal({{}, {}}, {"1"}), "f takes 0 arguments, 1 was given; its type is () -> ()");
  EXPECT_EQ(refusal({{I32, I32}, {}}, {"1", "7:i64"}), "argument 2 of f: '7:i64' cannot be passed as i32");
  EXPECT_EQ(refusal({{I32}, {}}, {"4294967296"}), "argument 1 of f: '4294967296' does not fit an i32");
  EXPECT_EQ(refusal({{FuncRef}, {}}, {"1"}),
            "argument 1 of f: '1' is not a funcref; only null can be passed from the command line");
  EXPECT_EQ(refusal({{ExternRef}, {}}, {"1"}),
            "argument 1 of f: '1' is not an externref; only null can be passed from the command line");
  for (auto text : {"ff", "0x", "0xg", "0x123456789012345678901234567890123", "-0x1"}) {
    EXPECT_NE(refusal({{V128}, {}}, {text}).find("is not a v128"), std::string::npos) << text;
  }
  EXPECT_NE(refusal({{I64}, {}}, {"0:funcref"}).find("cannot be passed"), std::string::npos);
}

TEST(Values, ResultsReadBackAsArguments) {
  FuncType type{{}, {I32, I64, F32, F64, V128, FuncRef, ExternRef}};
  Slots slots = {0xfffffffe, 5, 0x7fa00000, 0x3fb999999999999a, 2, 1, 0, 16};
  EXPECT_EQ(format_results(type, slots),
            (std::vector<std::string>{"-2", "5", "nan:0x200000", "0.1", "0x00000000000000010000000000000002",
                                      "null", "externref"}));
}

}  // namespace
}  // namespace wago::cli
