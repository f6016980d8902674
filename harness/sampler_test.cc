// Real samples of real guests: who is seen, how often, and under whom. Shares have the room that chance
// needs: of n samples a share p has the deviation sqrt(p (1 - p) / n).
#include "harness/sampler.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include <wago/wago.h>
#include "base/clock.h"
#include "base/demangle.h"
#include "harness/sampled_stacks.h"
#include "runtime/code_image.h"
#include "runtime/module.h"
#include "runtime/testing/module_builder.h"

namespace wago::harness {
namespace {

using capture::Side;
using runtime::Opcode;
using runtime::testing::Code;
using runtime::testing::ModuleBuilder;
using enum ValueType;

// spin(n): about n steps of a loop that depends on itself. Calls nothing.
Code spinning() {
  return Code()
      .open(Opcode::Loop)
      .op(Opcode::LocalGet, 1)
      .i64(0x5851f42d4c957f2d)
      .op(Opcode::I64Mul)
      .i64(1)
      .op(Opcode::I64Add)
      .op(Opcode::LocalSet, 1)
      .op(Opcode::LocalGet, 0)
      .i32(1)
      .op(Opcode::I32Sub)
      .op(Opcode::LocalTee, 0)
      .op(Opcode::BrIf, 0)
      .end()
      .op(Opcode::LocalGet, 1)
      .op(Opcode::I32WrapI64)
      .end();
}

// "names" section of functions, in order.
runtime::testing::Bytes function_names(std::initializer_list<const char*> names) {
  runtime::testing::Bytes map;
  map.u32(names.size());
  uint32_t index = 0;
  for (const char* name : names) map.u32(index++).name(name);
  return runtime::testing::Bytes{1}.sized(map);
}

// What a profile says, in names.
struct Profile {
  capture::Samples samples;
  std::vector<std::vector<std::string>> stacks;  // root first, of samples.samples
  std::vector<std::vector<Side>> sides;

  uint64_t weight() const { return capture::total_weight(samples); }
  // Of the samples whose stack holds these frames directly under one another.
  double share(const std::vector<std::string>& frames) const {
    uint64_t sum = 0;
    for (size_t i = 0; i < stacks.size(); ++i) {
      const auto& stack = stacks[i];
      if (std::search(stack.begin(), stack.end(), frames.begin(), frames.end()) != stack.end())
        sum += samples.samples[i].weight;
    }
    return static_cast<double>(sum) / static_cast<double>(std::max<uint64_t>(weight(), 1));
  }
  double self_share(const std::string& name) const {
    uint64_t sum = 0;
    for (size_t i = 0; i < stacks.size(); ++i) {
      if (stacks[i].back() == name) sum += samples.samples[i].weight;
    }
    return static_cast<double>(sum) / static_cast<double>(std::max<uint64_t>(weight(), 1));
  }
  double side_share(Side side) const {
    uint64_t sum = 0;
    for (size_t i = 0; i < sides.size(); ++i) {
      if (sides[i].back() == side) sum += samples.samples[i].weight;
    }
    return static_cast<double>(sum) / static_cast<double>(std::max<uint64_t>(weight(), 1));
  }
};

std::string function_at(const runtime::Module& module, const runtime::CodeImage& image, uint32_t offset) {
  for (const runtime::CompiledFunction& function : image.functions) {
    if (offset - function.begin < function.size) return module.function_name(function.function);
  }
  return "?";
}

// A module, an engine, and a journal from before it was compiled.
class Guest {
 public:
  explicit Guest(const ModuleBuilder& module, EngineSettings settings = {.level = 0})
      : engine_(Engine::open(settings).value()),
        linker_(engine_),
        module_(engine_.compile(module.build()).value()) {}

  Linker& linker() { return linker_; }
  Instance& instance() {
    if (!instance_) instance_ = linker_.instantiate(module_).value();
    return *instance_;
  }
  std::vector<Slot> call(const char* name, std::initializer_list<Slot> args) {
    Function function = instance().function(name).value();
    std::vector<Slot> results(slots_of(function.type().results));
    trapped = !function.call({args.begin(), args.size()}, results).ok();
    return results;
  }
  bool trapped = false;

