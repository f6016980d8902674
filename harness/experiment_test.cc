// Experiments of real and of sabotaged sides: this test program is its own runner, see main() at the end. A
// side is sabotaged by the name that it is run under: "crash.alternate" dies when it is asked to alternate.
// One named "diary" notes where it is to put code and what it is run from; "settled" is run from its file
// only.
#include "harness/experiment.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <random>
#include <set>

#include "base/clock.h"
#include "base/duration.h"
#include "base/files.h"
#include "base/process.h"
#include "base/testing/scratch_folder.h"
#include "harness/experiment_store.h"
#include "harness/explain_captures.h"
#include "harness/testing/modules.h"
#include "harness/worker.h"

namespace wago::harness {
namespace {

using base::ErrorKind;
using capture::ExperimentContents;
using capture::WorkloadState;

WorkerIdentity tester() {
  WorkerIdentity identity = own_identity();
  // Or there would be nothing to test with sanitizers on.
  identity.sanitized = false;
  return identity;
}

// What a sabotaged side does instead of answering.
void sabotage(const std::string& how) {
  if (how == "crash") {
    ::signal(SIGSEGV, SIG_DFL);  // a sanitizer would make an exit of it
    ::raise(SIGSEGV);
  }
  if (how == "hang") ::pause();
  if (how == "garbage") std::cout << "all is well\n" << std::flush;
  if (how == "wrong_answer") std::cout << "{\"message\":\"closed\"}\n" << std::flush;
  if (how == "future") {
    WorkerIdentity identity = tester();
    std::cout << to_json(HelloAnswer{9, identity}).dump() << "\n" << std::flush;
  }
  if (how == "past") {
    const auto error = base::usage_error("this runner speaks version 0 of the worker protocol");
    std::cout << to_json(WorkerError{error, error.message}).dump() << "\n" << std::flush;
  }
  if (how == "sanitized" || how == "foreign") {
    WorkerIdentity identity = tester();
    identity.sanitized = how == "sanitized";
    if (how == "foreign") identity.target = "riscv64-linux-gnu";
    std::cout << to_json(HelloAnswer{1, identity}).dump() << "\n" << std::flush;
  }
}

// Stands for `profile record`: a directory that holds its own flags. "wrong" fails when all but done; "deaf"
// cannot sample here; "slow" does not come to an end.
int run_recording(const std::string& program, const std::vector<std::string>& flags) {
  const std::string name = base::base_name(program);
  const std::string how = name.substr(0, name.find('.'));
  const std::string& out = flags.back();
  const bool sampled = std::find(flags.begin(), flags.end(), "pprof") != flags.end();
  std::string text;
  for (const std::string& flag : flags) text += flag + " ";
  EXPECT_TRUE(base::system_files().create_directory(out));
  EXPECT_TRUE(base::system_files().create(base::join_path(out, "flags"), base::as_bytes(text)));
  if (how == "slow" && sampled) ::pause();
  if (how == "wrong") std::cerr << "wrong result\n";
  if (how == "deaf" && sampled) std::cerr << "there is no clock\n";
  return how == "wrong" ? 1 : how == "deaf" && sampled ? 5 : 0;
}

// "HOW.MESSAGE" or "HOW.MESSAGE.WORKLOAD".
int run_worker(const std::string& program) {
  const std::string name = base::base_name(program);
  const size_t first = name.find('.'), second = name.find('.', first + 1);
  const std::string how = name.substr(0, first);
  const std::string when = first == std::string::npos ? "" : name.substr(first + 1, second - first - 1);
  const std::string whose = second == std::string::npos ? "" : name.substr(second + 1);
  const std::string exe = std::filesystem::read_symlink("/proc/self/exe");
  if (how == "settled" && exe.starts_with("/memfd:")) return 127;
  if (how == "diary" || how == "settled") std::ofstream(program + ".programs", std::ios::app) << exe << "\n";
  WorkerIdentity identity = tester();
  if (how == "other") identity.runner_id = "another";
  if (how == "old") identity.backends = {"none", "pprof"};
  Worker worker(identity, base::system_clock());
  bool concerned = whose.empty();
  for (std::string line; !worker.closed() && std::getline(std::cin, line);) {
    auto request = base::parse_json(line, "request");
    const std::string message = request ? message_name(*request) : "";
    // A program that knows no other version.
    if (message == "hello" && how == "first_version") line = to_json(HelloRequest{1, 1}).dump();
    if (message == "load" && how == "diary") {
      std::ofstream(program + ".offsets", std::ios::app)
          << base::JsonReader(*request, "load").u64("code_offset") << " ";
    }
    if (message == "load") concerned |= line.find("\\\"id\\\": \\\"" + whose + "\\\"") != std::string::npos;
    if (message == when && concerned) {
      sabotage(how);
      continue;
    }
    std::cout << worker.answer(std::string_view(line)).dump() << "\n" << std::flush;
  }
  return 0;
}

class ExperimentTest : public ::testing::Test {
 protected:
  ExperimentTest() {
    EXPECT_TRUE(base::system_files().create(path("module.wasm"), base::as_bytes(testing::kArith)));
    program_ = std::filesystem::read_symlink("/proc/self/exe");
  }

  std::string path(const std::string& name) const { return scratch_.file(name); }

  // This program under another name.
  std::string runner(const std::string& name) const {
    if (!std::filesystem::exists(path(name))) std::filesystem::create_symlink(program_, path(name));
    return path(name);
  }

