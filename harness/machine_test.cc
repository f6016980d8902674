#include "harness/machine.h"

#include <gtest/gtest.h>

#include <thread>

namespace wago::harness {
namespace {

TEST(Machine, IsDescribed) {
  EXPECT_EQ(machine().target, "x86_64-linux-gnu");
  EXPECT_NE(machine().cpu_model, "");
  EXPECT_EQ(machine().os_version.rfind("Linux ", 0), 0u) << machine().os_version;
  EXPECT_GE(machine().logical_cpus, 1u);
}

TEST(Machine, TheProgramHasAnIdentity) {
  EXPECT_TRUE(runner_id().rfind("build-id:", 0) == 0 || runner_id().rfind("sha256:", 0) == 0) << runner_id();
  EXPECT_GT(runner_id().size(), 20u);
}

}  // namespace
}  // namespace wago::harness
