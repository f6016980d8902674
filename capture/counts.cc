#include "capture/counts.h"

#include <array>
#include <map>
#include <utility>

#include "base/json.h"
#include "capture/rows.h"

namespace wago::capture {

using base::Json;
using base::JsonReader;

namespace {

constexpr std::array<std::string_view, 6> kUnfinished = {"image",  "block", "offset", "machine_instructions",
                                                         "ranges", "times"};

// What does not hold of an unfinished block, or nothing.
std::string problem_of(const Unfinished& row, const Counts& counts, const Images& images) {
  if (row.image >= counts.entered.size() || row.block >= counts.entered[row.image].size())
    return "names a block that has no count";
  const CodeMetadata& metadata = images.images[row.image].metadata;
  const Block& block = metadata.blocks[row.block];
  if (row.offset < block.begin || row.offset - block.begin > block.size ||
      row.machine_instructions > block.machine_instructions) {
    return "leaves a block outside of it";
  }
  const auto ranges = ranges_of(metadata, row.block);
  if (row.ranges > ranges.size()) return "has more ranges than its block";
  return {};
}

// Every block is left at most as often as it is entered.
std::string excess(const Counts& counts) {
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> left;
  for (const Unfinished& row : counts.unfinished) {
    const uint64_t entered = counts.entered[row.image][row.block];
    uint64_t& times = left[{row.image, row.block}];
    if (row.times > entered - times) return "leaves a block more often than it is entered";
    times += row.times;
  }
  return {};
}

void read_unfinished(JsonReader& root, const Images& images, const Limits& limits, Counts& counts) {
  Columns table(root, "unfinished", kUnfinished, limits.metadata_rows, "metadata_rows");
  for (size_t i = 0; i < table.rows(); ++i) {
    const Unfinished row{table.u32(i, 0), table.u32(i, 1), table.u32(i, 2),
                         table.u32(i, 3), table.u32(i, 4), table.u64(i, 5)};
    if (root.error()) return;
    if (const std::string wrong = problem_of(row, counts, images); !wrong.empty()) {
      return root.fail("unfinished[" + std::to_string(i) + "] " + wrong);
    }
    counts.unfinished.push_back(row);
  }
  if (const std::string wrong = excess(counts); !wrong.empty()) root.fail("unfinished " + wrong);
}

Counts read_counts(JsonReader& root, const Images& images, const Limits& limits) {
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
  if (counts.entered.size() < images.images.size())
    root.fail("counts fewer images than there are", "entered");
  if (!root.error()) read_unfinished(root, images, limits, counts);
  return counts;
}

}  // namespace

std::string to_json_text(const Counts& counts) {
  Json images = Json::array();
  for (const std::vector<uint64_t>& entered : counts.entered) {
    images.push(Json::array(std::vector<Json>(entered.begin(), entered.end())));
  }
  Json json;
  json.append("version", kVersion);
  json.append("entered", std::move(images));
  if (!counts.unfinished.empty()) {
    ColumnsOf<Unfinished> table(counts.unfinished);
    table.add(kUnfinished[0], [](const Unfinished& row) { return row.image; })
        .add(kUnfinished[1], [](const Unfinished& row) { return row.block; })
        .add(kUnfinished[2], [](const Unfinished& row) { return row.offset; })
        .add(kUnfinished[3], [](const Unfinished& row) { return row.machine_instructions; })
        .add(kUnfinished[4], [](const Unfinished& row) { return row.ranges; })
        .add(kUnfinished[5], [](const Unfinished& row) { return row.times; });
    json.append("unfinished", table.json());
  }
  return json.dump() + "\n";
}

base::Result<Counts> parse_counts(std::string_view text, const std::string& file, const Images& images,
                                  const Limits& limits) {
  const auto json = base::parse_json(text, file, {.bytes = limits.decoded_bytes, .depth = limits.json_depth});
  if (!json) return json.error();
  JsonReader root(*json, file);
  const uint64_t version = root.u64("version");
  if (root.error()) return *root.error();
  if (auto known = check_version(version, file); !known) return known.error();
  Counts counts = read_counts(root, images, limits);
  if (root.error()) return *root.error();
  return counts;
}

}  // namespace wago::capture