  // What a side that notes it was run from, each once.
  std::set<std::string> programs(const std::string& runner) const {
    std::set<std::string> programs;
    std::ifstream file(path(runner + ".programs"));
    for (std::string line; std::getline(file, line);) programs.insert(line);
    return programs;
  }

  capture::Workload fib(const std::string& id, uint64_t n, uint64_t want) const {
    capture::Workload workload;
    workload.id = id;
    workload.module_path = path("module.wasm");
    workload.calls = {{"fib", {n}, {want}, {}}};
    return workload;
  }

  ExperimentRequest request(const std::string& candidate = "honest") const {
    ExperimentRequest request;
    request.workloads = {fib("fib", 15, 610)};
    request.catalog = "tests";
    request.sides[0].program = runner("honest");
    request.sides[1].program = runner(candidate);
    request.out = path("out.wagoexp");
    request.timed_ns = 5'000'000;
    request.record_captures = false;
    request.seed = 7;
    return request;
  }

  static ExperimentOutcome run(const ExperimentRequest& wanted, uint64_t pairs) {
    FixedPairs rule(pairs);
    return run_experiment(wanted, rule);
  }

  ExperimentContents read() const {
    auto contents = capture::read_experiment(path("out.wagoexp"));
    EXPECT_TRUE(contents) << contents.error().to_string();
    return contents ? *contents : ExperimentContents();
  }

  // The sentence by which an experiment with this candidate fails as a whole.
  std::string refusal(const std::string& candidate, ErrorKind kind) const {
    ExperimentRequest wanted = request(candidate);
    wanted.answer_timeout_ns = 3'000'000'000;
    ExperimentOutcome outcome = run(wanted, 1);
    EXPECT_TRUE(outcome.error);
    EXPECT_FALSE(outcome.created);
    EXPECT_FALSE(std::filesystem::exists(wanted.out));
    if (!outcome.error) return "";
    EXPECT_EQ(outcome.error->kind, kind);
    return outcome.error->message;
  }

  // What becomes of the workload "fib" with this candidate while "other" is measured all the same.
  std::string failure(const std::string& candidate, uint64_t answer_timeout_ns = 60'000'000'000) const {
    ExperimentRequest wanted = request(candidate);
    wanted.workloads.push_back(fib("other", 12, 144));
    wanted.answer_timeout_ns = answer_timeout_ns;
    ExperimentOutcome outcome = run(wanted, 2);
    EXPECT_FALSE(outcome.error) << outcome.error->to_string();
    const ExperimentContents contents = read();
    EXPECT_TRUE(contents.experiment.complete);
    EXPECT_EQ(contents.experiment.workloads[0].state, WorkloadState::Failed);
    EXPECT_EQ(contents.experiment.workloads[1].state, WorkloadState::Measured);
    size_t of_other = 0;
    for (const capture::Pair& pair : contents.pairs) {
      EXPECT_NE(pair.workload, 0u);
      of_other += pair.workload == 1 ? 1 : 0;
    }
    EXPECT_EQ(of_other, 2u);
    return contents.experiment.workloads[0].diagnostic;
  }

