#include "diff/report_markup.h"

#include <gtest/gtest.h>

namespace wago::diff {
namespace {

TEST(Markup, ASuiteCountsItsCasesAndSaysWhy) {
  const std::vector<std::pair<std::string, std::string>> properties = {{"experiment", "runs/1/a.wagoexp"}};
  const std::vector<JunitCase> cases = {
      {.group = "c", .name = "fast", .message = "same"},
      {.group = "c",
       .name = "slow",
       .outcome = JunitOutcome::Failed,
       .message = "+3 %",
       .details = "explain"},
      {.group = "c", .name = "dead", .outcome = JunitOutcome::Error, .message = "crashed"},
      {.group = "c", .name = "wide", .outcome = JunitOutcome::Skipped, .message = "inconclusive"}};
  EXPECT_EQ(junit_suite("a", properties, cases),
            R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="a" tests="4" failures="1" errors="1" skipped="1">
  <properties>
    <property name="experiment" value="runs/1/a.wagoexp"/>
  </properties>
  <testcase classname="c" name="fast" time="0">
    <system-out>same</system-out>
  </testcase>
  <testcase classname="c" name="slow" time="0">
    <failure type="regressed" message="+3 %">explain</failure>
  </testcase>
  <testcase classname="c" name="dead" time="0">
    <error message="crashed"/>
  </testcase>
  <testcase classname="c" name="wide" time="0">
    <skipped message="inconclusive"/>
  </testcase>
</testsuite>
)");
}

// XML 1.0 has no way at all to write a byte that is not UTF-8, or a control character.
TEST(Markup, ASuiteIsWellFormedWhateverItsNamesHold) {
  const std::string hostile = "a<\xff\x1b[2J\x01\xef\xbf\xbf\"&\n\xed\xa0\x80";
  const std::string harmless = "a&lt;\\xff\\x1b[2J\\x01\xef\xbf\xbd&quot;&amp;\\x0a\\xed\\xa0\\x80";
  for (const JunitOutcome outcome :
       {JunitOutcome::Passed, JunitOutcome::Skipped, JunitOutcome::Failed, JunitOutcome::Error}) {
    const std::vector<std::pair<std::string, std::string>> properties = {{hostile, hostile}};
    const std::vector<JunitCase> cases = {
        {.group = hostile, .name = hostile, .outcome = outcome, .message = hostile, .details = hostile}};
    const std::string text = junit_suite(hostile, properties, cases);
    EXPECT_NE(text.find("<testsuite name=\"" + harmless + "\""), std::string::npos) << text;
    EXPECT_NE(text.find("classname=\"" + harmless + "\" name=\"" + harmless + "\""), std::string::npos)
        << text;
    size_t times = 0;
    for (size_t at = 0; (at = text.find(harmless, at)) != std::string::npos; ++at) ++times;
    EXPECT_EQ(times, outcome == JunitOutcome::Failed ? 7u : 6u) << text;
    for (const char byte : {'\xff', '\x1b', '\x01', '\xed'}) EXPECT_EQ(text.find(byte), std::string::npos);
  }
}

}  // namespace
}  // namespace wago::diff
