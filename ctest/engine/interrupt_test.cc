// Cancellation and deadlines: what stops, when, with which stack, and what is left afterwards.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "engine_fixture.h"
#include "runtime/code_image.h"
#include "runtime/testing/refused_threads.h"

namespace wago::engine_test {
namespace {

using namespace std::chrono_literals;
using runtime::testing::holds_in_child;
using runtime::testing::refuse_threads;

class Interrupt : public EngineTest {
 protected:
  Interrupt() { linker_.set_interrupt_handle(handle_); }

  // answer() -> 42; once() calls the host; ever() calls it for ever; spin(n) counts down in a loop that calls
  // nothing, and deep(n) is spin(3) under n calls.
  static ModuleBuilder module() {
    ModuleBuilder module;
    const uint32_t nullary = module.type({}, {}), count = module.type({I32}, {I32});
    const uint32_t answer = module.type({}, {I32});
    const uint32_t host = module.import_function("env", "host", nullary);
    auto add = [&](const char* name, uint32_t type, const Code& code) {
      const uint32_t function = module.function(type, {}, code);
      module.export_(name, ExternKind::Function, function);
      return function;
    };
    add("answer", answer, Code().i32(42).end());
    add("once", nullary, Code().op(Opcode::Call, host).end());
    add("ever", nullary, Code().open(Opcode::Loop).op(Opcode::Call, host).op(Opcode::Br, 0).end().end());
    Code body;
    body.open(Opcode::Loop).op(Opcode::LocalGet, 0).i32(1).op(Opcode::I32Sub).op(Opcode::LocalTee, 0);
    const uint32_t spin = add("spin", count, body.op(Opcode::BrIf, 0).end().op(Opcode::LocalGet, 0).end());
    Code deep;
    deep.op(Opcode::LocalGet, 0).open(Opcode::If, I32).op(Opcode::LocalGet, 0).i32(1).op(Opcode::I32Sub);
    deep.op(Opcode::Call, spin + 1).op(Opcode::Else).i32(3).op(Opcode::Call, spin).end().end();
    add("deep", count, deep);
    return module;
  }
  Instance instance(Function::HostBody host = [](auto, auto) { return std::nullopt; }) {
    define_host("host", {{}, {}}, std::move(host));
    return instantiate(module());
  }
  static CallResult run(const Instance& instance, const char* name, std::initializer_list<Slot> args = {}) {
    const Function function = instance.function(name).value();
    std::vector<Slot> results(slots_of(function.type().results));
    return function.call({args.begin(), args.size()}, results);
  }
  static void expect_usable(const Instance& instance) {
    EXPECT_EQ(call(instance, "answer", {}), std::vector<Slot>{42});
    EXPECT_TRUE(run(instance, "once").ok());
  }

  void set_deadline(std::chrono::nanoseconds per_call) { ASSERT_TRUE(handle_.set_deadline(per_call).ok()); }

