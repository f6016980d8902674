// Kills recordings at random moments and looks at what they leave behind: nothing may read as complete that
// is not.
//
//   kill_recordings WAGO_PROFILE MODULE_WITH_FIB [RUNS]
//
// RUNS is 20, or WAGO_KILL_RUNS. Moments are spread evenly over the time an undisturbed recording takes, and
// a bit beyond, so that every stage of one is hit: before the directory, in the measurement, between the
// files, at the end.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>

#include "base/clock.h"
#include "base/files.h"
#include "base/process.h"
#include "base/testing/scratch_folder.h"
#include "capture/capture.h"

namespace {

using namespace wago;

constexpr uint64_t kIterations = 2000;

struct Tally {
  int nothing = 0;  // killed before the directory was there
  int unfinished = 0;
  int complete = 0;  // killed after the last rename, or not in time
  int wrong = 0;
};

// What it prints is of no interest.
base::Result<base::Process> start(const std::string& program, const std::string& module,
                                  const std::string& out) {
  static const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  return base::Process::spawn(
      {.program = program,
       .argv = {"wago-profile", "profile", "record", "--module", module, "--export", "fib", "--args", "12",
                "--want", "144", "--iterations", std::to_string(kIterations), "--warmup", "2", "--out", out},
       .descriptors = {{nowhere, 1}}});
}

// Why a capture that reads as complete is not; empty: it is.
std::string flaw(const capture::Capture& capture) {
  if (capture.manifest().completed_iterations != kIterations) return "iterations are missing";
  auto contents = capture.contents();
  return contents ? "" : contents.error().to_string();
}

void look(const std::string& out, Tally& tally) {
  if (!std::filesystem::exists(out)) {
    ++tally.nothing;
    return;
  }
  auto capture = capture::Capture::open(out);
  if (!capture) {
    ++tally.unfinished;
    if (capture.error().message.find("unfinished capture") != std::string::npos) return;
    ++tally.wrong;
    std::printf("not recognised as unfinished: %s\n", capture.error().to_string().c_str());
    return;
  }
  ++tally.complete;
  std::string wrong = flaw(*capture);
  if (wrong.empty()) return;
  ++tally.wrong;
  std::printf("%s reads as complete, but %s\n", out.c_str(), wrong.c_str());
}

int runs_wanted(int argc, char** argv) {
  if (argc > 3) return std::atoi(argv[3]);
  const char* variable = std::getenv("WAGO_KILL_RUNS");
  return variable ? std::atoi(variable) : 20;
}

int kill_all(const std::string& program, const std::string& module, int runs, const std::string& root) {
  uint64_t before = base::monotonic_ns();
  std::string whole = base::join_path(root, "undisturbed");
  auto undisturbed = start(program, module, whole);
  if (!undisturbed || !undisturbed->wait(60'000) || !capture::Capture::open(whole)) {
    std::printf("an undisturbed recording does not succeed\n");
    return 1;
  }
  const uint64_t length_us = (base::monotonic_ns() - before) / 1000;
  const auto seed = static_cast<unsigned>(before);
  std::minstd_rand random(seed);
  Tally tally;
  for (int i = 0; i < runs; ++i) {
    std::string out = base::join_path(root, std::to_string(i));
    auto process = start(program, module, out);
    if (!process) {
      std::printf("%s\n", process.error().to_string().c_str());
      return 1;
    }
    const uint64_t slice = length_us * 11 / 10 * static_cast<uint64_t>(i) / static_cast<uint64_t>(runs);
    ::usleep(static_cast<useconds_t>(slice + random() % (1 + length_us / static_cast<uint64_t>(runs))));
    // The recorder alone: its child has to notice by itself.
    ::kill(process->pid(), SIGKILL);
    process->wait(10'000);
    look(out, tally);
    std::filesystem::remove_all(out);
  }
  std::printf(
      "%d recordings of %llu us killed (seed %u): %d before the directory, %d unfinished, %d complete, %d "
      "wrong\n",
      runs, static_cast<unsigned long long>(length_us), seed, tally.nothing, tally.unfinished, tally.complete,
      tally.wrong);
  // A test that never caught a recording half-way has shown nothing.
  bool shown = tally.unfinished > 0;
  if (!shown) std::printf("no recording was caught half-way\n");
  return tally.wrong == 0 && shown ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: kill_recordings WAGO_PROFILE MODULE_WITH_FIB [RUNS]\n");
    return 2;
  }
  const wago::base::testing::ScratchFolder scratch;
  return kill_all(argv[1], argv[2], std::max(1, runs_wanted(argc, argv)), scratch.path());
}
