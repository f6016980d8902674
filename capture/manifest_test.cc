#include "capture/manifest.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace wago::capture {
namespace {

// Every member differs from its default, so that none can be forgotten by writer or reader.
Manifest example() {
  Manifest m;
  m.complete = true;
  m.collector_pending = true;
  m.diagnostics = {"one", "two"};
  m.program_version = "0.1.0";
  m.revision = "abc";
  m.dirty = base::Dirty::Dirty;
  m.runner_id = "id";
  m.workload = "fib";
  m.catalog = "bundled";
  m.module_name = "fib.wasm";
  m.module_bytes = 10;
  m.code_section_bytes = 9;
  m.module_sha256 = "m";
  m.contract_sha256 = "c";
  m.code_sha256 = "x";
  m.calls_per_iteration = 2;
  m.items_per_iteration = 3;
  m.bytes_per_iteration = 4;
  m.labels = {"l"};
  m.target = "x86_64-linux-gnu";
  m.cpu_model = "cpu";
  m.os_version = "Linux 6.1";
  m.logical_cpus = 2;
  m.backend = base::Backend::Perf;
  m.event = "cpu-clock:u";
  m.collector_version = "6.1";
  m.phase_isolation = "process";
  m.capture_phase = base::Phase::Compile;
  m.invocation_mode = base::Mode::Prepared;
  m.requested_rate_hz = 99;
  m.effective_settings = {
      {base::Bounds::Explicit, 0, true}, true, 16, 1 << 20, true, true, true, true, 256, 65536, true, true};
  m.requested_iterations = 5;
  m.requested_duration_ns = 6;
  m.warmup_iterations = 7;
  m.completed_iterations = 8;
  m.completed_invocations = 16;
  m.execution_duration_ns = 9;
  m.execution_cpu_ns = 10;
  m.phases = {{base::Phase::Compile, 1, 2, 3, 4, "bytes"}, {base::Phase::Execute, 5, 6, 7, 8, "invocations"}};
  m.losses = {1, 2, 3};
  m.files = {{"images.json", 12, base::sha256({})}};
  return m;
}

TEST(Manifest, ReadsBackAsWritten) {
  auto manifest = parse_manifest(to_json_text(example()), "manifest.json");
  ASSERT_TRUE(manifest) << manifest.error().to_string();
  EXPECT_EQ(*manifest, example());
  EXPECT_EQ(manifest->measured_phase()->completed_work, 4u);
  EXPECT_FALSE(manifest->finished()) << "a parent still owes conversion";
}

// Scripts outside rely on these.
TEST(Manifest, HasTheNamesThatScriptsRelyOn) {
  auto json = base::parse_json(to_json_text(example()), "m");
  for (const char* name : {"version",
                           "complete",
                           "collector_pending",
                           "diagnostics",
                           "revision",
                           "dirty",
                           "workload",
                           "module_sha256",
                           "contract_sha256",
                           "target",
                           "cpu_model",
                           "os_version",
                           "logical_cpus",
                           "backend",
                           "event",
                           "collector_version",
                           "phase_isolation",
                           "capture_phase",
                           "invocation_mode",
                           "requested_rate_hz",
                           "effective_settings",
                           "requested_iterations",
                           "requested_duration_ns",
                           "warmup_iterations",
                           "completed_iterations",
                           "completed_invocations",
                           "execution_duration_ns",
                           "phases"}) {
    EXPECT_TRUE(json->find(name)) << name;
  }
  for (const char* name :
       {"name", "start_unix_ns", "end_unix_ns", "elapsed_ns", "completed_work", "work_unit"}) {
    EXPECT_TRUE(json->find("phases")->items()[0].find(name)) << name;
  }
}

TEST(Manifest, UnknownDirtinessIsSaid) {
  Manifest m = example();
  m.dirty = base::Dirty::Unknown;
  std::string text = to_json_text(m);
  EXPECT_NE(text.find("\"dirty\": \"unknown\""), std::string::npos);
  EXPECT_EQ(parse_manifest(text, "m")->dirty, base::Dirty::Unknown);
  EXPECT_NE(to_json_text(example()).find("\"dirty\": true"), std::string::npos);
}

std::string refusal(std::string from, std::string to) {
  std::string text = to_json_text(example());
  text.replace(text.find(from), from.size(), to);
  auto manifest = parse_manifest(text, "manifest.json");
  return manifest ? "accepted" : manifest.error().to_string();
}

TEST(Manifest, VersionsAreCheckedBeforeAnythingElse) {
  EXPECT_EQ(refusal("\"version\": 1,", "\"version\": 2, \"complete\": 7,\"x\":0,"),
            "manifest.json: complete: the name \"complete\" is given twice");
  EXPECT_EQ(
      refusal("\"version\": 1,\n  \"complete\": true", "\"version\": 2,\n  \"complete\": 7"),
      "manifest.json: schema version 2 is too new for this program, which reads up to 1: use a newer one");
  EXPECT_EQ(refusal("\"version\": 1", "\"version\": 0"),
            "manifest.json: schema version 0 is too old for this program, which reads from 1: use the one "
            "that wrote it");
}

TEST(Manifest, AdditionsOfTheSameVersionAreIgnored) {
  EXPECT_EQ(refusal("\"version\": 1,", "\"version\": 1, \"mood\": {\"a\": [1]},"), "accepted");
}

TEST(Manifest, DamageNamesItsPath) {
  EXPECT_EQ(refusal("\"execute\"", "\"sleep\"")
                .rfind("manifest.json: phases[1].name: 'sleep' is not one of compile, ", 0),
            0u);
  EXPECT_EQ(refusal("\"level\": 0", "\"level\": -1")
                .rfind("manifest.json: effective_settings.level: must be an integer", 0),
            0u);
  EXPECT_EQ(refusal("\"images.json\"", "\"../images.json\""),
            "manifest.json: files[0].name: must be a file name without a folder");
  EXPECT_EQ(refusal("\"complete\"", "\"completed\""),
            "manifest.json: complete: is missing; it must be true or false");
}

TEST(Manifest, EveryTruncationIsRefused) {
  std::string text = to_json_text(example());
  for (size_t length = 0; length + 1 < text.size(); length += 7) {
    EXPECT_FALSE(parse_manifest(std::string_view(text).substr(0, length), "m")) << length;
  }
}

}  // namespace
}  // namespace wago::capture
