#include "diff/contract.h"

#include <gtest/gtest.h>

#include <functional>

#include "diff/test_evidence.h"

namespace wago::diff {
namespace {

std::vector<ContractDifference> differences(const Evidence& a, const Evidence& b) {
  const Evidence* captures[] = {&a, &b};
  return contract_differences(captures);
}

TEST(Contract, WhatIsComparedIsNotPartOfIt) {
  Evidence a = test_evidence("a"), b = test_evidence("b");
  b.manifest.revision = "other";
  b.manifest.dirty = base::Dirty::Dirty;
  b.manifest.module_sha256 = "other";
  b.manifest.code_sha256 = "other";
  b.manifest.runner_id = "other";
  b.manifest.completed_iterations = 7;
  b.manifest.requested_iterations = 0;
  b.manifest.requested_duration_ns = 1;
  EXPECT_TRUE(differences(a, b).empty());
}

TEST(Contract, NamesEachFieldThatDiffersWithBothValues) {
  Evidence a = test_evidence("a"), b = test_evidence("b");
  b.manifest.warmup_iterations = 7;
  b.manifest.effective_settings.engine.bounds = base::Bounds::Explicit;
  auto found = differences(a, b);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0], (ContractDifference{"warmup_iterations", "5", "a", "7", "b", "fib", "fib"}));
  EXPECT_EQ(found[1],
            (ContractDifference{"effective_settings.bounds", "signals", "a", "explicit", "b", "fib", "fib"}));
}

// Every field, varied alone, is found under its own name: none is forgotten and none shadows another.
TEST(Contract, EveryFieldCountsAlone) {
  using M = capture::Manifest;
  const std::vector<std::function<void(M&)>> changes = {
      [](M& m) { m.contract_sha256 = "x"; },
      [](M& m) { m.target = "x"; },
      [](M& m) { m.cpu_model = "x"; },
      [](M& m) { m.os_version = "x"; },
      [](M& m) { m.logical_cpus = 64; },
      [](M& m) { m.backend = base::Backend::Perf; },
      [](M& m) { m.event = "cycles"; },
      [](M& m) { m.phase_isolation = "process"; },
      [](M& m) { m.capture_phase = base::Phase::Compile; },
      [](M& m) { m.invocation_mode = base::Mode::Prepared; },
      [](M& m) { m.requested_rate_hz = 99; },
      [](M& m) { m.warmup_iterations = 0; },
      [](M& m) { m.effective_settings.engine.bounds = base::Bounds::Explicit; },
      [](M& m) { m.effective_settings.engine.level = 0; },
      [](M& m) { m.effective_settings.engine.interruptible = true; },
      [](M& m) { m.effective_settings.spill_everything = true; },
      [](M& m) { m.effective_settings.code_offset = 16; },
      [](M& m) { m.effective_settings.guest_stack_bytes = 1; },
      [](M& m) { m.effective_settings.include_code = true; },
      [](M& m) { m.effective_settings.source_maps = true; },
      [](M& m) { m.effective_settings.timeline = true; },
      [](M& m) { m.effective_settings.unwind_maps = true; },
      [](M& m) { m.effective_settings.stack_bytes = 256; },
      [](M& m) { m.effective_settings.max_spans = 1; },
      [](M& m) { m.effective_settings.reload_artifact = true; },
      [](M& m) { m.effective_settings.counters = true; },
  };
  auto fields = contract_fields();
  ASSERT_EQ(changes.size(), fields.size());
  for (size_t i = 0; i < changes.size(); ++i) {
    Evidence a = test_evidence("a"), b = test_evidence("b");
    changes[i](b.manifest);
    auto found = differences(a, b);
    ASSERT_EQ(found.size(), 1u) << fields[i];
    EXPECT_EQ(found[0].field, fields[i]);
    EXPECT_NE(found[0].value, found[0].other_value);
  }
}

TEST(Contract, OneStrangerInASetIsNamed) {
  Evidence a = test_evidence("a"), b = test_evidence("b"), c = test_evidence("c");
  c.manifest.logical_cpus = 4;
  const Evidence* captures[] = {&a, &b, &c};
  auto found = contract_differences(captures);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0], (ContractDifference{"logical_cpus", "2", "a", "4", "c", "fib", "fib"}));
}

}  // namespace
}  // namespace wago::diff