  const base::testing::ScratchFolder scratch_;
  std::string program_;
};

double log_ratio(const capture::Pair& pair) {
  std::vector<double> ratios;
  for (size_t i = 0; i < pair.turns[0].size(); ++i) {
    ratios.push_back(std::log(static_cast<double>(pair.turns[1][i].cpu_ns) /
                              static_cast<double>(pair.turns[0][i].cpu_ns)));
  }
  std::nth_element(ratios.begin(), ratios.begin() + static_cast<ptrdiff_t>(ratios.size() / 2), ratios.end());
  return ratios[ratios.size() / 2];
}

TEST(TurnPlan, ShortIterationsAreBatchedAndLongOnesRunFreely) {
  EXPECT_EQ(plan_turns(1000, UINT64_MAX), (TurnPlan{false, 300, 400, 40}));
  EXPECT_EQ(plan_turns(299'999, UINT64_MAX).iterations, 2u);
  EXPECT_EQ(plan_turns(300'000, UINT64_MAX), (TurnPlan{false, 1, 400, 40}));
  EXPECT_EQ(plan_turns(10'000'000, UINT64_MAX), (TurnPlan{false, 1, 12, 1}));
  EXPECT_EQ(plan_turns(10'000'001, UINT64_MAX), (TurnPlan{true, 1, 11, 0}));
  EXPECT_EQ(plan_turns(5'000'000'000, UINT64_MAX), (TurnPlan{true, 1, 3, 0}));
  EXPECT_EQ(plan_turns(1000, 64).iterations, 64u);
  EXPECT_EQ(plan_turns(0, 1).iterations, 1u);
  EXPECT_EQ(plan_turns(UINT64_MAX, UINT64_MAX).turns, 3u);
}

TEST_F(ExperimentTest, PairsHoldWhatBothSidesDid) {
  ExperimentRequest wanted = request();
  wanted.workloads[0].labels = {"calls"};
  ExperimentOutcome outcome = run(wanted, 5);
  ASSERT_FALSE(outcome.error) << outcome.error->to_string();
  EXPECT_EQ(outcome.pairs, 10u);
  const ExperimentContents contents = read();
  EXPECT_TRUE(contents.experiment.complete);
  ASSERT_EQ(contents.experiment.workloads.size(), 2u);
  EXPECT_FALSE(contents.experiment.workloads[0].control);
  EXPECT_TRUE(contents.experiment.workloads[1].control);
  EXPECT_EQ(contents.experiment.workloads[0].labels, std::vector<std::string>{"calls"});
  EXPECT_EQ(contents.experiment.workloads[0].module_sha256[0].size(), 64u);
  EXPECT_EQ(contents.experiment.sides[0].runner_id, own_identity().runner_id);
  std::map<uint32_t, uint32_t> pairs_of;
  std::map<uint32_t, std::vector<std::array<size_t, 2>>> orders;
  std::set<uint64_t> places;
  for (const capture::Pair& pair : contents.pairs) {
    const uint32_t number = pairs_of[pair.workload]++;
    EXPECT_EQ(pair.code_offset, number % 4 * 16);
    EXPECT_EQ(pair.round, number);
    EXPECT_FALSE(pair.sliced);
    EXPECT_GT(pair.iterations_per_turn, 1u);
    EXPECT_LT(pair.padding_bytes, 4096u);
    ASSERT_TRUE(pair.addresses);
    const auto& [stack, memory, code] = *pair.addresses;
    EXPECT_EQ(code[0], code[1]);
    for (uint64_t address : {stack, memory, code[0]}) {
      EXPECT_TRUE(places.insert(address % (uint64_t{1} << 40) / 4096).second) << "drawn, and for each pair";
    }
    ASSERT_GE(pair.turns[0].size(), 3u);
    const size_t first = static_cast<size_t>(pair.first);
    orders[pair.workload].push_back({first, static_cast<size_t>(pair.loaded_first)});
    for (size_t i = 0; i < pair.turns[0].size(); ++i) {
      const capture::Turn &one = pair.turns[first][i], &next = pair.turns[1 - first][i];
      EXPECT_LE(one.start_ns + one.wall_ns, next.start_ns);
    }
    // The same program on both sides. This machine may be busy; twice as slow it is not.
    EXPECT_LT(std::abs(log_ratio(pair)), std::log(2));
  }
  for (auto& [workload, order] : orders) {
    std::sort(order.begin(), order.begin() + 4);
    EXPECT_EQ(std::vector(order.begin(), order.begin() + 4),
              (std::vector<std::array<size_t, 2>>{{0, 0}, {0, 1}, {1, 0}, {1, 1}}))
        << "who begins and who is loaded first, of four pairs";
  }
  EXPECT_EQ(pairs_of[0], 5u);
  EXPECT_EQ(pairs_of[1], 5u);
}

TEST_F(ExperimentTest, ASideThatCannotBePlacedLeavesTheOtherWhereItIs) {
  ExperimentRequest wanted = request("first_version");
  ASSERT_FALSE(run(wanted, 2).error);
  const ExperimentContents contents = read();
  ASSERT_EQ(contents.pairs.size(), 4u);
  for (const capture::Pair& pair : contents.pairs) EXPECT_FALSE(pair.addresses);
  ASSERT_EQ(contents.experiment.diagnostics.size(), 1u);
  EXPECT_TRUE(contents.experiment.diagnostics[0].starts_with(
      "the candidate speaks version 1 of the worker protocol and cannot be told where to have its code"));
}

TEST_F(ExperimentTest, AShiftedSideHasItsCodeSoMuchFurtherInEveryPair) {
  ExperimentRequest wanted = request("diary");
  wanted.sides[1].setting = {.text = "--code-shift 48", .code_shift = 48};
  ASSERT_FALSE(run(wanted, 5).error);
  for (const capture::Pair& pair : read().pairs) {
    EXPECT_EQ(pair.code_offset, pair.round % 4 * 16);
    ASSERT_TRUE(pair.addresses);
    EXPECT_NE(pair.addresses->code[0], pair.addresses->code[1]) << "of other code, and of its control";
  }
  const auto noted = base::system_files().read(path("diary.offsets"), 1000);
  ASSERT_TRUE(noted);
  EXPECT_EQ(std::string(noted->begin(), noted->end()), "48 48 0 16 32 48 ") << "surveyed first";
}

TEST_F(ExperimentTest, WorkersRunFromCopiesOfTheirPrograms) {
  const std::set<std::string> copy = {"/memfd:diary (deleted)"};
  ASSERT_FALSE(run(request("diary"), 2).error);
  EXPECT_EQ(programs("diary"), copy);
  EXPECT_TRUE(read().experiment.diagnostics.empty());
}

TEST_F(ExperimentTest, WhereAProgramCannotBeRunFromACopyBothRunFromTheirFiles) {
  ExperimentRequest wanted = request("settled");
  wanted.sides[0].program = runner("diary");
  std::vector<std::string> notes;
  wanted.on_note = [&](const std::string& sentence) { notes.push_back(sentence); };
  const std::string remark =
      "the candidate's program settled cannot be run from a copy in memory (its worker exited with code "
      "127), so both sides' programs are run where they are: their pages lie at the same places in all "
      "pairs, "
      "and workloads that spend their time in the program itself may differ by several percent for no other "
      "reason";
  ASSERT_FALSE(run(wanted, 2).error);
  EXPECT_EQ(notes, std::vector{remark});
  EXPECT_EQ(read().experiment.diagnostics, std::vector{remark});
  EXPECT_EQ(programs("settled"), std::set{program_});
  // It was greeted before the other one was.
  EXPECT_EQ(programs("diary"), (std::set<std::string>{"/memfd:diary (deleted)", program_}));

  // Decided again, and said once.
  ASSERT_FALSE(run(wanted, 3).error);
  EXPECT_EQ(notes.size(), 2u);
  EXPECT_EQ(read().experiment.diagnostics, std::vector{remark});
  EXPECT_EQ(programs("settled"), std::set{program_});
}

TEST_F(ExperimentTest, AScriptIsRunWhereItIs) {
  std::ofstream(path("script")) << "#!/bin/sh\nexec '" << runner("diary") << "' \"$@\"\n";
  std::filesystem::permissions(path("script"), std::filesystem::perms::owner_all);
  ExperimentRequest wanted = request();
  wanted.sides[1].program = path("script");
  ASSERT_FALSE(run(wanted, 1).error);
  const ExperimentContents contents = read();
  EXPECT_EQ(contents.pairs.size(), 2u);
  EXPECT_EQ(programs("diary"), std::set{program_});
  ASSERT_EQ(contents.experiment.diagnostics.size(), 1u);
  EXPECT_TRUE(contents.experiment.diagnostics[0].starts_with(
      "the candidate's program script cannot be run from a copy in memory (it is no ELF file), so both "))
      << contents.experiment.diagnostics[0];
}

TEST_F(ExperimentTest, AProgramThatIsReplacedIsNoticed) {
  for (const bool gone : {false, true}) {
    ExperimentRequest wanted = request("replaced");
    wanted.out = path(gone ? "gone.wagoexp" : "out.wagoexp");
    wanted.on_progress = [&](const ExperimentProgress& progress) {
      if (progress.pairs != 1) return;
      std::filesystem::remove(path("replaced"));
      if (!gone) std::filesystem::create_symlink("/bin/true", path("replaced"));
    };
    const ExperimentOutcome outcome = run(wanted, 2);
    if (gone) {
      ASSERT_TRUE(outcome.error);
      EXPECT_EQ(outcome.error->kind, ErrorKind::Usage);
      EXPECT_EQ(outcome.error->message, "cannot run " + path("replaced") + ": No such file or directory");
    } else {
      ASSERT_FALSE(outcome.error) << outcome.error->to_string();
      EXPECT_EQ(read().experiment.workloads[0].diagnostic, "the candidate: its worker exited with code 0");
    }
    std::filesystem::remove(path("replaced"));
  }
}

TEST_F(ExperimentTest, LongIterationsRunFreely) {
  ExperimentRequest wanted = request();
  wanted.workloads = {fib("long", 34, 5702887)};
  wanted.timed_ns = 1;
  ASSERT_FALSE(run(wanted, 1).error);
  const capture::Pair pair = read().pairs.at(0);
  EXPECT_TRUE(pair.sliced);
  EXPECT_EQ(pair.iterations_per_turn, 1u);
  EXPECT_EQ(pair.turns[0].size(), 3u);
  EXPECT_EQ(pair.turns[1].size(), 3u);
}

TEST_F(ExperimentTest, AnInjectedSlowdownIsSeenInPairsAndNotInControls) {
  ExperimentRequest wanted = request();
  wanted.sides[1].slowdown_ppm = 500'000;
  ASSERT_FALSE(run(wanted, 4).error);
  std::vector<double> slowed, controls;
  const ExperimentContents contents = read();
  EXPECT_EQ(contents.experiment.sides[1].slowdown_ppm, 500'000u);
  for (const capture::Pair& pair : contents.pairs) {
    (pair.workload == 0 ? slowed : controls).push_back(log_ratio(pair));
  }
  std::sort(slowed.begin(), slowed.end());
  std::sort(controls.begin(), controls.end());
  EXPECT_GT(slowed[2], std::log(1.2));
  EXPECT_LT(controls[1], std::log(1.2));
}

TEST_F(ExperimentTest, SettingsAndModulesOfOneSide) {
  ExperimentRequest wanted = request();
  wanted.sides[1].setting.text = "--interruptible";
  wanted.sides[1].setting.interruptible = true;
  std::filesystem::create_directory(path("old"));
  // The same functions, and one more custom section.
  std::string older(testing::kArith);
  older += std::string("\x00\x02\x01x", 4);
  ASSERT_TRUE(base::system_files().create(path("old/module.wasm"), base::as_bytes(older)));
  wanted.sides[0].modules = path("old");
  ExperimentOutcome outcome = run(wanted, 1);
  ASSERT_FALSE(outcome.error) << outcome.error->to_string();
  const capture::Experiment experiment = read().experiment;
  const capture::ExperimentWorkload& workload = experiment.workloads[0];
  EXPECT_EQ(experiment.sides[1].setting, "--interruptible");
  EXPECT_NE(workload.module_sha256[0], workload.module_sha256[1]);
  EXPECT_NE(workload.code_sha256[0], workload.code_sha256[1]);
  EXPECT_EQ(experiment.workloads[1].module_sha256[1], workload.module_sha256[0])
      << "the baseline on both sides";
}

TEST_F(ExperimentTest, SidesThatCannotBeCompared) {
  EXPECT_EQ(refusal("past.hello", ErrorKind::Usage),
            "the candidate does not speak the worker protocol: this runner speaks version 0 of the worker "
            "protocol");
  EXPECT_EQ(refusal("future.hello", ErrorKind::Usage),
            "the candidate does not speak the worker protocol: its worker chose version 9 of the worker "
            "protocol, which was not offered");
  EXPECT_EQ(refusal("crash.hello", ErrorKind::Usage),
            "the candidate does not speak the worker protocol: its worker died of signal 11 (SIGSEGV)");
  EXPECT_EQ(
      refusal("hang.hello", ErrorKind::Usage),
      "the candidate does not speak the worker protocol: its worker did not answer in time (3s allowed)");
  EXPECT_NE(refusal("garbage.hello", ErrorKind::Usage).find("its worker answered with nonsense"),
            std::string::npos);
  EXPECT_EQ(refusal("wrong_answer.hello", ErrorKind::Usage),
            "the candidate does not speak the worker protocol: its worker answered with nonsense: hello was "
            "expected");
  EXPECT_EQ(refusal("sanitized.hello", ErrorKind::Unmeasurable),
            "the candidate is a sanitized build, whose time says nothing");
  EXPECT_EQ(refusal("foreign.hello", ErrorKind::Usage),
            "the candidate is for riscv64-linux-gnu, and this machine is x86_64-linux-gnu");
  ExperimentRequest wanted = request();
  wanted.sides[1].program = path("nowhere");
  EXPECT_EQ(run(wanted, 1).error->message,
            "the candidate: cannot run " + path("nowhere") + ": No such file or directory");
  wanted.sides[1].program = "/bin/true";
  EXPECT_EQ(run(wanted, 1).error->message,
            "the candidate does not speak the worker protocol: its worker exited with code 0");
}

TEST_F(ExperimentTest, ASideThatCrashesFailsItsWorkloadAndNoOther) {
  EXPECT_EQ(failure("crash.alternate.fib"), "the candidate: its worker died of signal 11 (SIGSEGV)");
}

TEST_F(ExperimentTest, ASideThatCrashesBeforeItsFirstPair) {
  EXPECT_EQ(failure("crash.warm-up.fib"), "the candidate: its worker died of signal 11 (SIGSEGV)");
}

TEST_F(ExperimentTest, TheSideThatHangsIsNamedAndNotTheOneThatWaits) {
  EXPECT_NE(
      failure("hang.alternate.fib", 10'000'000'000).find("the candidate: its worker did not answer in time"),
      std::string::npos);
}

TEST_F(ExperimentTest, ASideThatAnswersNonsense) {
  EXPECT_EQ(failure("garbage.alternate.fib").substr(0, 58),
            "the candidate: its worker answered with nonsense: not JSON");
}

TEST_F(ExperimentTest, AWrongResultIsKeptWithoutTheResult) {
  ExperimentRequest wanted = request();
  wanted.workloads.push_back(fib("wrong", 12, 145));
  std::vector<std::string> notes;
  wanted.on_note = [&](const std::string& sentence) { notes.push_back(sentence); };
  ASSERT_FALSE(run(wanted, 1).error);
  EXPECT_EQ(read().experiment.workloads[1].diagnostic,
            "the baseline: wrong result of call 0 (fib): slot 0 differs from what was wanted");
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].substr(0, 56), "workload wrong failed: the baseline: wrong result of cal");
  EXPECT_NE(notes[0].find("wanted 145 (0x91), seen 144 (0x90)"), std::string::npos);
}

TEST_F(ExperimentTest, ACpuThatIsNotThere) {
  for (uint32_t cpu : {1000u, 100'000u}) {
    ExperimentRequest wanted = request();
    wanted.cpu = cpu;
    ExperimentOutcome outcome = run(wanted, 1);
    ASSERT_TRUE(outcome.error);
    EXPECT_EQ(outcome.error->kind, ErrorKind::Unmeasurable);
    EXPECT_NE(outcome.error->message.find("cannot be bound to CPU " + std::to_string(cpu)),
              std::string::npos);
  }
}

TEST_F(ExperimentTest, ABudgetThatIsTooSmallIsSaid) {
  ExperimentRequest wanted = request();
  wanted.budget_ns = 1'000'000;
  ASSERT_FALSE(run(wanted, 4).error);
  const ExperimentContents contents = read();
  EXPECT_TRUE(contents.experiment.complete);
  EXPECT_TRUE(contents.pairs.empty());
  EXPECT_EQ(contents.experiment.diagnostics,
            (std::vector<std::string>{"the budget of 1ms was spent before every workload had its 4 pairs"}));
  // Once they are there nothing is missing.
  wanted.budget_ns = 0;
  ASSERT_FALSE(run(wanted, 4).error);
  EXPECT_EQ(read().pairs.size(), 8u);
  EXPECT_EQ(read().experiment.diagnostics, std::vector<std::string>{});
}

// Wants more of one workload than of the others.
class Favourite : public StoppingRule {
 public:
  std::vector<Demand> demands(const capture::Experiment& experiment,
                              std::span<const capture::Pair>) override {
    std::vector<Demand> demands(experiment.workloads.size(), Demand{.pairs = 1});
    demands[1].pairs = 4;
    return demands;
  }
};

TEST_F(ExperimentTest, TheRuleDecidesWhoGetsMore) {
  ExperimentRequest wanted = request();
  wanted.workloads.push_back(fib("other", 12, 144));
  Favourite rule;
  EXPECT_EQ(rule.goal(), "every workload was settled");
  ASSERT_FALSE(run_experiment(wanted, rule).error);
  std::map<uint32_t, int> pairs_of;
  for (const capture::Pair& pair : read().pairs) ++pairs_of[pair.workload];
  EXPECT_EQ(pairs_of[0], 1);
  EXPECT_EQ(pairs_of[1], 4);
}

TEST_F(ExperimentTest, InterruptedAndContinued) {
  ExperimentRequest wanted = request();
  wanted.on_progress = [](const ExperimentProgress& progress) {
    if (progress.pairs == 3) ::raise(SIGINT);
  };
  ExperimentOutcome outcome = run(wanted, 4);
  EXPECT_EQ(outcome.interrupted_by, SIGINT);
  ASSERT_TRUE(outcome.error);
  EXPECT_FALSE(read().experiment.complete);
  const std::vector<capture::Pair> kept = read().pairs;
  EXPECT_EQ(kept.size(), 3u);
  // As a writer that was killed would leave it.
  std::ofstream(path("out.wagoexp/pairs.jsonl"), std::ios::app) << R"({"workload":0,"round":1,"code_off)";

  wanted.on_progress = nullptr;
  outcome = run(wanted, 4);
  ASSERT_FALSE(outcome.error) << outcome.error->to_string();
  EXPECT_TRUE(outcome.continued);
  EXPECT_EQ(outcome.new_pairs, 5u);
  const ExperimentContents contents = read();
  EXPECT_TRUE(contents.experiment.complete);
  ASSERT_EQ(contents.pairs.size(), 8u);
  EXPECT_TRUE(std::equal(kept.begin(), kept.end(), contents.pairs.begin()));
  std::map<uint32_t, uint32_t> pairs_of;
  for (const capture::Pair& pair : contents.pairs)
    EXPECT_EQ(pair.code_offset, pairs_of[pair.workload]++ % 4 * 16);
  // Done is done.
  EXPECT_EQ(run(wanted, 4).new_pairs, 0u);
}

TEST_F(ExperimentTest, PairsThatAreGoneAreSaidAndMeasuredAgain) {
  ASSERT_FALSE(run(request(), 2).error);
  ASSERT_EQ(read().pairs.size(), 4u);
  std::ifstream in(path("out.wagoexp/pairs.jsonl"));
  std::string first;
  std::getline(in, first);
  const uint64_t elapsed_ns = read().experiment.elapsed_ns;
  std::filesystem::resize_file(path("out.wagoexp/pairs.jsonl"), first.size() + 1);
  EXPECT_FALSE(capture::read_experiment(path("out.wagoexp")));

  ExperimentRequest wanted = request();
  std::vector<std::string> notes;
  wanted.on_note = [&](const std::string& sentence) { notes.push_back(sentence); };
  // Of a budget that is spent by now nothing is left.
  wanted.budget_ns = elapsed_ns;
  ExperimentOutcome outcome = run(wanted, 2);
  ASSERT_FALSE(outcome.error) << outcome.error->to_string();
  EXPECT_EQ(outcome.new_pairs, 0u);
  const std::string gone = "3 measured pairs are gone: pairs.jsonl was cut off";
  const std::string budget = base::format_duration(elapsed_ns);
  const std::string spent = "the budget of " + budget + " was spent before every workload had its 2 pairs";
  EXPECT_EQ(notes, (std::vector{gone + "; the time they took counts, which leaves 0 ns of the budget of " +
                                    budget + ": a greater --budget measures them again",
                                spent}));
  EXPECT_EQ(read().experiment.diagnostics, (std::vector{gone, spent}));

  wanted.budget_ns = 0;
  outcome = run(wanted, 2);
  EXPECT_EQ(outcome.new_pairs, 3u);
  EXPECT_EQ(notes.size(), 2u) << "nothing more is gone";
  EXPECT_EQ(read().pairs.size(), 4u);
  EXPECT_EQ(read().experiment.diagnostics, std::vector{gone});
}

TEST_F(ExperimentTest, ThePlaceIsTheOneThatWasNamed) {
  ExperimentRequest wanted = request();
  wanted.out = path("out.wagoexp//");
  EXPECT_FALSE(run(wanted, 1).error);
  EXPECT_EQ(read().pairs.size(), 2u);
  EXPECT_TRUE(run(wanted, 1).continued);
  wanted.out = path("nowhere/out.wagoexp");
  const ExperimentOutcome outcome = run(wanted, 1);
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->to_string(), wanted.out + ": cannot be created: No such file or directory");
}

TEST_F(ExperimentTest, OnlyTheSameExperimentIsContinued) {
  ASSERT_FALSE(run(request(), 1).error);
  ExperimentRequest wanted = request();
  wanted.seed = 8;
  wanted.sides[1].slowdown_ppm = 1000;
  ExperimentOutcome outcome = run(wanted, 2);
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->kind, ErrorKind::Usage);
  EXPECT_EQ(
      outcome.error->message,
      "the experiment cannot be continued: the candidate's injected slowdown in ppm was 0 and is 1000, the "
      "seed was 7 and is 8; name another directory for a new one");
  wanted = request();
  wanted.workloads[0].calls[0] = {"fib", {16}, {987}, {}};
  EXPECT_NE(run(wanted, 2).error->message.find("the contract of fib was"), std::string::npos);
  wanted = request();
  wanted.workloads.push_back(fib("other", 12, 144));
  EXPECT_NE(run(wanted, 2).error->message.find("the number of workloads was 1 and is 2"), std::string::npos);
  EXPECT_EQ(read().pairs.size(), 2u);
}

TEST_F(ExperimentTest, WhatIsNoExperimentIsLeftAlone) {
  std::filesystem::create_directory(path("out.wagoexp"));
  ExperimentOutcome outcome = run(request(), 1);
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->kind, ErrorKind::Usage);
  EXPECT_NE(outcome.error->message.find("exists already and is no experiment"), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_empty(path("out.wagoexp")));
}

TEST_F(ExperimentTest, OneExperimentADirectoryAtATime) {
  ASSERT_FALSE(run(request(), 1).error);
  auto held = ExperimentStore::open(path("out.wagoexp"));
  ASSERT_TRUE(held);
  ExperimentOutcome outcome = run(request(), 2);
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->message,
            "another experiment is being measured into it; wait for it or name another (process " +
                std::to_string(::getpid()) + ")");
}

TEST_F(ExperimentTest, OneThatWasFasterIsLeftAlone) {
  // Made after this one had looked, and before it had anything to keep.
  base::Result<ExperimentStore> faster = base::failed("not made yet");
  ExperimentRequest wanted = request();
  wanted.on_progress = [&](const ExperimentProgress&) {
    if (!faster) faster = ExperimentStore::create(path("out.wagoexp"), {});
  };
  ExperimentOutcome outcome = run(wanted, 1);
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->kind, ErrorKind::Usage);
  EXPECT_EQ(outcome.error->message,
            "another experiment is being measured into it; wait for it or name another (process " +
                std::to_string(::getpid()) + ")");
  // Made by one that has come to its end.
  std::filesystem::remove_all(path("out.wagoexp"));
  faster = base::failed("not made yet");
  wanted.on_progress = [&](const ExperimentProgress&) {
    std::filesystem::create_directory(path("out.wagoexp"));
  };
  outcome = run(wanted, 1);
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(
      outcome.error->message,
      "was made by another process meanwhile; the same command continues it where it is an experiment, or "
      "name another");
}

TEST_F(ExperimentTest, KilledAtAnyMomentItIsContinued) {
  const char* wished = std::getenv("WAGO_KILL_RUNS");
  const int runs = wished ? std::atoi(wished) : 6;
  std::mt19937 random(1);
  size_t before = 0;
  for (int i = 0; i < runs; ++i) {
    auto child = base::Process::spawn({.program = "/proc/self/exe",
                                       .argv = {"test", "experiment", scratch_.path(), path("out.wagoexp")},
                                       .descriptors = {}});
    ASSERT_TRUE(child);
    child->wait(static_cast<int>(random() % 1500));
    child->kill_group();
    child->wait(-1);
    if (!std::filesystem::exists(path("out.wagoexp"))) continue;
    const ExperimentContents contents = read();
    EXPECT_GE(contents.pairs.size(), before) << "pairs were lost";
    before = contents.pairs.size();
  }
  const ExperimentOutcome outcome = run(request(), 12);
  ASSERT_FALSE(outcome.error) << outcome.error->to_string();
  const ExperimentContents contents = read();
  EXPECT_TRUE(contents.experiment.complete);
  EXPECT_EQ(contents.pairs.size(), std::max<size_t>(24, before));
}

// A finished experiment, whose findings are to be explained.
class ExplainTest : public ExperimentTest {
 protected:
  ExplainRequest explanation(const std::string& candidate = "honest") {
    const ExperimentRequest wanted = request(candidate);
    const ExperimentOutcome outcome = run(wanted, 1);
    EXPECT_FALSE(outcome.error) << outcome.error->to_string();
    ExplainRequest request;
    request.path = wanted.out;
    request.experiment = read().experiment;
    request.workload = wanted.workloads[0];
    request.catalog = wanted.catalog;
    request.sides = wanted.sides;
    request.out = path("explain");
    request.duration_ns = 250'000'000;
    return request;
  }

  // "baseline.exact candidate.exact": what is there, of which nothing is unfinished.
  std::string recorded() const {
    std::string text;
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path("explain")))
      names.insert(entry.path().filename());
    for (std::string name : names) {
      EXPECT_TRUE(name.starts_with("fib.") && name.ends_with(".wagoprof")) << name;
      text += (text.empty() ? "" : " ") + name.substr(4, name.size() - 13);
    }
    return text;
  }

