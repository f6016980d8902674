#include "diff/evidence.h"

#include <gtest/gtest.h>

#include "capture/capture.h"
#include "diff/test_evidence.h"

namespace wago::diff {
namespace {

// Images that keep every invariant of a capture; test_evidence()'s are only what comparing needs.
capture::Images valid_images() {
  capture::Image image;
  image.name = "fib.wasm";
  image.size = 64;
  image.sha256 = digest_of("image");
  image.functions = {test_function(0, "fib", "fib code")};
  image.regions = {{capture::RegionKind::Body, 0, 64, 0}};
  return {.images = {image}, .journal = {}};
}

void write(base::MemoryFiles& files, const std::string& path, bool finish) {
  Evidence evidence = test_evidence(path);
  evidence.manifest.complete = false;
  evidence.manifest.module_sha256 = evidence.manifest.contract_sha256 = evidence.manifest.code_sha256 =
      base::to_hex(digest_of("module"));
  auto writer = capture::CaptureWriter::create(path, evidence.manifest, files);
  ASSERT_TRUE(writer) << writer.error().to_string();
  ASSERT_TRUE(writer->write(capture::kImagesFile, base::as_bytes(capture::to_json_text(valid_images()))));
  ASSERT_TRUE(writer->write(capture::kIterationsFile, capture::encode_iterations(evidence.iterations)));
  if (!finish) return;
  auto finished = writer->finish(evidence.manifest);
  ASSERT_TRUE(finished) << finished.error().to_string();
}

TEST(Evidence, AFinishedCaptureIsReadWhole) {
  base::MemoryFiles files;
  write(files, "a.wagoprof", true);
  auto evidence = load("a.wagoprof", files);
  ASSERT_TRUE(evidence) << evidence.error().to_string();
  EXPECT_EQ(evidence->path, "a.wagoprof");
  EXPECT_EQ(evidence->manifest.workload, "fib");
  EXPECT_EQ(evidence->images, valid_images());
  EXPECT_EQ(evidence->iterations.size(), 10u);
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
