#include "base/result.h"

#include <gtest/gtest.h>

namespace wago::base {
namespace {

TEST(Result, HoldsAValueOrAnError) {
  Result<int> good(7);
  ASSERT_TRUE(good);
  EXPECT_EQ(*good, 7);
  Result<int> bad(usage_error("no such export"));
  ASSERT_FALSE(bad);
  EXPECT_EQ(exit_code(bad.error().kind), 2);
}

TEST(Result, ErrorNamesEveryPlaceItKnows) {
  EXPECT_EQ(failed("unexpected end").to_string(), "unexpected end");
  EXPECT_EQ(failed("unexpected end", {.file = "a.wasm", .section = "code section", .offset = 42}).to_string(),
            "a.wasm: code section at offset 0x2a: unexpected end");
  EXPECT_EQ(usage_error("not a slot", {.file = "c.json", .json_path = "calls[0].want"}).to_string(),
            "c.json: calls[0].want: not a slot");
}

TEST(ResultDeathTest, AskingForTheWrongOneIsOurMistake) {
  Result<int> bad(failed("broken"));
  EXPECT_DEATH(bad.value(), "check failed.*broken");
}

}  // namespace
}  // namespace wago::base
