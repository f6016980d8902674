#include "diff/source_files.h"

#include <gtest/gtest.h>

namespace wago::diff {
namespace {

using Names = std::vector<std::string>;

class SourceFilesTest : public testing::Test {
 protected:
  // Line 1 of each.
  std::optional<std::string> first_line(const std::string& file) {
    sources_.find({{file, 1}});
    return sources_.line(file, 1);
  }
  base::MemoryFiles files_;
  SourceFiles sources_{"top", files_};
};

TEST_F(SourceFilesTest, TheLongestTailThatThereIs) {
  files_.put("top/src/parse.c", "near\n");
  files_.put("top/parse.c", "far\n");
  for (const char* file : {"/home/ci/project/src/parse.c", "src/parse.c", "./build/../src/parse.c",
                           "C:\\project\\src\\parse.c"}) {
    EXPECT_EQ(first_line(file), "near") << file;
    EXPECT_EQ(sources_.found(), (std::vector<FoundSource>{{file, "src/parse.c"}}));
    EXPECT_TRUE(sources_.missing().empty());
  }
  EXPECT_EQ(first_line("/elsewhere/parse.c"), "far");
}

// A capture is a stranger's: what it names must not make anybody read and print other files.
TEST_F(SourceFilesTest, NothingIsReadOutsideOfTheDirectory) {
  files_.put("/etc/secret", "secret\n");
  files_.put("secret", "secret\n");
  files_.put("top/own.c", "own\n");
  for (const std::string file :
       {"/etc/secret", "../secret", "own.c/../../secret", "/", "..", ".", "./", ""}) {
    EXPECT_EQ(first_line(file), std::nullopt) << file;
    EXPECT_EQ(sources_.missing(), Names{file});
  }
  EXPECT_EQ(first_line(std::string("own.c\0/etc/secret", 17)), std::nullopt) << "a NUL";
}

TEST_F(SourceFilesTest, LinesAreThoseOfTheFile) {
  files_.put("top/a.c", "1\r\n2");
  sources_.find({{"a.c", 2}});
  EXPECT_EQ(sources_.line("a.c", 1), "1");
  EXPECT_EQ(sources_.line("a.c", 2), "2");
  EXPECT_EQ(sources_.line("a.c", 0), std::nullopt);
  EXPECT_EQ(sources_.line("a.c", 3), std::nullopt);
}

// It was found by its last name alone, and is another file.
TEST_F(SourceFilesTest, AFileWithFewerLinesIsAnother) {
  files_.put("top/a.c", "1\n2\n");
  sources_.find({{"/elsewhere/a.c", 3}});
  EXPECT_EQ(sources_.line("/elsewhere/a.c", 1), std::nullopt);
  EXPECT_EQ(sources_.missing(), Names{"/elsewhere/a.c"});
}

// Two crates have a src/lib.rs, and one of them is here.
TEST_F(SourceFilesTest, TwoNamesThatLeadToOneFileAreNotGuessed) {
  const std::string core = "/rustc/1/library/core/src/lib.rs", mine = "/home/me/app/src/lib.rs";
  files_.put("top/src/lib.rs", "mine\n");
  sources_.find({{core, 1}, {mine, 1}});
  EXPECT_EQ(sources_.line(mine, 1), std::nullopt);
  EXPECT_EQ(sources_.missing(), (Names{mine, core}));
  // What is matched whole is sure, and the other one is not it.
  sources_.find({{core, 1}, {"src/lib.rs", 1}});
  EXPECT_EQ(sources_.line("src/lib.rs", 1), "mine");
  EXPECT_EQ(sources_.missing(), Names{core});
  files_.put("above/app/src/lib.rs", "mine\n");
  SourceFiles above("above", files_);
  above.find({{core, 1}, {mine, 1}});
  EXPECT_EQ(above.line(mine, 1), "mine");
  EXPECT_EQ(above.missing(), Names{core});
  // The same path, written in two ways.
  above.find({{"app/src/lib.rs", 1}, {"./app/src/lib.rs", 1}});
  EXPECT_TRUE(above.missing().empty());
}

// Of a path of thousands of directories only the end is looked for.
TEST_F(SourceFilesTest, APathOfAnyLength) {
  files_.put("top/b/a.c", "found\n");
  std::string path;
  for (int i = 0; i < 20'000; ++i) path += "d/";
  EXPECT_EQ(first_line(path + "b/a.c"), "found");
}

}  // namespace
}  // namespace wago::diff
