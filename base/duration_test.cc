#include "base/duration.h"

#include <gtest/gtest.h>

namespace wago::base {
namespace {

TEST(Duration, ReadsWhatUsersWrite) {
  EXPECT_EQ(*parse_duration_ns("250ms"), 250'000'000u);
  EXPECT_EQ(*parse_duration_ns("15s"), 15'000'000'000u);
  EXPECT_EQ(*parse_duration_ns("1m30s"), 90'000'000'000u);
  EXPECT_EQ(*parse_duration_ns("2h"), 7'200'000'000'000u);
  EXPECT_EQ(*parse_duration_ns("1.5s"), 1'500'000'000u);
  EXPECT_EQ(*parse_duration_ns("1m0.25s"), 60'250'000'000u);
  EXPECT_EQ(*parse_duration_ns("7us"), 7'000u);
  EXPECT_EQ(*parse_duration_ns("9ns"), 9u);
  EXPECT_EQ(*parse_duration_ns("1ms500us"), 1'500'000u);
}

TEST(Duration, RefusesEverythingElseAndSaysHowToWriteOne) {
  EXPECT_EQ(parse_duration_ns("-1s").error().message,
            "'-1s' is negative; durations are written 250ms, 15s or 1m30s");
  for (const char* text :
       {"", "15", "s", "-1s", "+1s", "1 s", "1s1m", "1s1s", "1.5m30s", "1.s", ".5s", "0s", "1d", "1e3s",
        "0.5ns", "99999999999999999999s", "300000h300000000000000m", "1S", "\xc2\xb5s"}) {
    auto duration = parse_duration_ns(text);
    ASSERT_FALSE(duration) << text;
    EXPECT_EQ(duration.error().kind, ErrorKind::Usage);
    EXPECT_NE(duration.error().message.find("250ms, 15s or 1m30s"), std::string::npos)
        << duration.error().message;
  }
}

TEST(Duration, SpellingsParseBack) {
  for (uint64_t ns : {uint64_t{1}, uint64_t{999}, uint64_t{250'000'000}, uint64_t{90'000'000'000},
                      uint64_t{3'661'001'001'001}, uint64_t{INT64_MAX}}) {
    EXPECT_EQ(*parse_duration_ns(format_duration(ns)), ns) << format_duration(ns);
  }
  EXPECT_EQ(format_duration(90'000'000'000), "1m30s");
  EXPECT_EQ(format_duration(0), "0s");
}

TEST(Duration, MeasuredOnesAreRounded) {
  EXPECT_EQ(format_measured_ns(91'706), "91.71 us");
  EXPECT_EQ(format_measured_ns(0), "0 ns");
  EXPECT_EQ(format_measured_ns(1.25), "1.25 ns");
  EXPECT_EQ(format_measured_ns(999'960), "1 ms");
  EXPECT_EQ(format_measured_ns(90e9), "90 s");
}

}  // namespace
}  // namespace wago::base