  Profile profile_of(const Sampler& sampler) {
    journal_.stop();
    const DescribedCode code = describe_code(journal_, "guest", {});
    Profile profile;
    profile.samples = describe_samples(sampler, journal_, code);
    for (const capture::Sample& sample : profile.samples.samples) {
      std::vector<std::string> names;
      std::vector<Side> sides;
      for (const capture::Frame& frame : capture::frames_of(profile.samples, sample.stack)) {
        names.push_back(name_of(profile.samples, frame));
        sides.push_back(frame.side);
      }
      std::reverse(names.begin(), names.end());
      std::reverse(sides.begin(), sides.end());
      profile.stacks.push_back(names);
      profile.sides.push_back(sides);
    }
    return profile;
  }

 private:
  std::string name_of(const capture::Samples& samples, const capture::Frame& frame) const {
    if (frame.symbol != capture::kNone) {
      const std::string name = base::demangled(samples.symbols[frame.symbol].name);
      return name.empty() ? samples.symbols[frame.symbol].name : name;
    }
    const HeldCode& code = journal_.codes()[frame.image];
    if (code.module) return function_at(*code.module, *code.image, frame.offset);
    return frame.offset < code.image->host_adapter ? "<entry>" : "<host call>";
  }

  CodeJournal journal_;
  Engine engine_;
  Linker linker_;
  Module module_;
  std::optional<Instance> instance_;
};

constexpr uint64_t kRateHz = 2000;

// Calls `work` again and again, sampled, for so much CPU time. The root is this function.
template <class Work>
__attribute__((noinline)) void sample_for(Sampler& sampler, uint64_t cpu_ns, Work work) {
  auto begun = sampler.begin_phase();
  ASSERT_TRUE(begun) << begun.error().to_string();
  const uint64_t end = base::thread_cpu_ns() + cpu_ns;
  while (base::thread_cpu_ns() < end) work();
  auto ended = sampler.end_phase();
  ASSERT_TRUE(ended) << ended.error().to_string();
}

std::unique_ptr<Sampler> sampler_of(SamplerSettings settings = {.period_ns = period_ns_of(kRateHz)}) {
  auto sampler = Sampler::create(std::move(settings));
  EXPECT_TRUE(sampler) << sampler.error().to_string();
  return *std::move(sampler);
}

constexpr uint64_t kSecond = 1'000'000'000;

// Roots are complete, times and weights add up.
void expect_sound(const Sampler& sampler, const Profile& profile, size_t at_least = 100) {
  ASSERT_GT(profile.stacks.size(), at_least);
  // Of few samples one that was cut off is more than a thousandth.
  const double tolerated = 2 + 0.001 * static_cast<double>(profile.stacks.size());
  EXPECT_LE(static_cast<double>(profile.samples.truncated_stacks), tolerated);
  EXPECT_LE(profile.weight(), sampler.sampled_cpu_ns());
  EXPECT_GE(static_cast<double>(profile.weight()), 0.9 * static_cast<double>(sampler.sampled_cpu_ns()));
  double rootless = 0;
  for (const auto& stack : profile.stacks) rootless += stack[0].find("sample_for") == std::string::npos;
  EXPECT_LE(rootless, 2 * tolerated);  // and the time in the kernel before each of them
  EXPECT_EQ(sampler.lost_samples(), 0u);
}

ModuleBuilder spinner() {
  ModuleBuilder module;
  const uint32_t type = module.type({I32}, {I32});
  module.export_("spin", ExternKind::Function, module.function(type, {{1, I64}}, spinning()));
  module.custom("name", function_names({"spin"}));
  return module;
}

TEST(Sampler, ABusyLoopIsWhereItsSamplesAre) {
  Guest guest(spinner());
  auto sampler = sampler_of();
  sample_for(*sampler, kSecond / 4, [&] { guest.call("spin", {1'000'000}); });
  const Profile profile = guest.profile_of(*sampler);
  expect_sound(*sampler, profile);
  EXPECT_GT(profile.self_share("spin"), 0.95);
  EXPECT_GT(profile.share({"<entry>", "spin"}), 0.95);
  EXPECT_GT(profile.side_share(Side::Guest), 0.95);
  if (sampler->clock() == SampleClock::PerfEvent) {
    EXPECT_GT(profile.stacks.size(), 0.15 * kRateHz) << "in a quarter of a second";
    EXPECT_LT(profile.stacks.size(), 0.4 * kRateHz);
  }
}

TEST(Sampler, SharesAreThoseOfTheWorkAndStacksNestAsTheCallsDo) {
  ModuleBuilder module;
  const uint32_t type = module.type({I32}, {I32});
  const uint32_t small = module.function(type, {{1, I64}}, spinning());
  const uint32_t large = module.function(type, {{1, I64}}, spinning());
  const uint32_t middle =
      module.function(type, {}, Code().op(Opcode::LocalGet, 0).op(Opcode::Call, small).end());
  const uint32_t outer = module.function(type, {},
                                         Code()
                                             .op(Opcode::LocalGet, 0)
                                             .op(Opcode::Call, middle)
                                             .op(Opcode::LocalGet, 0)
                                             .i32(3)
                                             .op(Opcode::I32Mul)
                                             .op(Opcode::Call, large)
                                             .op(Opcode::I32Add)
                                             .end());
  module.export_("outer", ExternKind::Function, outer);
  module.custom("name", function_names({"small", "large", "middle", "outer"}));
  Guest guest(module);
  auto sampler = sampler_of();
  sample_for(*sampler, kSecond / 2, [&] { guest.call("outer", {100'000}); });
  const Profile profile = guest.profile_of(*sampler);
  expect_sound(*sampler, profile);
  const double in_small = profile.self_share("small"), in_large = profile.self_share("large");
  EXPECT_GT(in_small + in_large, 0.95);
  EXPECT_NEAR(in_small / (in_small + in_large), 0.25, 0.06);  // four deviations of 1000 samples
  EXPECT_DOUBLE_EQ(profile.share({"<entry>", "outer", "middle", "small"}), in_small);
  EXPECT_DOUBLE_EQ(profile.share({"<entry>", "outer", "large"}), in_large);
}

ModuleBuilder fibonacci() {
  ModuleBuilder module;
  const uint32_t type = module.type({I32}, {I32});
  const Code fib = Code()
                       .op(Opcode::LocalGet, 0)
                       .i32(2)
                       .op(Opcode::I32LtU)
                       .open(Opcode::If, I32)
                       .op(Opcode::LocalGet, 0)
                       .op(Opcode::Else)
                       .op(Opcode::LocalGet, 0)
                       .i32(1)
                       .op(Opcode::I32Sub)
                       .op(Opcode::Call, 0)
                       .op(Opcode::LocalGet, 0)
                       .i32(2)
                       .op(Opcode::I32Sub)
                       .op(Opcode::Call, 0)
                       .op(Opcode::I32Add)
                       .end()
                       .end();
  module.export_("fib", ExternKind::Function, module.function(type, {}, fib));
  module.custom("name", function_names({"fib"}));
  return module;
}

// Recursion is all prologues and epilogues: wherever a signal lands, no frame may be missing.
TEST(Sampler, RecursionHasEveryFrameOfEveryDepth) {
  for (int level : {0, 1}) {
    Guest guest(fibonacci(), {.level = level});
    auto sampler = sampler_of();
    sample_for(*sampler, kSecond / 4, [&] { guest.call("fib", {24}); });
    const Profile profile = guest.profile_of(*sampler);
    expect_sound(*sampler, profile);
    EXPECT_GT(profile.self_share("fib"), 0.95);
    for (const auto& stack : profile.stacks) {
      const auto frames = static_cast<size_t>(std::count(stack.begin(), stack.end(), "fib"));
      EXPECT_LE(frames, 24u);
      if (frames == 0) continue;
      auto first = std::find(stack.begin(), stack.end(), "fib");
      EXPECT_EQ(*(first - 1), "<entry>");
      EXPECT_TRUE(std::all_of(first, first + static_cast<ptrdiff_t>(frames),
                              [](auto& name) { return name == "fib"; }));
    }
  }
}

__attribute__((noipa)) uint64_t burn(uint64_t steps) {
  uint64_t value = 1;
  for (uint64_t i = 0; i < steps; ++i) {
    value = value * 0x5851f42d4c957f2d + 1;
    asm volatile("" : "+r"(value));
  }
  return value;
}

// outer -> host function -> spin of the same instance, half of the time; and the host's own work.
TEST(Sampler, HostFunctionsAndReentryAreOneStack) {
  ModuleBuilder module;
  const uint32_t type = module.type({I32}, {I32});
  const uint32_t host = module.import_function("env", "host", type);
  const uint32_t spin = module.function(type, {{1, I64}}, spinning());
  const uint32_t outer =
      module.function(type, {}, Code().op(Opcode::LocalGet, 0).op(Opcode::Call, host).end());
  module.export_("outer", ExternKind::Function, outer);
  module.export_("spin", ExternKind::Function, spin);
  module.custom("name", function_names({"host", "spin", "outer"}));
  Guest guest(module);
  Guest* self = &guest;
  ASSERT_TRUE(guest.linker().define_host("env", "host", [self](int32_t steps) -> int32_t {
    burn(static_cast<uint64_t>(steps));
    return static_cast<int32_t>(self->call("spin", {static_cast<Slot>(steps)})[0]);
  }));
  auto sampler = sampler_of();
  sample_for(*sampler, kSecond / 2, [&] { guest.call("outer", {100'000}); });
  const Profile profile = guest.profile_of(*sampler);
  expect_sound(*sampler, profile);
  const std::string burning = "wago::harness::(anonymous namespace)::burn(unsigned long)";
  EXPECT_GT(profile.self_share(burning), 0.2);
  EXPECT_GT(profile.self_share("spin"), 0.2);
  EXPECT_GT(profile.self_share(burning) + profile.self_share("spin"), 0.9);
  EXPECT_GT(profile.side_share(Side::Host), 0.2);
  for (size_t i = 0; i < profile.stacks.size(); ++i) {
    const auto& stack = profile.stacks[i];
    if (stack.back() != burning && stack.back() != "spin") continue;
    auto first = std::find(stack.begin(), stack.end(), "<entry>");
    ASSERT_LT(first + 2, stack.end());
    EXPECT_EQ(first[1], "outer");
    EXPECT_EQ(first[2], "<host call>");
    const auto entries = std::count(stack.begin(), stack.end(), "<entry>");
    EXPECT_EQ(entries, stack.back() == "spin" ? 2 : 1);
    EXPECT_EQ(profile.sides[i].back(), stack.back() == "spin" ? Side::Guest : Side::Host);
    // The adapter and what takes its call are the runtime's part.
    const auto at = static_cast<size_t>(first - stack.begin());
    EXPECT_EQ(profile.sides[i][at], Side::Helper);
    EXPECT_EQ(profile.sides[i][at + 1], Side::Guest);
    EXPECT_EQ(profile.sides[i][at + 2], Side::Helper);
    EXPECT_EQ(profile.sides[i][at + 3], Side::Helper) << stack[at + 3];
  }
}

TEST(Sampler, HelpersOfTheRuntimeAreApartFromTheGuest) {
  ModuleBuilder module;
  const uint32_t type = module.type({I32}, {I32});
  module.memory(1, 1);
  // Fills the memory again and again.
  const Code fill = Code()
                        .open(Opcode::Loop)
                        .i32(0)
                        .i32(7)
                        .i32(65536)
                        .op(Opcode::MemoryFill, 0)
                        .op(Opcode::LocalGet, 0)
                        .i32(1)
                        .op(Opcode::I32Sub)
                        .op(Opcode::LocalTee, 0)
                        .op(Opcode::BrIf, 0)
                        .end()
                        .op(Opcode::LocalGet, 0)
                        .end();
  module.export_("fill", ExternKind::Function, module.function(type, {}, fill));
  module.custom("name", function_names({"fill"}));
  Guest guest(module);
  auto sampler = sampler_of();
  sample_for(*sampler, kSecond / 4, [&] { guest.call("fill", {1000}); });
  const Profile profile = guest.profile_of(*sampler);
  expect_sound(*sampler, profile);
  EXPECT_GT(profile.side_share(Side::Helper), 0.9) << "the C library's part is its caller's";
  size_t orphans = 0;
  for (size_t i = 0; i < profile.stacks.size(); ++i) {
    if (profile.sides[i].back() != Side::Helper || profile.stacks[i].back() == "<entry>") continue;
    orphans +=
        std::find(profile.stacks[i].begin(), profile.stacks[i].end(), "fill") == profile.stacks[i].end();
  }
  EXPECT_LE(orphans, 2u) << "but for those that were cut off, as expect_sound() has it";
}

// Half of the time in system calls: samples of user time see none of it, and the rest must not be blamed.
TEST(Sampler, TheKernelsTimeIsTheKernels) {
  Guest guest(spinner());
  auto sampler = sampler_of();
  if (sampler->clock() != SampleClock::PerfEvent) GTEST_SKIP() << sampler->clock_refusal();
  constexpr size_t kBytes = 4 << 20;
  uint64_t in_kernel_ns = 0;
  sample_for(*sampler, kSecond / 2, [&] {
    guest.call("spin", {2'000'000});
    const uint64_t before = base::thread_cpu_ns();
    for (int i = 0; i < 3; ++i) {
      void* at =
          ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
      ::munmap(at, kBytes);
    }
    in_kernel_ns += base::thread_cpu_ns() - before;
  });
  const Profile profile = guest.profile_of(*sampler);
  expect_sound(*sampler, profile);
  const double wanted = static_cast<double>(in_kernel_ns) / static_cast<double>(sampler->sampled_cpu_ns());
  EXPECT_NEAR(profile.side_share(Side::Kernel), wanted, 0.07);
  EXPECT_NEAR(profile.self_share("spin"), 1 - wanted, 0.07);
}

TEST(Sampler, TrapsThatAreTakenWhileItSamplesAreTrapsAndWholeStacks) {
  ModuleBuilder module;
  const uint32_t type = module.type({I32}, {I32});
  module.memory(1, 1);
  const Code wild = Code().i32(65536).op(Opcode::I32Load, 2, 0).end();
  module.export_("wild", ExternKind::Function, module.function(type, {}, wild));
  module.custom("name", function_names({"wild"}));
  Guest guest(module);
  auto sampler = sampler_of({.period_ns = period_ns_of(10'000)});
  uint64_t calls = 0, traps = 0;
  sample_for(*sampler, kSecond / 4, [&] {
    for (int i = 0; i < 100; ++i, ++calls) {
      guest.call("wild", {0});
      traps += guest.trapped;
    }
  });
  EXPECT_EQ(traps, calls);
  const Profile profile = guest.profile_of(*sampler);
  expect_sound(*sampler, profile);
}

TEST(Sampler, WorkersAreSampledUnderTheirNames) {
  ModuleBuilder module;
  const uint32_t type = module.type({I32}, {I32});
  for (int i = 0; i < 400; ++i) {
    Code code;
    for (int j = 0; j < 20; ++j)
      code.op(Opcode::LocalGet, 0).i32(j).op(Opcode::I32Add).op(Opcode::LocalSet, 0);
    module.function(type, {}, code.op(Opcode::LocalGet, 0).end());
  }
  const std::vector<uint8_t> bytes = module.build();
  Guest guest(spinner());
  auto engine = Engine::open({.workers = 3}).value();
  auto sampler = sampler_of();
  sample_for(*sampler, kSecond / 2, [&] { ASSERT_TRUE(engine.compile(bytes)); });
  const Profile profile = guest.profile_of(*sampler);
  std::map<std::string, size_t> of_thread;
  for (const capture::Sample& sample : profile.samples.samples) {
    ++of_thread[profile.samples.threads[sample.thread].name];
  }
  EXPECT_GT(of_thread["recorder"], 100u);
  EXPECT_GT(of_thread["compile worker 1"], 20u);
  EXPECT_GT(of_thread["compile worker 2"], 20u);
  EXPECT_LE(of_thread.size(), profile.samples.threads.size());
  EXPECT_LE(static_cast<double>(profile.samples.truncated_stacks),
            0.01 * static_cast<double>(profile.stacks.size()));
  for (size_t i = 0; i < profile.stacks.size(); ++i) {
    const std::string& thread = profile.samples.threads[profile.samples.samples[i].thread].name;
    if (thread == "recorder" || profile.stacks[i][0] == "[kernel]") continue;
    EXPECT_NE(profile.stacks[i][0].find("Sampler::run"), std::string::npos) << profile.stacks[i][0];
  }
}

int refuse(perf_event_attr&) {
  errno = EACCES;
  return -1;
}

// Such a timer ticks as the kernel likes to, at a busy moment far below what was asked for.
TEST(Sampler, WithoutPermissionTheThreadsTimerTicks) {
  Guest guest(spinner());
  constexpr uint64_t kAskedHz = 10'000;
  auto sampler = sampler_of({.period_ns = period_ns_of(kAskedHz), .open_event = refuse});
  EXPECT_EQ(sampler->clock(), SampleClock::ThreadTimer);
  EXPECT_EQ(sampler->clock_refusal(), "Permission denied");
  sample_for(*sampler, kSecond, [&] { guest.call("spin", {1'000'000}); });
  const Profile profile = guest.profile_of(*sampler);
  expect_sound(*sampler, profile, 20);
  EXPECT_GT(profile.self_share("spin"), 0.9);
  const auto sentences = sampling_diagnostics(*sampler, profile.samples);
  ASSERT_FALSE(sentences.empty());
  EXPECT_NE(sentences[0].find("Permission denied"), std::string::npos);
  if (profile.stacks.size() > 7000) return;  // a kernel that ticks as asked
  ASSERT_EQ(sentences.size(), 2u);
  EXPECT_NE(sentences[1].find("Hz of the 10000 Hz that were asked for"), std::string::npos) << sentences[1];
}

// As a kernel before 5.13, whose events send no SIGTRAP.
int refuse_traps(perf_event_attr& attributes) {
  if (!attributes.sigtrap) {
    return static_cast<int>(::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
  }
  errno = EINVAL;
  return -1;
}

// By the signal that this kernel is best asked for, and by the one that all have.
class SamplerSignal : public ::testing::TestWithParam<bool> {
 protected:
  std::unique_ptr<Sampler> sampler() const {
    SamplerSettings settings{.period_ns = period_ns_of(kRateHz)};
    if (GetParam()) settings.open_event = refuse_traps;
    return sampler_of(std::move(settings));
  }
  int signal() const { return sampler()->signal(); }
};
INSTANTIATE_TEST_SUITE_P(, SamplerSignal, ::testing::Bool(), [](const auto& by_descriptor) {
  return by_descriptor.param ? std::string("ByDescriptor") : std::string("AsTheKernelLikes");
});

TEST_P(SamplerSignal, SamplesWhereTheThreadIs) {
  Guest guest(spinner());
  auto sampler = this->sampler();
  if (GetParam()) {
    EXPECT_EQ(sampler->signal(), SIGPROF);
  }
  EXPECT_EQ(sampler->clock(), SampleClock::PerfEvent);
  sample_for(*sampler, kSecond / 2, [&] { guest.call("spin", {1'000'000}); });
  const Profile profile = guest.profile_of(*sampler);
  expect_sound(*sampler, profile, 200);
  EXPECT_GT(profile.self_share("spin"), 0.9);
}

TEST_P(SamplerSignal, OneThatIsBlockedIsUnblockedForThePhaseAndNoLonger) {
  const int signal = this->signal();
  sigset_t blocked, before, after;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, signal);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before);
  Guest guest(spinner());
  auto sampler = this->sampler();
  sample_for(*sampler, kSecond / 4, [&] { guest.call("spin", {1'000'000}); });
  ::pthread_sigmask(SIG_SETMASK, &before, &after);
  EXPECT_EQ(::sigismember(&after, signal), 1);
  EXPECT_GT(guest.profile_of(*sampler).stacks.size(), 100u);
}

// A tick that came while the guest's host had blocked its signal, as it was before the phase.
TEST_P(SamplerSignal, OneThatIsStillBlockedAtTheEndDoesNotComeLater) {
  const int signal = this->signal();
  sigset_t ours, before, pending;
  ::sigemptyset(&ours);
  ::sigaddset(&ours, signal);
  ::pthread_sigmask(SIG_BLOCK, &ours, &before);
  {
    Guest guest(spinner());
    auto sampler = this->sampler();
    sample_for(*sampler, kSecond / 20, [&] {
      ::pthread_sigmask(SIG_BLOCK, &ours, nullptr);
      guest.call("spin", {1'000'000});
    });
  }
  ::sigpending(&pending);
  EXPECT_EQ(::sigismember(&pending, signal), 0);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

std::atomic<int> foreign_signals{0};

TEST_P(SamplerSignal, ThoseOfOthersReachTheirHandlerAndTheHandlerComesBack) {
  const int signal = this->signal();
  struct sigaction mine {
  }, before{}, after{};
  mine.sa_handler = [](int) { ++foreign_signals; };
  ::sigaction(signal, &mine, &before);
  foreign_signals = 0;
  {
    Guest guest(spinner());
    auto sampler = this->sampler();
    sample_for(*sampler, kSecond / 10, [&] {
      guest.call("spin", {100'000});
      ::raise(signal);
    });
    EXPECT_GT(foreign_signals, 0);
    EXPECT_GT(sampler->samples().size(), 50u);
  }
  ::sigaction(signal, &before, &after);
  EXPECT_EQ(after.sa_handler, mine.sa_handler);
}

TEST(SamplerDeathTest, ABreakpointEndsTheProgramAsItWouldHaveWithout) {
  Guest guest(spinner());
  auto sampler = sampler_of();
  EXPECT_EXIT(sample_for(*sampler, kSecond / 100, [&] { asm volatile("int3"); }),
              ::testing::KilledBySignal(SIGTRAP), "");
}

TEST(Sampler, AForkedChildIsNotSampledAndDoesNotDisturb) {
  Guest guest(spinner());
  guest.call("spin", {1});
  auto sampler = sampler_of();
  int status = -1;
  sample_for(*sampler, kSecond / 4, [&] {
    guest.call("spin", {1'000'000});
    if (status != -1) return;
    const size_t before = sampler->samples().size();
    const pid_t child = ::fork();
    if (child == 0) {
      guest.call("spin", {100'000'000});
      ::_exit(sampler->samples().size() == before ? 0 : 1);
    }
    ::waitpid(child, &status, 0);
  });
  EXPECT_EQ(status, 0);
  const Profile profile = guest.profile_of(*sampler);
  expect_sound(*sampler, profile);
}

TEST(Sampler, WhatDoesNotFitIsCounted) {
  Guest guest(spinner());
  constexpr uint64_t kBytes = 128 << 10;  // two of the longest stacks
  auto sampler = sampler_of({.period_ns = period_ns_of(kRateHz), .bytes_per_thread = kBytes});
  sample_for(*sampler, kSecond, [&] { guest.call("spin", {1'000'000}); });
  EXPECT_GT(sampler->lost_samples(), 100u);
  const Profile profile = guest.profile_of(*sampler);
  EXPECT_GT(profile.stacks.size(), 100u);
  EXPECT_NE(sampling_diagnostics(*sampler, profile.samples).back().find("were lost"), std::string::npos);
}

TEST(Sampler, APhaseWithoutSamplesSaysSo) {
  Guest guest(spinner());
  auto sampler = sampler_of({.period_ns = period_ns_of(1)});
  sample_for(*sampler, 1000, [&] { guest.call("spin", {1}); });
  const Profile profile = guest.profile_of(*sampler);
  EXPECT_TRUE(profile.stacks.empty());
  const auto sentences = sampling_diagnostics(*sampler, profile.samples);
  ASSERT_FALSE(sentences.empty());
  EXPECT_EQ(sentences.back().find("no samples were taken in "), 0u);
}

}  // namespace
}  // namespace wago::harness
