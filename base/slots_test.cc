#include "base/slots.h"

#include <gtest/gtest.h>

namespace wago::base {
namespace {

using Slots = std::vector<uint64_t>;

Slots slots(std::string_view text) {
  auto value = parse_slots(text);
  EXPECT_TRUE(value) << text << ": " << (value ? "" : value.error().message);
  return value ? *value : Slots{0xdead};
}

TEST(Slots, ListsInAnOptionalPairOfBrackets) {
  EXPECT_EQ(slots("20"), (Slots{20}));
  EXPECT_EQ(slots("1,2, 3"), (Slots{1, 2, 3}));
  EXPECT_EQ(slots("[1,2]"), (Slots{1, 2}));
  EXPECT_EQ(slots("[]"), Slots{});
  EXPECT_EQ(slots("[ ]"), Slots{});
  EXPECT_EQ(slots(""), Slots{});
  EXPECT_EQ(slots("0x14,0o24,0b10100"), (Slots{20, 20, 20}));
  EXPECT_EQ(slots("18446744073709551615"), (Slots{UINT64_MAX}));
}

TEST(Slots, TypedSpellingsBecomeSlots) {
  EXPECT_EQ(slots("i32:-1"), (Slots{0xffffffff}));
  EXPECT_EQ(slots("i64:-1"), (Slots{UINT64_MAX}));
  EXPECT_EQ(slots("f32:1.5"), (Slots{0x3fc00000}));
  EXPECT_EQ(slots("f64:0x1p-3"), (Slots{0x3fc0000000000000}));
  EXPECT_EQ(slots("f64:nan:0x8000000000000"), (Slots{0x7ff8000000000000}));
  EXPECT_EQ(slots("f64:-inf"), (Slots{0xfff0000000000000}));
}

TEST(Slots, AVectorIsTwoSlotsLowFirst) {
  EXPECT_EQ(slots("v128:0x000102030405060708090a0b0c0d0e0f"),
            (Slots{0x08090a0b0c0d0e0f, 0x0001020304050607}));
  EXPECT_EQ(slots("v128:0x1"), (Slots{1, 0}));
  EXPECT_EQ(slots("1,v128:0x10000000000000000,2"), (Slots{1, 0, 1, 2}));
}

TEST(Slots, WrongSpellingsAreQuotedWithWhatIsAllowed) {
  for (const char* text : {"-1",
                           "+1",
                           "1.5",
                           "0x",
                           "0b2",
                           "0o8",
                           "1,,2",
                           "1,",
                           ",1",
                           "[1",
                           "1]",
                           "[[1]]",
                           "]",
                           "[",
                           "i32",
                           "i32:",
                           "i32:4294967296",
                           "i32:-2147483649",
                           "i16:1",
                           "f64:one",
                           "f32:1e39",
                           "f64:nan:0x0",
                           "v128:1",
                           "v128:0x",
                           "v128:0x100000000000000000000000000000000",
                           "v128:0x-1",
                           "18446744073709551616",
                           "1 2",
                           "0x1g",
                           "i32:1x",
                           "I32:1"}) {
    auto value = parse_slots(text);
    ASSERT_FALSE(value) << text;
    EXPECT_EQ(value.error().kind, ErrorKind::Usage) << text;
    EXPECT_NE(value.error().message.find('\''), std::string::npos) << value.error().message;
  }
  EXPECT_NE(parse_slots("five").error().message.find("i32:-1"), std::string::npos);
}

TEST(Slots, FormattedSlotsParseBack) {
  EXPECT_EQ(format_slot(6765), "6765 (0x1a6d)");
  Slots some = {0, 1, UINT64_MAX};
  EXPECT_EQ(slots(format_slots(some)), some);
}

}  // namespace
}  // namespace wago::base
