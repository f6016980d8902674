#include "base/slots.h"

#include <gtest/gtest.h>

namespace wago::base {
namespace {

using Values = std::vector<uint64_t>;

Values slots(std::string_view text) {
  auto value = parse_slots(text);
  EXPECT_TRUE(value) << text << ": " << (value ? "" : value.error().message);
  return value ? value->values : Values{0xdead};
}

TEST(Slots, ListsInAnOptionalPairOfBrackets) {
  EXPECT_EQ(slots("20"), (Values{20}));
  EXPECT_EQ(slots("1,2, 3"), (Values{1, 2, 3}));
  EXPECT_EQ(slots("[1,2]"), (Values{1, 2}));
  EXPECT_EQ(slots("[]"), Values{});
  EXPECT_EQ(slots("[ ]"), Values{});
  EXPECT_EQ(slots("0x14,0o24,0b10100"), (Values{20, 20, 20}));
  EXPECT_EQ(slots("18446744073709551615"), (Values{UINT64_MAX}));
}

TEST(Slots, TypedSpellingsBecomeSlots) {
  EXPECT_EQ(slots("i32:-1"), (Values{0xffffffff}));
  EXPECT_EQ(slots("i64:-1"), (Values{UINT64_MAX}));
  EXPECT_EQ(slots("f32:1.5"), (Values{0x3fc00000}));
  EXPECT_EQ(slots("f64:0x1p-3"), (Values{0x3fc0000000000000}));
  EXPECT_EQ(slots("f64:nan:0x8000000000000"), (Values{0x7ff8000000000000}));
  EXPECT_EQ(slots("f64:-inf"), (Values{0xfff0000000000000}));
}

TEST(Slots, AVectorIsTwoSlotsLowFirst) {
  EXPECT_EQ(slots("v128:0x000102030405060708090a0b0c0d0e0f"),
            (Values{0x08090a0b0c0d0e0f, 0x0001020304050607}));
  EXPECT_EQ(slots("v128:0x1"), (Values{1, 0}));
  EXPECT_EQ(slots("1,v128:0x10000000000000000,2"), (Values{1, 0, 1, 2}));
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

TEST(Slots, NothingIsNotNoSlots) {
  for (const char* text : {"", " "}) {
    EXPECT_EQ(parse_slots(text).error().message, "no slots are given; '[]' says that there are none");
  }
}

TEST(Slots, KnowTheTypesTheyWereSpelledAs) {
  using enum SlotType;
  auto mixed = parse_slots("1,i32:-1,v128:0x10000000000000002,f64:nan:0x1,f32:-0");
  ASSERT_TRUE(mixed);
  EXPECT_EQ(mixed->types, (std::vector<SlotType>{Any, I32, V128, V128, F64, F32}));
  EXPECT_EQ(mixed->stated_types(), mixed->types);
  EXPECT_EQ(parse_slots("1,2")->types, (std::vector<SlotType>{Any, Any}));
  EXPECT_TRUE(parse_slots("1,2")->stated_types().empty());
  const std::vector<std::string> spelled = {"1", "i32:-1", "v128:0x10000000000000002", "f64:nan:0x1",
                                            "f32:-0"};
  EXPECT_EQ(spell_slots(*mixed), spelled);
  EXPECT_EQ(spell_slots(*parse_slots("i64:-5,v128:0x5")),
            (std::vector<std::string>{"i64:-5", "v128:0x00000000000000005"}));
}

TEST(Slots, FormattedSlotsParseBack) {
  EXPECT_EQ(format_slot(6765), "6765 (0x1a6d)");
  Values some = {0, 1, UINT64_MAX};
  EXPECT_EQ(slots(format_slots(some)), some);
}

}  // namespace
}  // namespace wago::base
