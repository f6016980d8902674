#include "harness/hardware_counters.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/json.h"
#include "capture/schema.h"

namespace wago::harness {

namespace {

int open_in_kernel(perf_event_attr& attributes) {
  return static_cast<int>(::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

std::string rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, value < 100 ? "%.3g" : "%.0f", value);
  return text;
}

}  // namespace

double CounterReading::scaled() const {
  const auto counted = static_cast<double>(count);
  if (running_ns == 0 || running_ns >= enabled_ns) return counted;
  return counted * static_cast<double>(enabled_ns) / static_cast<double>(running_ns);
}

HardwareCounters::HardwareCounters(Collector* inner, Open open)
    : inner_(inner), open_(open ? std::move(open) : open_in_kernel) {
  struct Wanted {
    std::string_view name;
    uint64_t config;
  };
  constexpr Wanted kWanted[] = {{"cycles", PERF_COUNT_HW_CPU_CYCLES},
                                {"instructions", PERF_COUNT_HW_INSTRUCTIONS},
                                {"cache-misses", PERF_COUNT_HW_CACHE_MISSES},
                                {"branch-misses", PERF_COUNT_HW_BRANCH_MISSES}};
  for (const Wanted& wanted : kWanted) {
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = PERF_TYPE_HARDWARE;
    attributes.config = wanted.config;
    attributes.disabled = 1;
    attributes.inherit = 1;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    base::Fd fd(open_(attributes));
    if (fd.ok()) {
      events_.push_back({wanted.name, wanted.config, std::move(fd)});
      continue;
    }
    const char* reason = errno == ENOENT || errno == EOPNOTSUPP || errno == ENODEV
                             ? "this machine does not count them"
                             : std::strerror(errno);
    refused_ = reason;
    if (errno == EACCES || errno == EPERM) refused_ += "; see kernel.perf_event_paranoid";
  }
}

void HardwareCounters::begin_window() {
  if (inner_) inner_->begin_window();
  for (const Event& event : events_) ::ioctl(event.fd.get(), PERF_EVENT_IOC_ENABLE, 0);
}

void HardwareCounters::end_window() {
  for (const Event& event : events_) ::ioctl(event.fd.get(), PERF_EVENT_IOC_DISABLE, 0);
  if (inner_) inner_->end_window();
}

base::Result<void> HardwareCounters::end_phase() {
  for (const Event& event : events_) read(event);
  return inner_ ? inner_->end_phase() : base::Result<void>();
}

void HardwareCounters::use(wago::Instance& instance) {
  if (inner_) inner_->use(instance);
}

void HardwareCounters::read(const Event& event) {
  uint64_t values[3] = {};
  if (::read(event.fd.get(), values, sizeof values) != sizeof values) return;
  // An event that never got its turn has counted nothing, which is not zero.
  if (values[2] > 0) readings_.push_back({event.name, values[0], values[1], values[2]});
}

std::string HardwareCounters::to_json_text(uint64_t iterations) const {
  base::Json counters = base::Json::array();
  for (const CounterReading& reading : readings_) {
    counters.push(base::Json::object({{"name", reading.name},
                                      {"count", reading.count},
                                      {"enabled_ns", reading.enabled_ns},
                                      {"running_ns", reading.running_ns}}));
  }
  return base::Json::object(
             {{"version", capture::kVersion}, {"iterations", iterations}, {"counters", std::move(counters)}})
             .dump() +
         "\n";
}

std::string HardwareCounters::sentence(uint64_t iterations) const {
  if (readings_.empty()) {
    return "no hardware counters: " + (refused_.empty() ? "the processor had none free" : refused_);
  }
  const double each = 1.0 / static_cast<double>(std::max<uint64_t>(iterations, 1));
  double cycles = 0, instructions = 0;
  std::string text = "hardware counters in user mode, for each iteration:";
  for (const CounterReading& reading : readings_) {
    if (&reading != &readings_.front()) text += ",";
    text += " " + rounded(reading.scaled() * each) + " " + std::string(reading.name);
    if (reading.name == "cycles") cycles = reading.scaled();
    if (reading.name == "instructions") instructions = reading.scaled();
  }
  if (cycles > 0 && instructions > 0)
    text += "; " + rounded(instructions / cycles) + " instructions per cycle";
  if (!refused_.empty()) text += "; of the others " + refused_;
  return text;
}

}  // namespace wago::harness
