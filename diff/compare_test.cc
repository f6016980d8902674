#include "diff/compare.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "diff/test_evidence.h"

namespace wago::diff {
namespace {

Comparison compared(std::vector<Evidence> baseline, std::vector<Evidence> candidate) {
  auto comparison = compare(baseline, candidate);
  EXPECT_TRUE(comparison) << comparison.error().message;
  return comparison ? *comparison : Comparison{};
}

bool mentions(const std::vector<std::string>& reasons, std::string_view words) {
  for (const std::string& reason : reasons) {
    if (reason.find(words) != std::string::npos) return true;
  }
  return false;
}

Evidence with_changed_function(std::string path) {
  Evidence evidence = test_evidence(std::move(path));
  evidence.manifest.module_sha256 = "44";
  evidence.manifest.code_sha256 = "55";
  evidence.images.images[0] =
      test_module({test_function(0, "fib", "new code", 96), test_function(1, "main", "main code")});
  return evidence;
}

TEST(Compare, EqualCodeIsSameCodeWhateverTheClockSays) {
  Evidence slower = test_evidence("b");
  for (auto& batch : slower.iterations) batch.wall_ns *= 2;
  slower.manifest.execution_duration_ns *= 2;
  Comparison comparison = compared({test_evidence("a")}, {slower});
  ASSERT_EQ(comparison.workloads.size(), 1u);
  const WorkloadComparison& workload = comparison.workloads[0];
  EXPECT_EQ(workload.verdict, Verdict::SameCode);
  EXPECT_DOUBLE_EQ(*workload.wall_change, 1.0);
  EXPECT_DOUBLE_EQ(*workload.elapsed_change, 1.0);
  EXPECT_DOUBLE_EQ(*workload.cpu_change, 0.0);
  EXPECT_TRUE(comparison.conclusive());
  EXPECT_TRUE(mentions(workload.reasons, "which functions ran is not known, so all were compared"));
}

TEST(Compare, ChangedCodeIsInconclusiveAndSaysWhatChanged) {
  Comparison comparison = compared({test_evidence("a")}, {with_changed_function("b")});
  const WorkloadComparison& workload = comparison.workloads[0];
  EXPECT_EQ(workload.verdict, Verdict::Inconclusive);
  EXPECT_FALSE(comparison.conclusive());
  EXPECT_TRUE(mentions(workload.reasons, "1 function changed, 0 new, 0 vanished"));
  EXPECT_TRUE(mentions(workload.reasons, "the sides did not run together"));
}

// mix, counted: `inner` has no code of its own that ran. `changed` is another engine's code of it.
Evidence counted_mix(std::string path, std::optional<uint32_t> changed = std::nullopt) {
  Evidence evidence = mix_evidence();
  evidence.path = std::move(path);
  evidence.samples.reset();
  evidence.counts = capture::Counts{{{10, 10, 500, 10, 0}, {}}, {}};
  if (changed) {
    evidence.manifest.code_sha256 = "55";
    evidence.images.images[0].functions[*changed].sha256.fill(5);
    evidence.images.images[0].sha256.fill(6);
  }
  return evidence;
}

TEST(Compare, FunctionsThatDidNotRunMayDifferWhereCountsSaySo) {
  const WorkloadComparison same = compared({counted_mix("a")}, {counted_mix("b")}).workloads[0];
  EXPECT_EQ(same.verdict, Verdict::SameCode);
  EXPECT_EQ(same.reasons, std::vector<std::string>{"every function and adapter is the same machine code"});
  const WorkloadComparison inner = compared({counted_mix("a")}, {counted_mix("b", 2)}).workloads[0];
  EXPECT_EQ(inner.verdict, Verdict::SameCode);
  EXPECT_TRUE(inner.code.same());
  EXPECT_TRUE(mentions(
      inner.reasons,
      "all machine code that ran is the same, of functions and of adapters; 1 function whose own code did "
      "not run differs, by exact counts"));
  EXPECT_NE(to_text(inner.code).find("; its own code did not run: inlined into hot\n"), std::string::npos)
      << to_text(inner.code);
  Evidence idle[] = {counted_mix("a"), counted_mix("b", 2)};
  for (Evidence& side : idle) side.counts->entered[0][2] = 0;
  const WorkloadComparison unreached = compared({idle[0]}, {idle[1]}).workloads[0];
  EXPECT_NE(to_text(unreached.code).find("; did not run\n"), std::string::npos) << to_text(unreached.code);
  const WorkloadComparison hot = compared({counted_mix("a")}, {counted_mix("b", 1)}).workloads[0];
  EXPECT_EQ(hot.verdict, Verdict::Inconclusive);
  EXPECT_TRUE(mentions(hot.reasons, "the code differs: 1 function changed"));
}

TEST(Compare, AFunctionThatDidNotRunStillMatters) {
  // Where one side has no counts, or what is around the functions differs too.
  Evidence uncounted = counted_mix("b", 2);
  uncounted.counts.reset();
  EXPECT_EQ(compared({counted_mix("a")}, {uncounted}).workloads[0].verdict, Verdict::Inconclusive);
  Evidence other_module = counted_mix("b", 2);
  other_module.manifest.module_sha256 = "44";
  const WorkloadComparison other = compared({counted_mix("a")}, {other_module}).workloads[0];
  EXPECT_EQ(other.verdict, Verdict::Inconclusive);
  EXPECT_TRUE(mentions(other.reasons, "the modules differ, though no function did whose code ran"));
  // One that ran on one side only.
  Evidence ran = counted_mix("b", 2);
  ran.counts->entered[0][4] = 1;
  EXPECT_EQ(compared({counted_mix("a")}, {ran}).workloads[0].verdict, Verdict::Inconclusive);
}

TEST(Compare, NoPhaseButExecuteCanBeSameCode) {
  for (auto phase : {base::Phase::Compile, base::Phase::Instantiate, base::Phase::All, base::Phase::Close}) {
    Evidence a = test_evidence("a"), b = test_evidence("b");
    a.manifest.capture_phase = b.manifest.capture_phase = phase;
    Comparison comparison = compared({a}, {b});
    EXPECT_EQ(comparison.workloads[0].verdict, Verdict::Inconclusive);
    EXPECT_TRUE(mentions(comparison.workloads[0].reasons, "is the engine's own code"));
  }
}

TEST(Compare, ADifferentContractIsNotCompared) {
  Evidence b = test_evidence("b");
  b.manifest.invocation_mode = base::Mode::Prepared;
  Comparison comparison = compared({test_evidence("a")}, {b});
  EXPECT_TRUE(comparison.workloads.empty());
  ASSERT_EQ(comparison.contract.size(), 1u);
  EXPECT_EQ(to_text(comparison.contract), "  invocation_mode: public in a, prepared in b\n");
}

TEST(Compare, WorkloadsThatComputeOtherThingsAreNamedNotHashed) {
  Evidence b = test_evidence("b");
  b.manifest.workload = "sha256";
  b.manifest.contract_sha256 = "23";
  Comparison comparison = compared({test_evidence("a")}, {b});
  EXPECT_EQ(
      to_text(comparison.contract),
      "  contract_sha256: the workloads compute different things (fib in a, sha256 in b): init, exports, "
      "arguments or wanted results differ\n");
}

TEST(Compare, OneBatchHasNoSpread) {
  Evidence a = test_evidence("a"), b = test_evidence("b");
  a.iterations = {{0, 100'000, 90'000, 100}};
  std::string text = to_text(compared({a}, {b}));
  EXPECT_NE(text.find("1 us  n 1  "), std::string::npos) << text;
  EXPECT_NE(text.find("n 10, spread 0.0 %"), std::string::npos) << text;
}

TEST(Compare, AWorkloadThatVanishedIsNotConclusive) {
  Evidence only = test_evidence("only");
  only.manifest.workload = "crc";
  EXPECT_TRUE(compared({test_evidence("a")}, {test_evidence("b")}).conclusive());
  EXPECT_FALSE(compared({test_evidence("a"), only}, {test_evidence("b")}).conclusive());
  EXPECT_FALSE(compared({test_evidence("a")}, {test_evidence("b"), only}).conclusive());
}

TEST(Compare, SetsAreSummarisedOverTheirCaptures) {
  Evidence second = test_evidence("a2");
  for (auto& batch : second.iterations) batch.wall_ns = 12'000;
  Comparison comparison = compared({test_evidence("a1"), second}, {test_evidence("b1"), test_evidence("b2")});
  const WorkloadComparison& workload = comparison.workloads[0];
  EXPECT_EQ(workload.baseline.captures.size(), 2u);
  EXPECT_EQ(workload.baseline.wall_ns.n, 2u);
  EXPECT_DOUBLE_EQ(workload.baseline.wall_ns.median, 1100);
  EXPECT_NEAR(*workload.wall_change, 1000.0 / 1100 - 1, 1e-12);
  EXPECT_EQ(workload.verdict, Verdict::SameCode);
}

TEST(Compare, SetsSayHowFarApartTheirOwnCapturesAre) {
  Evidence second = test_evidence("a2");
  for (auto& batch : second.iterations) batch.wall_ns = 12'000;
  Comparison comparison = compared({test_evidence("a1"), second}, {with_changed_function("b")});
  EXPECT_TRUE(mentions(comparison.workloads[0].reasons,
                       "captures of one side differ among themselves by up to 20.0 %"));
  comparison = compared({test_evidence("a1")}, {with_changed_function("b")});
  EXPECT_FALSE(mentions(comparison.workloads[0].reasons, "differ among themselves"));
}

TEST(Compare, OnlyTheVerdictIsPainted) {
  Comparison comparison = compared({test_evidence("a")}, {test_evidence("b")});
  EXPECT_EQ(to_text(comparison).find('\x1b'), std::string::npos);
  EXPECT_NE(to_text(comparison, true).find("verdict    \x1b[32msame code\x1b[0m"), std::string::npos);
}

TEST(Compare, ASideOfDifferentCodeIsRefusedWithBothCaptures) {
  std::vector<Evidence> mixed = {test_evidence("a1"), with_changed_function("a2")};
  std::vector<Evidence> other = {test_evidence("b")};
  auto comparison = compare(mixed, other);
  ASSERT_FALSE(comparison);
  EXPECT_EQ(comparison.error().kind, base::ErrorKind::Usage);
  EXPECT_NE(comparison.error().message.find("a1 has module 11"), std::string::npos)
      << comparison.error().message;
  EXPECT_NE(comparison.error().message.find("a2 has module 44"), std::string::npos);
}

TEST(Compare, WorkloadsAreMatchedByNameAndStrangersListed) {
  Evidence sieve_a = test_evidence("sieve_a"), sieve_b = test_evidence("sieve_b"),
           only = test_evidence("only");
  sieve_a.manifest.workload = sieve_b.manifest.workload = "sieve";
  sieve_a.manifest.contract_sha256 = sieve_b.manifest.contract_sha256 = "sieve";
  only.manifest.workload = "crc";
  Comparison comparison = compared({test_evidence("a"), sieve_a, only}, {sieve_b, test_evidence("b")});
  ASSERT_EQ(comparison.workloads.size(), 2u);
  EXPECT_EQ(comparison.workloads[0].workload, "fib");
  EXPECT_EQ(comparison.workloads[1].workload, "sieve");
  EXPECT_EQ(comparison.baseline_only, std::vector<std::string>{"crc"});
  EXPECT_NE(to_text(comparison).find("crc: only in the baseline, not compared"), std::string::npos);
}

TEST(Compare, SingleWorkloadsAreMatchedWhateverTheirNames) {
  Evidence b = test_evidence("b");
  b.manifest.workload = "fib_v2";
  EXPECT_EQ(compared({test_evidence("a")}, {b}).workloads[0].workload, "fib / fib_v2");
}

TEST(Compare, NothingInCommonIsAnError) {
  Evidence x = test_evidence("x"), y = test_evidence("y"), z = test_evidence("z");
  x.manifest.workload = "x";
  y.manifest.workload = "y";
  z.manifest.workload = "z";
  std::vector<Evidence> left = {x, y}, right = {z};
  EXPECT_FALSE(compare(left, right));
}

TEST(Compare, TextAndJsonSayTheSame) {
  Comparison comparison = compared({test_evidence("a")}, {with_changed_function("b")});
  std::string text = to_text(comparison);
  for (auto words : {"verdict    inconclusive (unpaired)", "changed",
                     "64 bytes, 16 instructions -> 96 bytes, 24 instructions", "per invocation",
                     "change, unpaired", "revision 0123456789ab (clean)", "n 10, spread 0.0 %"}) {
    EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
  }
  base::Json json = to_json(comparison);
  const base::Json& workload = json.find("workloads")->items()[0];
  EXPECT_FALSE(json.find("conclusive")->as_bool());
  EXPECT_EQ(workload.find("verdict")->as_string(), "inconclusive (unpaired)");
  EXPECT_EQ(workload.find("code")->find("functions_changed")->to_u64(), 1u);
  EXPECT_EQ(workload.find("code")->find("differences")->items()[0].find("candidate_bytes")->to_u64(), 96u);
  EXPECT_EQ(workload.find("baseline")->find("wall_ns")->find("median")->as_double(), 1000);
}

TEST(Compare, NamesFromACaptureCannotSteerATerminal) {
  Evidence b = with_changed_function("b");
  b.images.images[0].functions[0].name = "evil\x1b[2J\nverdict    same code";
  std::string text = to_text(compared({test_evidence("a")}, {b}));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find("\nverdict    same code"), std::string::npos);
}

TEST(Compare, ASideWithoutASampleIsSaidAndComparesNothing) {
  std::vector<Evidence> sampled = {mix_evidence("a")}, unsampled = {mix_evidence("b")};
  unsampled[0].samples->samples.clear();
  auto comparison = compare(sampled, unsampled);
  ASSERT_TRUE(comparison.ok());
  const std::string text = to_text(*comparison);
  EXPECT_NE(
      text.find("\nsamples    b: not one sample was taken, which does not mean that there was no cost: "),
      std::string::npos)
      << text;
  EXPECT_EQ(text.find("vanished  "), std::string::npos) << text;
  const base::Json json = to_json(*comparison);
  const base::Json& workload = json.find("workloads")->items()[0];
  EXPECT_TRUE(workload.find("costs")->is_null());
  EXPECT_EQ(workload.find("why_no_costs")->as_string(), comparison->workloads[0].why_no_costs);
  comparison = compare(sampled, sampled);
  EXPECT_TRUE(to_json(*comparison).find("workloads")->items()[0].find("why_no_costs")->is_null());
}

}  // namespace
}  // namespace wago::diff
