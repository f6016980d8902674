// Backend samply and the recipe for a samply that is started outside: with the real one, and with one that
// goes wrong.
#include "ctest/collectors/shell.h"

namespace wago::ctest {
namespace {

const std::string kProgram = WAGO_PROFILE;
const std::string kRecord = kProgram + " profile record --catalog " + WAGO_SOURCE_DIR +
                            "/corpora/catalog.json --workload fib --backend samply ";
const std::string kOut = "--out c.wagoprof ";

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class Samply : public FolderTest {
 protected:
  void SetUp() override {
    const Said tried = in_root("samply record --save-only --output try.json.gz true");
    if (tried.code != 0) GTEST_SKIP() << "samply does not work here: " << tried.text;
  }
};

TEST_F(Samply, ACaptureHasItsDocumentWithGuestFunctions) {
  const Said said = in_root(kRecord + kOut + "--duration 1s --rate 99 --source-maps");
  ASSERT_EQ(said.code, 0) << said.text;
  // Its buffers hold 32 samples; where it does not get to empty them, anything may be lost.
  if (const std::string log = done("cat c.wagoprof/collector.log"); has(log, "Lost ")) GTEST_SKIP() << log;
  EXPECT_TRUE(has(said.text, "samply load c.wagoprof/samply.json.gz")) << said.text;
  EXPECT_TRUE(has(done("zcat c.wagoprof/samply.json.gz"), "\"fib\""));
  const std::string manifest = done("cat c.wagoprof/manifest.json");
  EXPECT_TRUE(has(manifest, done("samply --version | tr -d '\\n'"))) << manifest;
  EXPECT_TRUE(has(manifest, "\"phase_isolation\": \"process\"")) << manifest;
  const std::string top = done(kProgram + " profile top c.wagoprof");
  EXPECT_TRUE(has(top, "samply's own document, of all of the process")) << top;
}

TEST_F(Samply, StartedOutsideItFindsTheNamesOfCompiledCode) {
  const std::string run = " -- " + kProgram + " run --invoke fib --profile ";
  const std::string fib = std::string(" ") + WAGO_SOURCE_DIR + "/corpora/fib.wasm 38";
  for (const char* kind : {"jitdump", "perfmap"}) {
    const std::string document = std::string(kind) + ".json.gz";
    const std::string log =
        done("samply record --rate 99 --save-only --output " + document + run + kind + fib);
    if (has(log, "Lost ")) GTEST_SKIP() << log;
    EXPECT_TRUE(has(done("zcat " + document), "\"fib\"")) << kind;
  }
}

class FakeSamply : public FolderTest {
 protected:
  void SetUp() override {
    done("mkdir bin && cp " + std::string(WAGO_SOURCE_DIR) + "/ctest/collectors/fake_samply.sh bin/samply");
  }
  Said record(const std::string& how, const std::string& flags = "", const std::string& out = kOut) const {
    return in_root("PATH=$PWD/bin:$PATH WAGO_FAKE_PIDS=$PWD/pids WAGO_FAKE_SAMPLY=" + how + " " + kRecord +
                   out + "--duration 300ms " + flags);
  }
  // A recording with a samply that goes wrong so left an unfinished capture and no process.
  std::string spoiled(const std::string& how, int code, const std::string& flags = "") const {
    const Said said = record(how, flags);
    EXPECT_EQ(said.code, code) << said.text;
    EXPECT_TRUE(has(in_root(kProgram + " profile top c.wagoprof").text, "unfinished capture"));
    EXPECT_TRUE(std::filesystem::exists(root_ + "/c.wagoprof/collector.log"));
    expect_none_runs(root_ + "/pids");
    std::filesystem::remove_all(root_ + "/c.wagoprof");
    return said.text;
  }
};

TEST_F(FakeSamply, WhatItSaysIsKept) {
  const Said said = record("lost");
  ASSERT_EQ(said.code, 0) << said.text;
  const std::string top = done(kProgram + " profile top c.wagoprof");
  EXPECT_TRUE(has(top, "samply says: Lost 12 events.")) << top;
  EXPECT_FALSE(has(top, "names no function")) << top;
  EXPECT_TRUE(has(done("cat c.wagoprof/manifest.json"), "samply 9.9-fake"));
}

TEST_F(FakeSamply, TheCommandThatOpensItCanBePasted) {
  const Said said = record("lost", "", "--out 'c d;$(touch gone).wagoprof' ");
  ASSERT_EQ(said.code, 0) << said.text;
  EXPECT_TRUE(has(said.text, "samply load 'c d;$(touch gone).wagoprof/samply.json.gz'\n")) << said.text;
}

TEST_F(FakeSamply, ADocumentWithoutTheModulesFunctionsIsSaidToBeOne) {
  ASSERT_EQ(record("nameless").code, 0);
  const std::string top = done(kProgram + " profile top c.wagoprof");
  EXPECT_TRUE(has(top, "samply.json.gz names no function of the module")) << top;
}

TEST_F(FakeSamply, ARefusalNamesReasonAndSetting) {
  const std::string said = spoiled("refuse", 5);
  EXPECT_TRUE(has(said, "is currently set to 2.")) << said;
  EXPECT_TRUE(has(said, "sysctl kernel.perf_event_paranoid=1")) << said;
  EXPECT_TRUE(has(spoiled("broken", 5), "Failed to start profiling: frequency can be at most 100"));
}

TEST_F(FakeSamply, OneThatGoesWrongAtTheStartFails) {
  EXPECT_TRUE(has(spoiled("killed", 1), "samply record died of signal 15"));
  EXPECT_TRUE(has(spoiled("floods", 1), "samply record floods its log"));
  EXPECT_TRUE(has(spoiled("silent", 1), "samply record started and did not say in 20s that it samples"));
}

TEST_F(FakeSamply, OneThatGoesWrongFailsTheRecording) {
  EXPECT_TRUE(has(spoiled("dies", 1), "samply record exited with code 3"));
  EXPECT_TRUE(has(spoiled("nothing", 1), "samply record wrote nothing"));
  EXPECT_TRUE(has(spoiled("garbage", 1), "samply record wrote what is no document"));
  EXPECT_TRUE(has(spoiled("hangs", 1, "--conversion-timeout 2s"),
                  "samply record took longer than the conversion timeout of 2s"));
}

TEST_F(FakeSamply, AMissingOneIsSaid) {
  const Said said = in_root("PATH=/nowhere " + kRecord + kOut + "--iterations 10");
  EXPECT_EQ(said.code, 5) << said.text;
  EXPECT_TRUE(has(said.text, "samply is not installed")) << said.text;
}

}  // namespace
}  // namespace wago::ctest
