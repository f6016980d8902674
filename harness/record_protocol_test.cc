#include "harness/record_protocol.h"

#include <gtest/gtest.h>

#include "capture/catalog.h"
#include "runtime/source_lines.h"

namespace wago::harness {
namespace {

Request example() {
  Request request;
  capture::Workload& workload = request.workload;
  workload.id = "div";
  workload.module_path = "some dir/div.wasm";
  workload.init = "setup";
  workload.calls = {{"div", {1, UINT64_MAX}, {3}, {}},
                    {"div", {1, 0}, {}, base::TrapCode::IntegerDivideByZero}};
  workload.iterations = 17;
  workload.mode = base::Mode::Prepared;
  workload.phase = base::Phase::Instantiate;
  workload.engine = {base::Bounds::Explicit, 0, true};
  request.settings = {.spill_everything = true,
                      .code_offset = 48,
                      .reload_artifact = true,
                      .source_maps = true,
                      .unwind_maps = true,
                      .include_code = true};
  request.rate_hz = 999;
  return request;
}

TEST(RecordProtocol, ARequestArrivesAsItWasSent) {
  base::Json json = to_json(example());
  EXPECT_EQ(message_kind(json), "request");
  auto request = read_request(json);
  ASSERT_TRUE(request) << request.error().to_string();
  EXPECT_EQ(request->workload.module_path, "some dir/div.wasm") << "messages name the module as the user did";
  EXPECT_EQ(request->workload.calls, example().workload.calls);
  EXPECT_EQ(capture::contract_sha256(request->workload), capture::contract_sha256(example().workload));
  EXPECT_EQ(request->workload.engine, example().workload.engine);
  EXPECT_EQ(request->workload.iterations, 17u);
  EXPECT_EQ(request->workload.phase, base::Phase::Instantiate);
  EXPECT_EQ(request->settings, example().settings);
  EXPECT_EQ(request->rate_hz, 999u);
}

TEST(RecordProtocol, ResultsAndFailuresArriveAsTheyWereSent) {
  Done done{{{base::Phase::Execute, 1, 2, 3, 4, "invocations"}}, 5, 6, 7, 8, 9, "code", {"images.json"}};
  done.event = "cpu-clock:u";
  done.collector_version = "perf 6.1";
  done.diagnostics = {"one", "two"};
  done.losses = {1, 2, 3};
  auto back = read_done(to_json(done));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->phases, done.phases);
  EXPECT_EQ(back->iterations, 5u);
  EXPECT_EQ(back->cpu_ns, 8u);
  EXPECT_EQ(back->start_monotonic_ns, 9u);
  EXPECT_EQ(back->files, done.files);
  EXPECT_EQ(back->event, done.event);
  EXPECT_EQ(back->collector_version, done.collector_version);
  EXPECT_EQ(back->diagnostics, done.diagnostics);
  EXPECT_EQ(back->losses, done.losses);
  auto failure = read_failure(to_json(Failure{base::usage_error("seen 7"), "differs"}));
  EXPECT_EQ(failure->error.message, "seen 7");
  EXPECT_EQ(failure->error.kind, base::ErrorKind::Usage);
  EXPECT_EQ(failure->stored, "differs");
  EXPECT_FALSE(failure->trap);
}

class OneLine : public runtime::SourceLines {
 public:
  std::vector<wago::SourceFrame> at(uint32_t module_offset) const override {
    if (module_offset != 40) return {};
    return {{"inner", "a.c", "/src", 3, 4}, {"run", "a.c", "/src", 7, 0}};
  }
};

TEST(RecordProtocol, ATrapArrivesWithItsFramesAndLines) {
  wago::Trap trap;
  trap.code = base::TrapCode::Abort;
  trap.message = "env.abort called";
  wago::Frame run = {.function = 1, .wasm_pc = 7, .module_offset = 40, .name = "run", .inlined = true};
  run.debug_info = std::make_shared<OneLine>();
  trap.frames = {{.name = "env.abort", .host = true}, run, run};
  trap.frames_truncated = true;
  auto failure = read_failure(to_json(Failure{base::failed("trapped"), "trapped", trap}));
  ASSERT_TRUE(failure && failure->trap);
  EXPECT_EQ(failure->trap->code, trap.code);
  EXPECT_EQ(failure->trap->to_string(), trap.to_string());
  ASSERT_EQ(failure->trap->frames.size(), 3u);
  EXPECT_TRUE(failure->trap->frames[1].inlined);
  EXPECT_EQ(failure->trap->frames[2].source(), run.source());
  EXPECT_TRUE(failure->trap->frames_truncated);
}

TEST(RecordProtocol, ADirectoryIsNamedAndIdentified) {
  auto go = read_go(to_json(Go{"o\xff", {7, UINT64_MAX}}));
  ASSERT_TRUE(go);
  EXPECT_EQ(go->directory, "o\xff");
  EXPECT_EQ(go->id, (base::DirectoryId{7, UINT64_MAX}));
}

TEST(RecordProtocol, WhatIsMissingIsAnError) {
  EXPECT_FALSE(read_done(base::Json::object({{"kind", "done"}})));
  EXPECT_FALSE(read_ready(base::Json::array()));
  EXPECT_EQ(message_kind(base::Json(3)), "");
}

}  // namespace
}  // namespace wago::harness
