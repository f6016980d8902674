// The capture directory: writing it so that a process killed at any moment leaves something every reader
// recognises as unfinished, and reading it with distrust.
//
// Protocol. The directory is new and private (0700, files 0600). manifest.json comes first, with complete =
// false; then the other files, each flushed; last, manifest.json is replaced in one step by one with complete
// = true that lists every file with its length and SHA-256. Until then, whatever is there reads as
// unfinished.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "capture/counts.h"
#include "capture/images.h"
#include "capture/iterations.h"
#include "capture/manifest.h"
#include "capture/samples.h"
#include "capture/spans.h"

namespace wago::capture {

inline constexpr const char* kManifestFile = "manifest.json";
inline constexpr const char* kImagesFile = "images.json";
inline constexpr const char* kIterationsFile = "iterations.bin";
inline constexpr const char* kSamplesFile = "samples.json";
inline constexpr const char* kCountsFile = "counts.json";
inline constexpr const char* kCountersFile = "counters.json";
inline constexpr const char* kSpansFile = "spans.json";
inline constexpr const char* kCodeFile = "code.bin";
inline constexpr const char* kPprofFile = "cpu.pprof";
inline constexpr const char* kFirefoxFile = "profile.json";

class CaptureWriter {
 public:
  // Creates the directory and the first manifest, whose `complete` must be false. An existing `directory` is
  // a Usage error and is left as it is. `files` must outlive the writer.
  static base::Result<CaptureWriter> create(const std::string& directory, const Manifest& manifest,
                                            base::Files& files = base::system_files());

  base::DirectoryId directory_id() const { return directory_->id(); }
  // Whether the path that it was created by still leads to the directory.
  bool in_place() const { return directory_->in_place(); }

  // A new file, remembered for the final manifest. `name` has no folder.
  base::Result<void> write(const std::string& name, std::span<const uint8_t> bytes);
  // A file that someone else (a child, a collector) has put into the directory: read, flushed and remembered.
  base::Result<void> adopt(const std::string& name, uint64_t max_bytes);
  // Publishes an unfinished manifest again, with what is known so far; `complete` must be false.
  base::Result<void> update(const Manifest& manifest);
  // Sets `complete` and the list of files and publishes. Nothing may be written afterwards.
  base::Result<void> finish(Manifest manifest);

 private:
  explicit CaptureWriter(std::unique_ptr<base::Directory> directory) : directory_(std::move(directory)) {}

  std::unique_ptr<base::Directory> directory_;
  std::vector<FileRecord> written_;
  bool finished_ = false;
};

// What a capture holds besides its manifest.
struct Contents {
  Images images;
  std::vector<IterationBatch> iterations;
  std::optional<Samples> samples;
  std::optional<Counts> counts;
  std::optional<Spans> spans;
  // The images' bytes with relocated fields masked, one image after the other as images.json lists them.
  std::optional<std::vector<uint8_t>> code;
};

// A capture that was opened for reading. Parts are read when asked for, checked against the manifest's list,
// and inflated where they are gzip ("images.json.gz" stands for "images.json").
class Capture {
 public:
  // Errors: no capture, not readable, too old, too new, over a limit (Usage); unfinished (Failed), with the
  // capture's own diagnostics in the sentence.
  static base::Result<Capture> open(const std::string& directory, base::Files& files = base::system_files(),
                                    const Limits& limits = {});
  // The same, but an unfinished capture is opened too; for those who only describe it.
  static base::Result<Capture> open_any(const std::string& directory,
                                        base::Files& files = base::system_files(), const Limits& limits = {});

  const std::string& directory() const { return directory_; }
  const Manifest& manifest() const { return manifest_; }
  bool finished() const { return manifest_.finished(); }

  // Errors: absent, of another length or hash than the manifest says, over a limit, malformed.
  base::Result<Images> images() const;
  base::Result<std::vector<IterationBatch>> iterations() const;
  // All of it, and everything the capture says of itself agrees (see consistency.h) and every file that it
  // lists is there. Precondition: finished().
  base::Result<Contents> contents() const;
  // Any file by name, decoded. Nothing: the capture does not have it.
  base::Result<std::optional<std::vector<uint8_t>>> file(const std::string& name) const;

 private:
  Capture(std::string directory, Manifest manifest, base::Files& files, const Limits& limits)
      : directory_(std::move(directory)), manifest_(std::move(manifest)), files_(&files), limits_(limits) {}

  base::Result<void> read_parts(Contents& contents) const;

  std::string directory_;
  Manifest manifest_;
  base::Files* files_;
  Limits limits_;
};

// "fib.wagoprof: unfinished capture: the recording process died of signal 9 (SIGKILL)"
base::Error unfinished_error(const Capture& capture);

}  // namespace wago::capture
