#include "capture/catalog.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "base/vocabulary.h"

namespace wago::capture {
namespace {

constexpr const char* kBundled = R"({
  "version": 1,
  "catalog": "bundled",
  "module_directory": "modules",
  "defaults": {"duration": "1s", "warmup": 3, "mode": "prepared", "level": 0},
  "workloads": [
    {"id": "fib", "module": "fib.wasm", "description": "recursion",
     "calls": [{"export": "fib", "args": ["i32:20"], "want": ["i32:6765"]}],
     "items_per_iteration": 21891, "labels": ["call"]},
    {"id": "div", "module": "/abs/div.wasm", "init": "setup", "iterations": 10, "mode": "public", "bounds": "explicit",
     "calls": [{"export": "a", "args": [1, "0x2"], "want": []},
               {"export": "div", "args": ["i64:-1", 0], "want_trap": "integer-divide-by-zero"}]}
  ]
})";

std::string refusal(std::string_view text, const CatalogLimits& limits = {}) {
  auto catalog = parse_catalog(text, "dir/c.json", limits);
  EXPECT_FALSE(catalog) << text;
  if (catalog) return "";
  EXPECT_EQ(catalog.error().kind, base::ErrorKind::Usage);
  return catalog.error().to_string();
}

// A catalog of one workload with these members besides id and module.
std::string with(std::string members) {
  return R"({"version":1,"workloads":[{"id":"w","module":"m.wasm",)" + std::move(members) + "}]}";
}
constexpr const char* kCalls = R"("calls":[{"export":"f","want":[]}])";

