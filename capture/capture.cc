#include "capture/capture.h"

#include <algorithm>

#include "base/text.h"
#include "capture/consistency.h"

namespace wago::capture {

namespace {

using base::join_path;

base::Result<void> publish_manifest(base::Directory& directory, const Manifest& manifest) {
  return directory.publish(kManifestFile, base::as_bytes(to_json_text(manifest)));
}

// Why the manifest of `directory` cannot be read.
base::Error no_manifest(const std::string& directory, base::Files& files, base::Error unreadable) {
  auto refused = [&](const char* why) { return base::usage_error(why, {.file = directory}); };
  if (!files.exists(directory)) return refused("there is no such capture");
  if (files.exists(join_path(directory, kManifestFile))) return unreadable;
  if (!files.is_directory(directory)) return refused("is not a capture: captures are directories");
  auto names = files.list(directory);
  if (!names) return names.error();
  bool begun = std::all_of(names->begin(), names->end(),
                           [](const std::string& name) { return name.starts_with(kManifestFile); });
  if (!begun) return refused("is not a capture: it has no manifest.json");
  return base::failed(
      "unfinished capture: the directory is empty, as a recorder leaves it that was stopped before it began",
      {.file = directory});
}

}  // namespace

base::Result<CaptureWriter> CaptureWriter::create(const std::string& directory, const Manifest& manifest,
                                                  base::Files& files) {
  WAGO_CHECK(!manifest.complete);
  if (auto created = files.create_directory(directory); !created) return created.error();
  auto opened = files.open_directory(directory);
  if (!opened) return opened.error();
  if (auto published = publish_manifest(**opened, manifest); !published) return published.error();
  return CaptureWriter(std::move(*opened));
}

base::Result<void> CaptureWriter::write(const std::string& name, std::span<const uint8_t> bytes) {
  WAGO_CHECK(!finished_);
  if (auto created = directory_->create(name, bytes); !created) return created;
  written_.push_back({name, bytes.size(), base::sha256(bytes)});
  return {};
}

base::Result<void> CaptureWriter::adopt(const std::string& name, uint64_t max_bytes) {
  WAGO_CHECK(!finished_);
  auto bytes = directory_->read(name, max_bytes);
  if (!bytes) return bytes.error();
  written_.push_back({name, bytes->size(), base::sha256(*bytes)});
  return {};
}

base::Result<void> CaptureWriter::update(const Manifest& manifest) {
  WAGO_CHECK(!finished_ && !manifest.complete);
  return publish_manifest(*directory_, manifest);
}

base::Result<void> CaptureWriter::finish(Manifest manifest) {
  WAGO_CHECK(!finished_);
  manifest.complete = true;
  manifest.files = written_;
  std::sort(manifest.files.begin(), manifest.files.end(),
            [](const FileRecord& a, const FileRecord& b) { return a.name < b.name; });
  auto published = publish_manifest(*directory_, manifest);
  finished_ = published.ok();
  return published;
}

base::Result<Capture> Capture::open_any(const std::string& directory, base::Files& files,
                                        const Limits& limits) {
  std::string path = join_path(directory, kManifestFile);
  auto bytes = files.read(path, limits.manifest_bytes);
  if (!bytes) return no_manifest(directory, files, bytes.error());
  auto manifest = parse_manifest(base::as_text(*bytes), path, limits);
  if (!manifest) return manifest.error();
  return Capture(directory, std::move(*manifest), files, limits);
}

base::Result<Capture> Capture::open(const std::string& directory, base::Files& files, const Limits& limits) {
  auto capture = open_any(directory, files, limits);
  if (capture && !capture->finished()) return unfinished_error(*capture);
  return capture;
}

base::Result<std::optional<std::vector<uint8_t>>> Capture::file(const std::string& name) const {
  using Content = std::optional<std::vector<uint8_t>>;
  std::string packed = name + ".gz";
  const FileRecord* record = nullptr;
  for (const FileRecord& candidate : manifest_.files) {
    if (candidate.name == name || (candidate.name == packed && !record)) record = &candidate;
  }
  // An unfinished capture has no list; what is there is shown as it is.
  std::string found = record ? record->name : name;
  std::string path = join_path(directory_, found);
  if (!record && (manifest_.complete || !files_->exists(path))) return Content();
  auto bytes = files_->read(path, limits_.file_bytes);
  if (!bytes) return bytes.error();
  if (record && (bytes->size() != record->bytes || base::sha256(*bytes) != record->sha256)) {
    return base::usage_error(
        "is not the file that was recorded: its content differs from what the manifest lists",
        {.file = path});
  }
  auto decoded = base::inflate_if_gzip(std::move(*bytes), limits_.decoded_bytes, path);
  if (!decoded) return decoded.error();
  return Content(std::move(*decoded));
}

base::Result<Images> Capture::images() const {
  auto bytes = file(kImagesFile);
  if (!bytes) return bytes.error();
  if (!*bytes) return base::usage_error("has no images.json", {.file = directory_});
  return parse_images(base::as_text(**bytes), join_path(directory_, kImagesFile), limits_);
}

base::Result<std::vector<IterationBatch>> Capture::iterations() const {
  auto bytes = file(kIterationsFile);
  if (!bytes) return bytes.error();
  if (!*bytes) return base::usage_error("has no iterations.bin", {.file = directory_});
  return decode_iterations(**bytes, join_path(directory_, kIterationsFile), limits_);
}

base::Result<Contents> Capture::contents() const {
  for (const FileRecord& record : manifest_.files) {
    if (files_->exists(join_path(directory_, record.name))) continue;
    return base::usage_error(
        "damaged capture: its manifest lists " + base::display(record.name) + ", which is not there",
        {.file = directory_});
  }
  auto images = this->images();
  if (!images) return images.error();
  auto iterations = this->iterations();
  if (!iterations) return iterations.error();
  if (auto checked = check(manifest_, *images, *iterations); !checked) {
    base::Error error = checked.error();
    error.place.file = directory_;
    return error;
  }
  Contents contents{std::move(*images), std::move(*iterations)};
  if (auto read = read_parts(contents); !read) return read.error();
  return contents;
}

base::Result<void> Capture::read_parts(Contents& contents) const {
  auto samples = file(kSamplesFile);
  if (!samples) return samples.error();
  if (*samples) {
    auto parsed = parse_samples(base::as_text(**samples), join_path(directory_, kSamplesFile),
                                contents.images, limits_);
    if (!parsed) return parsed.error();
    contents.samples = std::move(*parsed);
  }
  auto counts = file(kCountsFile);
  if (!counts) return counts.error();
  if (*counts) {
    auto parsed =
        parse_counts(base::as_text(**counts), join_path(directory_, kCountsFile), contents.images, limits_);
    if (!parsed) return parsed.error();
    contents.counts = std::move(*parsed);
  }
  auto spans = file(kSpansFile);
  if (!spans) return spans.error();
  if (*spans) {
    auto parsed = parse_spans(base::as_text(**spans), join_path(directory_, kSpansFile), limits_);
    if (!parsed) return parsed.error();
    contents.spans = std::move(*parsed);
  }
  if (auto checked = check(manifest_, contents.spans); !checked) {
    base::Error error = checked.error();
    error.place.file = directory_;
    return error;
  }
  auto code = file(kCodeFile);
  if (!code) return code.error();
  if (*code) {
    uint64_t bytes = 0;
    for (const Image& image : contents.images.images) bytes += image.size;
    if ((*code)->size() != bytes) {
      return base::usage_error("damaged capture: code.bin has " + std::to_string((*code)->size()) +
                                   " bytes, the images " + std::to_string(bytes),
                               {.file = directory_});
    }
    contents.code = std::move(**code);
  }
  return {};
}

base::Error unfinished_error(const Capture& capture) {
  std::string why;
  for (const std::string& diagnostic : capture.manifest().diagnostics) {
    why += (why.empty() ? "" : "; ") + base::printable(diagnostic);
  }
  if (why.empty()) {
    why =
        capture.manifest().complete ? "the collector's data were not converted" : "the recorder was stopped";
  }
  return base::failed("unfinished capture: " + why, {.file = capture.directory()});
}

}  // namespace wago::capture
