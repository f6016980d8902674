#include "diff/source_files.h"

#include <gtest/gtest.h>

namespace wago::diff {
namespace {

TEST(SourceFiles, TheLongestTailThatThereIs) {
  base::MemoryFiles files;
  files.put("top/src/parse.c", "near\n");
  files.put("top/parse.c", "far\n");
  SourceFiles sources("top", files);
  EXPECT_EQ(sources.line("/home/ci/project/src/parse.c", 1), "near");
  EXPECT_EQ(sources.line("src/parse.c", 1), "near");
  EXPECT_EQ(sources.line("./build/../src/parse.c", 1), "near");
  EXPECT_EQ(sources.line("C:\\project\\src\\parse.c", 1), "near");
  EXPECT_EQ(sources.line("/elsewhere/parse.c", 1), "far");
  EXPECT_TRUE(sources.missing().empty());
}

// A capture is a stranger's: what it names must not make anybody read and print other files.
TEST(SourceFiles, NothingIsReadOutsideOfTheDirectory) {
  base::MemoryFiles files;
  files.put("/etc/secret", "secret\n");
  files.put("secret", "secret\n");
  files.put("top/own.c", "own\n");
  SourceFiles sources("top", files);
  for (const char* file : {"/etc/secret", "../secret", "own.c/../../secret", "/", "..", ".", "./"}) {
    EXPECT_EQ(sources.line(file, 1), std::nullopt) << file;
  }
  EXPECT_EQ(sources.missing().size(), 7u);
}

TEST(SourceFiles, ALineThatThereIsNot) {
  base::MemoryFiles files;
  files.put("./a.c", "1\r\n2");
  SourceFiles sources(".", files);
  EXPECT_EQ(sources.line("a.c", 1), "1");
  EXPECT_EQ(sources.line("a.c", 2), "2");
  EXPECT_EQ(sources.line("a.c", 3), std::nullopt);
  EXPECT_EQ(sources.line("a.c", 0), std::nullopt);
  EXPECT_EQ(sources.line("", 1), std::nullopt);
  EXPECT_TRUE(sources.missing().empty());
}

// Of a path of thousands of directories only the end is looked for.
TEST(SourceFiles, APathOfAnyLength) {
  base::MemoryFiles files;
  files.put("top/b/a.c", "found\n");
  std::string path;
  for (int i = 0; i < 20'000; ++i) path += "d/";
  SourceFiles sources("top", files);
  EXPECT_EQ(sources.line(path + "b/a.c", 1), "found");
}

}  // namespace
}  // namespace wago::diff
