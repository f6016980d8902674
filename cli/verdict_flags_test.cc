#include "cli/verdict_flags.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "cli/output.h"

namespace wago::cli {
namespace {

TEST(VerdictFlags, WhatIsNoNumberIsRefused) {
  for (const std::string text :
       {"nan", "-nan", "nan(1)", "inf", "-inf", "infinity", "1e-1", "", " 1", "1x"}) {
    const auto reading = reading_of({.confidence = text});
    ASSERT_FALSE(reading) << text;
    EXPECT_TRUE(reading.error().message.ends_with(" is not a number from 0.5 to 0.99999"))
        << reading.error().message;
    for (const char* unit : {"", "%", " %"}) EXPECT_FALSE(parse_percent("--floor", text + unit)) << text;
  }
  for (const char* beyond : {"0.4999", "0.999991", "-0.9"})
    EXPECT_FALSE(reading_of({.confidence = beyond})) << beyond;
  const auto reading = reading_of({.confidence = "0.999", .floor = "0.5%", .margin = "2 %"});
  ASSERT_TRUE(reading) << reading.error().message;
  EXPECT_EQ(reading->settings.verdicts.confidence, 0.999);
  EXPECT_EQ(reading->settings.verdicts.floor, 0.005);
  EXPECT_EQ(reading->settings.verdicts.margin, 0.02);
}

TEST(VerdictFlags, WhatIsInconclusiveHidesNothing) {
  // From what is well to what is gravest.
  constexpr std::array kOrder = {kExitDone, kExitInconclusive, kExitFailed, kExitUsage, 5};
  for (size_t i = 0; i < kOrder.size(); ++i) {
    for (size_t k = 0; k < kOrder.size(); ++k)
      EXPECT_EQ(graver(kOrder[i], kOrder[k]), kOrder[std::max(i, k)]) << kOrder[i] << " " << kOrder[k];
  }
}

}  // namespace
}  // namespace wago::cli
