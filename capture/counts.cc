#include "capture/counts.h"

#include "base/json.h"

namespace wago::capture {

using base::Json;
using base::JsonReader;

std::string to_json_text(const Counts& counts) {
  Json images = Json::array();
  for (const std::vector<uint64_t>& entered : counts.entered) {
    images.push(Json::array(std::vector<Json>(entered.begin(), entered.end())));
  }
  Json json;
  json.append("version", kVersion);
  json.append("entered", std::move(images));
  return json.dump() + "\n";
}

base::Result<Counts> parse_counts(std::string_view text, const std::string& file, const Images& images,
                                  const Limits& limits) {
  auto json = base::parse_json(text, file, {.bytes = limits.decoded_bytes, .depth = limits.json_depth});
  if (!json) return json.error();
  JsonReader root(*json, file);
  const uint64_t version = root.u64("version");
  if (root.error()) return *root.error();
  if (auto known = check_version(version, file); !known) return known.error();
  Counts counts;
  root.array("entered", [&](JsonReader& reader) {
    std::vector<uint64_t>& entered = counts.entered.emplace_back();
    if (!reader.json().is_array()) return reader.fail("must be an array");
    for (const Json& item : reader.json().items()) {
      const auto number = item.to_u64();
      if (!number) return reader.fail("must hold integers");
      entered.push_back(*number);
    }
    const size_t image = counts.entered.size() - 1;
    if (image >= images.images.size()) return reader.fail("counts an image that is not there");
    const size_t blocks = images.images[image].metadata.blocks.size();
    if (!entered.empty() && entered.size() != blocks) {
      reader.fail("has " + std::to_string(entered.size()) + " counts, where the image has " +
                  std::to_string(blocks) + " blocks");
    }
  });
  if (root.error()) return *root.error();
  return counts;
}

}  // namespace wago::capture
