// Backend perf: with the real one, and with one that goes wrong in every way that we know.
#include <cstdlib>

#include "ctest/collectors/shell.h"

namespace wago::ctest {
namespace {

const std::string kProgram = WAGO_PROFILE;
const std::string kBundled =
    std::string(" --catalog ") + WAGO_SOURCE_DIR + "/corpora/catalog.json --backend perf --workload ";
const std::string kWorkload = kBundled + "fib";

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class PerfBackend : public PerfTest {
 protected:
  Said record(const std::string& flags, const std::string& environment = "") const {
    return in_root(environment + " " + kProgram + " profile record" + kWorkload + " --out c.wagoprof " +
                   flags);
  }
  // Unfinished, and every reader says so.
  void expect_unfinished(const std::string& reason) const {
    const Said top = in_root(kProgram + " profile top c.wagoprof");
    EXPECT_NE(top.code, 0);
    EXPECT_TRUE(has(top.text, "unfinished capture")) << top.text;
    EXPECT_TRUE(has(top.text, reason)) << top.text;
  }
};

TEST_F(PerfBackend, ACaptureHasSamplesAndWhatPerfOpens) {
  // A home of its own shows that nothing is left there.
  const Said said = record("--duration 1s --rate 999 --source-maps", "HOME=" + root_);
  ASSERT_EQ(said.code, 0) << said.text;
  EXPECT_TRUE(has(said.text, "perf --buildid-dir c.wagoprof/buildid report -i c.wagoprof/perf.jit.data"))
      << said.text;
  EXPECT_FALSE(std::filesystem::exists(root_ + "/.debug"));
  const std::string top = done(kProgram + " profile top c.wagoprof");
  EXPECT_TRUE(has(top, "fib (i32) -> (i32)")) << top;
  const std::string guest = done(kProgram + " profile top c.wagoprof | awk '$1 == \"guest\" { print $4 }'");
  EXPECT_GT(std::atof(guest.c_str()), 60.0) << top;
  const std::string manifest = done("cat c.wagoprof/manifest.json");
  EXPECT_TRUE(has(manifest, "perf " + done("perf --version | cut -d' ' -f3 | tr -d '\\n'"))) << manifest;

  // Made by us of the same samples; pprof_test.cc has Go's reader for what this format must be.
  EXPECT_TRUE(has(done("zcat < c.wagoprof/native.pprof | strings"), "fib"));

  // perf opens it after a move, from any folder, without the place where it was made.
  done("mkdir elsewhere && mv c.wagoprof elsewhere/");
  const std::string open = " -i " + root_ + "/elsewhere/c.wagoprof/perf.jit.data --stdio";
  const std::string perf =
      "cd / && HOME=" + root_ + " perf --buildid-dir " + root_ + "/elsewhere/c.wagoprof/buildid ";
  EXPECT_TRUE(has(done(perf + "report --no-children -g none" + open), "[.] fib"));
  EXPECT_TRUE(has(done(perf + "annotate -s fib" + open), "push   %rbp"));
  EXPECT_FALSE(std::filesystem::exists(root_ + "/.debug"));
}

TEST_F(PerfBackend, TheCommandThatOpensItCanBePasted) {
  const Said said = in_root(kProgram + " profile record" + kWorkload +
                            " --duration 500ms --rate 499 --out 'it'\\''s $(touch gone).wagoprof'");
  ASSERT_EQ(said.code, 0) << said.text;
  const std::string before = "perf opens it: ";
  const size_t at = said.text.find(before);
  ASSERT_NE(at, std::string::npos) << said.text;
  const std::string command =
      said.text.substr(at + before.size(), said.text.find('\n', at) - at - before.size());
  EXPECT_TRUE(has(done(command + " --stdio --no-children -g none"), "[.] fib")) << command;
  EXPECT_FALSE(std::filesystem::exists(root_ + "/gone"));
}

// Whatever the functions are that lie beside those that run.
TEST_F(PerfBackend, RawStacksReachTheirRoot) {
  for (const std::string workload : {"fib", "nbody"}) {
    const std::string capture = workload + ".wagoprof";
    const Said said = in_root(kProgram + " profile record" + kBundled + workload + " --out " + capture +
                              " --duration 1s --rate 499 --unwind-maps --stack-bytes 8192");
    ASSERT_EQ(said.code, 0) << said.text;
    EXPECT_TRUE(has(said.text, "warning: raw stacks")) << said.text;
    const std::string top = done(kProgram + " profile top " + capture);
    EXPECT_TRUE(has(top, "raw stacks")) << top;
    const std::string json = done("cat " + capture + "/samples.json");
    const size_t at = json.find("\"truncated_stacks\":");
    ASSERT_NE(at, std::string::npos);
    const std::string samples =
        done(kProgram + " profile top " + capture + " | awk '$1 == \"samples\" { print $2 }'");
    ASSERT_GT(std::atoi(samples.c_str()), 20) << top;
    // A call's first instructions and last have no frame, and perf's unwinder takes them to have one.
    EXPECT_LE(std::atoi(json.c_str() + at + 19) * 5, std::atoi(samples.c_str()))
        << "of 100 at most 20: " << workload;
  }
}

// The module is compiled again and again: samples are the compiler's, and code comes and goes meanwhile.
TEST_F(PerfBackend, CompilationIsSampled) {
  const Said said = record("--duration 1s --rate 499 --phase compile");
  ASSERT_EQ(said.code, 0) << said.text;
  const std::string top = done(kProgram + " profile top c.wagoprof");
  EXPECT_TRUE(has(top, "wago::codegen")) << top;
}

TEST_F(PerfBackend, MapsStayOrGoAsAsked) {
  const std::string flags = kProgram + " profile record --catalog " + WAGO_SOURCE_DIR +
                            "/corpora/catalog.json --workload fib --iterations 10 --backend perf-map --out ";
  done(flags + "map.wagoprof");
  const std::string map = done("grep -o '/tmp/perf-[0-9]*.map' map.wagoprof/manifest.json | tr -d '\\n'");
  ASSERT_TRUE(std::filesystem::exists(map)) << map;
  EXPECT_TRUE(has(done("cat " + map), " fib\n"));
  std::filesystem::remove(map);
  done(flags + "gone.wagoprof --remove-map");
  const std::string gone = done("grep -o '/tmp/perf-[0-9]*.map' gone.wagoprof/manifest.json | tr -d '\\n'");
  EXPECT_FALSE(std::filesystem::exists(gone)) << gone;
}

class FakePerf : public PerfBackend {
 protected:
  void SetUp() override {
    PerfBackend::SetUp();
    if (IsSkipped()) return;
    done("mkdir bin && cp " + std::string(WAGO_SOURCE_DIR) + "/ctest/collectors/fake_perf.sh bin/perf");
    const std::string real = done("command -v perf | tr -d '\\n'");
    environment_ = "PATH=$PWD/bin:$PATH WAGO_REAL_PERF=" + real + " WAGO_FAKE_PIDS=$PWD/pids WAGO_FAKE_PERF=";
  }
  // A recording with a perf that goes wrong so: how it ends, and that it left an unfinished capture and no
  // process.
  std::string spoiled(const std::string& how, int code, const std::string& flags = "") {
    const Said said = record("--duration 200ms --rate 99 " + flags, environment_ + how);
    EXPECT_EQ(said.code, code) << said.text;
    expect_unfinished("");
    EXPECT_TRUE(std::filesystem::exists(root_ + "/c.wagoprof/collector.log"));
    // Nothing of what perf makes of code, and no word of where this was.
    EXPECT_FALSE(has(done("ls c.wagoprof"), "jitted-")) << how;
    EXPECT_FALSE(has(done("cat c.wagoprof/manifest.json"), root_)) << how;
    expect_none_runs(root_ + "/pids");
    std::filesystem::remove_all(root_ + "/c.wagoprof");
    return said.text;
  }
  std::string environment_;
};

TEST_F(FakePerf, ARefusalNamesReasonAndSetting) {
  const std::string said = spoiled("refuse", 5);
  EXPECT_TRUE(has(said, "No permission to enable cpu-clock:u event")) << said;
  const bool forbidden = std::atoi(done("cat /proc/sys/kernel/perf_event_paranoid").c_str()) > 2;
  EXPECT_TRUE(has(said, forbidden ? "sysctl kernel.perf_event_paranoid=2" : "a container or sandbox"))
      << said;
  EXPECT_TRUE(has(spoiled("broken", 5), "cannot find libnothing.so"));
}

TEST_F(FakePerf, OneThatNeverAcknowledgesIsKilled) {
  const std::string said = spoiled("stall", 1);
  EXPECT_TRUE(has(said, "perf did not acknowledge enable in 20s")) << said;
}

TEST_F(FakePerf, OneThatAnswersNonsenseFails) {
  EXPECT_TRUE(has(spoiled("nonsense", 1), "perf answered what? to enable instead of ack"));
}

TEST_F(FakePerf, OneThatDiesHalfWayFails) {
  const std::string said = spoiled("dies", 1);
  EXPECT_TRUE(has(said, "perf record exited with code 3") || has(said, "perf is gone") ||
              has(said, "perf ended before"))
      << said;
}

// A busy machine may take the time that is meant for perf script, so that another part is what took too long.
TEST_F(FakePerf, ConversionIsBounded) {
  const std::string late = "took longer than the conversion timeout of 4s; --conversion-timeout allows more";
  for (const char* how : {"hangs", "sleeps", "floods"}) {
    const std::string said = spoiled(how, 1, "--conversion-timeout 4s");
    EXPECT_TRUE(has(said, late)) << how << ": " << said;
  }
  EXPECT_TRUE(has(spoiled("floodsinject", 1), "perf inject floods its log"));
}

TEST_F(FakePerf, OneThatSaysNothingAtAllIsNoPerf) {
  const Said said = record("--iterations 10", environment_ + "silent");
  EXPECT_EQ(said.code, 5);
  EXPECT_TRUE(has(said.text,
                  "says nothing to --version, so it is no perf that works (Debian has it in linux-perf); "
                  "backend pprof needs no program"))
      << said.text;
}

TEST_F(FakePerf, OneThatGoesWrongAtTheStartFails) {
  EXPECT_TRUE(has(spoiled("floodslog", 1), "does not listen: it floods its log"));
  EXPECT_TRUE(has(spoiled("killed", 1), "perf record died of signal 15"));
}

TEST_F(FakePerf, WhatItPrintsIsNotBelieved) {
  EXPECT_TRUE(has(spoiled("fails", 1), "perf inject exited with code 1"));
  EXPECT_TRUE(has(spoiled("idle", 1), "perf inject made no file of the first function"));
  EXPECT_TRUE(has(spoiled("garbage", 1), "perf script printed"));
  EXPECT_TRUE(has(spoiled("nosample", 1), "perf script printed what is no sample: \"hello 12 world\""));
  EXPECT_TRUE(has(spoiled("lost", 1), "perf lost 12 events"));
}

// Enough processor time for samples at any load of the machine.
TEST_F(FakePerf, SamplesThatItKeepsToItselfAreMissed) {
  auto said = [&](const char* how) {
    const Said failed = record("--iterations 3000 --rate 999", environment_ + how);
    EXPECT_EQ(failed.code, 1) << failed.text;
    expect_unfinished("samples that perf record took");
    std::filesystem::remove_all(root_ + "/c.wagoprof");
    return failed.text;
  };
  const std::string mute = said("mute");
  EXPECT_TRUE(has(mute, "perf script printed none of the ")) << mute;
  EXPECT_TRUE(
      has(mute, "perf.data is kept, for a perf of another version to read, and backend pprof needs no perf"))
      << mute;
  EXPECT_TRUE(has(said("half"), "perf script printed 1 of the "));
}

// (func (export "f")) and as many more as are asked for.
std::string module_with(uint32_t functions) {
  auto number = [](uint32_t value) {
    std::string text;
    for (; value >= 128; value >>= 7) text += static_cast<char>(value | 128);
    return text + static_cast<char>(value);
  };
  auto section = [&](char id, const std::string& body) { return id + number(body.size()) + body; };
  std::string bodies = number(functions);
  for (uint32_t i = 0; i < functions; ++i) bodies += std::string("\2\0\13", 3);
  return std::string("\0asm\1\0\0\0", 8) + section(1, std::string("\1\140\0\0", 4)) +
         section(3, number(functions) + std::string(functions, '\0')) +
         section(7, std::string("\1\1f\0\0", 5)) + section(10, bodies);
}

TEST_F(PerfBackend, MoreFunctionsThanCanBeConvertedInTimeAreRefusedBeforeThatBegins) {
  std::ofstream(root_ + "/many.wasm", std::ios::binary) << module_with(3000);
  const Said said = in_root(kProgram +
                            " profile record --module many.wasm --export f --want '[]' --iterations 10 "
                            "--backend perf --conversion-timeout 4s --out c.wagoprof");
  EXPECT_EQ(said.code, 1) << said.text;
  EXPECT_TRUE(has(said.text, "perf makes a file of each of the 300")) << said.text;
  EXPECT_TRUE(has(said.text, "the conversion timeout of 4s is too short: --conversion-timeout 7s allows it"))
      << said.text;
  expect_unfinished("perf makes a file of each");
  EXPECT_FALSE(has(done("ls c.wagoprof"), "jitted-"));
  EXPECT_TRUE(std::filesystem::exists(root_ + "/c.wagoprof/perf.data"));
}

// Counted, or said in words; never a failure.
TEST_F(PerfBackend, CountersAreThereOrMissedInWords) {
  const Said said =
      in_root(kProgram + " profile record --catalog " + WAGO_SOURCE_DIR +
              "/corpora/catalog.json --workload fib --iterations 100 --counters --out n.wagoprof");
  ASSERT_EQ(said.code, 0) << said.text;
  const std::string top = done(kProgram + " profile top n.wagoprof");
  EXPECT_TRUE(has(top, "no hardware counters: ") || has(top, "hardware counters in user mode")) << top;
  EXPECT_TRUE(has(done("cat n.wagoprof/counters.json"), "\"iterations\":100"));
}

TEST_F(PerfBackend, AMissingPerfIsSaid) {
  done("mkdir empty");
  const Said said = record("--iterations 10", "PATH=$PWD/empty");
  EXPECT_EQ(said.code, 5);
  EXPECT_TRUE(has(said.text, "perf is not installed")) << said.text;
  expect_unfinished("perf is not installed");
}

TEST_F(PerfBackend, WhatItCannotBeIsRefused) {
  auto refused = [&](const std::string& flags) {
    const Said said = record("--iterations 10 " + flags);
    EXPECT_EQ(said.code, 2) << said.text;
    EXPECT_FALSE(std::filesystem::exists(root_ + "/c.wagoprof"));
    return said.text;
  };
  EXPECT_TRUE(has(refused("--stack-bytes 8192"), "need --unwind-maps"));
  EXPECT_TRUE(has(refused("--unwind-maps --stack-bytes 8191"), "a multiple of 8"));
  EXPECT_TRUE(has(refused("--unwind-maps --stack-bytes 128"),
                  "--stack-bytes: '128' is not a whole number from 256 to 65528"));
  EXPECT_TRUE(has(refused("--remove-map"), "is for backend perf-map"));
}

}  // namespace
}  // namespace wago::ctest