  std::string flags_of(const std::string& capture) const {
    auto text = base::system_files().read(path("explain/fib." + capture + ".wagoprof/flags"), 4096);
    EXPECT_TRUE(text) << capture;
    return text ? std::string(base::as_text(*text)) : "";
  }

  static std::string refusal(const ExplainRequest& request, ErrorKind kind) {
    const ExplainOutcome outcome = record_for_explanation(request);
    EXPECT_TRUE(outcome.error);
    if (!outcome.error) return "";
    EXPECT_EQ(outcome.error->kind, kind);
    return outcome.error->message;
  }
};

constexpr const char* kAllFour = "baseline.exact baseline.sampled candidate.exact candidate.sampled";

TEST_F(ExplainTest, BothSidesAreCountedAndSampledAndAgainIsHarmless) {
  const ExplainRequest request = explanation();
  for (int i = 0; i < 2; ++i) {
    const ExplainOutcome outcome = record_for_explanation(request);
    ASSERT_FALSE(outcome.error) << outcome.error->to_string();
    EXPECT_TRUE(outcome.remarks.empty());
    EXPECT_EQ(recorded(), kAllFour);
  }
  const std::string exact = flags_of("candidate.exact"), sampled = flags_of("baseline.sampled");
  EXPECT_NE(exact.find("--backend count --iterations 1 --warmup 1 --include-code --source-maps"),
            std::string::npos);
  EXPECT_NE(sampled.find("--backend pprof --rate 999 --duration 250000000ns --source-maps --include-code"),
            std::string::npos)
      << sampled;
}

TEST_F(ExplainTest, WhatWasNotMeasuredIsRefused) {
  const ExplainRequest request = explanation();
  ExplainRequest other = request;
  other.sides[1].program = runner("other");
  std::string message = refusal(other, ErrorKind::Usage);
  EXPECT_TRUE(message.starts_with("this is not what was measured: the candidate's program was ")) << message;
  EXPECT_NE(message.find(" and is another; name the programs, modules and catalog of the experiment"),
            std::string::npos)
      << message;

  other = request;
  std::filesystem::create_directory(path("new"));
  std::string newer(testing::kArith);
  newer += std::string("\x00\x02\x01x", 4);
  ASSERT_TRUE(base::system_files().create(path("new/module.wasm"), base::as_bytes(newer)));
  other.sides[0].modules = path("new");
  message = refusal(other, ErrorKind::Usage);
  EXPECT_TRUE(message.starts_with("this is not what was measured: the baseline's module of fib was "))
      << message;

  other = request;
  other.workload = fib("fib", 14, 377);
  message = refusal(other, ErrorKind::Usage);
  EXPECT_TRUE(message.starts_with("this is not what was measured: the contract of fib was ")) << message;

  other = request;
  other.workload = fib("fib", 15, 611);
  EXPECT_NE(refusal(other, ErrorKind::Failed).find("the baseline: wrong result"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(path("explain"))) << "nothing was recorded";
}

TEST_F(ExplainTest, AProgramThatIsTooOldToCountIsSampled) {
  const ExplainOutcome outcome = record_for_explanation(explanation("old"));
  ASSERT_FALSE(outcome.error) << outcome.error->to_string();
  EXPECT_EQ(outcome.remarks, std::vector<std::string>{"the candidate's program has no backend count"});
  EXPECT_EQ(recorded(), kAllFour);
  for (const char* side : {"baseline.exact", "candidate.exact"}) {
    EXPECT_NE(flags_of(side).find("--backend none"), std::string::npos) << "or they could not be compared";
  }
}

TEST_F(ExplainTest, WhereNothingCanBeSampledThatIsSaid) {
  const ExplainOutcome outcome = record_for_explanation(explanation("deaf"));
  ASSERT_FALSE(outcome.error) << outcome.error->to_string();
  EXPECT_EQ(outcome.remarks, std::vector<std::string>{"no samples: the candidate: its program exited with "
                                                      "code 5: there is no clock"});
  EXPECT_EQ(recorded(), "baseline.exact baseline.sampled candidate.exact");
}

TEST_F(ExplainTest, ARecordingThatFailsLeavesWhatWasThere) {
  ExplainRequest request = explanation("wrong");
  request.sides[1].program = runner("honest");
  ASSERT_FALSE(record_for_explanation(request).error);
  request.sides[1].program = runner("wrong");
  EXPECT_EQ(refusal(request, ErrorKind::Failed),
            "the candidate: its program exited with code 1: wrong result");
  EXPECT_EQ(recorded(), kAllFour);
  EXPECT_NE(flags_of("candidate.exact").find("--backend count"), std::string::npos);
}

TEST_F(ExplainTest, InterruptedItLeavesWhatIsWhole) {
  ExplainRequest request = explanation("slow");
  request.on_progress = [](const std::string& doing) {
    if (doing == "sampling the candidate") ::raise(SIGTERM);
  };
  const ExplainOutcome outcome = record_for_explanation(request);
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->message, "interrupted by SIGTERM");
  EXPECT_EQ(outcome.interrupted_by, SIGTERM);
  EXPECT_EQ(recorded(), "baseline.exact baseline.sampled candidate.exact");
}

TEST_F(ExplainTest, OneAtATimeIntoADirectory) {
  const ExplainRequest request = explanation();
  std::filesystem::create_directory(path("explain"));
  auto lock = lock_directory(path("explain"), "held");
  ASSERT_TRUE(lock);
  EXPECT_EQ(refusal(request, ErrorKind::Usage),
            "another process records explanations into it; wait for it or name another with --out (process " +
                std::to_string(::getpid()) + ")");
  // What an earlier one left when it was killed is no obstacle.
  lock = base::failed("released");
  std::filesystem::create_directory(path("explain/fib.baseline.exact.wagoprof.unfinished"));
  ASSERT_FALSE(record_for_explanation(request).error);
  EXPECT_EQ(recorded(), kAllFour);
}

}  // namespace

// The experiment that is killed.
int run_to_be_killed(const std::string& root, const std::string& out) {
  ExperimentRequest request;
  capture::Workload workload;
  workload.id = "fib";
  workload.module_path = base::join_path(root, "module.wasm");
  workload.calls = {{"fib", {15}, {610}, {}}};
  request.workloads = {workload};
  request.catalog = "tests";
  request.sides[0].program = request.sides[1].program = base::join_path(root, "honest");
  request.out = out;
  request.timed_ns = 5'000'000;
  request.record_captures = false;
  request.seed = 7;
  std::error_code exists;
  std::filesystem::create_symlink(std::filesystem::read_symlink("/proc/self/exe"), request.sides[0].program,
                                  exists);
  FixedPairs rule(12);
  return run_experiment(request, rule).error ? 1 : 0;
}

}  // namespace wago::harness

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[2]) == "worker") return wago::harness::run_worker(argv[0]);
  if (argc > 3 && std::string_view(argv[2]) == "record") {
    return wago::harness::run_recording(argv[0], {argv + 3, argv + argc});
  }
  if (argc == 4 && std::string_view(argv[1]) == "experiment") {
    return wago::harness::run_to_be_killed(argv[2], argv[3]);
  }
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