TEST(Catalog, WorkloadsTakeTheDefaultsTheyDoNotOverride) {
  auto catalog = parse_catalog(kBundled, "dir/c.json");
  ASSERT_TRUE(catalog) << catalog.error().to_string();
  EXPECT_EQ(catalog->name, "bundled");
  ASSERT_EQ(catalog->workloads.size(), 2u);

  const Workload& fib = catalog->workloads[0];
  EXPECT_EQ(fib.module_path, "dir/modules/fib.wasm");
  EXPECT_EQ(fib.calls[0].args, (std::vector<uint64_t>{20}));
  EXPECT_EQ(fib.calls[0].want, (std::vector<uint64_t>{6765}));
  EXPECT_EQ(fib.duration_ns, 1'000'000'000u);
  EXPECT_FALSE(fib.iterations);
  EXPECT_EQ(fib.warmup, 3u);
  EXPECT_EQ(fib.mode, base::Mode::Prepared);
  EXPECT_EQ(fib.engine.level, 0);
  EXPECT_EQ(fib.items_per_iteration, 21891u);
  EXPECT_EQ(fib.labels, (std::vector<std::string>{"call"}));

  const Workload& div = catalog->workloads[1];
  EXPECT_EQ(div.module_path, "/abs/div.wasm");
  EXPECT_EQ(div.init, "setup");
  EXPECT_EQ(div.iterations, 10u);
  EXPECT_FALSE(div.duration_ns) << "naming iterations drops the default duration";
  EXPECT_EQ(div.mode, base::Mode::Public);
  EXPECT_EQ(div.engine.bounds, base::Bounds::Explicit);
  EXPECT_EQ(div.calls[0].args, (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(div.calls[1].args, (std::vector<uint64_t>{UINT64_MAX, 0}));
  EXPECT_EQ(div.calls[1].want_trap, base::TrapCode::IntegerDivideByZero);
}

TEST(Catalog, ANamelessCatalogIsNamedAfterItsFile) {
  auto catalog = parse_catalog(with(kCalls), "dir/mine.catalog.json");
  ASSERT_TRUE(catalog);
  EXPECT_EQ(catalog->name, "mine");
  EXPECT_EQ(catalog->workloads[0].warmup, kDefaultWarmup);
}

TEST(Catalog, MistakesNameFilePathAndWhatIsAllowed) {
  struct Case {
    std::string text;
    std::string sentence;
  };
  const Case cases[] = {
      {with(R"("iteration":3,)" + std::string(kCalls)),
       "dir/c.json: workloads[0].iteration: is not known here; known are "},
      {with(R"("phase":"sleep",)" + std::string(kCalls)),
       "dir/c.json: workloads[0].phase: 'sleep' is not one of compile, reload, instantiate, initialize, "
       "execute, close, all"},
      {with(R"("duration":"5",)" + std::string(kCalls)),
       "dir/c.json: workloads[0].duration: '5' lacks a unit (ns, us, ms, s, m, h); durations are written "
       "250ms, 15s or 1m30s"},
      {with(R"("duration":"5s","iterations":3,)" + std::string(kCalls)),
       "dir/c.json: workloads[0].iterations: cannot be given together with duration"},
      {with(R"("iterations":0,)" + std::string(kCalls)),
       "dir/c.json: workloads[0].iterations: must be an integer from 1 to 18446744073709551615, not 0"},
      {with(R"("level":2,)" + std::string(kCalls)),
       "dir/c.json: workloads[0].level: must be an integer from 0 to 1, not 2"},
      {with(R"("module_sha256":"abc",)" + std::string(kCalls)),
       "dir/c.json: workloads[0].module_sha256: must be 64 hexadecimal digits"},
      {with(R"("calls":[{"export":"f","args":["i32:x"],"want":[]}])"),
       "dir/c.json: workloads[0].calls[0].args[0]: 'x' is not an i32"},
      {with(R"("calls":[{"export":"f","args":[-1],"want":[]}])"),
       "dir/c.json: workloads[0].calls[0].args[0]: must be a slot: an unsigned 64-bit integer, or a string "
       "such as "
       "\"i32:-1\", not a negative integer"},
      {with(R"("calls":[{"export":"f","args":[1.5],"want":[]}])"),
       "dir/c.json: workloads[0].calls[0].args[0]: must be a slot"},
      {with(R"("calls":[{"export":"f"}])"), "dir/c.json: workloads[0].calls[0].want: is missing"},
      {with(R"("calls":[{"export":"f","want":[],"want_trap":"abort"}])"),
       "dir/c.json: workloads[0].calls[0].want: cannot be given together with want_trap"},
      {with(R"("calls":[{"export":"f","want_trap":"divide"}])"),
       "dir/c.json: workloads[0].calls[0].want_trap: 'divide' is not one of unreachable, "},
      {with(R"("calls":[])"), "dir/c.json: workloads[0]: a workload needs at least one call"},
      {R"({"version":1,"workloads":[{"id":"a b","module":"m",)" + std::string(kCalls) + "}]}",
       "dir/c.json: workloads[0].id: 'a b' is not a name: names have up to 200 letters"},
      {R"({"version":1,"catalog":"a/b","workloads":[]})", "dir/c.json: catalog: 'a/b' is not a name: "},
      {with(R"("backend":"vtune",)" + std::string(kCalls)),
       "dir/c.json: workloads[0].backend: " + base::not_among("vtune", base::spellings<base::Backend>())},
      {R"({"version":2,"workloads":[]})",
       "dir/c.json: version: is 2, which is too new; this program reads version 1"},
      {R"({"version":0,"workloads":[]})", "dir/c.json: version: is 0, which is too old"},
      {R"({"workloads":[]})", "dir/c.json: version: is missing"},
      {R"({"version":1})", "dir/c.json: workloads: is missing; it must be an array"},
      {R"({"version":1,"defaults":{"speed":1},"workloads":[]})",
       "dir/c.json: defaults.speed: is not known here"},
      {R"({"version":1,"workloads":[],"extra":1})", "dir/c.json: extra: is not known here"},
      {R"([])", "dir/c.json: must be an object, not an array"},
      {R"({"version":1,)", "dir/c.json: not JSON at line 1, column 14: unexpected end of input"},
  };
  for (const Case& one : cases) {
    std::string text = refusal(one.text);
    EXPECT_EQ(text.rfind(one.sentence, 0), 0u) << text;
  }
}

TEST(Catalog, TwoWorkloadsOfOneNameAreRefused) {
  std::string one = R"({"id":"w","module":"m.wasm",)" + std::string(kCalls) + "}";
  EXPECT_EQ(refusal(R"({"version":1,"workloads":[)" + one + "," + one + "]}"),
            "dir/c.json: workloads[1].id: two workloads are named w");
}

TEST(Catalog, OneWorkloadDoesNotSufferFromItsNeighbours) {
  base::MemoryFiles files;
  files.put("c.json", R"({"version":1,"workloads":[{"id":"good","module":"m",)" + std::string(kCalls) +
                          R"(},{"id":"bad","module":"m","speed":1},{"id":7}]})");
  auto good = read_catalog_for("good", "c.json", files);
  ASSERT_TRUE(good) << good.error().to_string();
  EXPECT_TRUE(good->find("good"));
  EXPECT_EQ(read_catalog_for("bad", "c.json", files).error().place.json_path, "workloads[1].calls");
  EXPECT_EQ(read_catalog("c.json", files).error().place.json_path, "workloads[1].calls");
  // What is not a workload's is everybody's.
  files.put("c.json", R"({"version":1,"foo":1,"workloads":[]})");
  EXPECT_EQ(read_catalog_for("good", "c.json", files).error().place.json_path, "foo");
}

TEST(Catalog, ASourceIsCheckedAsWell) {
  base::MemoryFiles files;
  auto generated = [&](const std::string& source) {
    files.put("build/c.json", R"({"version":1,"source":")" + source +
                                  R"(","workloads":[{"id":"w","module":"/m",)" + std::string(kCalls) + "}]}");
    auto catalog = read_catalog("build/c.json", files);
    return catalog ? "accepted" : catalog.error().to_string();
  };
  const std::string workload = R"("workloads":[{"id":"w","module":"m",)" + std::string(kCalls) + "}]";
  files.put("/user/good.json", R"({"version":1,)" + workload + "}");
  files.put("/user/newer.json", R"({"version":2,)" + workload + "}");
  files.put("/user/unknown.json", R"({"version":1,"foo":1,)" + workload + "}");
  files.put("/user/twice.json", R"({"version":1,"version":1,)" + workload + "}");
  files.put("/user/made.json", R"({"version":1,"source":"good.json",)" + workload + "}");
  files.put("build/beside.json", "[]");
  EXPECT_EQ(generated("/user/good.json"), "accepted");
  EXPECT_EQ(generated("/user/newer.json"),
            "/user/newer.json: version: is 2, which is too new; this program reads version 1");
  EXPECT_EQ(generated("/user/unknown.json").rfind("/user/unknown.json: foo: is not known here", 0), 0u);
  EXPECT_EQ(generated("/user/twice.json"), "/user/twice.json: version: the name \"version\" is given twice");
  EXPECT_EQ(generated("/user/made.json"),
            "/user/made.json: source: cannot be given in a file that is a source itself");
  EXPECT_EQ(generated("/user/absent.json"), "/user/absent.json: cannot be read: No such file or directory");
  EXPECT_EQ(generated("beside.json"), "build/beside.json: must be an object, not an array");
}

TEST(Catalog, LimitsAreNamed) {
  EXPECT_NE(refusal(kBundled, {.bytes = 100}).find("limit bytes (100)"), std::string::npos);
  EXPECT_NE(refusal(kBundled, {.workloads = 1}).find("workloads: has 2 entries, over the limit of 1"),
            std::string::npos);
  EXPECT_NE(refusal(kBundled, {.name_bytes = 2}).find("limit name_bytes (2)"), std::string::npos);
}

TEST(Catalog, AnUnknownNameListsTheCandidates) {
  auto catalog = parse_catalog(kBundled, "c.json");
  auto missing = catalog->find("fob");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().to_string(), "c.json: has no workload fob; it has fib, div");
  EXPECT_EQ(catalog->find("div")->id, "div");
  EXPECT_EQ(parse_catalog(R"({"version":1,"workloads":[]})", "c.json")->find("fib").error().to_string(),
            "c.json: has no workload fib; it declares none");
}

