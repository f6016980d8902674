// counts.json: how often each block of the code was entered during the measured phase, exactly.
//
// Invariant, checked by the reader: an image's counts are as many as its blocks in images.json, or none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "capture/images.h"
#include "capture/schema.h"

namespace wago::capture {

struct Counts {
  std::vector<std::vector<uint64_t>> entered;  // by image, by block of its CodeMetadata::blocks
  bool operator==(const Counts&) const = default;
};

std::string to_json_text(const Counts& counts);
// `images` are those of the same capture.
base::Result<Counts> parse_counts(std::string_view text, const std::string& file, const Images& images,
                                  const Limits& limits = {});

}  // namespace wago::capture
