#include "runtime/trap.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "runtime/testing/assembled.h"

namespace wago::runtime {
namespace {

using testing::assembled_engine;
using testing::AssembledModule;
using testing::binary;
using testing::call;
using testing::call_trapping;
using testing::nullary;

// One instance with every function of testing/assembled.h.
class TrapTest : public ::testing::Test {
 protected:
  TrapTest() : engine_(assembled_engine()), linker_(engine_) {
    assembled_.import_function("env", "host", nullary());
    assembled_.add_function_add("add");
    assembled_.add_function_load("load");
    assembled_.add_function_trap("trap");
    assembled_.add_function_recurse("recurse");
    assembled_.add_function_call_import("call", nullary(), 0);
    assembled_.add_function_wild("wild");
    assembled_.module().memories.push_back({{1, 2}});
  }

  Instance instantiate(Function::HostBody body = [](auto, auto) { return std::nullopt; }) {
    EXPECT_TRUE(linker_.define_host("env", "host", nullary(), std::move(body)).ok());
    return linker_.instantiate(assembled_.build(engine_)).value();
  }
  static Function function(const Instance& instance, const char* name) {
    return instance.function(name).value();
  }

  Engine engine_;
  Linker linker_;
  AssembledModule assembled_;
};

TEST_F(TrapTest, CallReturnsItsResult) {
  Instance instance = instantiate();
  EXPECT_EQ(call(function(instance, "add"), {2, 3}), 5u);
  EXPECT_EQ(call(function(instance, "add"), {0xffffffff, 2}), 1u);
}

TEST_F(TrapTest, UnreachableNamesItsFunctionAndPosition) {
  Instance instance = instantiate();
  Trap trap = call_trapping(function(instance, "trap"), {});
  EXPECT_EQ(trap.code, TrapCode::Unreachable);
  EXPECT_EQ(trap.to_string(),
            "wago: trap: unreachable instruction executed\n  at trap (func[3], wasm pc 0x1)\n");
}

TEST_F(TrapTest, LoadBeyondTheMemoryTrapsAndTheInstanceGoesOn) {
  Instance instance = instantiate();
  Function load = function(instance, "load");
  EXPECT_EQ(call(load, {65532, 0}), 0u);
  for (uint32_t address : {65533u, 65536u, 0x7fffffffu, 0xffffffffu}) {
    Trap trap = call_trapping(load, {address, 0});
    EXPECT_EQ(trap.code, TrapCode::MemoryOutOfBounds);
    ASSERT_EQ(trap.frames.size(), 1u);
    EXPECT_EQ(trap.frames[0].wasm_pc, 7u);
  }
  EXPECT_EQ(call(load, {0, 0}), 0u);
}

TEST_F(TrapTest, TrapLeavesCalleeSavedRegistersAndSignalMaskAlone) {
  Instance instance = instantiate();
  Function trap = function(instance, "trap");
  sigset_t before, after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  uint64_t sum = 0;
  for (uint64_t i = 0; i < 1000; ++i) {
    CallResult result = trap.call({}, {});
    ASSERT_FALSE(result.ok());
    sum += i;
  }
  EXPECT_EQ(sum, 499500u);
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (int signal = 1; signal < 65; ++signal)
    EXPECT_EQ(sigismember(&before, signal), sigismember(&after, signal));
}

TEST_F(TrapTest, EndlessRecursionKeepsTheInnermostFramesAndShowsOne) {
  Instance instance = instantiate();
  Trap trap = call_trapping(function(instance, "recurse"), {});
  EXPECT_EQ(trap.code, TrapCode::StackExhausted);
  ASSERT_EQ(trap.frames.size(), kMaxTrapFrames);
  EXPECT_TRUE(trap.frames_truncated);
  EXPECT_EQ(trap.to_string(),
            "wago: trap: call stack exhausted\n"
            "  at recurse (func[4], wasm pc 0x3)\n"
            "  (the frame above is repeated 4095 times more)\n"
            "  (and outer frames that were not kept)\n");
  for (const Frame& frame : trap.frames) {
    EXPECT_EQ(frame.name, "recurse");
    EXPECT_EQ(frame.wasm_pc, 3u);
  }
}

Trap trap_with(std::initializer_list<uint32_t> functions) {
  Trap trap = make_trap(TrapCode::Unreachable);
  for (uint32_t function : functions) {
    trap.frames.emplace_back().function = function;
    trap.frames.back().name = "f" + std::to_string(function);
  }
  return trap;
}

TEST(TrapText, CyclesOfSeveralFramesAreShownOnceAndShortOnesInFull) {
  const Trap trap = trap_with({9, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 4, 4, 5});
  EXPECT_EQ(trap.to_string(),
            "wago: trap: unreachable instruction executed\n"
            "  at f9 (func[9], wasm pc 0x0)\n"
            "  at f1 (func[1], wasm pc 0x0)\n"
            "  at f2 (func[2], wasm pc 0x0)\n"
            "  at f3 (func[3], wasm pc 0x0)\n"
            "  (the 3 frames above are repeated 2 times more)\n"
            "  at f1 (func[1], wasm pc 0x0)\n"
            "  at f4 (func[4], wasm pc 0x0)\n"
            "  at f4 (func[4], wasm pc 0x0)\n"
            "  at f5 (func[5], wasm pc 0x0)\n");
}

TEST(TrapText, PersonIsShownFiftyFrames) {
  Trap trap = make_trap(TrapCode::Unreachable);
  for (uint32_t i = 0; i < 80; ++i) trap.frames.emplace_back().function = i;
  std::string text = trap.to_string();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 52);
  EXPECT_TRUE(text.ends_with("\n  (30 outer frames)\n"));
  trap.frames_truncated = true;
  EXPECT_TRUE(trap.to_string().ends_with("\n  (more than 30 outer frames)\n"));
}

TEST_F(TrapTest, HostFunctionsTrapIsRaisedInTheGuest) {
  Instance instance = instantiate([](auto, auto) {
    Trap trap;
    trap.code = TrapCode::Abort;
    trap.message = "enough";
    return trap;
  });
  Trap trap = call_trapping(function(instance, "call"), {});
  EXPECT_EQ(trap.code, TrapCode::Abort);
  EXPECT_EQ(trap.to_string(), "wago: trap: enough\n  at env.host (host)\n  at call (func[5], wasm pc 0x5)\n");
}

TEST_F(TrapTest, ExceptionOfAHostFunctionBecomesATrap) {
  Instance instance =
      instantiate([](auto, auto) -> std::optional<Trap> { throw std::runtime_error("no such file"); });
  Trap trap = call_trapping(function(instance, "call"), {});
  EXPECT_EQ(trap.code, TrapCode::Host);
  EXPECT_EQ(trap.message, "no such file");
}

TEST_F(TrapTest, InnerTrapShowsTheOuterActivationsToo) {
  std::optional<Instance> instance;
  instance = instantiate([&](auto, auto) -> std::optional<Trap> {
    CallResult inner = instance->function("trap").value().call({}, {});
    return inner.trap();
  });
  Trap trap = call_trapping(function(*instance, "call"), {});
  EXPECT_EQ(trap.to_string(),
            "wago: trap: unreachable instruction executed\n"
            "  at trap (func[3], wasm pc 0x1)\n"
            "  at env.host (host)\n"
            "  at call (func[5], wasm pc 0x5)\n");
}

TEST_F(TrapTest, TrapCaughtByAHostFunctionLeavesTheOuterGuestRunning) {
  std::optional<Instance> instance;
  int caught = 0;
  instance = instantiate([&](auto, auto) -> std::optional<Trap> {
    if (!instance->function("trap").value().call({}, {})) ++caught;
    return std::nullopt;
  });
  call(function(*instance, "call"), {});
  EXPECT_EQ(caught, 1);
}

TEST_F(TrapTest, StackIsExhaustedThroughHostReentryToo) {
  std::optional<Instance> instance;
  uint64_t depth = 0;
  instance = instantiate([&](auto, auto) -> std::optional<Trap> {
    ++depth;
    CallResult deeper = instance->function("call").value().call({}, {});
    if (!deeper) return deeper.trap();
    return std::nullopt;
  });
  Trap trap = call_trapping(function(*instance, "call"), {});
  EXPECT_EQ(trap.code, TrapCode::StackExhausted);
  EXPECT_GT(depth, 100u);
  ASSERT_GT(trap.frames.size(), 3u);
  EXPECT_EQ(trap.frames[0].name, "call");
  EXPECT_EQ(trap.frames[1].name, "env.host");
  EXPECT_EQ(trap.frames[2].name, "call");
}

TEST_F(TrapTest, InlinedFramesAreExpanded) {
  // func[7] contains func[2], which contains func[1]; the trap is in the innermost.
  assembled_.function(nullary(), "outer");
  assembled_.image().inline_sites.push_back({2, 0x20, ~0u});
  assembled_.image().inline_sites.push_back({1, 0x30, 0});
  assembled_.code({0x55, 0x48, 0x89, 0xe5});  // push rbp; mov rbp, rsp
  assembled_.trap_site(TrapCode::IntegerOverflow, 0x40);
  assembled_.image().positions.back().inline_site = 1;
  assembled_.code({0x0f, 0x0b});  // ud2
  Instance instance = instantiate();
  EXPECT_EQ(call_trapping(function(instance, "outer"), {}).to_string(),
            "wago: trap: integer overflow\n"
            "  at add (func[1], wasm pc 0x40, inlined)\n"
            "  at load (func[2], wasm pc 0x30, inlined)\n"
            "  at outer (func[7], wasm pc 0x20)\n");
}

TEST_F(TrapTest, ThreadsTrapAtOnce) {
  wago::Module module = assembled_.build(engine_);
  ASSERT_TRUE(linker_.define_host("env", "host", nullary(), [](auto, auto) { return std::nullopt; }).ok());
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      Instance instance = linker_.instantiate(module).value();
      for (int i = 0; i < 500; ++i) {
        Trap load = call_trapping(function(instance, "load"), {70000, 0});
        Trap trap = call_trapping(function(instance, "trap"), {});
        right += load.code == TrapCode::MemoryOutOfBounds && trap.code == TrapCode::Unreachable;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 4 * 500);
}

// Runs `body` on a thread with this much stack.
void run_with_stack(size_t bytes, std::function<void()> body) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, bytes), 0);
  pthread_t thread;
  ASSERT_EQ(pthread_create(
                &thread, &attributes,
                [](void* f) -> void* {
                  (*static_cast<std::function<void()>*>(f))();
                  return nullptr;
                },
                &body),
            0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

TEST_F(TrapTest, ThreadWithASmallStackTrapsInsteadOfCrashing) {
  Instance instance = instantiate();
  for (size_t kib : {192, 320, 512}) {
    run_with_stack(kib << 10, [&] {
      EXPECT_EQ(call_trapping(function(instance, "recurse"), {}).code, TrapCode::StackExhausted);
      EXPECT_EQ(call(function(instance, "add"), {1, 1}), 2u);
    });
  }
}

TEST_F(TrapTest, EveryThreadHasAnAlternateStackInGuestCodeAndKeepsItsOwn) {
  Instance instance = instantiate();
  run_with_stack(1 << 20, [&] {
    std::vector<uint8_t> memory(256 << 10);
    stack_t own{};
    own.ss_sp = memory.data();
    own.ss_size = memory.size();
    stack_t before{};
    ASSERT_EQ(sigaltstack(&own, &before), 0);
    call(function(instance, "add"), {1, 1});
    call_trapping(function(instance, "trap"), {});
    stack_t now{};
    sigaltstack(nullptr, &now);
    EXPECT_EQ(now.ss_sp, own.ss_sp);
    sigaltstack(&before, nullptr);
  });
}

TEST_F(TrapTest, GuestRunsOnAStackTheHostSwitchedTo) {
  Instance instance = instantiate();
  const size_t bytes = 2 << 20;
  void* stack = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  ASSERT_NE(stack, MAP_FAILED);
  struct Shared {
    Function recurse;
    TrapCode code = TrapCode::Host;
  } shared{function(instance, "recurse")};
  auto body = +[](Shared* s) { s->code = call_trapping(s->recurse, {}).code; };
  // Calls body(&shared) with rsp at the top of the new stack.
  asm volatile("mov %%rsp, %%rbx\n mov %0, %%rsp\n call *%1\n mov %%rbx, %%rsp\n"
               :
               : "r"(static_cast<uint8_t*>(stack) + bytes), "r"(body), "D"(&shared)
               : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");
  EXPECT_EQ(shared.code, TrapCode::StackExhausted);
  EXPECT_EQ(call_trapping(function(instance, "recurse"), {}).code, TrapCode::StackExhausted);
  munmap(stack, bytes);
}

TEST_F(TrapTest, GuestTrapsInAForkedChild) {
  Instance instance = instantiate();
  call_trapping(function(instance, "trap"), {});
  std::atomic<bool> stop{false};
  const Engine shared = assembled_engine();
  std::thread mapper([&] {
    while (!stop) {
      // Maps and unmaps code, registers and forgets a signature; then holds the lock of a shared engine.
      (void)assembled_engine().data()->adapters(runtime::canonical_type({{ValueType::F32}, {}})).ok();
      for (int n = 0; n < 100; ++n) (void)shared.data()->adapters(runtime::canonical_type({})).ok();
    }
  });
  for (int i = 0; i < 20; ++i) {
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      Trap trap = call_trapping(function(instance, "trap"), {});
      AssembledModule another;
      another.add_function_trap("trap");
      Engine engine = assembled_engine();
      Instance second = Linker(engine).instantiate(another.build(engine)).value();
      (void)shared.data()->adapters(runtime::canonical_type({{}, {ValueType::F32}})).ok();
      Trap again = call_trapping(function(second, "trap"), {});
      _exit(trap.code == TrapCode::Unreachable && again.frames.size() == 1 ? 7 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  }
  stop = true;
  mapper.join();
}

void write_to_nowhere() {
  volatile uintptr_t address = 8;
  *reinterpret_cast<volatile int*>(address) = 1;
}

// A sanitizer reports the signal and exits instead.
bool ended_by(int status, [[maybe_unused]] int signal) {
#ifdef __SANITIZE_ADDRESS__
  return WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) != 0);
#else
  return WIFSIGNALED(status) && WTERMSIG(status) == signal;
#endif
}
bool by_segv(int status) {
  return ended_by(status, SIGSEGV);
}
bool by_ill(int status) {
  return ended_by(status, SIGILL);
}

// What is not ours. Each statement runs in a child that has no handler of ours yet, unless a sanitizer's.
class ForeignFaultTest : public TrapTest {
 protected:
  void SetUp() override { ::testing::GTEST_FLAG(death_test_style) = "threadsafe"; }
};

TEST_F(ForeignFaultTest, FaultInGuestCodeThatIsNoTrapSiteCrashes) {
  EXPECT_EXIT(
      {
        Instance instance = instantiate();
        (void)call_trapping(function(instance, "trap"), {});
        (void)function(instance, "wild").call({}, {});
        _exit(0);
      },
      by_ill, "");
}

TEST_F(ForeignFaultTest, FaultInAHostFunctionCrashes) {
  EXPECT_EXIT(
      {
        Instance instance = instantiate([](auto, auto) -> std::optional<Trap> {
          write_to_nowhere();
          return std::nullopt;
        });
        (void)function(instance, "call").call({}, {});
        _exit(0);
      },
      by_segv, "");
}

TEST_F(ForeignFaultTest, HostFunctionThatReachesBehindAMemoryCrashes) {
  EXPECT_EXIT(
      {
        assembled_.module().exports.push_back({"memory", ExternKind::Memory, 0});
        std::optional<Instance> instance;
        instance = instantiate([&](auto, auto) -> std::optional<Trap> {
          const volatile uint8_t* base = instance->memory("memory").value().bytes().data();
          (void)base[kPageBytes];
          return std::nullopt;
        });
        (void)call_trapping(function(*instance, "load"), {100000, 0});
        (void)function(*instance, "call").call({}, {});
        _exit(0);
      },
      by_segv, "");
}

struct sigaction forwarded_to;
int forwarded = 0;
void forward(int signal, siginfo_t* info, void* context) {
  ++forwarded;
  forwarded_to.sa_sigaction(signal, info, context);
}

TEST_F(ForeignFaultTest, HandlerInstalledLaterMayPassOnWhatIsOurs) {
  EXPECT_EXIT(
      {
        Instance instance = instantiate();
        (void)call_trapping(function(instance, "trap"), {});
        struct sigaction action {};
        action.sa_sigaction = forward;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        sigaction(SIGILL, &action, &forwarded_to);
        const Trap trap = call_trapping(function(instance, "trap"), {});
        _exit(trap.code == TrapCode::Unreachable && forwarded == 1 ? 44 : 1);
      },
      ::testing::ExitedWithCode(44), "");
}

TEST_F(ForeignFaultTest, SignalSentByKillActsAsIfWeWereNotThere) {
  EXPECT_EXIT(
      {
        Instance instance = instantiate();
        (void)call_trapping(function(instance, "trap"), {});
        kill(getpid(), SIGSEGV);
        sleep(5);
        _exit(0);
      },
      by_segv, "");
}

void exit_42(int) {
  _exit(42);
}
void exit_43_on_alternate_stack(int, siginfo_t* info, void* context) {
  stack_t alternate;
  sigaltstack(nullptr, &alternate);
  const auto* here = reinterpret_cast<uint8_t*>(__builtin_frame_address(0));
  const auto* low = static_cast<uint8_t*>(alternate.ss_sp);
  _exit(info && context && here >= low && here < low + alternate.ss_size ? 43 : 1);
}

TEST_F(ForeignFaultTest, HandlerThatWasThereBeforeGetsWhatIsNotOurs) {
  EXPECT_EXIT(
      {
        signal(SIGILL, exit_42);
        Instance instance = instantiate();
        (void)call_trapping(function(instance, "trap"), {});
        (void)function(instance, "wild").call({}, {});
        _exit(0);
      },
      ::testing::ExitedWithCode(42), "");
  EXPECT_EXIT(
      {
        struct sigaction action {};
        action.sa_sigaction = exit_43_on_alternate_stack;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        sigaction(SIGSEGV, &action, nullptr);
        Instance instance = instantiate();
        (void)call_trapping(function(instance, "load"), {100000, 0});
        write_to_nowhere();
        _exit(0);
      },
      ::testing::ExitedWithCode(43), "");
}

void raise_again(int signal) {
  raise(signal);
}

TEST_F(ForeignFaultTest, OneShotHandlerThatRaisesAgainEndsTheProcess) {
  EXPECT_EXIT(
      {
        struct sigaction action {};
        action.sa_handler = raise_again;
        action.sa_flags = static_cast<int>(SA_RESETHAND);
        sigaction(SIGILL, &action, nullptr);
        Instance instance = instantiate();
        (void)call_trapping(function(instance, "trap"), {});
        (void)function(instance, "wild").call({}, {});
        _exit(0);
      },
      by_ill, "");
}

}  // namespace
}  // namespace wago::runtime
