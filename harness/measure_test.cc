#include "harness/measure.h"

#include <gtest/gtest.h>

#include "harness/hardware_counters.h"

namespace wago::harness {
namespace {

using base::FakeClock;

// Work that takes a given time per iteration and keeps a diary.
class FakeWork : public Work {
 public:
  FakeWork(FakeClock& clock, uint64_t iteration_ns) : clock_(clock), iteration_ns_(iteration_ns) {}
  RunStatus prepare(uint64_t count, bool verify) override {
    clock_.advance(prepare_ns * count);
    prepared += count;
    if (verify) ++verified_before;
    return {};
  }
  RunStatus run(uint64_t count) override {
    EXPECT_EQ(prepared, ran + count) << "what runs was prepared";
    for (uint64_t i = 0; i < count; ++i) {
      if (ran == fail_at) return RunFailure{base::failed("wrong: 1, not 2"), "wrong"};
      clock_.advance(iteration_ns_);
      ++ran;
    }
    return {};
  }
  RunStatus finish(uint64_t count, bool verify) override {
    finished += count;
    if (verify) ++verified_after;
    return {};
  }
  uint64_t max_batch() const override { return batch_limit; }

  uint64_t prepare_ns = 0;
  uint64_t batch_limit = UINT64_MAX;
  uint64_t fail_at = UINT64_MAX;
  uint64_t prepared = 0, ran = 0, finished = 0;
  uint64_t verified_before = 0, verified_after = 0;

