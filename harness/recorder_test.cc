// Recordings of real modules by a real child: this test program is its own recorder's child, see main() at
// the end.
#include "harness/recorder.h"

#include <dirent.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/clock.h"
#include "base/files.h"
#include "base/process.h"
#include "capture/capture.h"
#include "capture/catalog.h"
#include "capture/samples.h"
#include "harness/testing/modules.h"
#include "harness/testing/recorder_fixture.h"

namespace wago::harness {
namespace {

using namespace recorder_test;

// Instances are made before they are closed, which takes longer.
TEST_F(RecorderTest, SamplesAreOfTimedIterationsAlone) {
  RecordRequest wanted = request(testing::kArith, fib());
  wanted.workload.phase = base::Phase::Close;
  wanted.workload.backend = base::Backend::Pprof;
  wanted.workload.iterations.reset();
  wanted.workload.duration_ns = 300'000'000;
  wanted.rate_hz = 999;
  const RecordOutcome outcome = record(wanted);
  ASSERT_FALSE(outcome.error) << outcome.error->to_string();
  const Capture capture = opened(wanted);
  const auto images = capture.images();
  ASSERT_TRUE(images);
  const auto text =
      base::system_files().read(base::join_path(wanted.out, capture::kSamplesFile), uint64_t{1} << 24);
  ASSERT_TRUE(text);
  const auto samples = capture::parse_samples(base::as_text(*text), capture::kSamplesFile, *images);
  ASSERT_TRUE(samples) << samples.error().to_string();
  for (const capture::Sample& sample : samples->samples) {
    for (const capture::Frame& frame : capture::frames_of(*samples, sample.stack)) {
      if (frame.symbol == capture::kNone) continue;
      EXPECT_EQ(samples->symbols[frame.symbol].name.find("prepare"), std::string::npos);
    }
  }
}

TEST_F(RecorderTest, ACaptureHoldsWhatWasMeasured) {
  RecordRequest wanted = request(testing::kArith, fib());
  wanted.catalog = "mine";
  RecordOutcome outcome = record(wanted);
  ASSERT_FALSE(outcome.error) << outcome.error->to_string();
  Capture capture = opened(wanted);
  const capture::Manifest& m = capture.manifest();
  EXPECT_EQ(m, [&] {
    capture::Manifest told = outcome.manifest;
    told.files = m.files;
    return told;
  }()) << "the caller is told what was published";
  EXPECT_EQ(m.workload, "fib");
  EXPECT_EQ(m.catalog, "mine");
  EXPECT_EQ(m.module_name, "module.wasm");
  EXPECT_EQ(m.module_bytes, testing::kArith.size());
  EXPECT_EQ(m.module_sha256, base::to_hex(base::sha256(base::as_bytes(testing::kArith))));
  EXPECT_EQ(m.completed_iterations, 100u);
  EXPECT_EQ(m.completed_invocations, 100u);
  EXPECT_EQ(m.warmup_iterations, 5u);
  EXPECT_EQ(m.requested_iterations, 100u);
  EXPECT_EQ(m.requested_duration_ns, 0u);
  ASSERT_TRUE(m.measured_phase());
  EXPECT_EQ(m.measured_phase()->completed_work, 100u);
  EXPECT_EQ(m.measured_phase()->work_unit, "invocations");
  EXPECT_GT(m.execution_duration_ns, 0u);
  EXPECT_LE(m.execution_duration_ns, m.measured_phase()->elapsed_ns);
  EXPECT_FALSE(m.revision.empty());

  auto batches = capture.iterations();
  ASSERT_TRUE(batches);
  uint64_t iterations = 0, wall = 0;
  for (const auto& batch : *batches) {
    iterations += batch.iterations;
    wall += batch.wall_ns;
  }
  EXPECT_EQ(iterations, 100u);
  EXPECT_EQ(wall, m.execution_duration_ns);

  auto images = capture.images();
  ASSERT_TRUE(images);
  EXPECT_EQ(images->images[0].functions.size(), 8u);
  EXPECT_EQ(images->images[0].functions[1].name, "fib");
  EXPECT_EQ(images->images[0].functions[1].signature, "(i32) -> (i32)");
  EXPECT_GT(images->images[0].functions[1].statistics.machine_instructions, 5u);
  EXPECT_EQ(base::to_hex(capture::code_sha256(*images)), m.code_sha256);
}

TEST_F(RecorderTest, EverythingIsPrivateAndHoldsNoSlots) {
  RecordRequest wanted = request(testing::kArith, {"add", {0x1badcafe, 1}, {0x1badcaff}, {}});
  ASSERT_FALSE(record(wanted).error);
  struct stat status;
  ASSERT_EQ(::stat(wanted.out.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0700u);
  const std::vector<std::string> names = *base::system_files().list(wanted.out);
  EXPECT_EQ(names, (std::vector<std::string>{"images.json", "iterations.bin", "manifest.json"}));
  for (const std::string& name : names) {
    std::string file = base::join_path(wanted.out, name);
    ASSERT_EQ(::stat(file.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0600u) << name;
    auto bytes = *base::system_files().read(file, 1 << 24);
    EXPECT_EQ(base::as_text(bytes).find(std::to_string(0x1badcafe)), std::string_view::npos) << name;
  }
}

TEST_F(RecorderTest, EveryPhaseIsRecordedInItsUnit) {
  struct Case {
    base::Phase phase;
    const char* unit;
    uint64_t work_each;
  };
  for (const Case& one :
       {Case{base::Phase::Compile, "bytes", testing::kState.size()},
        Case{base::Phase::Instantiate, "instances", 1}, Case{base::Phase::Initialize, "invocations", 1},
        Case{base::Phase::Execute, "invocations", 1}, Case{base::Phase::Close, "instances", 1},
        Case{base::Phase::All, "lifecycles", 1}}) {
    for (base::Mode mode : {base::Mode::Public, base::Mode::Prepared}) {
      RecordRequest wanted = request(testing::kState, {"get", {}, {40}, {}});
      wanted.workload.init = "setup";
      wanted.workload.phase = one.phase;
      wanted.workload.mode = mode;
      wanted.workload.iterations = 20;
      wanted.out = path(std::string(base::spelling(one.phase)) + std::string(base::spelling(mode)));
      RecordOutcome outcome = record(wanted);
      ASSERT_FALSE(outcome.error) << base::spelling(one.phase) << ": " << outcome.error->to_string();
      const capture::Manifest m = opened(wanted).manifest();
      EXPECT_EQ(m.completed_iterations, 20u);
      ASSERT_TRUE(m.measured_phase()) << base::spelling(one.phase);
      EXPECT_EQ(m.measured_phase()->work_unit, one.unit);
      EXPECT_EQ(m.measured_phase()->completed_work, 20 * one.work_each);
    }
  }
}

TEST_F(RecorderTest, TheWholeLifeIsSplitIntoItsParts) {
  RecordRequest wanted = request(testing::kArith, fib());
  wanted.workload.phase = base::Phase::All;
  ASSERT_FALSE(record(wanted).error);
  const capture::Manifest m = opened(wanted).manifest();
  std::string names;
  uint64_t parts = 0;
  for (const auto& phase : m.phases) {
    names += std::string(base::spelling(phase.phase)) + " ";
    if (phase.phase != base::Phase::All) parts += phase.elapsed_ns;
  }
  EXPECT_EQ(names, "compile instantiate execute close all ");
  EXPECT_LE(parts, m.execution_duration_ns);
  EXPECT_GT(parts, m.execution_duration_ns / 2);
}

TEST_F(RecorderTest, ADurationEndsBetweenIterations) {
  RecordRequest wanted = request(testing::kArith, fib());
  wanted.workload.iterations.reset();
  wanted.workload.duration_ns = 50'000'000;
  ASSERT_FALSE(record(wanted).error);
  const capture::Manifest m = opened(wanted).manifest();
  EXPECT_EQ(m.requested_duration_ns, 50'000'000u);
  EXPECT_GE(m.measured_phase()->elapsed_ns, 50'000'000u);
  EXPECT_GT(m.completed_iterations, 1000u);
}

TEST_F(RecorderTest, SeveralCallsVoidResultsWideResultsAndTraps) {
  RecordRequest wanted = request(testing::kArith, {"nothing", {}, {}, {}});
  auto& calls = wanted.workload.calls;
  calls.push_back({"two", {}, {0xffffffff, 7}, {}});
  calls.push_back({"half", {0x3ff8000000000000}, {0x3fe8000000000000}, {}});
  calls.push_back({"div", {1, 0}, {}, base::TrapCode::IntegerDivideByZero});
  calls.push_back({"deep", {}, {}, base::TrapCode::StackExhausted});
  RecordOutcome outcome = record(wanted);
  ASSERT_FALSE(outcome.error) << outcome.error->to_string();
  EXPECT_EQ(outcome.manifest.completed_invocations, 500u);
}

TEST_F(RecorderTest, EnvAbortIsProvidedAndTraps) {
  RecordRequest wanted = request(testing::kAbort, {"run", {}, {}, base::TrapCode::Abort});
  RecordOutcome outcome = record(wanted);
  EXPECT_FALSE(outcome.error) << outcome.error->to_string();
}

TEST_F(RecorderTest, AWrongResultIsPrintedAndNotStored) {
  RecordRequest wanted = request(testing::kArith, {"fib", {10}, {56}, {}});
  EXPECT_EQ(failure_of(wanted),
            wanted.workload.module_path +
                ": wrong result of call 0 (fib): slot 0 wanted 56 (0x38), seen 55 (0x37), in "
                "warm-up iteration 1 of phase execute");
  auto left = Capture::open_any(wanted.out);
  ASSERT_TRUE(left);
  ASSERT_EQ(left->manifest().diagnostics.size(), 1u);
  EXPECT_EQ(
      left->manifest().diagnostics[0],
      "wrong result of call 0 (fib): slot 0 differs from what was wanted, in warm-up iteration 1 of phase "
      "execute");
}

TEST_F(RecorderTest, OneWrongResultAmongThousandsIsFound) {
  RecordRequest wanted = request(testing::kState, {"below", {5000}, {1}, {}});
  wanted.workload.mode = base::Mode::Prepared;
  wanted.workload.iterations = 4994;
  EXPECT_FALSE(record(wanted).error) << "5 of warm-up and 4994: below is true 4999 times";
  wanted.out = path("again");
  wanted.workload.iterations = 4995;
  wanted.catalog = "mine";
  EXPECT_EQ(failure_of(wanted),
            wanted.workload.module_path +
                ": workload below: wrong result of call 0 (below): slot 0 wanted 1 (0x1), seen 0 (0x0), in "
                "iteration 4995 of phase execute");
}

TEST_F(RecorderTest, TrapsThatWereNotWantedFail) {
  const std::string file = path("module.wasm") + ": ", place = ", in warm-up iteration 1 of phase execute";
  EXPECT_EQ(failure_of(request(testing::kArith, {"div", {1, 0}, {1}, {}})),
            file + "call 0 (div) trapped: integer divide by zero at div (func[2], wasm pc 0x5)" + place);
  RecordRequest other = request(testing::kArith, {"div", {1, 0}, {}, base::TrapCode::Unreachable});
  other.out = path("other");
  EXPECT_EQ(failure_of(other), file +
                                   "call 0 (div) trapped: integer divide by zero at div (func[2], wasm pc "
                                   "0x5), but the trap wanted is "
                                   "unreachable" +
                                   place);
  RecordRequest none = request(testing::kArith, {"div", {4, 2}, {}, base::TrapCode::Unreachable});
  none.out = path("none");
  EXPECT_EQ(failure_of(none), file + "call 0 (div) returned, but the trap wanted is unreachable" + place);
  RecordRequest start = request(testing::kStart, {"run", {}, {}, {}});
  start.out = path("start");
  EXPECT_EQ(failure_of(start).rfind(file + "instantiation trapped: unreachable instruction executed", 0), 0u);
  RecordRequest init = request(testing::kState, {"get", {}, {0}, {}});
  init.workload.init = "bad_setup";
  init.out = path("init");
  EXPECT_EQ(failure_of(init).rfind(file + "the init export bad_setup trapped: unreachable", 0), 0u);
}

TEST_F(RecorderTest, ATrapIsToldWithItsFrames) {
  RecordOutcome outcome = record(request(testing::kArith, {"div", {1, 0}, {1}, {}}));
  ASSERT_TRUE(outcome.trap);
  EXPECT_EQ(outcome.trap->code, base::TrapCode::IntegerDivideByZero);
  ASSERT_EQ(outcome.trap->frames.size(), 1u);
  EXPECT_EQ(outcome.trap->frames[0].name, "div");
  RecordRequest abort = request(testing::kAbort, {"run", {}, {}, base::TrapCode::Host});
  abort.out = path("abort");
  outcome = record(abort);
  ASSERT_TRUE(outcome.trap);
  EXPECT_EQ(
      outcome.error->message,
      "call 0 (run) trapped: env.abort called at env.abort (host), but the trap wanted is host, in warm-up "
      "iteration 1 of phase execute");
  RecordRequest wrong = request(testing::kArith, {"fib", {10}, {56}, {}});
  wrong.out = path("wrong");
  EXPECT_FALSE(record(wrong).trap);
}

TEST_F(RecorderTest, WhatDoesNotFitIsRefusedBeforeAnythingIsCreated) {
  auto refused = [&](std::string_view module, Call call) {
    RecordRequest wanted = request(module, std::move(call));
    std::string sentence = failure_of(wanted, ErrorKind::Usage);
    EXPECT_FALSE(std::filesystem::exists(wanted.out)) << sentence;
    std::string prefix = wanted.workload.module_path + ": ";
    EXPECT_EQ(sentence.rfind(prefix, 0), 0u) << sentence;
    return sentence.substr(std::min(prefix.size(), sentence.size()));
  };
  EXPECT_EQ(refused(testing::kWanting, {"run", {}, {}, {}}),
            "imports that are not provided: wasi_snapshot_preview1.fd_write (function (i32, i32, i32, i32) "
            "-> (i32)); "
            "only env.abort is");
  EXPECT_EQ(
      refused(testing::kArith, {"fob", {}, {}, {}}).rfind("there is no export fob; it exports add (", 0), 0u);
  EXPECT_EQ(refused(testing::kArith, {"memory", {}, {}, {}})
                .rfind("export memory is a memory and cannot be called; it exports add (", 0),
            0u);
  EXPECT_EQ(refused(testing::kArith, {"fib", {}, {55}, {}}),
            "fib has 1 argument slot, its type being (i32) -> (i32), but 0 are given");
  EXPECT_EQ(refused(testing::kArith, {"fib", {10}, {55, 1}, {}}),
            "fib has 1 result slot, its type being (i32) -> (i32), but 2 are given");
  EXPECT_EQ(refused(testing::kArith, {"fib", {uint64_t{1} << 32}, {55}, {}}),
            "fib: argument slot 0 is an i32, which 4294967296 does not fit");
  EXPECT_EQ(refused(testing::kArith, {"fib", {10}, {55}, {}, {base::SlotType::I64}, {}}),
            "fib: argument slot 0 is an i32, but an i64 is given");
  EXPECT_EQ(refused(testing::kArith, {"fib", {10}, {55}, {}, {}, {base::SlotType::F32}}),
            "fib: result slot 0 is an i32, but an f32 is given");
  RecordRequest fits =
      request(testing::kArith, {"fib", {10}, {55}, {}, {base::SlotType::I32}, {base::SlotType::I32}});
  EXPECT_FALSE(record(fits).error);
}

TEST_F(RecorderTest, InvalidAndUnreadableModules) {
  RecordRequest wanted = request(testing::kArith.substr(0, 60), fib());
  EXPECT_EQ(failure_of(wanted).rfind(wanted.workload.module_path + ": ", 0), 0u);
  EXPECT_FALSE(std::filesystem::exists(wanted.out));
  wanted.workload.module_path = path("none.wasm");
  EXPECT_EQ(failure_of(wanted, ErrorKind::Usage),
            path("none.wasm") + ": cannot be read: No such file or directory");
  wanted = request(testing::kArith, fib());
  wanted.workload.module_sha256 = base::Digest{};
  EXPECT_NE(failure_of(wanted, ErrorKind::Usage).find("is not the one that was declared"), std::string::npos);
}

TEST_F(RecorderTest, WhatThisVersionLacksIsRefusedByName) {
  auto refused = [&](auto change) {
    RecordRequest wanted = request(testing::kArith, fib());
    change(wanted);
    return failure_of(wanted, ErrorKind::Usage);
  };
  EXPECT_EQ(refused([](auto& r) { r.workload.phase = base::Phase::Initialize; }),
            "phase initialize needs an init export; a start function runs as part of phase instantiate");
  EXPECT_EQ(refused([](auto& r) { r.rate_hz = 0; }), "a sampling rate is 1 to 10000 Hz");
  EXPECT_EQ(refused([](auto& r) { r.rate_hz = 10'001; }), "a sampling rate is 1 to 10000 Hz");
  EXPECT_EQ(refused([](auto& r) { r.settings.code_offset = 8; }), "a code offset is 0, 16, 32 or 48 bytes");
}

TEST_F(RecorderTest, AnExistingDirectoryIsLeftAlone) {
  RecordRequest wanted = request(testing::kArith, fib());
  ASSERT_FALSE(record(wanted).error);
  RecordOutcome again = record(wanted);
  ASSERT_TRUE(again.error);
  EXPECT_EQ(again.error->kind, ErrorKind::Usage);
  EXPECT_FALSE(again.created);
  EXPECT_TRUE(Capture::open(wanted.out));
  wanted.out = path("no/such/place");
  EXPECT_EQ(failure_of(wanted, ErrorKind::Usage),
            path("no/such/place") + ": cannot be created: No such file or directory");
}

TEST_F(RecorderTest, AGuestThatNeverReturnsCostsOneCapture) {
  RecordRequest wanted = request(testing::kArith, {"spin", {}, {}, {}});
  wanted.collection_timeout_ns = 300'000'000;
  // In which phase depends on how busy the machine is.
  const std::string said = failure_of(wanted);
  EXPECT_EQ(said.rfind("the recording took longer than the collection timeout of 300ms, during phase ", 0),
            0u)
      << said;
  EXPECT_TRUE(said.ends_with("; --collection-timeout (TIMEOUT in CMake) allows more")) << said;
  wanted = request(testing::kArith, fib());
  wanted.out = path("after");
  EXPECT_FALSE(record(wanted).error) << "the recorder goes on";
}

TEST_F(RecorderTest, WhatCannotEndInTimeDoesNotBegin) {
  RecordRequest wanted = request(testing::kArith, fib());
  wanted.workload.iterations.reset();
  wanted.workload.duration_ns = 600'000'000'000;
  wanted.collection_timeout_ns = 300'000'000'000;
  EXPECT_EQ(
      failure_of(wanted, ErrorKind::Usage),
      "measuring for 10m does not fit into the collection timeout of 5m; --collection-timeout (TIMEOUT in "
      "CMake) allows more");
  EXPECT_FALSE(std::filesystem::exists(wanted.out));
}

TEST_F(RecorderTest, TheTimeoutGrowsWithTheDuration) {
  capture::Workload workload;
  EXPECT_EQ(default_timeout_ns(workload), kCollectionAllowanceNs + capture::kDefaultDurationNs);
  workload.duration_ns = 600'000'000'000;
  EXPECT_EQ(default_timeout_ns(workload), 900'000'000'000u);
  workload.duration_ns = UINT64_MAX - 1;
  EXPECT_EQ(default_timeout_ns(workload), UINT64_MAX);
  workload.duration_ns.reset();
  workload.iterations = 10;
  EXPECT_EQ(default_timeout_ns(workload), kCollectionAllowanceNs);
}

// A limit that the clock cannot reach is one that never ends a recording.
TEST_F(RecorderTest, TheLongestTimeoutIsNoneAtAll) {
  RecordRequest wanted = request(testing::kArith, fib());
  wanted.collection_timeout_ns = UINT64_MAX;
  EXPECT_FALSE(record(wanted).error);
}

TEST_F(RecorderTest, PathsAreBytes) {
  const std::string odd = path("d\xff");
  std::filesystem::create_directory(odd);
  // What a lossy copy of the path would lead to.
  std::filesystem::create_directory(path("d\xef\xbf\xbd"));
  RecordRequest wanted = request(testing::kArith, fib());
  std::filesystem::rename(wanted.workload.module_path, odd + "/\xfe.wasm");
  wanted.workload.module_path = odd + "/\xfe.wasm";
  wanted.out = odd + "/o\xfd";
  RecordOutcome outcome = record(wanted);
  ASSERT_FALSE(outcome.error) << outcome.error->to_string();
  EXPECT_EQ(opened(wanted).manifest().module_name, "\\xfe.wasm");
  EXPECT_TRUE(std::filesystem::is_empty(path("d\xef\xbf\xbd")));
  wanted.out = odd + "/other";
  wanted.workload.module_path = odd + "/\xfc.wasm";
  EXPECT_EQ(failure_of(wanted, ErrorKind::Usage),
            odd + "/\xfc.wasm: cannot be read: No such file or directory");
}

TEST_F(RecorderTest, ExportsAreUtf8) {
  RecordRequest wanted = request(testing::kArith, {"fib\xff", {10}, {55}, {}});
  wanted.workload.id = "fib";
  EXPECT_EQ(failure_of(wanted, ErrorKind::Usage),
            "the export \"fib\\xff\" is not UTF-8, as names of exports are");
}

// While the child measures, the directory goes, and something else comes in its place.
TEST_F(RecorderTest, ADirectoryThatIsTakenAwayIsNotWrittenInto) {
  for (bool replaced : {false, true}) {
    RecordRequest wanted = request(testing::kArith, fib());
    wanted.workload.iterations.reset();
    wanted.workload.duration_ns = 500'000'000;
    wanted.out = path(replaced ? "replaced" : "removed");
    bool done = false;
    wanted.on_progress = [&](const Progress& progress) {
      if (done || progress.phase != base::Phase::Execute || progress.warming_up) return;
      done = true;
      std::filesystem::remove_all(wanted.out);
      if (!replaced) return;
      std::filesystem::create_directory(wanted.out);
      std::ofstream(wanted.out + "/manifest.json") << "keep";
    };
    RecordOutcome outcome = record(wanted);
    ASSERT_TRUE(done);
    ASSERT_TRUE(outcome.error);
    EXPECT_EQ(outcome.error->to_string(),
              wanted.out +
                  ": is no longer the directory that was opened: it was removed, moved or replaced "
                  "meanwhile");
    EXPECT_EQ(outcome.error->kind, ErrorKind::Failed);
    EXPECT_TRUE(outcome.created);
    EXPECT_FALSE(outcome.left) << "there is no capture to speak of";
    EXPECT_EQ(std::filesystem::exists(wanted.out), replaced);
    if (!replaced) continue;
    EXPECT_EQ(*base::system_files().list(wanted.out), (std::vector<std::string>{"manifest.json"}));
    EXPECT_EQ(base::as_text(*base::system_files().read(wanted.out + "/manifest.json", 9)), "keep");
  }
}

TEST_F(RecorderTest, AGuestThatEatsMemoryCostsOneCapture) {
  RecordRequest wanted = request(testing::kHungry, {"eat", {}, {}, {}});
  wanted.memory_limit_bytes = 300 << 20;
  const std::string said = failure_of(wanted);
  EXPECT_EQ(said.rfind("the guest's process took more than the memory limit of 300 MiB", 0), 0u) << said;
}

// Children of this process, by looking at everybody's parent.
std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  DIR* proc = ::opendir("/proc");
  while (const dirent* entry = ::readdir(proc)) {
    pid_t pid = std::atoi(entry->d_name);
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string text((std::istreambuf_iterator<char>(stat)), {});
    size_t paren = text.rfind(')');
    int ppid = 0;
    char state = 0;
    if (pid > 0 && paren != std::string::npos &&
        std::sscanf(text.c_str() + paren + 1, " %c %d", &state, &ppid) == 2 && ppid == parent) {
      children.push_back(pid);
    }
  }
  ::closedir(proc);
  return children;
}

TEST_F(RecorderTest, AKilledChildCostsOneCapture) {
  RecordRequest wanted = request(testing::kArith, fib());
  wanted.workload.iterations.reset();
  wanted.workload.duration_ns = 60'000'000'000;
  wanted.on_progress = [](const Progress& progress) {
    if (progress.iterations < 100 || progress.warming_up) return;
    for (pid_t child : children_of(::getpid())) ::kill(child, SIGKILL);
  };
  std::string sentence = failure_of(wanted);
  EXPECT_EQ(sentence.rfind("the recording process died of signal 9 (SIGKILL) during phase execute after ", 0),
            0u)
      << sentence;
  auto left = Capture::open_any(wanted.out);
  ASSERT_TRUE(left);
  EXPECT_FALSE(left->manifest().complete);
  EXPECT_EQ(left->manifest().diagnostics[0].rfind("the recording process died of signal 9", 0), 0u);
}

TEST_F(RecorderTest, AKilledRecorderTakesItsChildWithIt) {
  RecordRequest wanted = request(testing::kArith, {"spin", {}, {}, {}});
  pid_t recorder = ::fork();
  if (recorder == 0) {
    record(wanted);
    ::_exit(0);
  }
  while (!std::filesystem::exists(base::join_path(wanted.out, "manifest.json"))) ::usleep(2000);
  std::vector<pid_t> children = children_of(recorder);
  ASSERT_EQ(children.size(), 1u);
  ::kill(recorder, SIGKILL);
  ::waitpid(recorder, nullptr, 0);
  bool gone = false;
  for (int i = 0; i < 1000 && !gone; ++i) {
    std::ifstream stat("/proc/" + std::to_string(children[0]) + "/stat");
    std::string text((std::istreambuf_iterator<char>(stat)), {});
    gone = text.empty() || text.find(") Z ") != std::string::npos;
    if (!gone) ::usleep(5000);
  }
  EXPECT_TRUE(gone) << "the child lives on";
  EXPECT_EQ(Capture::open(wanted.out).error().to_string(),
            wanted.out + ": unfinished capture: the recorder was stopped");
}

TEST_F(RecorderTest, AnInterruptEndsTheRecordingAndSaysSo) {
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    RecordRequest wanted = request(testing::kArith, {"spin", {}, {}, {}});
    wanted.out = path(base::signal_name(signal));
    wanted.on_progress = [&](const Progress& progress) {
      if (progress.phase == base::Phase::Execute) ::raise(signal);
    };
    RecordOutcome outcome = record(wanted);
    ASSERT_TRUE(outcome.error);
    EXPECT_EQ(outcome.interrupted_by, signal);
    const std::string reason = "interrupted by " + base::signal_name(signal);
    EXPECT_EQ(outcome.error->message, reason);
    EXPECT_EQ(Capture::open(wanted.out).error().to_string(), wanted.out + ": unfinished capture: " + reason);
  }
}

// As under nohup.
TEST_F(RecorderTest, AnIgnoredSignalStaysIgnored) {
  RecordRequest wanted = request(testing::kArith, fib());
  wanted.workload.iterations.reset();
  wanted.workload.duration_ns = 300'000'000;
  bool raised = false;
  wanted.on_progress = [&](const Progress&) { raised = ::raise(SIGHUP) == 0; };
  auto* previous = ::signal(SIGHUP, SIG_IGN);
  RecordOutcome outcome = record(wanted);
  ::signal(SIGHUP, previous);
  EXPECT_TRUE(raised);
  EXPECT_FALSE(outcome.error) << outcome.error->to_string();
}

TEST_F(RecorderTest, AStackThatIsTooSmallForAGuestIsRefused) {
  rlimit old, small;
  ASSERT_EQ(::getrlimit(RLIMIT_STACK, &old), 0);
  small = old;
  small.rlim_cur = 1 << 20;
  ASSERT_EQ(::setrlimit(RLIMIT_STACK, &small), 0);
  std::string sentence = failure_of(request(testing::kArith, fib()), ErrorKind::Unmeasurable);
  ASSERT_EQ(::setrlimit(RLIMIT_STACK, &old), 0);
  EXPECT_EQ(sentence, "the stack limit of 1024 KiB (ulimit -s) is below the 2048 KiB that a recording needs");
}

TEST_F(RecorderTest, AFileSizeLimitIsOneSentence) {
  RecordRequest wanted = request(testing::kArith, fib());
  rlimit old, small;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  small = old;
  small.rlim_cur = 1000;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  std::string sentence = failure_of(wanted);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old), 0);
  EXPECT_EQ(sentence, wanted.out + "/manifest.json.part: cannot be written: File too large");
}

// In a process of its own, with a file system of its own that holds 64 KiB.
TEST_F(RecorderTest, AFullDiskIsOneSentence) {
  RecordRequest wanted = request(testing::kArith, fib());
  std::string disk = path("disk");
  std::filesystem::create_directory(disk);
  wanted.out = base::join_path(disk, "out");
  int report[2];
  ASSERT_EQ(::pipe(report), 0);
  pid_t process = ::fork();
  if (process == 0) {
    bool own = ::unshare(CLONE_NEWNS) == 0 || ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0;
    if (!own || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=64k") != 0) {
      ::_exit(77);
    }
    // All but one page, so that the first manifest fits and what follows does not.
    std::vector<uint8_t> filler(64 * 1024 - 2 * static_cast<size_t>(::sysconf(_SC_PAGESIZE)), 1);
    if (!base::system_files().create(base::join_path(disk, "filler"), filler)) ::_exit(78);
    RecordOutcome outcome = record(wanted);
    std::string said = outcome.error ? outcome.error->to_string() : "complete";
    if (Capture::open(wanted.out)) said = "reads as complete";
    [[maybe_unused]] ssize_t written = ::write(report[1], said.data(), said.size());
    ::_exit(0);
  }
  ::close(report[1]);
  char said[1000] = {};
  [[maybe_unused]] ssize_t got = ::read(report[0], said, sizeof said - 1);
  ::close(report[0]);
  int status = 0;
  ::waitpid(process, &status, 0);
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "no private file system may be mounted here";
  ASSERT_EQ(WEXITSTATUS(status), 0);
  EXPECT_NE(std::string(said).find("No space left on device"), std::string::npos) << said;
}

TEST_F(RecorderTest, SettingsReachTheEngineAndTheCapture) {
  RecordRequest wanted = request(testing::kArith, fib());
  ASSERT_FALSE(record(wanted).error);
  const std::string code = opened(wanted).manifest().code_sha256;
  wanted.workload.engine.level = 0;
  wanted.workload.engine.bounds = base::Bounds::Explicit;
  wanted.workload.engine.interruptible = true;
  wanted.settings.code_offset = 48;
  wanted.settings.spill_everything = true;
  wanted.out = path("other");
  ASSERT_FALSE(record(wanted).error);
  const capture::Manifest m = opened(wanted).manifest();
  EXPECT_EQ(m.effective_settings.engine, wanted.workload.engine);
  EXPECT_EQ(m.effective_settings.code_offset, 48u);
  EXPECT_TRUE(m.effective_settings.spill_everything);
  EXPECT_NE(m.code_sha256, code);
}

TEST_F(RecorderTest, ReloadedCodeIsTheSameCode) {
  RecordRequest wanted = request(testing::kArith, fib());
  ASSERT_FALSE(record(wanted).error);
  const capture::Manifest compiled = opened(wanted).manifest();
  wanted.settings.reload_artifact = true;
  for (base::Phase phase : {base::Phase::Execute, base::Phase::All, base::Phase::Reload}) {
    wanted.workload.phase = phase;
    wanted.out = path("reloaded-" + std::string(base::spelling(phase)));
    ASSERT_FALSE(record(wanted).error);
    const capture::Manifest reloaded = opened(wanted).manifest();
    EXPECT_TRUE(reloaded.effective_settings.reload_artifact);
    EXPECT_EQ(reloaded.code_sha256, compiled.code_sha256);
    ASSERT_GE(reloaded.phases.size(), 2u);
    EXPECT_EQ(reloaded.phases[0].phase, base::Phase::Compile);
    EXPECT_EQ(reloaded.phases[1].phase, base::Phase::Reload);
    EXPECT_GT(reloaded.phases[1].completed_work, testing::kArith.size());
    EXPECT_EQ(reloaded.phases[1].work_unit, "bytes");
    EXPECT_EQ(reloaded.completed_iterations, wanted.workload.iterations);
  }
}

TEST(RecordChild, IsOfNoUseByHand) {
  auto process = base::Process::spawn(
      {.program = "/proc/self/exe", .argv = {"test", "__record-child"}, .descriptors = {}});
  ASSERT_TRUE(process);
  EXPECT_EQ(process->wait(-1)->exit_code, 2);
}

// down(n) is sink(n - 1) + 1 of whoever calls it; see kCrossing.
base::Result<void> set_up_host(Linker& linker, const capture::Workload& workload) {
  if (workload.id == kRefusedId) return base::usage_error("no functions for this one");
  if (workload.id == kUnprovidedId) return {};
  return linker.define_host("env", "down", [](const Caller& caller, int32_t n) -> Result<int32_t> {
    auto sink = caller.instance()->function("sink").value().typed<int32_t(int32_t)>().value();
    TypedResult<int32_t> deeper = sink(n - 1);
    if (!deeper) return base::failed(deeper.trap().message);
    return *deeper + 1;
  });
}

}  // namespace
}  // namespace wago::harness

int main(int argc, char** argv) {
  if (auto code = wago::harness::record_child_main(argc, argv, wago::harness::set_up_host)) return *code;
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
