#include "harness/worker.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <thread>

#include "base/files.h"
#include "base/testing/scratch_folder.h"
#include "capture/catalog.h"
#include "harness/testing/modules.h"
#include "runtime/regions.h"

namespace wago::harness {
namespace {

using base::Json;

// Each reading is a microsecond later than the one before.
class TickingClock : public base::Clock {
 public:
  uint64_t monotonic_ns() override { return now_ += 1000; }
  uint64_t thread_cpu_ns() override { return now_ += 1000; }
  uint64_t unix_ns() override { return now_ += 1000; }

 private:
  uint64_t now_ = 0;
};

struct Pipe {
  Pipe() { EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0); }
  ~Pipe() {
    ::close(ends[0]);
    ::close(ends[1]);
  }
  int ends[2];
};

WorkerIdentity nobody() {
  return {.program_version = "1.2.3",
          .revision = "0123456789abcdef0123456789abcdef01234567",
          .dirty = base::Dirty::Clean,
          .runner_id = "build-id:00",
          .target = "x86_64-linux-gnu",
          .sanitized = false,
          .backends = {"none", "count"}};
}

class WorkerTest : public ::testing::Test {
 protected:
  WorkerTest() { EXPECT_TRUE(base::system_files().create(module_, base::as_bytes(testing::kArith))); }

  std::string load(capture::Call call, uint64_t slowdown_ppm = 0, base::Phase phase = base::Phase::Execute) {
    capture::Workload workload;
    workload.id = "it";
    workload.module_path = "module.wasm";
    workload.phase = phase;
    workload.calls = {std::move(call)};
    return to_json(LoadRequest{.catalog = capture::to_catalog_text("c", {workload}),
                               .module = module_,
                               .code_offset = 16,
                               .slowdown_ppm = slowdown_ppm})
        .dump();
  }
  static capture::Call fib(uint64_t n, uint64_t want) { return {"fib", {n}, {want}, {}}; }

  static std::string name(Worker& worker, const std::string& line) {
    return message_name(worker.answer(std::string_view(line)));
  }
  static std::string sentence(Worker& worker, const std::string& line) {
    auto error = read_worker_error(worker.answer(std::string_view(line)));
    return error ? error->error.message : "no error";
  }
  void greet(Worker& worker) { EXPECT_EQ(name(worker, to_json(HelloRequest{}).dump()), "hello"); }

  const base::testing::ScratchFolder scratch_;
  const std::string module_ = scratch_.file("module.wasm");
};

// A version must be spoken for as long as there are experiments that speak no later one: its transcript may
// grow, and its sentences may be put better, but nothing else of it may change.
class TranscriptTest : public WorkerTest, public ::testing::WithParamInterface<uint64_t> {
 protected:
  ~TranscriptTest() override {
    for (runtime::Region region : {runtime::Region::Code, runtime::Region::Memory}) place_region(region, 0);
  }
};
INSTANTIATE_TEST_SUITE_P(Versions, TranscriptTest,
                         ::testing::Range(kOldestWorkerProtocol, kNewestWorkerProtocol + 1));

TEST_P(TranscriptTest, IsKeptTo) {
  TickingClock clock;
  Pipe in, out;
  ASSERT_EQ(::write(in.ends[1], "ttttt", 5), 5);
  Worker worker(nobody(), clock, {in.ends[0], out.ends[1]});
  std::ifstream golden(WAGO_SOURCE_DIR "/harness/testing/worker_protocol_" + std::to_string(GetParam()) +
                       ".transcript");
  ASSERT_TRUE(golden);
  Json answer;
  int checked = 0;
  for (std::string line; std::getline(golden, line);) {
    if (line.starts_with("> ")) {
      std::string request = line.substr(2);
      if (size_t at = request.find("$MODULE"); at != std::string::npos) request.replace(at, 7, module_);
      answer = worker.answer(std::string_view(request));
    } else if (line.starts_with("< ")) {
      // What the kernel and the compiler decide is not the protocol's.
      if (answer.find("code_sha256")) answer.set("code_sha256", "$SHA256");
      for (const char* switches : {"voluntary_switches", "involuntary_switches"}) {
        if (answer.find(switches)) answer.set(switches, Json::array({0, 0}));
      }
      EXPECT_EQ(answer.dump(), line.substr(2));
      ++checked;
    }
  }
  EXPECT_GE(checked, 20);
  EXPECT_TRUE(worker.closed());
}

TEST_F(WorkerTest, EveryIterationIsChecked) {
  Worker worker(nobody(), base::system_clock());
  greet(worker);
  ASSERT_EQ(name(worker, load(fib(10, 56))), "loaded");
  const Json answer = worker.answer(std::string_view(R"({"message":"warm-up","iterations":1})"));
  auto error = read_worker_error(answer);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->error.message, "wrong result of call 0 (fib): slot 0 wanted 56 (0x38), seen 55 (0x37)");
  EXPECT_EQ(error->stored, "wrong result of call 0 (fib): slot 0 differs from what was wanted");
}

