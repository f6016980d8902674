#include "base/text.h"

#include <gtest/gtest.h>

namespace wago::base {
namespace {

TEST(Text, PlainWordsStayAsTheyAre) {
  EXPECT_EQ(display("fib"), "fib");
  EXPECT_EQ(display("func[12]"), "func[12]");
  EXPECT_EQ(display("größe"), "größe");
  EXPECT_EQ(display("函数"), "函数");
}

TEST(Text, WhatCouldBreakALineIsEscaped) {
  EXPECT_EQ(display(""), "\"\"");
  EXPECT_EQ(display("a b"), "\"a b\"");
  EXPECT_EQ(display("a\"b\\"), "\"a\\\"b\\\\\"");
  EXPECT_EQ(display("a\n\x1b[31m"), "\"a\\x0a\\x1b[31m\"");
  EXPECT_EQ(printable("a b\t\"c\""), "a b\\x09\"c\"");
}

TEST(Text, Utf8IsTheShortestFormWithoutSurrogates) {
  for (const char* text : {"", "fib", "\xc3\xa9", "\xf0\x9f\x90\x91"}) EXPECT_TRUE(is_utf8(text)) << text;
  for (const char* text : {"\xff", "a\xc3", "\xc0\x80", "\xed\xa0\x80", "\x80"}) EXPECT_FALSE(is_utf8(text));
}

TEST(Text, BytesThatAreNotUtf8AndSteeringCodePointsAreEscaped) {
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("a\xc3"), "a\\xc3");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");           // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // surrogate
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");           // C1 control
  EXPECT_EQ(printable("\xe2\x80\xae"), "\\xe2\\x80\\xae");  // right-to-left override
  EXPECT_EQ(printable("\xf0\x9f\x98\x80"), "\xf0\x9f\x98\x80");
  for (const char* unseen : {"\xe2\x80\x8b", "\xe2\x80\x8e", "\xe2\x81\xa0", "\xef\xbb\xbf", "\xc2\xad",
                             "\xd8\x9c", "\xe1\xa0\x8e", "\xf3\xa0\x81\x81"}) {
    EXPECT_EQ(printable(unseen).front(), '\\') << unseen;
  }
  EXPECT_EQ(printable("\xe2\x80\x8c"), "\xe2\x80\x8c") << "a joiner";
}

TEST(Text, MangledNamesAreUndoneAndHostileOnesMadeHarmless) {
  EXPECT_EQ(function_label("_ZN3foo3barEi"), "foo::bar(int)");
  EXPECT_EQ(function_label("_Znot"), "_Znot");
  EXPECT_EQ(function_label("a\x1b[2J"), "a\\x1b[2J");
  EXPECT_EQ(function_label(""), "\"\"");
  EXPECT_EQ(function_label("  "), "\"  \"");
  EXPECT_EQ(function_label("\xc2\xa0\xe2\x80\x83\xe3\x80\x80"), "\"\xc2\xa0\xe2\x80\x83\xe3\x80\x80\"");
  EXPECT_EQ(function_label(" a b "), " a b ");
  EXPECT_EQ(function_label("_Z" + std::string(100000, 'P')), "_Z" + std::string(100000, 'P'));
}

TEST(Text, MarkupIsEscaped) {
  const std::string wrong = "\xef\xbf\xbd";
  EXPECT_EQ(as_markup("a<b> & \"c\"\n"), "a&lt;b&gt; &amp; &quot;c&quot;&#10;");
  EXPECT_EQ(as_markup("\x1b[31m\x7f\xef\xbf\xbe"), wrong + "[31m" + wrong + wrong);
  EXPECT_EQ(as_markup(std::string_view("a\0\xff\xed\xa0\x80z", 7)),
            "a" + wrong + wrong + wrong + wrong + wrong + "z")
      << "no UTF-8";
  EXPECT_EQ(as_markup("\xc3"), wrong) << "cut off";
  EXPECT_EQ(as_markup("\t\r"), "&#9;&#13;");
  EXPECT_EQ(as_markup("\xc3\xa4"), "\xc3\xa4");
}

TEST(Text, PaintIsForTerminals) {
  EXPECT_EQ(painted("same", Paint::Good, false), "same");
  EXPECT_EQ(painted("same", Paint::Good, true), "\x1b[32msame\x1b[0m");
}

TEST(Text, ColumnsAlignByCodePointsAndEndWithoutSpaces) {
  EXPECT_EQ(columns({{"a", "bb", "c"}, {"äää", "b", ""}}), "a    bb  c\näää  b\n");
  EXPECT_EQ(columns({{"n", "1"}, {"m", "100"}}, {Align::Left, Align::Right}), "n    1\nm  100\n");
  EXPECT_EQ(columns({}), "");
}

TEST(Text, WhatWillNotDoIsAnsweredWithWhatWill) {
  const std::string_view words[] = {"a", "b"};
  EXPECT_EQ(not_among("c", words), "'c' is not one of a, b");
  EXPECT_EQ(not_among("c", std::span(words).first(1)), "must be a, not 'c'");
  EXPECT_EQ(join_some(words), "a, b");
  EXPECT_EQ(join_some(std::vector<std::string_view>(14, "x")),
            "x, x, x, x, x, x, x, x, x, x, x, x and 2 more");
}

}  // namespace
}  // namespace wago::base
