#include "base/clock.h"

namespace wago::base {

namespace {
class SystemClock : public Clock {
 public:
  uint64_t monotonic_ns() override { return base::monotonic_ns(); }
  uint64_t thread_cpu_ns() override { return base::thread_cpu_ns(); }
  uint64_t unix_ns() override { return base::unix_ns(); }
};
}  // namespace

Clock& system_clock() {
  static SystemClock* const clock = new SystemClock;
  return *clock;
}

}  // namespace wago::base