TEST_F(WorkerTest, ATrapIsASentence) {
  Worker worker(nobody(), base::system_clock());
  greet(worker);
  ASSERT_EQ(name(worker, load({"div", {1, 0}, {0}, {}})), "loaded");
  EXPECT_EQ(sentence(worker, R"({"message":"estimate","duration_ns":1})"),
            "call 0 (div) trapped: integer divide by zero at div (func[2], wasm pc 0x5)");
}

TEST_F(WorkerTest, TwoTakeTurnsAndBothAreDone) {
  Pipe forth, back;
  Worker first(nobody(), base::system_clock(), {back.ends[0], forth.ends[1]});
  Worker second(nobody(), base::system_clock(), {forth.ends[0], back.ends[1]});
  for (Worker* worker : {&first, &second}) {
    greet(*worker);
    ASSERT_EQ(name(*worker, load(fib(10, 55))), "loaded");
  }
  Json answers[2];
  std::thread partner([&] {
    answers[1] = second.answer(
        std::string_view(R"({"message":"alternate","turns":50,"iterations":20,"starts":false})"));
  });
  answers[0] =
      first.answer(std::string_view(R"({"message":"alternate","turns":50,"iterations":20,"starts":true})"));
  partner.join();
  auto a = read_samples_answer(answers[0]), b = read_samples_answer(answers[1]);
  ASSERT_TRUE(a && b);
  ASSERT_EQ(a->turns.size(), 50u);
  ASSERT_EQ(b->turns.size(), 50u);
  for (size_t i = 0; i < 50; ++i) {
    EXPECT_GT(a->turns[i].cpu_ns, 0u);
    EXPECT_LE(a->turns[i].start_ns + a->turns[i].wall_ns, b->turns[i].start_ns) << "turn " << i;
    if (i > 0) {
      EXPECT_LE(b->turns[i - 1].start_ns + b->turns[i - 1].wall_ns, a->turns[i].start_ns) << "turn " << i;
    }
  }
}

TEST_F(WorkerTest, WhoGoesWrongLetsTheOtherOneKnow) {
  Pipe forth, back;
  // Its end of the pipe is its own, as in a process of its own.
  const int out_of_first = ::fcntl(forth.ends[1], F_DUPFD_CLOEXEC, 3);
  ::close(forth.ends[1]);
  forth.ends[1] = -1;
  Worker first(nobody(), base::system_clock(), {back.ends[0], out_of_first});
  Worker second(nobody(), base::system_clock(), {forth.ends[0], back.ends[1]});
  greet(first);
  greet(second);
  ASSERT_EQ(name(first, load(fib(10, 56))), "loaded");
  ASSERT_EQ(name(second, load(fib(10, 55))), "loaded");
  Json answer;
  std::thread partner([&] {
    answer =
        second.answer(std::string_view(R"({"message":"alternate","turns":5,"iterations":1,"starts":false})"));
  });
  const Json wrong =
      first.answer(std::string_view(R"({"message":"alternate","turns":5,"iterations":1,"starts":true})"));
  partner.join();
  EXPECT_FALSE(read_worker_error(wrong)->partner_lost);
  auto lost = read_worker_error(answer);
  ASSERT_TRUE(lost);
  EXPECT_TRUE(lost->partner_lost);
}

TEST_F(WorkerTest, PhasesAreMeasuredToo) {
  for (base::Phase phase : {base::Phase::Compile, base::Phase::Instantiate, base::Phase::All}) {
    Worker worker(nobody(), base::system_clock());
    greet(worker);
    const Json loaded = worker.answer(std::string_view(load(fib(10, 55), 0, phase)));
    ASSERT_TRUE(read_load_answer(loaded)) << loaded.dump();
    EXPECT_LE(read_load_answer(loaded)->max_iterations_per_turn, 64u);
    auto estimate = read_estimate_answer(
        worker.answer(std::string_view(R"({"message":"estimate","duration_ns":1000000})")));
    ASSERT_TRUE(estimate);
    EXPECT_GT(estimate->iteration_ns, 100u);
  }
}

