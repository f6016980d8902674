// Versions and limits of captures. docs/capture-format.md describes what they govern.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace wago::capture {

// Every JSON file of a capture carries it as "version". A reader takes kOldestVersion..kVersion.
inline constexpr uint64_t kVersion = 1;
inline constexpr uint64_t kOldestVersion = 1;

// "schema version 3 is too new for this program, which reads up to 1: use a newer wago-profile", or its
// counterpart.
base::Result<void> check_version(uint64_t version, const std::string& file, uint64_t oldest = kOldestVersion,
                                 uint64_t newest = kVersion);

// What a reader accepts; exceeding one is an error that names it.
struct Limits {
  uint64_t manifest_bytes = uint64_t{16} << 20;
  uint64_t file_bytes = uint64_t{2} << 30;     // of one file on disk
  uint64_t decoded_bytes = uint64_t{2} << 30;  // of one file, after gzip
  uint32_t json_depth = 32;
  uint64_t iteration_records = 20'000'000;
  uint64_t images = 100'000;
  uint64_t journal_records = 4'000'000;
  uint64_t functions = 1'000'000;      // of one image
  uint64_t regions = 4'000'000;        // of one image
  uint64_t metadata_rows = 8'000'000;  // of one table of an image's compiler metadata
  uint64_t name_bytes = 65'536;        // of one name
  uint64_t samples = 10'000'000;
  uint64_t stack_nodes = 4'000'000;  // stacks that differ, and frames that differ
  uint64_t symbols = 1'000'000;      // native functions in samples
  uint64_t threads = 100'000;
  uint64_t spans = 4'000'000;
  uint64_t phases = 1'000;
  uint64_t diagnostics = 10'000;
  uint64_t files = 100'000;
};

// A name as captures keep it: what exceeds the limit of their readers is cut off, at a whole character.
std::string within_limit(std::string_view name, uint64_t name_bytes = Limits().name_bytes);

}  // namespace wago::capture
