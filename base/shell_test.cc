#include "base/shell.h"

#include <gtest/gtest.h>

#include <cstdio>

namespace wago::base {
namespace {

using namespace std::string_literals;

TEST(Shell, PlainWordsStayAsTheyAre) {
  for (const char* word : {"fib", "a/b.wagoexp", "v1.2+3", "level=0", "x@y:z", "100%", "a,b", "_"}) {
    EXPECT_EQ(shell_word(word), word);
  }
}

TEST(Shell, OthersStandInQuotes) {
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("two words"), "'two words'");
  EXPECT_EQ(shell_word("x'y"), "'x'\\''y'");
  EXPECT_EQ(shell_word("=ls"), "'=ls'");
  EXPECT_EQ(shell_word("$'a'\n\x1b[31m\xff\\1"s), "$'$\\'a\\'\\012\\033[31m\\377\\\\1'");
  EXPECT_EQ(shell_word("a\u202eb"), "$'a\\342\\200\\256b'");
}

TEST(Shell, NoWordBecomesAFlag) {
  EXPECT_EQ(shell_path("-rf"), "./-rf");
  EXPECT_EQ(shell_path("-r f"), "'./-r f'");
  EXPECT_EQ(shell_path("a-b"), "a-b");
  EXPECT_EQ(shell_flag("--as", "v1"), "--as v1");
  EXPECT_EQ(shell_flag("--as", "-x y"), "--as='-x y'");
  EXPECT_EQ(shell_flag("--as", ""), "--as ''");
}

// What a shell makes of the word.
std::string passed_on(const std::string& word) {
  FILE* pipe = ::popen(("bash -c " + shell_word("printf %s. " + word)).c_str(), "r");
  std::string text;
  for (int c; pipe && (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  if (pipe) ::pclose(pipe);
  return text;
}

TEST(Shell, AShellPassesThemOnAsTheyAre) {
  if (passed_on("x") != "x.") GTEST_SKIP() << "there is no bash here";
  for (const std::string& text :
       {"x;id"s,         "x&y"s,  "x$HOME"s,      "x'y"s,      "#x"s,   "~"s,
        "~root/x"s,      "a b"s,  "$(id)"s,       "`id`"s,     "a\"b"s, "!x"s,
        "{a,b}"s,        "*"s,    "?[a]"s,        "a|b>c<d"s,  "(a)"s,  "\\"s,
        "a\\nb"s,        "'"s,    "''"s,          ""s,         "=ls"s,  "^a"s,
        "n\u00e4mlich"s, "a\nb"s, "\x1b[31m'\\"s, "\xff\x31"s, "\t1"s,  "a\u202e$(id)"s}) {
    EXPECT_EQ(passed_on(shell_word(text)), text + ".");
  }
}

}  // namespace
}  // namespace wago::base
