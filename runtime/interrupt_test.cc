#include "runtime/interrupt.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <wago/wago.h>
#include "base/clock.h"
#include "runtime/deadlines.h"
#include "runtime/stack.h"
#include "runtime/testing/assembled.h"

namespace wago::runtime {
namespace {

using testing::assembled_engine;
using testing::AssembledModule;
using testing::nullary;

// "call" calls the host, "recurse" itself for ever, and "trap" traps.
class InterruptTest : public ::testing::Test {
 protected:
  InterruptTest() : engine_(assembled_engine()), linker_(engine_) { linker_.set_interrupt_handle(handle_); }

  Instance instantiate(Function::HostBody body = [](auto, auto) { return std::nullopt; }) {
    AssembledModule module;
    module.import_function("env", "host", nullary());
    module.add_function_call_import("call", nullary(), 0);
    module.add_function_recurse("recurse");
    module.add_function_trap("trap");
    EXPECT_TRUE(linker_.define_host("env", "host", nullary(), std::move(body)).ok());
    return linker_.instantiate(module.build(engine_)).value();
  }
  static CallResult run(const Instance& instance, const char* name) {
    return instance.function(name).value().call({}, {});
  }

  void set_deadline(std::chrono::nanoseconds per_call) { ASSERT_TRUE(handle_.set_deadline(per_call).ok()); }

  Engine engine_;
  Linker linker_;
  InterruptHandle handle_;
};

TEST_F(InterruptTest, TheStackLimitIsWhatItWasAfterwards) {
  Instance guest = instantiate([&](auto, auto) {
    handle_.cancel();
    EXPECT_EQ(thread_state.stack_limit, kInterruptStackLimit);
    return std::nullopt;
  });
  EXPECT_EQ(run(guest, "trap").interruption(), std::nullopt);
  const uint64_t limit = thread_state.stack_limit;
  EXPECT_EQ(run(guest, "call").interruption(), Interruption::Cancelled);
  EXPECT_EQ(thread_state.stack_limit, thread_state.real_stack_limit);
  EXPECT_EQ(thread_state.interrupts, nullptr);
  EXPECT_EQ(run(guest, "trap").trap().code, TrapCode::Unreachable);
  EXPECT_EQ(thread_state.stack_limit, limit);
  EXPECT_EQ(run(guest, "recurse").trap().code, TrapCode::StackExhausted);
}

TEST_F(InterruptTest, ACancelOutlivesTheInstance) {
  { Instance guest = instantiate(); }
  handle_.cancel();
  Instance other = instantiate();
  EXPECT_EQ(run(other, "call").interruption(), Interruption::Cancelled);
  EXPECT_TRUE(run(other, "call").ok());
}

TEST_F(InterruptTest, TheLastHandleMayGoInsideTheCallItStops) {
  std::optional<Instance> guest;
  guest = instantiate([&](auto, auto) {
    handle_.cancel();
    guest.reset();
    linker_ = Linker(engine_);
    return std::nullopt;
  });
  const Function call = guest->function("call").value();
  EXPECT_EQ(Function(call).call({}, {}).interruption(), Interruption::Cancelled);
}

TEST_F(InterruptTest, ThreadsThatCallAndThreadsThatCancel) {
  constexpr int kCallers = 2, kCancels = 100;
  std::atomic<int> cancelled = 0, finished = 0;
  std::atomic<bool> stop = false;
  std::vector<Instance> guests;
  for (int i = 0; i < kCallers; ++i) guests.push_back(instantiate());
  std::vector<std::thread> threads;
  for (int i = 0; i < kCallers; ++i) {
    threads.emplace_back([&, i] {
      const Function call = guests[static_cast<size_t>(i)].function("call").value();
      while (!stop) {
        const CallResult outcome = call.call({}, {});
        if (outcome.ok()) {
          ++finished;
        } else {
          EXPECT_EQ(outcome.interruption(), Interruption::Cancelled);
          ++cancelled;
        }
      }
    });
  }
  threads.emplace_back([&] {
    for (int i = 0; i < kCancels; ++i) {
      const int before = cancelled;
      handle_.cancel();
      while (cancelled == before) std::this_thread::yield();
      set_deadline(std::chrono::microseconds(i % 2 ? 0 : 500'000));
    }
    stop = true;
  });
  for (std::thread& thread : threads) thread.join();
  EXPECT_GE(cancelled, kCancels);
}

// What has expired, in order.
std::mutex expired_mutex;
std::vector<uint64_t> expired;
void note_expired(uint32_t, uint64_t scope) {
  std::lock_guard lock(expired_mutex);
  expired.push_back(scope);
}
size_t count_expired() {
  std::lock_guard lock(expired_mutex);
  return expired.size();
}

TEST(DeadlinesTest, ExpireInTheirOrderUnlessTheyAreRemoved) {
  constexpr uint64_t kMs = 1'000'000;
  static Deadlines& deadlines = *new Deadlines(note_expired);
  const uint64_t now = base::monotonic_ns();
  ASSERT_TRUE(deadlines.add({now + 3'600'000 * kMs, 90, 0}).ok());
  ASSERT_TRUE(deadlines.add({now + 40 * kMs, 3, 0}).ok());
  ASSERT_TRUE(deadlines.add({now + 10 * kMs, 1, 0}).ok());
  ASSERT_TRUE(deadlines.add({now + 20 * kMs, 91, 0}).ok());
  ASSERT_TRUE(deadlines.add({now + 30 * kMs, 2, 0}).ok());
  deadlines.remove({now + 20 * kMs, 91, 0});
  while (count_expired() < 3) std::this_thread::yield();
  // One that comes before all that are waited for.
  ASSERT_TRUE(deadlines.add({base::monotonic_ns() + kMs, 4, 0}).ok());
  while (count_expired() < 4) std::this_thread::yield();
  deadlines.remove({now + 3'600'000 * kMs, 90, 0});
  EXPECT_EQ(expired, (std::vector<uint64_t>{1, 2, 3, 4}));
}

}  // namespace
}  // namespace wago::runtime
