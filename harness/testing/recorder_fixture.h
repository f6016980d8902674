// What the tests of recordings share. For tests alone.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/files.h"
#include "base/testing/scratch_folder.h"
#include "capture/capture.h"
#include "harness/recorder.h"

namespace wago::harness::recorder_test {

using base::ErrorKind;
using capture::Call;
using capture::Capture;

// Workloads of these names have their host set up otherwise; see set_up_host() in recorder_test.cc.
inline constexpr const char* kRefusedId = "refused";
inline constexpr const char* kUnprovidedId = "unprovided";

class RecorderTest : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return scratch_.file(name); }

  // 100 checked iterations of one call; tests change what they are about.
  RecordRequest request(std::string_view module, Call call) {
    std::string file = path("module.wasm");
    std::filesystem::remove(file);
    EXPECT_TRUE(base::system_files().create(file, base::as_bytes(module)));
    RecordRequest request;
    request.workload.id = call.export_name;
    request.workload.module_path = file;
    request.workload.calls = {std::move(call)};
    request.workload.iterations = 100;
    request.out = path("out.wagoprof");
    return request;
  }
  static Call fib() { return {"fib", {10}, {55}, {}}; }

  std::string failure_of(const RecordRequest& wanted, ErrorKind kind = ErrorKind::Failed) {
    RecordOutcome outcome = record(wanted);
    EXPECT_TRUE(outcome.error);
    if (!outcome.error) return "";
    EXPECT_EQ(outcome.error->kind, kind);
    EXPECT_FALSE(Capture::open(wanted.out)) << "a failed recording reads as complete";
    return outcome.error->to_string();
  }

  const base::testing::ScratchFolder scratch_;
};

inline Capture opened(const RecordRequest& request) {
  auto capture = Capture::open(request.out);
  EXPECT_TRUE(capture) << capture.error().to_string();
  auto contents = capture->contents();
  EXPECT_TRUE(contents) << contents.error().to_string();
  return *capture;
}

}  // namespace wago::harness::recorder_test
