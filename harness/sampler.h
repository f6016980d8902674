// In-process sampling: where threads are, looked at by a signal after every so much of their CPU time.
//
// The clock is a software clock of perf events that each thread opens for itself, counted in user mode; it
// follows the thread's CPU time, gives the rate that is asked for, and is switched by one system call. Where
// the kernel refuses it, a timer on the thread's CPU clock takes its place, which ticks with the kernel
// (often 250 Hz, whatever is asked). The handler walks the stack into memory that was set aside for the
// thread; what does not fit is counted as lost. It takes no lock and allocates nothing.
//
// A sample's weight is the thread's CPU time since its previous sample. The perf clock ticks in the kernel
// too, but no sample is taken there: time beyond the period is the kernel's, and is kept apart.
//
// The thread that begins the phase is sampled, and every worker that base/parallel.h starts meanwhile. A
// signal that is not ours goes to the handler that was there before. A forked child is not sampled.
//
// The signal is SIGTRAP, by the perf event itself, where that is cheap: since Linux 6.11 it is sent as the
// thread returns to user mode. Before, and through a descriptor (SIGPROF), it takes an interrupt of its own,
// which on a virtual machine costs as much as the clock.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "harness/collector.h"
#include "harness/native_unwind.h"

struct perf_event_attr;

namespace wago::harness {

enum class SampleClock : uint8_t { PerfEvent, ThreadTimer };

// Of so many samples a second.
constexpr uint64_t period_ns_of(uint64_t rate_hz) {
  return 1'000'000'000 / rate_hz;
}

struct SamplerSettings {
  uint64_t period_ns = period_ns_of(99);
  uint64_t bytes_per_thread = uint64_t{256} << 20;  // reserved; memory is used as samples need it
  // Opens a perf event for the calling thread: a descriptor, or -1 with errno. Empty: the kernel's.
  std::function<int(perf_event_attr&)> open_event;
  std::string first_thread = "recorder";  // what the thread that begins the phase is called
};

struct RawSample {
  uint64_t monotonic_ns = 0;
  uint64_t cpu_ns = 0;     // since the thread's previous sample, the kernel's share taken out
  uint64_t kernel_ns = 0;  // that share: time in which no sample could be taken
  uint32_t thread = 0;
  bool complete = false;                // the last address is the root's
  std::span<const uint64_t> addresses;  // inside each frame's current instruction; innermost first
};

struct RawThread {
  uint64_t id =
      0;  // the kernel's; of several threads that were the same worker one after the other, the first's
  std::string name;
};

class Sampler final : public Collector, public base::ThreadObserver {
 public:
  static base::Result<std::unique_ptr<Sampler>> create(SamplerSettings settings);
  ~Sampler() override;
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  // The root of the thread's stacks is the function that calls this, which must also be the one that calls
  // end_phase().
  base::Result<void> begin_phase() override;
  base::Result<void> end_phase() override;
  void use(wago::Instance& /*instance*/) override {}
  void run(const char* kind, unsigned worker, const std::function<void()>& work) override;

  // After the phase, for as long as the sampler lives.
  uint64_t period_ns() const { return settings_.period_ns; }
  SampleClock clock() const { return clock_; }
  std::string clock_refusal() const { return refusal_; }  // why it is not a perf event
  int signal() const { return signal_; }                  // SIGTRAP or SIGPROF
  const std::vector<RawThread>& threads() const { return threads_; }
  // In the order of their times.
  std::vector<RawSample> samples() const;
  uint64_t lost_samples() const;
  // CPU time of the sampled threads while they were.
  uint64_t sampled_cpu_ns() const;
  const NativeUnwinder& native() const { return native_; }

 private:
  struct Thread;

  explicit Sampler(SamplerSettings settings);
  base::Result<void> choose_clock();
  base::Result<Thread*> claim(const std::string& name);
  base::Result<void> start(Thread& thread, uint64_t root_end);
  void stop(Thread& thread);
  base::Result<void> arm(Thread& thread);

  const SamplerSettings settings_;
  NativeUnwinder native_;
  SampleClock clock_ = SampleClock::PerfEvent;
  std::string refusal_;
  int signal_;
  bool handling_ = false;  // the signal
  bool in_phase_ = false;
  Thread* main_ = nullptr;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Thread>> all_;
  std::vector<RawThread> threads_;
  uint64_t unsampled_threads_ = 0;
};

}  // namespace wago::harness
