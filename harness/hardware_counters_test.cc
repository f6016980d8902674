#include "harness/hardware_counters.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace wago::harness {
namespace {

void work_for_a_while() {
  volatile uint64_t sum = 0;
  for (int i = 0; i < 20'000'000; ++i) sum = sum + 1;
}

TEST(HardwareCounters, AMachineThatHasNoneSaysSo) {
  HardwareCounters counters(nullptr, [](perf_event_attr& attributes) {
    EXPECT_EQ(attributes.type, static_cast<uint32_t>(PERF_TYPE_HARDWARE));
    EXPECT_TRUE(attributes.disabled && attributes.exclude_kernel && attributes.inherit);
    errno = ENOENT;
    return -1;
  });
  EXPECT_TRUE(counters.begin_phase());
  EXPECT_TRUE(counters.end_phase());
  EXPECT_TRUE(counters.readings().empty());
  EXPECT_EQ(counters.sentence(10), "no hardware counters: this machine does not count them");
}

TEST(HardwareCounters, ARefusalNamesItsSetting) {
  HardwareCounters counters(nullptr, [](perf_event_attr&) {
    errno = EACCES;
    return -1;
  });
  EXPECT_NE(counters.sentence(1).find("kernel.perf_event_paranoid"), std::string::npos);
}

// The kernel's own task clock stands in for what a processor counts: only what happens in windows is
// in it.
TEST(HardwareCounters, CountsAreOfTimedWindowsAlone) {
  bool permitted = true;
  HardwareCounters counters(nullptr, [&](perf_event_attr& attributes) {
    if (attributes.config == PERF_COUNT_HW_CACHE_MISSES) {
      errno = ENOENT;
      return -1;
    }
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.config = PERF_COUNT_SW_TASK_CLOCK;
    const auto fd =
        static_cast<int>(::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
    permitted &= fd >= 0;
    return fd;
  });
  if (!permitted) GTEST_SKIP() << "the kernel permits no perf events";
  work_for_a_while();
  ASSERT_TRUE(counters.begin_phase());
  counters.begin_window();
  counters.end_window();
  work_for_a_while();
  ASSERT_TRUE(counters.end_phase());
  ASSERT_EQ(counters.readings().size(), 3u);
  const uint64_t nothing = counters.readings()[0].count;

  HardwareCounters busy(nullptr, [](perf_event_attr& attributes) {
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.config = PERF_COUNT_SW_TASK_CLOCK;
    return static_cast<int>(::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
  });
  ASSERT_TRUE(busy.begin_phase());
  busy.begin_window();
  work_for_a_while();
  busy.end_window();
  ASSERT_TRUE(busy.end_phase());
  ASSERT_EQ(busy.readings().size(), 4u);
  EXPECT_EQ(busy.readings()[0].name, "cycles");
  EXPECT_GT(busy.readings()[0].count, 5 * nothing) << "the work between windows was counted";
  const std::string said = busy.sentence(1000);
  EXPECT_NE(said.find("cycles, "), std::string::npos) << said;
  EXPECT_NE(said.find(" instructions per cycle"), std::string::npos) << said;
  EXPECT_NE(counters.sentence(1).find("of the others this machine does not count them"), std::string::npos);
  EXPECT_NE(busy.to_json_text(7).find("\"iterations\":7"), std::string::npos);
}

TEST(HardwareCounters, TurnsAreScaled) {
  EXPECT_EQ((CounterReading{"cycles", 100, 1000, 1000}.scaled()), 100.0);
  EXPECT_EQ((CounterReading{"cycles", 100, 1000, 250}.scaled()), 400.0);
  EXPECT_EQ((CounterReading{"cycles", 100, 0, 0}.scaled()), 100.0);
}

}  // namespace
}  // namespace wago::harness