TEST_F(WorkerTest, AnInjectedSlowdownIsOfAboutItsSize) {
  uint64_t iteration_ns[2] = {UINT64_MAX, UINT64_MAX};
  for (int attempt = 0; attempt < 5; ++attempt) {
    for (int slow = 0; slow < 2; ++slow) {
      Worker worker(nobody(), base::system_clock());
      greet(worker);
      ASSERT_EQ(name(worker, load(fib(20, 6765), slow ? 500'000 : 0)), "loaded");
      auto estimate = read_estimate_answer(
          worker.answer(std::string_view(R"({"message":"estimate","duration_ns":5000000})")));
      ASSERT_TRUE(estimate);
      iteration_ns[slow] = std::min(iteration_ns[slow], estimate->iteration_ns);
    }
  }
  const double ratio = static_cast<double>(iteration_ns[1]) / static_cast<double>(iteration_ns[0]);
  EXPECT_GT(ratio, 1.2);
  EXPECT_LT(ratio, 2.0);
}

// CPU time that was stolen is taken off late: a reading in a while comes to next to nothing.
class StealingClock : public base::Clock {
 public:
  uint64_t monotonic_ns() override { return base::monotonic_ns(); }
  uint64_t thread_cpu_ns() override {
    const uint64_t now_ns = base::thread_cpu_ns();
    last_ns_ = ++readings_ % 8 == 0 ? last_ns_ + 1 : std::max(last_ns_, now_ns);
    return last_ns_;
  }
  uint64_t unix_ns() override { return base::unix_ns(); }

 private:
  uint64_t readings_ = 0;
  uint64_t last_ns_ = 0;
};

TEST_F(WorkerTest, AnInjectedSlowdownDoesNotGrowOnClocksThatSlip) {
  StealingClock clock;
  Slowdown slowdown(10'000, clock);
  uint64_t longest_ns = 0;
  for (int turn = 0; turn < 200; ++turn) {
    const uint64_t before_ns = base::monotonic_ns();
    const uint64_t cpu_before_ns = base::thread_cpu_ns();
    slowdown.spend(10);
    const uint64_t spent_ns = base::thread_cpu_ns() - cpu_before_ns;
    longest_ns = std::max(longest_ns, spent_ns);
    ASSERT_LT(base::monotonic_ns() - before_ns, 5'000'000'000u);
    slowdown.learn(turn % 8 == 0 ? 1 : 300'000 + spent_ns, 10);
  }
  // One percent of 0.3 ms is 3 us.
  EXPECT_LT(longest_ns, 1'000'000u);
}

TEST_F(WorkerTest, RequestsOfStrangersAreAnswered) {
  Worker worker(nobody(), base::system_clock());
  greet(worker);
  for (const char* line :
       {"", "[]", "null", "{\"message\":7}", "{", "\xff", "{\"message\":\"load\"}",
        R"({"message":"load","catalog":"{}","module":"m","code_offset":5,"slowdown_ppm":0})",
        R"({"message":"hello","oldest":-1,"newest":1})"}) {
    EXPECT_EQ(message_name(worker.answer(std::string_view(line))), "error") << line;
  }
}

TEST_F(WorkerTest, ServesLinesHoweverTheyArrive) {
  Pipe in, out;
  std::thread client([&] {
    for (char c : to_json(HelloRequest{}).dump() + "\n{}\n{\"message\":\"close\"}\n") {
      EXPECT_EQ(::write(in.ends[1], &c, 1), 1);
    }
  });
  Worker worker(nobody(), base::system_clock());
  EXPECT_EQ(serve(worker, in.ends[0], out.ends[1]), 0);
  client.join();
  std::string said(65536, '\0');
  said.resize(static_cast<size_t>(::read(out.ends[0], said.data(), said.size())));
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 3);
  EXPECT_TRUE(said.ends_with("{\"message\":\"closed\"}\n")) << said;
}

bool is_mapped(uint64_t address, const std::string& permissions) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    uint64_t begin = 0, end = 0;
    char how[5] = {};
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s", &begin, &end, how) != 3) continue;
    if (begin <= address && address < end) return permissions == how;
  }
  return false;
}

TEST_F(WorkerTest, WhatIsPlacedIsThere) {
  constexpr PlaceRequest kThere = {
      .stack = (uint64_t{20} << 40) + 0x1230, .code = uint64_t{24} << 40, .memory = uint64_t{32} << 40};
  Pipe in, out, tokens;
  Worker worker(nobody(), base::system_clock(), {tokens.ends[0], tokens.ends[1]});
  std::thread served([&] { EXPECT_EQ(serve(worker, in.ends[0], out.ends[1]), 0); });
  std::string said;
  auto ask = [&](const std::string& line) {
    EXPECT_EQ(::write(in.ends[1], (line + "\n").data(), line.size() + 1), ssize_t(line.size() + 1));
    said.assign(65536, '\0');
    said.resize(static_cast<size_t>(::read(out.ends[0], said.data(), said.size())));
    return said;
  };
  ask(to_json(HelloRequest{}).dump());
  EXPECT_EQ(ask(to_json(kThere).dump()), "{\"message\":\"placed\"}\n");
  EXPECT_TRUE(ask(load(fib(10, 55))).starts_with("{\"message\":\"loaded\"")) << said;
  EXPECT_TRUE(is_mapped(kThere.code, "r-xp"));
  EXPECT_TRUE(is_mapped(kThere.stack - 16, "rw-p"));
  EXPECT_EQ(ask(R"({"message":"warm-up","iterations":2})"), "{\"message\":\"warmed\"}\n");
  EXPECT_EQ(ask(R"({"message":"close"})"), "{\"message\":\"closed\"}\n");
  served.join();
  EXPECT_FALSE(is_mapped(kThere.stack - 16, "rw-p"));
  for (runtime::Region region : {runtime::Region::Code, runtime::Region::Memory}) place_region(region, 0);
}

}  // namespace
}  // namespace wago::harness
