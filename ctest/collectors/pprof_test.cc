// cpu.pprof under the tool that it is for, where Go is installed.
#include <algorithm>

#include "base/testing/scratch_folder.h"
#include "ctest/collectors/shell.h"

namespace wago::ctest {
namespace {

const std::string kLines = std::string(WAGO_SOURCE_DIR) + "/ctest/engine/debug/lines4.wasm";

class GoPprof : public ::testing::Test {
 protected:
  void SetUp() override {
    const Said tried = shell(kPath + "go tool pprof -h");
    if (tried.text.find("usage") == std::string::npos && tried.text.find("Usage") == std::string::npos) {
      GTEST_SKIP() << "go tool pprof does not work here: " << tried.text;
    }
  }

  void record(const std::string& workload) const {
    const Said said =
        shell(std::string(WAGO_PROFILE) + " profile record --backend pprof --rate 999 --source-maps " +
              workload + " --out " + root_ + "/capture");
    ASSERT_EQ(said.code, 0) << said.text;
  }
  std::string pprof(const std::string& flags) const {
    const Said said = shell("PPROF_TMPDIR=" + root_ + " " + kPath + "go tool pprof -symbolize=none " + flags +
                            " " + root_ + "/capture/cpu.pprof");
    EXPECT_EQ(said.code, 0) << flags << "\n" << said.text;
    return said.text;
  }
  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }

  const std::string kPath = "PATH=$PATH:/usr/local/go/bin ";
  const base::testing::ScratchFolder scratch_;
  const std::string root_ = scratch_.path();
};

TEST_F(GoPprof, FindsGuestFunctionsUnderTheirCallers) {
  record("--catalog " + std::string(WAGO_SOURCE_DIR) +
         "/corpora/catalog.json --workload hash_table --iterations 1000");
  const std::string top = pprof("-top -sample_index=cpu");
  EXPECT_TRUE(has(top, "Type: cpu")) << top;
  EXPECT_TRUE(has(top, "workload hash_table")) << top;
  for (const char* function : {" find\n", " make_word\n", " hash_table\n"}) {
    EXPECT_TRUE(has(top, function)) << function << top;
  }
  const std::string peek = pprof("-peek '^find$'");
  EXPECT_TRUE(has(peek, "|   hash_table\n")) << peek;
  EXPECT_TRUE(has(pprof("-peek '^hash_table$'"), "entry-adapter (i32) -> (i64)"));
  const std::string tags = pprof("-tags");
  EXPECT_TRUE(has(tags, "kind: Total") && has(tags, ": guest")) << tags;
  EXPECT_TRUE(has(tags, "thread: Total") && has(tags, ": recorder")) << tags;
  EXPECT_TRUE(has(tags, "site: Total")) << tags;
  const std::string raw = pprof("-raw");
  EXPECT_TRUE(has(raw, "hashtable.wasm  [FN][FL][LN][IN]")) << raw;
}

TEST_F(GoPprof, LinesAndInlinedFunctionsComeFromTheModulesDebugInformation) {
  record("--module " + std::string(WAGO_SOURCE_DIR) +
         "/ctest/engine/debug/lines4.wasm --export report --args 7,2 --want 9 --iterations 20000000 --mode "
         "prepared");
  const std::string lines = pprof("-lines -top -nodefraction=0");
  EXPECT_TRUE(has(lines, "stats::divide(int, int) lines.cc:5 (inline)")) << lines;
  EXPECT_TRUE(has(lines, "stats::summarize")) << lines;
}

}  // namespace
}  // namespace wago::ctest
