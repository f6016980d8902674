#include "cli/record_flags.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/testing/scratch_folder.h"
#include "base/text.h"

namespace wago::cli::profile {
namespace {

// The README's example.
RecordFlags fib() {
  RecordFlags flags;
  flags.module = "fib.wasm";
  flags.export_name = "fib";
  flags.args = "20";
  flags.want = "6765";
  flags.out = "fib.wagoprof";
  return flags;
}

std::string refusal(const RecordFlags& flags) {
  auto request = request_of(flags);
  if (request) return "accepted";
  EXPECT_EQ(request.error().kind, base::ErrorKind::Usage);
  return request.error().to_string();
}

TEST(RecordFlags, AWorkloadOnTheCommandLineHasTheDocumentedDefaults) {
  auto request = request_of(fib());
  ASSERT_TRUE(request) << request.error().message;
  const capture::Workload& workload = request->workload;
  EXPECT_EQ(workload.id, "fib");
  EXPECT_EQ(workload.module_path, "fib.wasm");
  ASSERT_EQ(workload.calls.size(), 1u);
  EXPECT_EQ(workload.calls[0].args, std::vector<uint64_t>{20});
  EXPECT_EQ(workload.calls[0].want, std::vector<uint64_t>{6765});
  EXPECT_FALSE(workload.iterations);
  EXPECT_EQ(workload.warmup, 5u);
  EXPECT_EQ(workload.mode, base::Mode::Public);
  EXPECT_EQ(workload.phase, base::Phase::Execute);
  EXPECT_EQ(workload.engine.bounds, base::Bounds::Signals);
  EXPECT_FALSE(request->collection_timeout_ns);
  EXPECT_EQ(request->out, "fib.wagoprof");
  EXPECT_EQ(request->catalog, "");
}

TEST(RecordFlags, EveryFlagReachesTheRequest) {
  RecordFlags flags = fib();
  flags.init = "setup";
  flags.args = "[0x10, i32:-1]";
  flags.want = "[]";
  flags.duration = "1m30s";
  flags.warmup = "0";
  flags.mode = "prepared";
  flags.phase = "compile";
  flags.backend = "none";
  flags.bounds = "explicit";
  flags.level = "0";
  flags.collection_timeout = "250ms";
  auto request = request_of(flags);
  ASSERT_TRUE(request) << request.error().message;
  const capture::Workload& workload = request->workload;
  EXPECT_EQ(workload.init, "setup");
  EXPECT_EQ(workload.calls[0].args, (std::vector<uint64_t>{16, 0xffffffff}));
  EXPECT_TRUE(workload.calls[0].want.empty());
  EXPECT_EQ(workload.duration_ns, 90'000'000'000u);
  EXPECT_EQ(workload.warmup, 0u);
  EXPECT_EQ(workload.mode, base::Mode::Prepared);
  EXPECT_EQ(workload.phase, base::Phase::Compile);
  EXPECT_EQ(workload.engine.bounds, base::Bounds::Explicit);
  EXPECT_EQ(workload.engine.level, 0);
  EXPECT_EQ(request->collection_timeout_ns, 250'000'000u);
}

TEST(RecordFlags, AWantedTrapReplacesTheResult) {
  RecordFlags flags = fib();
  flags.want.reset();
  flags.want_trap = "integer-divide-by-zero";
  auto request = request_of(flags);
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->workload.calls[0].want_trap, base::TrapCode::IntegerDivideByZero);
  flags.want_trap = "boom";
  EXPECT_NE(refusal(flags).find("--want-trap: 'boom' is not one of unreachable, "), std::string::npos);
}

TEST(RecordFlags, WhatIsMissingIsNamed) {
  RecordFlags flags = fib();
  flags.out.reset();
  EXPECT_NE(refusal(flags).find("--out is missing"), std::string::npos);
  flags = fib();
  flags.want.reset();
  EXPECT_NE(refusal(flags).find("--want is missing"), std::string::npos);
  flags = fib();
  flags.export_name.reset();
  EXPECT_NE(refusal(flags).find("--export is missing"), std::string::npos);
  EXPECT_NE(refusal({}).find("--module is missing, or --catalog"), std::string::npos);
}

TEST(RecordFlags, ContradictionsAreRefused) {
  RecordFlags flags = fib();
  flags.iterations = "10";
  flags.duration = "1s";
  EXPECT_NE(refusal(flags).find("--iterations and --duration exclude one another"), std::string::npos);
  flags = fib();
  flags.want_trap = "unreachable";
  EXPECT_NE(refusal(flags).find("--want and --want-trap exclude one another"), std::string::npos);
  flags = fib();
  flags.workload = "fib";
  EXPECT_NE(refusal(flags).find("--catalog is missing"), std::string::npos);
}

TEST(RecordFlags, BadValuesNameTheirFlag) {
  auto with = [](auto set) {
    RecordFlags flags = fib();
    set(flags);
    return refusal(flags);
  };
  EXPECT_NE(with([](RecordFlags& f) { f.args = "ten"; }).find("--args: "), std::string::npos);
  EXPECT_NE(with([](RecordFlags& f) { f.want = "[1"; }).find("--want: "), std::string::npos);
  EXPECT_NE(with([](RecordFlags& f) { f.iterations = "0"; }).find("--iterations: '0'"), std::string::npos);
  EXPECT_NE(with([](RecordFlags& f) { f.warmup = "-1"; }).find("--warmup: '-1'"), std::string::npos);
  EXPECT_NE(with([](RecordFlags& f) { f.duration = "15"; }).find("--duration: "), std::string::npos);
  EXPECT_NE(with([](RecordFlags& f) { f.phase = "exec"; }).find("--phase: 'exec' is not one of compile"),
            std::string::npos);
  EXPECT_NE(with([](RecordFlags& f) { f.mode = "x"; }).find("--mode: 'x' is not one of public, prepared"),
            std::string::npos);
  EXPECT_NE(with([](RecordFlags& f) { f.level = "2"; }).find("--level: '2'"), std::string::npos);
  EXPECT_NE(with([](RecordFlags& f) { f.collection_timeout = "soon"; }).find("--collection-timeout: "),
            std::string::npos);
}

TEST(RecordFlags, SettingsOfTheEngineReachTheRequest) {
  RecordFlags flags = fib();
  EXPECT_FALSE(request_of(flags)->workload.engine.interruptible);
  EXPECT_FALSE(request_of(flags)->settings.reload_artifact);
  flags.interruptible = flags.reload_artifact = true;
  flags.phase = "reload";
  auto request = request_of(flags);
  ASSERT_TRUE(request.ok());
  EXPECT_TRUE(request->workload.engine.interruptible);
  EXPECT_TRUE(request->settings.reload_artifact);
  EXPECT_EQ(request->workload.phase, base::Phase::Reload);
}

TEST(RecordFlags, PerfKeepsTheCodeAndMayKeepStacks) {
  RecordFlags flags = fib();
  flags.backend = "perf";
  flags.stack_bytes = "4096";
  flags.unwind_maps = true;
  flags.conversion_timeout = "3s";
  auto request = request_of(flags);
  ASSERT_TRUE(request) << request.error().to_string();
  EXPECT_TRUE(request->settings.include_code);
  EXPECT_EQ(request->settings.stack_bytes, 4096u);
  EXPECT_EQ(request->conversion_timeout_ns, 3'000'000'000u);
  for (const char* bytes : {"255", "65529", "many"}) {
    flags.stack_bytes = bytes;
    EXPECT_EQ(refusal(flags).rfind("--stack-bytes", 0), 0u) << refusal(flags);
  }
}

TEST(RecordFlags, ARateIsForBackendsThatSample) {
  RecordFlags flags = fib();
  flags.rate = "999";
  EXPECT_EQ(refusal(flags), "--rate is for backends that sample; backend none does not");
  flags.backend = "pprof";
  auto request = request_of(flags);
  ASSERT_TRUE(request) << request.error().to_string();
  EXPECT_EQ(request->rate_hz, 999u);
  EXPECT_EQ(request->workload.backend, base::Backend::Pprof);
  for (const char* rate : {"0", "10001", "many", "-1"}) {
    flags.rate = rate;
    EXPECT_EQ(refusal(flags).rfind("--rate", 0), 0u) << rate;
  }
  flags.rate.reset();
  EXPECT_EQ(request_of(flags)->rate_hz, 99u);
}

TEST(RecordFlags, ABoundIsForATimeline) {
  RecordFlags flags = fib();
  EXPECT_FALSE(request_of(flags)->settings.timeline);
  flags.max_spans = "10";
  EXPECT_EQ(refusal(flags), "--max-spans bounds a timeline; --timeline is missing");
  flags.timeline = true;
  EXPECT_EQ(request_of(flags)->settings.max_spans, 10u);
  for (const char* spans : {"0", "1000001", "many", "-1"}) {
    flags.max_spans = spans;
    EXPECT_EQ(refusal(flags).rfind("--max-spans", 0), 0u) << spans;
  }
  flags.max_spans.reset();
  EXPECT_TRUE(request_of(flags)->settings.timeline);
  EXPECT_EQ(request_of(flags)->settings.max_spans, harness::kDefaultMaxSpans);
}

TEST(RecordFlags, EveryBackendIsAWord) {
  RecordFlags flags = fib();
  for (auto backend : base::spellings<base::Backend>()) {
    flags.backend = std::string(backend);
    auto request = request_of(flags);
    ASSERT_TRUE(request) << request.error().to_string();
    EXPECT_EQ(base::spelling(request->workload.backend), backend);
  }
  flags.backend = "vtune";
  EXPECT_EQ(refusal(flags), "--backend: " + base::not_among("vtune", base::spellings<base::Backend>()));
}

TEST(RecordFlags, IdsComeFromModuleAndExport) {
  auto id = [](const char* module, const char* name) {
    RecordFlags flags = fib();
    flags.module = module;
    flags.export_name = name;
    auto request = request_of(flags);
    EXPECT_TRUE(request) << request.error().message;
    return request ? request->workload.id : "";
  };
  EXPECT_EQ(id("corpora/fib.wasm", "fib"), "fib");
  EXPECT_EQ(id("math.wasm", "add"), "math.add");
  EXPECT_EQ(id("a b;c", "größe"), "a_b_c.gr____e");
  EXPECT_EQ(id(".wasm", "-x"), "w.-x");
  EXPECT_EQ(id("math.wasm", std::string(300, 'x').c_str()), "math." + std::string(195, 'x'));
}

class RecordFlagsCatalog : public ::testing::Test {
 protected:
  RecordFlagsCatalog() {
    std::ofstream(path_) << R"({"version": 1, "catalog": "bundled", "workloads": [
      {"id": "fib", "module": "fib.wasm", "iterations": 10, "warmup": 2,
       "calls": [{"export": "fib", "args": [20], "want": [6765]}]},
      {"id": "sieve", "module": "sieve.wasm", "calls": [{"export": "sieve", "want": [1]}]}]})";
  }
  RecordFlags from_catalog(const char* workload) const {
    RecordFlags flags;
    flags.catalog = path_;
    if (workload) flags.workload = workload;
    flags.out = "out.wagoprof";
    return flags;
  }
  const base::testing::ScratchFolder scratch_;
  const std::string path_ = scratch_.file("catalog.json");
};

