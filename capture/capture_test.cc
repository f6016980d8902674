#include "capture/capture.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "capture/test_parts.h"

namespace wago::capture {
namespace {

using base::MemoryFiles;

const std::vector<IterationBatch> kBatches = {{0, 1000, 990, 10}};

Images images() {
  return {{Image{.name = "m", .size = 0}}, {}};
}

base::Result<void> write_capture(MemoryFiles& files) {
  Manifest manifest;
  manifest.workload = "fib";
  auto writer = CaptureWriter::create("c", manifest, files);
  if (!writer) return writer.error();
  if (auto r = writer->write(kImagesFile, base::as_bytes(to_json_text(images()))); !r) return r;
  if (auto r = writer->write(kIterationsFile, encode_iterations(kBatches)); !r) return r;
  manifest.completed_iterations = 10;
  return writer->finish(manifest);
}

std::string sentence(const base::Result<Capture>& capture) {
  return capture ? "opened" : capture.error().to_string();
}

TEST(Capture, ReadsBackAsWritten) {
  MemoryFiles files;
  ASSERT_TRUE(write_capture(files));
  auto capture = Capture::open("c", files);
  ASSERT_TRUE(capture) << capture.error().to_string();
  EXPECT_EQ(capture->manifest().completed_iterations, 10u);
  EXPECT_EQ(*capture->images(), images());
  EXPECT_EQ(*capture->iterations(), kBatches);
  EXPECT_EQ(*capture->file("spans.json"), std::nullopt);
}

TEST(Capture, AnExistingDirectoryIsNeverReplaced) {
  MemoryFiles files;
  ASSERT_TRUE(write_capture(files));
  auto again = CaptureWriter::create("c", {}, files);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().kind, base::ErrorKind::Usage);
  EXPECT_EQ(again.error().to_string(), "c: exists already and is never replaced");
  EXPECT_TRUE(Capture::open("c", files));
}

// The completion protocol: stopped after any number of changes, nothing reads as complete but a whole
// capture.
TEST(Capture, AWriterStoppedAtAnyMomentLeavesAnUnfinishedCapture) {
  bool finished = false;
  for (uint64_t changes = 0; !finished; ++changes) {
    MemoryFiles files;
    files.stop_after(changes);
    finished = write_capture(files).ok();
    if (finished || !files.exists("c")) continue;
    auto capture = Capture::open("c", files);
    ASSERT_FALSE(capture) << "after " << changes << " changes";
    EXPECT_EQ(capture.error().kind, base::ErrorKind::Failed);
    EXPECT_NE(capture.error().message.find("unfinished capture"), std::string::npos)
        << capture.error().message;
    ASSERT_LT(changes, 100u);
  }
}

TEST(Capture, AFullDiskLeavesAnUnfinishedCaptureAndOneSentence) {
  MemoryFiles measure;
  ASSERT_TRUE(write_capture(measure));
  uint64_t whole = 0;
  const std::vector<std::string> names = *measure.list("c");
  for (const auto& name : names) whole += measure.read("c/" + name, 1 << 20)->size();
  for (uint64_t capacity = 0; capacity < whole; capacity += 97) {
    MemoryFiles files;
    files.set_capacity(capacity);
    auto written = write_capture(files);
    ASSERT_FALSE(written) << capacity;
    EXPECT_NE(written.error().message.find("No space left on device"), std::string::npos)
        << written.error().message;
    EXPECT_FALSE(Capture::open("c", files)) << capacity;
  }
}

TEST(Capture, UnfinishedCapturesSayWhy) {
  MemoryFiles files;
  Manifest manifest;
  auto writer = CaptureWriter::create("c", manifest, files);
  ASSERT_TRUE(writer);
  EXPECT_EQ(sentence(Capture::open("c", files)), "c: unfinished capture: the recorder was stopped");
  manifest.diagnostics = {"the guest did not return"};
  ASSERT_TRUE(writer->update(manifest));
  EXPECT_EQ(sentence(Capture::open("c", files)), "c: unfinished capture: the guest did not return");
  EXPECT_TRUE(Capture::open_any("c", files));
}

TEST(Capture, WhatIsNoCaptureSaysSo) {
  MemoryFiles files;
  EXPECT_EQ(sentence(Capture::open("none", files)), "none: there is no such capture");
  files.put("file", "x");
  EXPECT_EQ(sentence(Capture::open("file", files)), "file: is not a capture: captures are directories");
  ASSERT_TRUE(files.create_directory("empty"));
  EXPECT_EQ(
      sentence(Capture::open("empty", files)),
      "empty: unfinished capture: the directory is empty, as a recorder leaves it that was stopped before it "
      "began");
  ASSERT_TRUE(files.create_directory("other"));
  files.put("other/notes.txt", "x");
  EXPECT_EQ(sentence(Capture::open("other", files)), "other: is not a capture: it has no manifest.json");
}

TEST(Capture, ADirectoryThatWasReplacedIsLeftAlone) {
  MemoryFiles files;
  auto writer = CaptureWriter::create("c", {}, files);
  ASSERT_TRUE(files.remove("c/manifest.json"));
  ASSERT_TRUE(files.remove("c"));
  ASSERT_TRUE(files.create_directory("c"));
  files.put("c/manifest.json", "mine");
  const std::string gone =
      "c: is no longer the directory that was opened: it was removed, moved or replaced meanwhile";
  EXPECT_EQ(writer->write("images.json", {}).error().to_string(), gone);
  EXPECT_EQ(writer->update({}).error().to_string(), gone);
  EXPECT_EQ(writer->finish({}).error().to_string(), gone);
  EXPECT_EQ(base::as_text(*files.read("c/manifest.json", 9)), "mine");
}

TEST(Capture, ContentsAgreeWithTheManifest) {
  auto contents = [](const testing::Parts& parts) {
    MemoryFiles files;
    EXPECT_TRUE(testing::write(parts, "c", files));
    auto read = Capture::open("c", files)->contents();
    return read ? std::string("accepted") : read.error().to_string();
  };
  testing::Parts parts = testing::consistent_parts();
  EXPECT_EQ(contents(parts), "accepted");
  parts.manifest.completed_invocations = 7;
  EXPECT_EQ(contents(parts), "c: damaged capture: completed_invocations is 7, but 100 iterations make 200");
}

TEST(Capture, EveryListedFileIsThere) {
  MemoryFiles files;
  ASSERT_TRUE(testing::write(testing::consistent_parts(), "c", files));
  std::string text(base::as_text(*files.read("c/manifest.json", 1 << 20)));
  const std::string last = "\"files\": [\n";
  text.insert(text.find(last) + last.size(),
              "{\"name\": \"perf.data\", \"bytes\": 1, \"sha256\": \"" + std::string(64, '0') + "\"},");
  files.put("c/manifest.json", text);
  EXPECT_EQ(Capture::open("c", files)->contents().error().to_string(),
            "c: damaged capture: its manifest lists perf.data, which is not there");
}

TEST(Capture, SwappedTruncatedAndMissingFilesAreRefused) {
  auto damaged = [](auto damage) {
    MemoryFiles files;
    EXPECT_TRUE(write_capture(files));
    damage(files);
    auto batches = Capture::open("c", files)->iterations();
    return batches ? std::string("accepted") : batches.error().to_string();
  };
  const std::string changed =
      "c/iterations.bin: is not the file that was recorded: its content differs from what the manifest lists";
  EXPECT_EQ(damaged([](MemoryFiles& f) { f.put("c/iterations.bin", "x"); }), changed);
  EXPECT_EQ(damaged([](MemoryFiles& f) {
              auto other = encode_iterations(std::vector<IterationBatch>{{0, 1, 1, 1}});
              f.put("c/iterations.bin", base::as_text(other));
            }),
            changed);
  EXPECT_EQ(damaged([](MemoryFiles& f) { (void)f.remove("c/iterations.bin"); }),
            "c/iterations.bin: cannot be read: No such file or directory");
}

TEST(Capture, LargePartsMayBeGzipped) {
  MemoryFiles files;
  auto writer = CaptureWriter::create("c", {}, files);
  ASSERT_TRUE(writer->write("iterations.bin.gz", base::gzip(encode_iterations(kBatches))));
  ASSERT_TRUE(writer->finish({}));
  auto capture = Capture::open("c", files);
  EXPECT_EQ(*capture->iterations(), kBatches);
  auto limited = Capture::open("c", files, {.decoded_bytes = 10})->iterations();
  EXPECT_NE(limited.error().message.find("limit decoded_bytes (10)"), std::string::npos);
}

TEST(Capture, AdoptedFilesAreListedToo) {
  MemoryFiles files;
  auto writer = CaptureWriter::create("c", {}, files);
  files.put("c/perf.data", "raw");
  EXPECT_FALSE(writer->adopt("perf.data", 2));
  ASSERT_TRUE(writer->adopt("perf.data", 3));
  ASSERT_TRUE(writer->finish({}));
  EXPECT_EQ(Capture::open("c", files)->manifest().files[0].name, "perf.data");
}

}  // namespace
}  // namespace wago::capture
