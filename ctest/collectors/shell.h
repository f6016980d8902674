// Commands, as a reader of the documentation would type them.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/testing/scratch_folder.h"

namespace wago::ctest {

struct Said {
  int code = -1;
  std::string text;  // both outputs
};

inline Said shell(const std::string& command) {
  Said said;
  FILE* pipe = ::popen(("{ " + command + " ; } 2>&1").c_str(), "r");
  if (!pipe) return said;
  char buffer[4096];
  for (size_t got; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) said.text.append(buffer, got);
  const int status = ::pclose(pipe);
  said.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return said;
}

// A test in an empty folder of its own.
class FolderTest : public ::testing::Test {
 protected:
  Said in_root(const std::string& command) const { return shell("cd " + root_ + " && " + command); }
  // The same; it must succeed.
  std::string done(const std::string& command) const {
    const Said said = in_root(command);
    EXPECT_EQ(said.code, 0) << command << "\n" << said.text;
    return said.text;
  }

  const base::testing::ScratchFolder scratch_;
  const std::string root_ = scratch_.path();
};

// One where perf works; skipped where it does not.
class PerfTest : public FolderTest {
 protected:
  void SetUp() override {
    const Said tried = in_root("perf record -o try.data -e cpu-clock:u true");
    if (tried.code != 0) GTEST_SKIP() << "perf does not work here: " << tried.text;
  }
};

// Whether a process runs. Dead ones whose parents died before them wait for somebody to fetch them.
inline bool runs(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  const size_t name = text.rfind(") ");
  return name != std::string::npos && text[name + 2] != 'Z' && text[name + 2] != 'X';
}

// None of the processes whose numbers are in the file.
inline void expect_none_runs(const std::string& file) {
  std::ifstream pids(file);
  for (pid_t pid; pids >> pid;) EXPECT_FALSE(runs(pid)) << "process " << pid << " is still there";
}

}  // namespace wago::ctest