  InterruptHandle handle_;
};
INSTANTIATE_TEST_SUITE_P(Configurations, Interrupt, ::testing::ValuesIn(configurations()), name_of);

TEST_P(Interrupt, ACancelStopsARunningCallWithItsStack) {
  std::atomic<int> calls = 0;
  Instance guest = instance([&](auto, auto) {
    ++calls;
    return std::nullopt;
  });
  for (int round = 0; round < 3; ++round) {
    calls = 0;
    std::thread other([&] {
      while (calls < 100) std::this_thread::yield();
      handle_.cancel();
    });
    const CallResult outcome = run(guest, "ever");
    other.join();
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.interruption(), Interruption::Cancelled);
    const Trap& stopped = outcome.trap();
    EXPECT_EQ(stopped.code, TrapCode::Interrupted);
    EXPECT_EQ(stopped.to_string().rfind("wago: cancelled\n  at ", 0), 0u) << stopped.to_string();
    ASSERT_FALSE(stopped.frames.empty());
    EXPECT_EQ(stopped.frames.back().name, "ever");
    expect_usable(guest);
  }
}

TEST_P(Interrupt, LoopsThatCallNothingStopIfTheyAreInterruptible) {
  if (!GetParam().interruptible) return;
  Instance guest = instance();
  set_deadline(20ms);
  const CallResult outcome = run(guest, "spin", {0});  // 2^32 rounds
  ASSERT_EQ(outcome.interruption(), Interruption::DeadlineExceeded);
  EXPECT_EQ(outcome.trap().to_string(),
            "wago: deadline exceeded after 20ms\n  at spin (func[4], wasm pc 0x1)\n");
  expect_usable(guest);
}

TEST_P(Interrupt, LoopsOfInterruptibleCodeAreCounted) {
  const Module compiled = compile(module());
  uint32_t checks = 0;
  for (const runtime::CompiledFunction& function : compiled.code().functions) {
    checks += function.statistics.interrupt_checks;
    // A loop's check presumes that the prologue made it, too.
    EXPECT_TRUE(function.statistics.interrupt_checks == 0 || function.statistics.stack_checks == 1);
  }
  if (!GetParam().interruptible) {
    EXPECT_EQ(checks, 0u);
  } else {
    EXPECT_GE(checks, 2u);  // ever and spin, and spin where it was inlined
  }
}

TEST_P(Interrupt, ACancelBetweenCallsStopsTheNextOne) {
  Instance guest = instance();
  handle_.cancel();
  handle_.cancel();  // is the same cancel
  const CallResult outcome = run(guest, "answer");
  ASSERT_EQ(outcome.interruption(), Interruption::Cancelled);
  EXPECT_EQ(outcome.trap().to_string(), "wago: cancelled\n");
  expect_usable(guest);
  handle_.cancel();
  handle_.withdraw();
  expect_usable(guest);
}

TEST_P(Interrupt, ADeadlineEndsWithItsCall) {
  bool slow = true;
  Instance guest = instance([&](auto, auto) {
    if (slow) std::this_thread::sleep_for(100ms);
    return std::nullopt;
  });
  set_deadline(5ms);
  const CallResult outcome = run(guest, "once");
  ASSERT_EQ(outcome.interruption(), Interruption::DeadlineExceeded);
  EXPECT_EQ(outcome.trap().message, "deadline exceeded after 5ms");
  slow = false;
  set_deadline(1h);
  for (int i = 0; i < 1000; ++i) expect_usable(guest);
  set_deadline(0ns);
  slow = true;
  expect_usable(guest);
}

TEST_P(Interrupt, ANegativeDeadlineIsOverBeforeTheCallDoesAnything) {
  int calls = 0;
  Instance guest = instance([&](auto, auto) {
    ++calls;
    return std::nullopt;
  });
  for (std::chrono::nanoseconds over :
       {-1ns, std::chrono::nanoseconds(-5s), std::chrono::nanoseconds::min()}) {
    set_deadline(over);
    for (const char* name : {"answer", "once", "ever"}) {
      const CallResult outcome = run(guest, name);
      ASSERT_EQ(outcome.interruption(), Interruption::DeadlineExceeded) << name;
      EXPECT_EQ(outcome.trap().message, "deadline exceeded before the call began") << name;
    }
  }
  EXPECT_EQ(calls, 0);
  handle_.cancel();
  EXPECT_EQ(run(guest, "once").interruption(), Interruption::Cancelled);
  EXPECT_EQ(run(guest, "once").interruption(), Interruption::DeadlineExceeded);
  set_deadline(0ns);
  expect_usable(guest);
}

// In children without the threads of this process: there nobody keeps deadlines yet.
TEST_P(Interrupt, ADeadlineThatNobodyCanKeepIsRefusedWithASentence) {
  constexpr char kSentence[] =
      "the system gives no thread to keep deadlines with: Resource temporarily unavailable; allow the "
      "process one "
      "more thread, or set no deadline";
  Instance guest = instance();
  EXPECT_TRUE(holds_in_child([&] {
    refuse_threads();
    const Result<void> set = handle_.set_deadline(50ms);
    return !set.ok() && set.error().kind == base::ErrorKind::Unmeasurable &&
           set.error().message == kSentence && run(guest, "once").ok() && handle_.set_deadline(0ns).ok() &&
           handle_.set_deadline(-1ns).ok();
  }));
  set_deadline(1h);
  EXPECT_TRUE(holds_in_child([&] {
    refuse_threads();
    const CallResult outcome = run(guest, "once");
    return !outcome.ok() && !outcome.interruption() && outcome.trap().message == kSentence;
  }));
}

TEST_P(Interrupt, ARunningCallIsStoppedInAForkedChildThatCannotKeepItsDeadline) {
  int calls = 0;
  Instance guest = instance([&](auto, auto) {
    if (++calls == 3) {
      refuse_threads();
      if (fork() != 0) {
        int status = -1;
        _exit(wait(&status) > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 1);
      }
    }
    return std::nullopt;
  });
  // Started here, see DeadlinesHoldInAForkedChild.
  set_deadline(1h);
  EXPECT_TRUE(holds_in_child([&] {
    if (!run(guest, "once").ok() || !run(guest, "once").ok()) return false;
    return run(guest, "ever").interruption() == Interruption::DeadlineExceeded;
  }));
}

TEST_P(Interrupt, ShortDeadlinesNeverReachTheNextCall) {
  Instance guest = instance();
  const Function answer = guest.function("answer").value();
  int stopped = 0;
  for (int i = 0; i < 3000; ++i) {
    set_deadline(std::chrono::nanoseconds(1 + i * 20));
    Slot result = 0;
    stopped += !answer.call({}, {&result, 1}).ok();
    set_deadline(0ns);
    ASSERT_TRUE(run(guest, "once").ok());
  }
  SUCCEED() << stopped;
}

TEST_P(Interrupt, NestedCallsStopAllTheWayOut) {
  const Instance* inside = nullptr;
  CallResult inner;
  bool pass_on = false;
  bool nest = true;
  Instance guest = instance([&](auto, auto) -> std::optional<Trap> {
    if (!nest) return std::nullopt;
    nest = false;
    handle_.cancel();
    inner = run(*inside, "ever");
    if (pass_on) return inner.trap();
    return std::nullopt;  // as if nothing had been
  });
  inside = &guest;
  for (bool passed : {false, true}) {
    pass_on = passed;
    nest = true;
    const CallResult outer = run(guest, "once");
    ASSERT_EQ(inner.interruption(), Interruption::Cancelled);
    EXPECT_EQ(inner.trap().frames.back().name, "once") << inner.trap().to_string();
    ASSERT_EQ(outer.interruption(), Interruption::Cancelled) << passed;
    EXPECT_EQ(outer.trap().frames.back().name, "once");
    EXPECT_EQ(outer.trap().frames.size(), passed ? inner.trap().frames.size() : 2u)
        << outer.trap().to_string();
    expect_usable(guest);
  }
}

TEST_P(Interrupt, OneHandleLeavesTheOthersCallsAlone) {
  Instance outside = instance([](auto, auto) { return std::nullopt; });
  InterruptHandle own;
  linker_.set_interrupt_handle(own);
  const Instance* inside = &outside;
  int round = 0;
  CallResult inner;
  Instance guest = instance([&](auto, auto) {
    (++round == 1 ? handle_ : own).cancel();
    inner = run(*inside, "ever");
    return std::nullopt;
  });
  // The inner call's handle stops the inner call,
  EXPECT_TRUE(run(guest, "once").ok());
  EXPECT_EQ(inner.interruption(), Interruption::Cancelled);
  // the outer call's both.
  const CallResult outer = run(guest, "once");
  EXPECT_EQ(inner.interruption(), Interruption::Cancelled);
  EXPECT_EQ(outer.interruption(), Interruption::Cancelled);
  EXPECT_EQ(call(outside, "answer", {}), std::vector<Slot>{42});
  EXPECT_EQ(call(guest, "answer", {}), std::vector<Slot>{42});
}

TEST_P(Interrupt, NoCancelIsLostAndNoneCountsTwice) {
  Instance guest = instance();
  const Function answer = guest.function("answer").value(), once = guest.function("once").value();
  constexpr int kCancels = 50;
  std::atomic<int> seen = 0;
  std::thread other([&] {
    for (int i = 0; i < kCancels; ++i) {
      handle_.cancel();
      while (seen <= i) std::this_thread::yield();
    }
  });
  while (seen < kCancels) {
    Slot result = 0;
    const CallResult outcome = seen % 2 ? answer.call({}, {&result, 1}) : once.call({}, {});
    if (outcome.ok()) continue;
    ASSERT_EQ(outcome.interruption(), Interruption::Cancelled) << outcome.trap().to_string();
    ++seen;
  }
  other.join();
  for (int i = 0; i < 100; ++i) expect_usable(guest);
}

TEST_P(Interrupt, OneHandleStopsCallsOfSeveralThreads) {
  std::atomic<int> running = 0;
  Instance first = instance([&](auto, auto) {
    thread_local bool counted = false;
    if (!std::exchange(counted, true)) ++running;
    return std::nullopt;
  });
  Instance second = linker_.instantiate(compile(module())).value();
  std::atomic<int> stopped = 0;
  auto work = [&](const Instance& guest) {
    if (run(guest, "ever").interruption() == Interruption::Cancelled) ++stopped;
  };
  std::thread a([&] { work(first); }), b([&] { work(second); });
  while (running < 2) std::this_thread::yield();
  handle_.cancel();
  a.join();
  b.join();
  EXPECT_EQ(stopped, 2);
  expect_usable(first);
  expect_usable(second);
}

TEST_P(Interrupt, DeadlinesHoldInAForkedChild) {
  pid_t child = -1;
  int calls = 0;
  bool forks = false;
  Instance guest = instance([&](auto, auto) {
    if (forks && ++calls == 3) child = fork();
    return std::nullopt;
  });
  // The thread that keeps deadlines has started: address sanitizer's allocator, unlike the C library's, stays
  // locked in the child for ever if another thread is just being born.
  set_deadline(1ms);
  ASSERT_EQ(run(guest, "ever").interruption(), Interruption::DeadlineExceeded);
  forks = true;
  set_deadline(50ms);
  const CallResult outcome = run(guest, "ever");
  const bool stopped = outcome.interruption() == Interruption::DeadlineExceeded;
  if (child == 0) {
    handle_.cancel();
    const bool again = run(guest, "answer").interruption() == Interruption::Cancelled;
    _exit(stopped && again ? 0 : 1);
  }
  EXPECT_TRUE(stopped);
  ASSERT_GT(child, 0);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_P(Interrupt, AStackThatIsExhaustedIsATrapStill) {
  Instance guest = instance();
  auto depth_fits = [&](uint32_t depth) {
    const CallResult outcome = run(guest, "deep", {depth});
    EXPECT_FALSE(outcome.interruption());
    EXPECT_TRUE(outcome.ok() || outcome.trap().code == TrapCode::StackExhausted);
    return outcome.ok();
  };
  uint32_t fits = 1, too_deep = 10'000'000;
  EXPECT_FALSE(depth_fits(too_deep));
  while (too_deep - fits > 1) {
    const uint32_t middle = fits + (too_deep - fits) / 2;
    (depth_fits(middle) ? fits : too_deep) = middle;
  }
  // A loop at the very end of the stack is not taken for one that is to stop.
  for (uint32_t depth = fits - 20; depth < fits + 20; ++depth) depth_fits(depth);
  expect_usable(guest);
}

TEST_P(Interrupt, AStartFunctionIsStoppedToo) {
  ModuleBuilder module;
  const uint32_t nullary = module.type({}, {});
  const uint32_t host = module.import_function("env", "host", nullary);
  module.start(module.function(
      nullary, {}, Code().open(Opcode::Loop).op(Opcode::Call, host).op(Opcode::Br, 0).end().end()));
  define_host("host", {{}, {}}, [](auto, auto) { return std::nullopt; });
  set_deadline(10ms);
  const InstantiateResult result = linker_.instantiate(compile(module));
  ASSERT_FALSE(result.ok());
  ASSERT_TRUE(result.failure().trap);
  EXPECT_EQ(result.failure().trap->interruption, Interruption::DeadlineExceeded);
}

TEST_P(Interrupt, InstancesMadeWithoutAHandleHaveNone) {
  Linker other(engine_);
  ASSERT_TRUE(other.define_host("env", "host", {{}, {}}, [](auto, auto) { return std::nullopt; }).ok());
  Instance free = other.instantiate(compile(module())).value();
  Instance guest = instance();
  handle_.cancel();
  expect_usable(free);
  EXPECT_EQ(run(guest, "answer").interruption(), Interruption::Cancelled);
}

}  // namespace
}  // namespace wago::engine_test
