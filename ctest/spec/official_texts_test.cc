#include "ctest/spec/official_texts.h"

#include <gtest/gtest.h>

namespace wago::spec {
namespace {

TEST(OfficialTexts, MessageMustStateTheFact) {
  EXPECT_EQ(difference_in_meaning("assert_invalid", "unknown memory 1", "unknown memory 1: there are 0"), "");
  EXPECT_NE(difference_in_meaning("assert_invalid", "unknown memory 1", "unknown memory 12: there are 0"),
            "");
  EXPECT_NE(difference_in_meaning("assert_invalid", "type mismatch", "unknown type 4: there are 2"), "");
  EXPECT_EQ(difference_in_meaning("assert_trap", "unreachable", "unreachable instruction executed"), "");
}

TEST(OfficialTexts, TextWithoutARowIsAFailure) {
  EXPECT_NE(difference_in_meaning("assert_invalid", "unknown tag", "unknown tag"), "");
  EXPECT_NE(difference_in_meaning("assert_trap", "type mismatch", "type mismatch"), "");
}

}  // namespace
}  // namespace wago::spec
