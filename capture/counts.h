// counts.json: how often each block of the code was entered during the measured phase, exactly.
//
// Invariants, checked by the reader: an image's counts are as many as its blocks in images.json, or none; a
// block is left unfinished at most as often as it is entered, inside of itself.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "capture/images.h"
#include "capture/schema.h"

namespace wago::capture {

// A block that was left before its end: by a trap of its own, or because a function that it called did not
// return. The instruction that trapped counts as executed where it is one of the module, and as not executed
// where it is one of the machine, which did not complete it.
struct Unfinished {
  uint32_t image = 0;
  uint32_t block = 0;                 // of the image's CodeMetadata::blocks
  uint32_t offset = 0;                // in the image, of the first machine instruction that was not executed
  uint32_t machine_instructions = 0;  // of the block that were
  uint32_t ranges = 0;                // of the block that were, from its first in CodeMetadata::block_ranges
  uint64_t times = 0;
  bool operator==(const Unfinished&) const = default;
};

struct Counts {
  std::vector<std::vector<uint64_t>> entered;  // by image, by block of its CodeMetadata::blocks
  std::vector<Unfinished> unfinished;
  bool operator==(const Counts&) const = default;
};

std::string to_json_text(const Counts& counts);
// `images` are those of the same capture.
base::Result<Counts> parse_counts(std::string_view text, const std::string& file, const Images& images,
                                  const Limits& limits = {});

}  // namespace wago::capture
