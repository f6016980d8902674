// A profile as its reader has it: JSON, of which stacks are put together again. Nothing here depends on how
// fast the machine is, only on the CPU time that the guests took.
#include "harness/guest_profile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include <wago/wago.h>
#include "base/clock.h"
#include "base/json.h"
#include "runtime/testing/module_builder.h"

namespace wago::harness {
namespace {

using runtime::Opcode;
using runtime::testing::Code;
using runtime::testing::ModuleBuilder;
using enum ValueType;

constexpr uint64_t kPeriodNs = 1'000'000;

// Counts down from so many.
Code counting(int32_t steps) {
  return Code()
      .i32(steps)
      .op(Opcode::LocalSet, 0)
      .open(Opcode::Loop)
      .op(Opcode::LocalGet, 0)
      .i32(1)
      .op(Opcode::I32Sub)
      .op(Opcode::LocalTee, 0)
      .op(Opcode::BrIf, 0)
      .end();
}

// A start function `prepare`; `work`, which works in `step` and calls env.host; `fail`, which works and
// traps. Functions are known by the names that they are exported by.
std::vector<uint8_t> guest_module() {
  constexpr int32_t kSteps = 200'000'000;
  ModuleBuilder module;
  const uint32_t type = module.type({}, {});
  const uint32_t host = module.import_function("env", "host", type);
  const uint32_t prepare = module.function(type, {{1, I32}}, counting(kSteps).end());
  const uint32_t step = module.function(type, {{1, I32}}, counting(kSteps).end());
  const uint32_t work = module.function(type, {}, Code().op(Opcode::Call, step).op(Opcode::Call, host).end());
  const uint32_t fail = module.function(type, {{1, I32}}, counting(kSteps).op(Opcode::Unreachable).end());
  module.start(prepare);
  module.export_("prepare", ExternKind::Function, prepare);
  module.export_("step", ExternKind::Function, step);
  module.export_("work", ExternKind::Function, work);
  module.export_("fail", ExternKind::Function, fail);
  return module.build();
}

__attribute__((noipa)) void burn_in_host() {
  for (int i = 0; i < 200'000'000; ++i) asm volatile("" : "+r"(i));
}

struct Stack {
  std::vector<std::string> names;       // root first
  std::vector<std::string> categories;  // of each
  double weight_us = 0;
};

const base::Json& column(const base::Json& thread, const char* table, const char* name, uint64_t row) {
  return thread.find(table)->find(name)->items()[row];
}

std::vector<Stack> stacks_of(const base::Json& document, const base::Json& thread) {
  const auto categories = document.find("meta")->find("categories")->items();
  const auto strings = thread.find("stringArray")->items();
  std::vector<Stack> stacks;
  for (uint64_t i = 0; i < *thread.find("samples")->find("length")->to_u64(); ++i) {
    Stack stack;
    stack.weight_us = column(thread, "samples", "threadCPUDelta", i).as_double();
    for (const base::Json* at = &column(thread, "samples", "stack", i); at->to_u64();) {
      const uint64_t row = *at->to_u64();
      const uint64_t frame = *column(thread, "stackTable", "frame", row).to_u64();
      const uint64_t function = *column(thread, "frameTable", "func", frame).to_u64();
      const uint64_t category = *column(thread, "frameTable", "category", frame).to_u64();
      stack.names.push_back(strings[*column(thread, "funcTable", "name", function).to_u64()].as_string());
      stack.categories.push_back(categories[category].find("name")->as_string());
      at = &column(thread, "stackTable", "prefix", row);
    }
    std::reverse(stack.names.begin(), stack.names.end());
    std::reverse(stack.categories.begin(), stack.categories.end());
    stacks.push_back(std::move(stack));
  }
  return stacks;
}

// Stacks that end in a function of that name, in that category; its callers directly around it.
int ending_in(const std::vector<Stack>& stacks, const std::vector<std::string>& frames,
              const std::string& category) {
  return static_cast<int>(std::count_if(stacks.begin(), stacks.end(), [&](const Stack& stack) {
    return stack.names.size() >= frames.size() && stack.categories.back() == category &&
           std::equal(frames.rbegin(), frames.rend(), stack.names.rbegin());
  }));
}

// `name` of the module is called, on an instance of its own.
class GuestProfileTest : public ::testing::Test {
 protected:
  void profile(const char* name) {
    auto started = GuestProfile::start({.period_ns = kPeriodNs, .first_thread = "main"});
    ASSERT_TRUE(started) << started.error().to_string();
    const Engine engine = Engine::open({.level = 0}).value();
    Linker linker(engine);
    ASSERT_TRUE(linker.define_host("env", "host", [] { burn_in_host(); }));
    const Module module = engine.compile(guest_module()).value();
    const uint64_t before_ns = base::thread_cpu_ns();
    auto ran = (*started)->run([&] {
      const Instance instance = linker.instantiate(module).value();
      trapped_ = !instance.function(name).value().call({}, {});
    });
    ASSERT_TRUE(ran) << ran.error().to_string();
    cpu_us_ = static_cast<double>(base::thread_cpu_ns() - before_ns) / 1e3;
    auto finished = (*started)->finish("guest.wasm");
    ASSERT_TRUE(finished) << finished.error().to_string();
    auto parsed = base::parse_json(finished->json, "profile.json");
    ASSERT_TRUE(parsed) << parsed.error().to_string();
    document_ = *std::move(parsed);
    const auto threads = document_.find("threads")->items();
    ASSERT_EQ(threads.size(), 1u);
    EXPECT_EQ(threads[0].find("name")->as_string(), "main");
    stacks_ = stacks_of(document_, threads[0]);
    EXPECT_EQ(stacks_.size(), finished->samples);
  }

