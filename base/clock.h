// The clocks a measurement reads, behind an interface so that tests can hand in a fake one.
#pragma once

#include <cstdint>
#include <ctime>

namespace wago::base {

// CLOCK_MONOTONIC; about 25 to 60 ns a reading.
inline uint64_t monotonic_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(t.tv_nsec);
}
// CPU time of the calling thread; a system call, about 0.8 us a reading on a virtual machine.
inline uint64_t thread_cpu_ns() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(t.tv_nsec);
}
// CLOCK_REALTIME; may step.
inline uint64_t unix_ns() {
  timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(t.tv_nsec);
}

class Clock {
 public:
  virtual ~Clock() = default;
  virtual uint64_t monotonic_ns() = 0;
  virtual uint64_t thread_cpu_ns() = 0;
  virtual uint64_t unix_ns() = 0;
};

// The machine's; never destroyed.
Clock& system_clock();

// Moves only when told to.
class FakeClock : public Clock {
 public:
  void advance(uint64_t ns) { now_ += ns; }
  uint64_t monotonic_ns() override { return now_; }
  uint64_t thread_cpu_ns() override { return now_; }
  uint64_t unix_ns() override { return kEpoch + now_; }

 private:
  static constexpr uint64_t kEpoch = 1'700'000'000'000'000'000u;
  uint64_t now_ = 0;
};

}  // namespace wago::base