TEST(Catalog, WhatIsWrittenReadsBack) {
  const Catalog original = *parse_catalog(kBundled, "c.json");
  std::string text = to_catalog_text("again", original.workloads);
  auto again = parse_catalog(text, "c.json");
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ(again->name, "again");
  ASSERT_EQ(again->workloads.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    const Workload &a = original.workloads[i], &b = again->workloads[i];
    EXPECT_EQ(contract_sha256(a), contract_sha256(b));
    EXPECT_EQ(a.iterations, b.iterations);
    EXPECT_EQ(a.duration_ns, b.duration_ns);
    EXPECT_EQ(a.warmup, b.warmup);
    EXPECT_EQ(a.mode, b.mode);
    EXPECT_EQ(a.engine, b.engine);
    EXPECT_EQ(a.labels, b.labels);
    EXPECT_EQ(a.items_per_iteration, b.items_per_iteration);
  }
}

TEST(Catalog, AFileThatIsNotThereIsAUsageError) {
  base::MemoryFiles files;
  EXPECT_EQ(read_catalog("none.json", files).error().to_string(),
            "none.json: cannot be read: No such file or directory");
  files.put("c.json", kBundled);
  EXPECT_EQ(read_catalog("c.json", files)->workloads[0].module_path, "./modules/fib.wasm");
}

TEST(Contract, CoversWhatIsComputedAndNotHowLong) {
  Workload workload = parse_catalog(kBundled, "c.json")->workloads[0];
  auto same = [&](auto change) {
    Workload other = workload;
    change(other);
    return contract_sha256(other) == contract_sha256(workload);
  };
  EXPECT_TRUE(same([](Workload& w) { w.duration_ns = 5; }));
  EXPECT_TRUE(same([](Workload& w) { w.id = "other"; }));
  EXPECT_TRUE(same([](Workload& w) { w.module_path = "elsewhere"; }));
  EXPECT_FALSE(same([](Workload& w) { w.calls[0].args[0] = 21; }));
  EXPECT_FALSE(same([](Workload& w) { w.calls[0].want[0] = 1; }));
  EXPECT_FALSE(same([](Workload& w) { w.calls[0].export_name = "fob"; }));
  EXPECT_FALSE(same([](Workload& w) { w.calls.push_back(w.calls[0]); }));
  EXPECT_FALSE(same([](Workload& w) { w.init = ""; }));
  EXPECT_FALSE(same([](Workload& w) {
    w.calls[0].want.clear();
    w.calls[0].want_trap = base::TrapCode::Abort;
  }));
  // Slots cannot wander from arguments to results.
  EXPECT_FALSE(same([](Workload& w) {
    w.calls[0].args = {20, 6765};
    w.calls[0].want = {};
  }));
}

}  // namespace
}  // namespace wago::capture