  bool trapped_ = false;
  double cpu_us_ = 0;
  base::Json document_;
  std::vector<Stack> stacks_;
};

TEST_F(GuestProfileTest, HasStartFunctionGuestAndHostUnderTheirCallers) {
  profile("work");
  EXPECT_FALSE(trapped_);
  const std::string entry = "entry-adapter () -> ()";
  EXPECT_GT(ending_in(stacks_, {entry, "prepare"}, "Guest"), 0);
  EXPECT_GT(ending_in(stacks_, {entry, "work", "step"}, "Guest"), 0);
  EXPECT_GT(ending_in(stacks_, {"wago::harness::(anonymous namespace)::burn_in_host()"}, "Host"), 0);
  const auto libs = document_.find("libs")->items();
  EXPECT_TRUE(std::any_of(libs.begin(), libs.end(),
                          [](const base::Json& it) { return it.find("name")->as_string() == "guest.wasm"; }));
}

TEST_F(GuestProfileTest, WeighsAsMuchAsTheGuestTook) {
  profile("work");
  const double weight_us = std::accumulate(stacks_.begin(), stacks_.end(), 0.0,
                                           [](double sum, const Stack& it) { return sum + it.weight_us; });
  EXPECT_LE(weight_us, cpu_us_);
  EXPECT_GE(weight_us, cpu_us_ / 2);
  // Ticks of the kernel, at least; not more than were asked for, of which each may have another at its side
  // for the kernel's time.
  EXPECT_GE(static_cast<double>(stacks_.size()), cpu_us_ / 50'000);
  EXPECT_LE(static_cast<double>(stacks_.size()), 10 + 2 * cpu_us_ / (kPeriodNs / 1e3));
  EXPECT_DOUBLE_EQ(document_.find("meta")->find("interval")->as_double(), 1.0);
}

TEST_F(GuestProfileTest, ATrapIsNoEndOfIt) {
  profile("fail");
  EXPECT_TRUE(trapped_);
  EXPECT_GT(ending_in(stacks_, {"fail"}, "Guest"), 0);
}

TEST_F(GuestProfileTest, WhereSamplingIsRefusedNothingRuns) {
  auto started = GuestProfile::start({.bytes_per_thread = uint64_t{1} << 62});
  ASSERT_TRUE(started) << started.error().to_string();
  bool called = false;
  auto ran = (*started)->run([&] { called = true; });
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().kind, base::ErrorKind::Unmeasurable);
  EXPECT_EQ(ran.error().message.find("no memory for samples: "), 0u) << ran.error().message;
  EXPECT_FALSE(called);
}

}  // namespace
}  // namespace wago::harness