TEST_F(RecordFlagsCatalog, AWorkloadKeepsWhatItDeclaresUnlessAFlagSaysOtherwise) {
  auto request = request_of(from_catalog("fib"));
  ASSERT_TRUE(request) << request.error().to_string();
  EXPECT_EQ(request->catalog, "bundled");
  EXPECT_EQ(request->workload.iterations, 10u);
  EXPECT_EQ(request->workload.warmup, 2u);
  RecordFlags flags = from_catalog("fib");
  flags.duration = "1s";
  flags.warmup = "7";
  request = request_of(flags);
  ASSERT_TRUE(request) << request.error().to_string();
  EXPECT_FALSE(request->workload.iterations);
  EXPECT_EQ(request->workload.duration_ns, 1'000'000'000u);
  EXPECT_EQ(request->workload.warmup, 7u);
}

TEST_F(RecordFlagsCatalog, CandidatesAreListed) {
  EXPECT_NE(refusal(from_catalog(nullptr)).find("--workload is missing: name a workload; it has fib, sieve"),
            std::string::npos);
  std::string unknown = refusal(from_catalog("fibb"));
  EXPECT_NE(unknown.find("fib"), std::string::npos) << unknown;
  EXPECT_NE(unknown.find("sieve"), std::string::npos) << unknown;
}

TEST_F(RecordFlagsCatalog, WhatTheCatalogDeclaresCannotBeSaidAgain) {
  RecordFlags flags = from_catalog("fib");
  flags.want = "1";
  EXPECT_NE(refusal(flags).find("--want cannot be given with --catalog"), std::string::npos);
  flags = from_catalog("fib");
  flags.catalog = "absent.json";
  EXPECT_NE(refusal(flags).find("absent.json"), std::string::npos);
}

}  // namespace
}  // namespace wago::cli::profile
