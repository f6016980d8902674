#include "base/punycode.h"

#include <gtest/gtest.h>

namespace wago::base {
namespace {

// RFC 3492, section 7.1.
TEST(Punycode, TextOfAnyScript) {
  EXPECT_EQ(decoded_punycode("ihqwcrb4cv8a8dqg056pqjye", '-'), "他们为什么不说中文");
  EXPECT_EQ(decoded_punycode("Proprostnemluvesky-uyb24dma41a", '-'), "Pročprostěnemluvíčesky");
  EXPECT_EQ(decoded_punycode("MajiKoi5-783gue6qz075azm5e", '-'), "MajiでKoiする5秒前");
  EXPECT_EQ(decoded_punycode("-> $1.00 <--", '-'), "-> $1.00 <-");
}

TEST(Punycode, DelimiterIsTheCallers) {
  EXPECT_EQ(decoded_punycode("a_b_eqa", '_'), decoded_punycode("a_b-eqa", '-'));
  EXPECT_EQ(decoded_punycode("bcher_kva", '_'), "bücher");
  EXPECT_EQ(decoded_punycode("", '_'), "");
  EXPECT_EQ(decoded_punycode("abc_", '_'), "abc");
}

TEST(Punycode, WhatIsNotOfTheFormIsNothing) {
  for (const char* text : {"bcher_k", "bcher_kV", "b\xc3\xbc_kva", "bcher_99999999999", "99999a", "!"})
    EXPECT_FALSE(decoded_punycode(text, '_')) << text;
}

TEST(Punycode, PointsBeyondUnicodeAndSurrogatesAreNothing) {
  for (const char* text : {"ib9b", "zy0c", "en32g"}) EXPECT_FALSE(decoded_punycode(text, '_')) << text;
  EXPECT_EQ(decoded_punycode("hb9b", '_'), "\xed\x9f\xbf");
  EXPECT_EQ(decoded_punycode("0y0c", '_'), "\xee\x80\x80");
  EXPECT_EQ(decoded_punycode("dn32g", '_'), "\xf4\x8f\xbf\xbf");
}

}  // namespace
}  // namespace wago::base
