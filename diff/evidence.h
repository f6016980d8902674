// A capture as everything here reads it: its parts in memory, so that what is said about it is a pure
// function.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "capture/capture.h"

namespace wago::diff {

struct Evidence {
  std::string path;  // as the user named it
  capture::Manifest manifest;
  capture::Images images;
  std::vector<capture::IterationBatch> iterations;
  std::optional<capture::Samples> samples;
  std::optional<capture::Counts> counts;
  std::optional<capture::Spans> spans;
  std::optional<std::vector<uint8_t>> code;  // see capture::Contents
};

// A finished capture that agrees with itself. Errors as capture::Capture says; an unfinished one is refused
// with what it says of itself.
base::Result<Evidence> load(const std::string& path, base::Files& files = base::system_files());
// All or the first error. A capture that is named twice is refused: it would count as two measurements.
base::Result<std::vector<Evidence>> load_all(std::span<const std::string> paths,
                                             base::Files& files = base::system_files());

}  // namespace wago::diff
