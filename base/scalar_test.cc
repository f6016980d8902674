#include "base/scalar.h"

#include <gtest/gtest.h>

namespace wago::base {
namespace {

uint64_t slot(Scalar type, std::string_view text) {
  auto value = parse_scalar(type, text);
  EXPECT_TRUE(value) << text << ": " << (value ? "" : value.error().message);
  return value ? *value : 0xdeaddeaddeaddeadu;
}

TEST(Scalar, IntegersAcceptSignedAndUnsignedSpellings) {
  EXPECT_EQ(slot(Scalar::I32, "20"), 20u);
  EXPECT_EQ(slot(Scalar::I32, "-1"), 0xffffffffu);
  EXPECT_EQ(slot(Scalar::I32, "4294967295"), 0xffffffffu);
  EXPECT_EQ(slot(Scalar::I32, "-2147483648"), 0x80000000u);
  EXPECT_EQ(slot(Scalar::I32, "-0x10"), 0xfffffff0u);
  EXPECT_EQ(slot(Scalar::I32, "0b101"), 5u);
  EXPECT_EQ(slot(Scalar::I32, "+0o17"), 15u);
  EXPECT_EQ(slot(Scalar::I64, "-1"), ~uint64_t{0});
  EXPECT_EQ(slot(Scalar::I64, "0xffffffffffffffff"), ~uint64_t{0});
  EXPECT_EQ(slot(Scalar::I64, "-9223372036854775808"), uint64_t{1} << 63);
}

TEST(Scalar, IntegersOutOfRangeAndMisspelledAreRefused) {
  for (auto text : {"4294967296", "-2147483649", "99999999999999999999999"}) {
    auto value = parse_scalar(Scalar::I32, text);
    ASSERT_FALSE(value) << text;
    EXPECT_NE(value.error().message.find("does not fit an i32"), std::string::npos) << value.error().message;
    EXPECT_EQ(value.error().kind, ErrorKind::Usage);
  }
  for (auto text : {"", "-", "--1", "+-1", "0x", "0x-1", "1.5", "1 ", " 1", "ten", "0b2", "1_000"}) {
    auto value = parse_scalar(Scalar::I64, text);
    ASSERT_FALSE(value) << text;
    EXPECT_NE(value.error().message.find("is not an i64"), std::string::npos) << value.error().message;
  }
}

TEST(Scalar, FloatsRoundOnceAndKeepPayloads) {
  EXPECT_EQ(slot(Scalar::F32, "1.5"), 0x3fc00000u);
  EXPECT_EQ(slot(Scalar::F32, "-0"), 0x80000000u);
  EXPECT_EQ(slot(Scalar::F32, "0x1.8p-3"), 0x3e400000u);
  EXPECT_EQ(slot(Scalar::F32, "inf"), 0x7f800000u);
  EXPECT_EQ(slot(Scalar::F32, "-inf"), 0xff800000u);
  EXPECT_EQ(slot(Scalar::F32, "nan"), 0x7fc00000u);
  EXPECT_EQ(slot(Scalar::F32, "-nan:0x200000"), 0xffa00000u);
  EXPECT_EQ(slot(Scalar::F64, "nan:0x8000000000000"), 0x7ff8000000000000u);
  EXPECT_EQ(slot(Scalar::F64, "0x1p-3"), 0x3fc0000000000000u);
  EXPECT_EQ(slot(Scalar::F64, "1e3"), 0x408f400000000000u);
  EXPECT_EQ(slot(Scalar::F64, ".5"), 0x3fe0000000000000u);
  // Rounded directly, not through f64: 1 + 2^-24 + 2^-60 is just above the tie.
  EXPECT_EQ(slot(Scalar::F32, "0x1.000001000000001p0"), 0x3f800001u);
  EXPECT_EQ(slot(Scalar::F64, "4.9e-324"), 1u);
  EXPECT_EQ(slot(Scalar::F32, "1e-45"), 1u);
}

TEST(Scalar, FloatsTooSmallBecomeZeroAndTooLargeAreRefused) {
  EXPECT_EQ(slot(Scalar::F64, "1e-400"), 0u);
  EXPECT_EQ(slot(Scalar::F64, "-1e-99999"), uint64_t{1} << 63);
  EXPECT_EQ(slot(Scalar::F32, "1e-60"), 0u);
  for (auto text : {"1e400", "-1e400", "1e99999", "0x1p1024"}) {
    auto value = parse_scalar(Scalar::F64, text);
    ASSERT_FALSE(value) << text;
    EXPECT_NE(value.error().message.find("does not fit an f64"), std::string::npos) << value.error().message;
  }
  EXPECT_FALSE(parse_scalar(Scalar::F32, "1e39"));
}

TEST(Scalar, MisspelledFloatsAreRefused) {
  for (auto text : {"", "-", "--1", "0x", "1.5f", "nan:", "nan:0x", "nan:0x0", "nan:1", "nan:0x800000",
                    "nan(1)", "--inf", "infx", "1e", "0xinf", "0xnan", "e5", "0x1.8p", "1,5"}) {
    EXPECT_FALSE(parse_scalar(Scalar::F32, text)) << text;
  }
}

TEST(Scalar, FormatsShortestAndReadsItselfBack) {
  EXPECT_EQ(format_scalar(Scalar::I32, 0xffffffffu), "-1");
  EXPECT_EQ(format_scalar(Scalar::I64, ~uint64_t{0}), "-1");
  EXPECT_EQ(format_scalar(Scalar::F32, 0x3dcccccd), "0.1");
  EXPECT_EQ(format_scalar(Scalar::F64, 0x3fb999999999999a), "0.1");
  EXPECT_EQ(format_scalar(Scalar::F64, 0x8000000000000000), "-0");
  EXPECT_EQ(format_scalar(Scalar::F32, 0xffa00000), "-nan:0x200000");
  EXPECT_EQ(format_scalar(Scalar::F64, 0x7ff0000000000000), "inf");
  for (uint64_t bits :
       {0x0ull, 0x1ull, 0x80000000ull, 0x7f800000ull, 0x7fc00000ull, 0x7f800001ull, 0xffffffffull,
        0x3f800001ull, 0x00800000ull, 0x7f7fffffull, 0x7fefffffffffffffull, 0xfff8000000000000ull,
        0x7ff0000000000001ull, 0x8000000000000001ull, 0x3ff0000000000001ull}) {
    for (Scalar type : {Scalar::I32, Scalar::I64, Scalar::F32, Scalar::F64}) {
      uint64_t value = type == Scalar::I32 || type == Scalar::F32 ? bits & 0xffffffff : bits;
      EXPECT_EQ(slot(type, format_scalar(type, value)), value) << format_scalar(type, value);
    }
  }
}

}  // namespace
}  // namespace wago::base
