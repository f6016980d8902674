#include "diff/quantity.h"

#include <gtest/gtest.h>

namespace wago::diff {
namespace {

TEST(Quantity, TimesChooseTheirUnit) {
  EXPECT_EQ(format_ns(0), "0 ns");
  EXPECT_EQ(format_ns(1.5), "1.5 ns");
  EXPECT_EQ(format_ns(0.0123456), "0.01235 ns");
  EXPECT_EQ(format_ns(61234), "61.23 us");
  EXPECT_EQ(format_ns(999.96), "1 us");
  EXPECT_EQ(format_ns(15e9), "15 s");
  EXPECT_EQ(format_ns(2.5e6), "2.5 ms");
}

TEST(Quantity, ChangesKeepTheirSign) {
  EXPECT_EQ(format_change(0.01234), "+1.23 %");
  EXPECT_EQ(format_change(-0.5), "-50.00 %");
  EXPECT_EQ(format_change(0), "+0.00 %");
  EXPECT_EQ(format_exact_change(0), "+0.00 %");
  EXPECT_EQ(format_exact_change(0.0123), "+1.23 %");
  EXPECT_EQ(format_exact_change(-0.000026), "-0.0026 %");
  EXPECT_EQ(format_share(0.0123), "1.2 %");
}

TEST(Quantity, NumbersOfAnySizeAreWhole) {
  EXPECT_EQ(format_change(9999.99), "+999999.00 %");
  EXPECT_EQ(format_change(1.234e100), "+1.23e+102 %");
  EXPECT_EQ(format_change(-1.7e308), "-inf %");
  EXPECT_EQ(format_exact_change(1e300), "+1.00e+302 %");
  EXPECT_EQ(format_share(1e90), "1.0e+92 %");
}

TEST(Quantity, SettingsAreAsTheyWereGiven) {
  EXPECT_EQ(format_setting(0.0025), "0.25 %");
  EXPECT_EQ(format_setting(0.99999), "99.999 %");
  EXPECT_EQ(format_setting(0.0190512345), "1.905 %");
  EXPECT_EQ(format_setting(0.05), "5 %");
}

TEST(Quantity, NoPValueIsNought) {
  EXPECT_EQ(format_p(1), "1.000");
  EXPECT_EQ(format_p(0.0123), "0.012");
  EXPECT_EQ(format_p(0.00031), "3.1e-04");
  EXPECT_EQ(format_p(1e-17), "< 1e-10");
  EXPECT_EQ(format_p(0), "< 1e-10");
}

TEST(Quantity, CountsAreGrouped) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1000), "1,000");
  EXPECT_EQ(format_count(18446744073709551615u), "18,446,744,073,709,551,615");
  EXPECT_EQ(format_plural(1, "function"), "1 function");
  EXPECT_EQ(format_plural(0, "function"), "0 functions");
  EXPECT_EQ(format_rate(12.3e6), "12.3 M/s");
  EXPECT_EQ(format_rate(7), "7 /s");
  EXPECT_EQ(format_rate(39.51e6, "B"), "39.51 MB/s");
  EXPECT_EQ(format_work(1, "invocations"), "1 invocation");
  EXPECT_EQ(format_work(1000, "bytes"), "1,000 bytes");
}

TEST(Quantity, WeightsAreTimeOrAnAmountOfTheirUnit) {
  EXPECT_EQ(format_weight(1500, "nanoseconds"), "1.5 us");
  EXPECT_EQ(format_weight(1'234'500, "cycles"), "1.234 M cycles");
  EXPECT_EQ(format_weight(12.5, "cycles"), "12.5 cycles");
  EXPECT_EQ(format_weight(1, "samples"), "1 sample");
  EXPECT_EQ(format_weight(1000, "samples"), "1 k samples");
  EXPECT_EQ(format_amount(0), "0");
}

TEST(Quantity, QuotientsKeepWhatIsSmall) {
  EXPECT_EQ(format_quotient(1000, 1), "1,000");
  EXPECT_EQ(format_quotient(20'704, 100), "207.04");
  EXPECT_EQ(format_quotient(1, 3), "0.3333");
  EXPECT_EQ(format_quotient(12'000'001, 1'000'000), "12.0000");
  EXPECT_EQ(format_quotient(UINT64_MAX, UINT64_MAX - 1), "1.0000");
  EXPECT_EQ(format_quotient(0, 7), "0");
}

}  // namespace
}  // namespace wago::diff
