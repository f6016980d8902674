#include "diff/evidence.h"

#include <gtest/gtest.h>

#include "capture/test_parts.h"

namespace wago::diff {
namespace {

void write(base::MemoryFiles& files, const std::string& path, bool finish) {
  const capture::testing::Parts parts = capture::testing::consistent_parts();
  if (finish) {
    auto written = capture::testing::write(parts, path, files);
    ASSERT_TRUE(written) << written.error().to_string();
    return;
  }
  capture::Manifest begun = parts.manifest;
  begun.complete = false;
  ASSERT_TRUE(capture::CaptureWriter::create(path, begun, files));
}

TEST(Evidence, AFinishedCaptureIsReadWhole) {
  base::MemoryFiles files;
  write(files, "a.wagoprof", true);
  auto evidence = load("a.wagoprof", files);
  ASSERT_TRUE(evidence) << evidence.error().to_string();
  EXPECT_EQ(evidence->path, "a.wagoprof");
  EXPECT_EQ(evidence->manifest.workload, "fib");
  const capture::testing::Parts parts = capture::testing::consistent_parts();
  EXPECT_EQ(evidence->images, parts.images);
  EXPECT_EQ(evidence->iterations, parts.iterations);
}

TEST(Evidence, ACaptureThatContradictsItselfIsRefused) {
  base::MemoryFiles files;
  capture::testing::Parts parts = capture::testing::consistent_parts();
  parts.iterations.pop_back();
  ASSERT_TRUE(capture::testing::write(parts, "a.wagoprof", files));
  EXPECT_EQ(load("a.wagoprof", files).error().to_string(),
            "a.wagoprof: damaged capture: completed_iterations is 100, but the batches in iterations.bin add "
            "up to 60");
}

TEST(Evidence, AnUnfinishedCaptureIsRefused) {
  base::MemoryFiles files;
  write(files, "a.wagoprof", false);
  auto evidence = load("a.wagoprof", files);
  ASSERT_FALSE(evidence);
  EXPECT_NE(evidence.error().to_string().find("unfinished"), std::string::npos)
      << evidence.error().to_string();
}

TEST(Evidence, OneUnfinishedCaptureOfASetIsNamed) {
  base::MemoryFiles files;
  write(files, "a.wagoprof", true);
  write(files, "b.wagoprof", false);
  std::vector<std::string> paths = {"a.wagoprof", "b.wagoprof"};
  auto all = load_all(paths, files);
  ASSERT_FALSE(all);
  EXPECT_NE(all.error().to_string().find("b.wagoprof"), std::string::npos) << all.error().to_string();
}

TEST(Evidence, ACaptureNamedTwiceWouldCountTwice) {
  base::MemoryFiles files;
  write(files, "a.wagoprof", true);
  std::vector<std::string> paths = {"a.wagoprof", "a.wagoprof"};
  auto all = load_all(paths, files);
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().kind, base::ErrorKind::Usage);
}

}  // namespace
}  // namespace wago::diff
