#include "diff/elapsed.h"

#include <gtest/gtest.h>

#include "diff/test_evidence.h"

namespace wago::diff {
namespace {

TEST(Elapsed, IsPerUnitOfCompletedWork) {
  Elapsed elapsed = elapsed_of(test_evidence());
  EXPECT_EQ(elapsed.unit, "invocation");
  EXPECT_EQ(elapsed.completed_work, 100u);
  EXPECT_DOUBLE_EQ(elapsed.total_ns, 1000);
  EXPECT_EQ(elapsed.wall_ns.n, 10u);
  EXPECT_DOUBLE_EQ(elapsed.wall_ns.median, 1000);
  ASSERT_TRUE(elapsed.cpu_ns);
  EXPECT_DOUBLE_EQ(elapsed.cpu_ns->median, 900);
}

TEST(Elapsed, AnIterationOfSeveralCallsIsDividedByThem) {
  Evidence evidence = test_evidence();
  evidence.manifest.phases[1].completed_work = 400;
  Elapsed elapsed = elapsed_of(evidence);
  EXPECT_DOUBLE_EQ(elapsed.total_ns, 250);
  EXPECT_DOUBLE_EQ(elapsed.wall_ns.median, 250);
}

TEST(Elapsed, UnreadCpuTimeIsAbsentNotZero) {
  Evidence evidence = test_evidence();
  for (auto& batch : evidence.iterations) batch.cpu_ns = 0;
  EXPECT_FALSE(elapsed_of(evidence).cpu_ns);
}

TEST(Elapsed, NothingCompletedGivesNoFigures) {
  Evidence evidence = test_evidence();
  evidence.manifest.phases[1].completed_work = 0;
  EXPECT_EQ(elapsed_of(evidence).wall_ns.n, 0u);
  evidence.manifest.phases.clear();
  EXPECT_EQ(elapsed_of(evidence).wall_ns.n, 0u);
  EXPECT_EQ(elapsed_of(evidence).unit, "invocation");
}

TEST(Elapsed, ABatchWithoutIterationsIsIgnored) {
  Evidence evidence = test_evidence();
  evidence.iterations.push_back({0, 5, 5, 0});
  EXPECT_EQ(elapsed_of(evidence).wall_ns.n, 10u);
}

}  // namespace
}  // namespace wago::diff
