// What the processor itself counts while iterations are timed: cycles, instructions, cache and branch
// misses, in user mode, of the thread that does the work and of the workers that it starts.
//
// Many machines, most virtual ones, count nothing for us: that is said, and fails nothing. Where there are
// more events than the processor counts at once, the kernel takes turns, and counts are scaled by the share
// of time that they were counted for.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/process.h"
#include "base/result.h"
#include "harness/collector.h"

struct perf_event_attr;

namespace wago::harness {

struct CounterReading {
  std::string_view name;  // "cycles", "instructions", "cache-misses", "branch-misses"
  uint64_t count = 0;     // as the processor counted
  uint64_t enabled_ns = 0;
  uint64_t running_ns = 0;  // of enabled_ns; less where the kernel took turns
  // What it would have counted all the time.
  double scaled() const;
};

class HardwareCounters final : public Collector {
 public:
  // Opens an event for the calling thread: a descriptor, or -1 with errno.
  using Open = std::function<int(perf_event_attr&)>;
  // `inner`, if there is one, is on when the counters are. Empty `open`: the kernel's.
  explicit HardwareCounters(Collector* inner = nullptr, Open open = {});

  Collector& innermost() override { return inner_ ? inner_->innermost() : *this; }
  base::Result<void> begin_phase() override { return {}; }
  base::Result<void> end_phase() override;
  void begin_window() override;
  void end_window() override;
  void use(wago::Instance& instance) override;

  // After the phase: of the events that could be counted.
  const std::vector<CounterReading>& readings() const { return readings_; }
  // counters.json
  std::string to_json_text(uint64_t iterations) const;
  // One sentence: counts for each iteration and instructions per cycle, or why there are none.
  std::string sentence(uint64_t iterations) const;

 private:
  struct Event {
    std::string_view name;
    uint64_t config = 0;
    base::Fd fd;
  };
  void read(const Event& event);

  Collector* const inner_;
  const Open open_;
  std::vector<Event> events_;
  std::string refused_;  // the events that could not be opened, and why the last could not
  std::vector<CounterReading> readings_;
};

}  // namespace wago::harness