 private:
  FakeClock& clock_;
  uint64_t iteration_ns_;
};

struct Fixture {
  explicit Fixture(uint64_t iteration_ns) : work(clock, iteration_ns), measurement(work, clock, page) {}
  FakeClock clock;
  FakeWork work;
  ProgressPage page;
  Measurement measurement;
  LoopResult result;
};

TEST(Measurement, FastIterationsAreTimedInBatchesThatHideTheClock) {
  Fixture f(20);
  ASSERT_FALSE(f.measurement.warm_up(5));
  ASSERT_FALSE(f.measurement.run({.iterations = 1'000'000}, f.result));
  EXPECT_EQ(f.result.iterations, 1'000'000u);
  EXPECT_EQ(f.work.ran, 1'000'005u) << "warm-up and the iterations asked for, no more";
  EXPECT_EQ(f.result.batches[0].iterations, kBatchNs / 20);
  EXPECT_EQ(f.result.batches[0].wall_ns, kBatchNs);
  EXPECT_EQ(f.result.wall_ns, 20'000'000u);
}

TEST(Measurement, CpuTimeOfAShortWindowIsNotKept) {
  Fixture whole(1'000);
  ASSERT_FALSE(whole.measurement.run({.iterations = 30}, whole.result));
  ASSERT_EQ(whole.result.batches[0].iterations, 1u) << "nothing is known yet";
  EXPECT_EQ(whole.result.batches[0].cpu_ns, 0u);
  Fixture f(1'000);
  ASSERT_FALSE(f.measurement.warm_up(1));
  ASSERT_FALSE(f.measurement.run({.iterations = 330}, f.result));
  ASSERT_EQ(f.result.batches.size(), 2u);
  EXPECT_EQ(f.result.batches[0].cpu_ns, 300'000u);
  EXPECT_EQ(f.result.batches[1].iterations, 30u);
  EXPECT_EQ(f.result.batches[1].cpu_ns, 30'000u) << "just long enough";
  EXPECT_EQ(f.result.cpu_ns, 330'000u);
}

TEST(Measurement, SlowIterationsAreTimedOneByOne) {
  Fixture f(7'000'000);
  ASSERT_FALSE(f.measurement.warm_up(1));
  ASSERT_FALSE(f.measurement.run({.iterations = 10}, f.result));
  ASSERT_EQ(f.result.batches.size(), 10u);
  for (const auto& batch : f.result.batches)
    EXPECT_EQ(batch, (capture::IterationBatch{batch.start_ns, 7'000'000, 7'000'000, 1}));
  EXPECT_EQ(f.result.batches[3].start_ns, 21'000'000u);
}

TEST(Measurement, WithoutWarmUpBatchesGrowFromOne) {
  Fixture f(100);
  ASSERT_FALSE(f.measurement.run({.iterations = 100'000}, f.result));
  EXPECT_EQ(f.result.batches[0].iterations, 1u);
  EXPECT_EQ(f.result.batches[1].iterations, 16u) << "one disturbed estimate cannot make a batch of seconds";
  uint64_t sum = 0;
  for (const auto& batch : f.result.batches) sum += batch.iterations;
  EXPECT_EQ(sum, 100'000u);
}

TEST(Measurement, ADurationIsTestedBetweenCompleteIterations) {
  Fixture f(30'000'000);
  ASSERT_FALSE(f.measurement.run({.duration_ns = 100'000'000}, f.result));
  EXPECT_EQ(f.result.iterations, 4u);
  EXPECT_EQ(f.result.elapsed_ns, 120'000'000u);
  Fixture g(30'000'000);
  ASSERT_FALSE(g.measurement.run({.duration_ns = 1}, g.result));
  EXPECT_EQ(g.result.iterations, 1u) << "at least one";
}

TEST(Measurement, UntimedWorkIsElapsedButNotMeasured) {
  Fixture f(1'000'000);
  f.work.prepare_ns = 9'000'000;
  ASSERT_FALSE(f.measurement.run({.duration_ns = 100'000'000}, f.result));
  EXPECT_EQ(f.result.iterations, 10u);
  EXPECT_EQ(f.result.wall_ns, 10'000'000u);
  EXPECT_EQ(f.result.elapsed_ns, 100'000'000u);
  EXPECT_EQ(f.work.finished, 10u);
}

TEST(Measurement, EveryWarmUpIterationAndTheEdgesOfThePhaseAreVerified) {
  Fixture f(1'000'000);
  ASSERT_FALSE(f.measurement.warm_up(3));
  EXPECT_EQ(f.work.verified_before, 3u);
  EXPECT_EQ(f.work.verified_after, 3u);
  ASSERT_FALSE(f.measurement.run({.iterations = 10}, f.result));
  EXPECT_EQ(f.work.verified_before, 4u);
  EXPECT_EQ(f.work.verified_after, 4u);
}

TEST(Measurement, WhatCannotLiveTogetherIsBatchedLess) {
  Fixture f(100);
  f.work.batch_limit = 64;
  ASSERT_FALSE(f.measurement.warm_up(1));
  ASSERT_FALSE(f.measurement.run({.iterations = 1000}, f.result));
  for (const auto& batch : f.result.batches) EXPECT_LE(batch.iterations, 64u);
}

TEST(Measurement, AFailureStopsAtOnceAndKeepsBothSentences) {
  Fixture f(100);
  f.work.fail_at = 2;
  auto warm_up = f.measurement.warm_up(5);
  ASSERT_TRUE(warm_up);
  EXPECT_EQ(f.work.ran, 2u);

  Fixture g(100);
  g.work.fail_at = 50'000;
  auto run = g.measurement.run({.iterations = 100'000}, g.result);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->error.message, "wrong: 1, not 2");
  EXPECT_EQ(run->stored, "wrong");
  EXPECT_EQ(g.work.ran, 50'000u);
}

TEST(Measurement, ProgressIsTold) {
  Fixture f(1'000'000);
  ASSERT_FALSE(f.measurement.warm_up(3));
  EXPECT_EQ(f.page.iterations.load(), 3u);
  ASSERT_FALSE(f.measurement.run({.iterations = 10}, f.result));
  EXPECT_EQ(f.page.iterations.load(), 10u);
  EXPECT_EQ(f.page.elapsed_ns.load(), 10'000'000u);
}

// Of what a collector sees: iterations that ran when it was switched on and off.
class FakeCollector : public Collector {
 public:
  explicit FakeCollector(const FakeWork& work) : work_(work) {}
  base::Result<void> begin_phase() override {
    begun_at.push_back(work_.ran);
    begun_by = __builtin_return_address(0);
    if (refuses) return base::unmeasurable("no clock");
    return {};
  }
  base::Result<void> end_phase() override {
    ended_at.push_back(work_.ran);
    return {};
  }
  void use(wago::Instance& /*instance*/) override {}
  bool refuses = false;
  std::vector<uint64_t> begun_at, ended_at;
  const void* begun_by = nullptr;

 private:
  const FakeWork& work_;
};

TEST(Measurement, ACollectorIsOnDuringTheMeasuredIterationsAlone) {
  Fixture f(1000);
  FakeCollector collector(f.work);
  Measurement measurement(f.work, f.clock, f.page, &collector);
  ASSERT_FALSE(measurement.warm_up(5));
  ASSERT_FALSE(measurement.run({.iterations = 100}, f.result));
  EXPECT_EQ(collector.begun_at, std::vector<uint64_t>{5});
  EXPECT_EQ(collector.ended_at, std::vector<uint64_t>{105});
}

// A sampler takes its caller for the root.
TEST(Measurement, ACollectorInsideAnotherIsBegunByTheSame) {
  Fixture f(1000);
  FakeCollector collector(f.work);
  HardwareCounters counters(&collector);
  for (Collector* whole : {static_cast<Collector*>(&collector), static_cast<Collector*>(&counters)}) {
    const void* const before = collector.begun_by;
    Measurement measurement(f.work, f.clock, f.page, whole);
    ASSERT_FALSE(measurement.run({.iterations = 100}, f.result));
    if (before != nullptr) {
      EXPECT_EQ(collector.begun_by, before);
    }
    f.result = {};
  }
  EXPECT_EQ(collector.begun_at, (std::vector<uint64_t>{0, 100}));
  EXPECT_EQ(collector.ended_at, (std::vector<uint64_t>{100, 200}));
}

TEST(Measurement, ACollectorIsSwitchedOffWhenTheWorkFailsAndItsRefusalIsAFailure) {
  Fixture f(1000);
  FakeCollector collector(f.work);
  Measurement measurement(f.work, f.clock, f.page, &collector);
  f.work.fail_at = 50;
  auto failure = measurement.run({.iterations = 100}, f.result);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->stored, "wrong");
  EXPECT_EQ(collector.ended_at, std::vector<uint64_t>{50});
  collector.refuses = true;
  failure = measurement.run({.iterations = 100}, f.result);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->error.kind, base::ErrorKind::Unmeasurable);
  EXPECT_EQ(f.work.ran, 50u) << "nothing is measured without the collector";
}

}  // namespace
}  // namespace wago::harness
