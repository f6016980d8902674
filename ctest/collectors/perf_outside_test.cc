// The two recipes for a perf that is started outside, as docs/collectors.md has them, with the real perf.
#include <cstdlib>

#include "ctest/collectors/shell.h"

namespace wago::ctest {
namespace {

const std::string kRun = std::string(WAGO_PROFILE) + " run --profile ";
const std::string kFib = std::string(" --invoke fib ") + WAGO_SOURCE_DIR + "/corpora/fib.wasm 38";
const std::string kLines =
    std::string(" --invoke report ") + WAGO_SOURCE_DIR + "/ctest/engine/debug/lines4.wasm 7 2";

class PerfOutside : public PerfTest {
 protected:
  // Of the samples that `perf report` has, those of the symbol, in percent.
  double share_of(const std::string& symbol, const std::string& data) const {
    const std::string report =
        done("perf --buildid-dir cache report -i " + data +
             " --stdio --no-children -g none --percent-limit 0 | grep -F '[.] " + symbol + "' || true");
    return std::atof(report.c_str());
  }
  // Stacks of `perf script`, one a line: "fib;fib;main", innermost first.
  std::string stacks_of(const std::string& data) const {
    return done("perf --buildid-dir cache script -i " + data +
                " -F ip,sym --no-inline --no-demangle | awk 'NF == 0 { print s; s = \"\"; next } "
                "{ s = s $2 \";\" } END { print s }'");
  }
  static int lines_with(const std::string& text, const std::string& one, const std::string& other) {
    int count = 0;
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      const std::string line = text.substr(begin, end - begin);
      count += line.find(one) != std::string::npos && line.find(other) != std::string::npos;
      begin = end + 1;
    }
    return count;
  }
  std::string only(const std::string& pattern) const { return done("ls " + pattern); }
};

TEST_F(PerfOutside, AMapGivesNamesAndStacks) {
  done("perf record -o perf.data -F 999 -e cpu-clock:u -g " + kRun + "perfmap" + kFib);
  const std::string pid = done("perf script -i perf.data -F pid | head -1");
  const std::string map = "/tmp/perf-" + std::to_string(std::atoi(pid.c_str())) + ".map";
  ASSERT_TRUE(std::filesystem::exists(map)) << "perf reads it when it reports";
  EXPECT_GT(share_of("fib", "perf.data"), 80.0);
  // From the guest through its entry adapter to the program around it.
  EXPECT_GT(lines_with(stacks_of("perf.data"), "fib;fib;", "wago3cli11run_program"), 50);
  EXPECT_GT(lines_with(stacks_of("perf.data"), "fib;fib;", "[entry"), 50);
  std::filesystem::remove(map);
}

TEST_F(PerfOutside, AMapIsRemovedWhereThatIsAskedFor) {
  done(kRun + "perfmap,here.map" + kFib + " && test -s here.map");
  done(kRun + "perfmap,gone.map --remove-map" + kFib + " && test ! -e gone.map");
}

TEST_F(PerfOutside, AJitdumpGivesNamesStacksAndInstructions) {
  done("perf record -k mono -o perf.data -F 999 -e cpu-clock:u -g " + kRun + "jitdump" + kFib);
  done("perf --buildid-dir cache inject --jit -i perf.data -o perf.jit.data");
  EXPECT_GT(share_of("fib", "perf.jit.data"), 80.0);
  EXPECT_GT(lines_with(stacks_of("perf.jit.data"), "fib;fib;", "wago3cli11run_program"), 50);
  const std::string annotated = done("perf --buildid-dir cache annotate -i perf.jit.data --stdio -s fib");
  EXPECT_NE(annotated.find("push   %rbp"), std::string::npos) << annotated;
  EXPECT_NE(annotated.find("ret"), std::string::npos) << annotated;
}

// With as much stack as perf can take: the frames of a sanitized build are large.
TEST_F(PerfOutside, RawStacksAreUnwoundToTheRoot) {
  done("perf record -k mono -o perf.data -F 499 -e cpu-clock:u --call-graph dwarf,65528 " + kRun + "jitdump" +
       kFib);
  done("perf --buildid-dir cache inject --jit -i perf.data -o perf.jit.data");
  const std::string stacks = stacks_of("perf.jit.data");
  const int guest = lines_with(stacks, "fib;", "fib;");
  ASSERT_GT(guest, 30);
  EXPECT_GT(lines_with(stacks, "fib;", "_start;"), guest * 9 / 10) << stacks;
}

// In what perf makes of the dump: rows of lines, frames, and names as they are in the module.
TEST_F(PerfOutside, AJitdumpGivesLinesAndFrames) {
  if (shell("command -v objdump readelf").code != 0) GTEST_SKIP() << "binutils are not installed";
  done("perf record -k mono -o perf.data -e cpu-clock:u " + kRun + "jitdump" + kLines);
  done("perf --buildid-dir cache inject --jit -i perf.data -o perf.jit.data");
  const std::string file = done("grep -l stats::summarize jitted-*.so");
  const std::string name = file.substr(0, file.find('\n'));
  const std::string lines = done("objdump --dwarf=decodedline " + name);
  EXPECT_GT(lines_with(lines, "/src/lines.cc", " 13 "), 0) << lines;
  EXPECT_GT(lines_with(lines, "/src/lines.cc", " 5 "), 0) << lines;
  // Every row is inside the function, and the last ends it.
  const std::string code = done("objdump -d -l " + name);
  EXPECT_GT(lines_with(code, "/src/lines.cc:5", ""), 0) << code;
  const std::string frames = done("readelf --debug-dump=frames " + name);
  EXPECT_NE(frames.find("DW_CFA_def_cfa: r6 (rbp) ofs 16"), std::string::npos) << frames;
}

}  // namespace
}  // namespace wago::ctest
