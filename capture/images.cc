#include "capture/images.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "base/vocabulary.h"
#include "capture/rows.h"

namespace wago::capture {

namespace {

using base::Json;
using base::JsonReader;

constexpr std::array<std::string_view, 2> kImageKinds = {"module", "adapter"};
constexpr std::array<std::string_view, 6> kRegionKinds = {"body",       "entry-adapter", "host-adapter",
                                                          "trap-stubs", "literals",      "padding"};
constexpr std::array<std::string_view, 2> kActions = {"load", "retire"};

using F = FunctionStatistics;
constexpr std::array<StatisticField, 14> kStatistics = {{
    {"machine_instructions", &F::machine_instructions},
    {"frame_bytes", &F::frame_bytes},
    {"spills", &F::spills},
    {"reloads", &F::reloads},
    {"rematerialized", &F::rematerialized},
    {"moves", &F::moves},
    {"bounds_checks", &F::bounds_checks},
    {"stack_checks", &F::stack_checks},
    {"interrupt_checks", &F::interrupt_checks},
    {"calls", &F::calls},
    {"indirect_calls", &F::indirect_calls},
    {"helper_calls", &F::helper_calls},
    {"ir_instructions", &F::ir_instructions},
    {"blocks", &F::blocks},
}};

// Columns of a function's row before its statistics.
constexpr std::array<std::string_view, 8> kFunctionColumns = {"index", "name",       "signature", "begin",
                                                              "size",  "wasm_begin", "wasm_size", "sha256"};

Json function_row(const Function& function) {
  Json row = Json::array({function.index, function.name, function.signature, function.begin, function.size,
                          function.wasm_begin, function.wasm_size, base::to_hex(function.sha256)});
  for (const StatisticField& field : kStatistics) row.push(function.statistics.*field.member);
  return row;
}

Json image_json(const Image& image) {
  Json regions = Json::array();
  for (const Region& region : image.regions) {
    Json function = region.function == kNoFunction ? Json() : Json(region.function);
    regions.push(Json::array({spelling(region.kind), region.begin, region.size, std::move(function)}));
  }
  Json functions = Json::array();
  for (const Function& function : image.functions) functions.push(function_row(function));
  Json json;
  json.append("kind", spelling(image.kind));
  json.append("name", image.name);
  json.append("size", image.size);
  json.append("sha256", base::to_hex(image.sha256));
  json.append("regions", std::move(regions));
  json.append("functions", std::move(functions));
  if (!image.exports.empty()) {
    Json exports = Json::array();
    for (const ExportedName& exported : image.exports)
      exports.push(Json::array({exported.function, exported.name}));
    json.append("exports", std::move(exports));
  }
  if (image.metadata != CodeMetadata()) json.append("metadata", to_json(image.metadata));
  return json;
}

Function read_function(JsonReader& reader, const Limits& limits) {
  Row row(reader, kFunctionColumns.size() + kStatistics.size(), limits);
  Function function;
  function.index = row.u32("index");
  function.name = row.text("name");
  function.signature = row.text("signature");
  function.begin = row.u32("begin");
  function.size = row.u32("size");
  function.wasm_begin = row.u32("wasm_begin");
  function.wasm_size = row.u32("wasm_size");
  function.sha256 = row.digest("sha256");
  for (const StatisticField& field : kStatistics) function.statistics.*field.member = row.u32(field.name);
  return function;
}

Region read_region(JsonReader& reader, const Limits& limits) {
  Row row(reader, 4, limits);
  Region region;
  region.kind = static_cast<RegionKind>(row.word("kind", kRegionKinds));
  region.begin = row.u32("begin");
  region.size = row.u32("size");
  region.function = row.u32_or("function", kNoFunction);
  return region;
}

ExportedName read_exported_name(JsonReader& reader, const Limits& limits) {
  Row row(reader, 2, limits);
  ExportedName exported;
  exported.function = row.u32("function");
  exported.name = row.text("name");
  return exported;
}

Image read_image(JsonReader& reader, const Limits& limits) {
  Image image;
  image.kind = base::read_word<ImageKind>(reader, "kind", kImageKinds);
  image.name = reader.string("name");
  if (image.name.size() > limits.name_bytes) {
    reader.fail("exceeds the limit name_bytes (" + std::to_string(limits.name_bytes) + ")", "name");
  }
  image.size = reader.u32("size");
  auto digest = base::parse_digest(reader.string("sha256"));
  if (!digest) reader.fail("must be 64 hexadecimal digits", "sha256");
  image.sha256 = digest.value_or(base::Digest{});
  reader.array(
      "regions", [&](JsonReader& row) { image.regions.push_back(read_region(row, limits)); }, true,
      limits.regions);
  reader.array(
      "functions", [&](JsonReader& row) { image.functions.push_back(read_function(row, limits)); }, true,
      limits.functions);
  reader.array(
      "exports", [&](JsonReader& row) { image.exports.push_back(read_exported_name(row, limits)); }, false,
      limits.functions);
  if (auto metadata = reader.optional_object("metadata")) {
    image.metadata = read_code_metadata(*metadata, limits);
  }
  return image;
}

JournalEntry read_entry(JsonReader& reader, const Limits& limits) {
  Row row(reader, 4, limits);
  JournalEntry entry;
  entry.action = static_cast<JournalAction>(row.word("action", kActions));
  entry.image = row.u32("image");
  entry.monotonic_ns = row.u64("monotonic_ns");
  entry.address = row.u64("address");
  return entry;
}

void expect_columns(JsonReader& root) {
  std::vector<std::string> found;
  root.array("function_columns", [&](JsonReader& item) { found.push_back(item.as_string()); });
  std::vector<std::string> wanted(kFunctionColumns.begin(), kFunctionColumns.end());
  for (const StatisticField& field : kStatistics) wanted.emplace_back(field.name);
  if (found != wanted) root.fail("are not the columns of this schema version", "function_columns");
}

base::Error broken(size_t image, std::string what) {
  return base::usage_error("image " + std::to_string(image) + " " + std::move(what));
}

base::Result<void> check_exports(const Image& image, size_t number) {
  if (!std::ranges::is_sorted(image.exports, {}, &ExportedName::function))
    return broken(number, "has exports out of order");
  if (image.kind == ImageKind::Adapter && !image.exports.empty())
    return broken(number, "is an adapter and has exports");
  std::set<std::pair<uint32_t, std::string_view>> seen;
  for (const ExportedName& exported : image.exports) {
    const std::string function = "function " + std::to_string(exported.function);
    const auto found = std::ranges::lower_bound(image.functions, exported.function, {}, &Function::index);
    if (found == image.functions.end() || found->index != exported.function)
      return broken(number, "exports " + function + ", which it does not have");
    if (!seen.emplace(exported.function, exported.name).second)
      return broken(number, "has the same export of " + function + " twice");
  }
  return {};
}

base::Result<void> check_image(const Image& image, size_t number) {
  uint64_t at = 0;
  for (const Region& region : image.regions) {
    if (region.begin != at)
      return broken(number, "has regions that do not tile it at offset " + std::to_string(at));
    at += region.size;
  }
  if (at != image.size)
    return broken(number, "has regions that end at " + std::to_string(at) + ", not at its size");
  const Function* previous = nullptr;
  for (const Function& function : image.functions) {
    if (previous && function.index <= previous->index) return broken(number, "has functions out of order");
    if (uint64_t{function.begin} + function.size > image.size) {
      return broken(number, "has function " + std::to_string(function.index) + " beyond its end");
    }
    previous = &function;
  }
  if (auto checked = check_exports(image, number); !checked) return checked;
  if (std::string problem = problem_of(image.metadata, image.size); !problem.empty()) {
    return broken(number, "has " + problem);
  }
  return {};
}

}  // namespace

std::string_view spelling(ImageKind kind) {
  return kImageKinds.at(static_cast<size_t>(kind));
}
std::string_view spelling(RegionKind kind) {
  return kRegionKinds.at(static_cast<size_t>(kind));
}
std::span<const StatisticField> statistic_fields() {
  return kStatistics;
}

base::Result<void> check(const Images& images) {
  for (size_t i = 0; i < images.images.size(); ++i) {
    if (auto checked = check_image(images.images[i], i); !checked) return checked;
  }
  std::set<std::pair<uint32_t, uint64_t>> loaded;  // images and where they are
  uint64_t now = 0;
  for (const JournalEntry& entry : images.journal) {
    if (entry.image >= images.images.size())
      return base::usage_error("the journal names an image that is not there");
    if (entry.monotonic_ns < now) return base::usage_error("the journal's times fall");
    now = entry.monotonic_ns;
    const std::pair place(entry.image, entry.address);
    const bool known =
        entry.action == JournalAction::Load ? loaded.insert(place).second : loaded.erase(place) > 0;
    if (!known)
      return broken(entry.image, "is loaded twice, or retired without being loaded, in the journal");
  }
  return {};
}

std::string to_json_text(const Images& images) {
  Json columns = Json::array();
  for (std::string_view column : kFunctionColumns) columns.push(column);
  for (const StatisticField& field : kStatistics) columns.push(field.name);
  Json list = Json::array();
  for (const Image& image : images.images) list.push(image_json(image));
  Json journal = Json::array();
  for (const JournalEntry& entry : images.journal) {
    journal.push(Json::array(
        {kActions.at(static_cast<size_t>(entry.action)), entry.image, entry.monotonic_ns, entry.address}));
  }
  Json root;
  root.append("version", kVersion);
  root.append("function_columns", std::move(columns));
  root.append("images", std::move(list));
  root.append("journal", std::move(journal));
  return root.dump(1) + "\n";
}

base::Result<Images> parse_images(std::string_view text, const std::string& file, const Limits& limits) {
  auto json = base::parse_json(text, file, {.bytes = limits.decoded_bytes, .depth = limits.json_depth});
  if (!json) return json.error();
  JsonReader root(*json, file);
  uint64_t version = root.u64("version");
  if (root.error()) return *root.error();
  if (auto known = check_version(version, file); !known) return known.error();
  Images images;
  expect_columns(root);
  root.array(
      "images", [&](JsonReader& image) { images.images.push_back(read_image(image, limits)); }, true,
      limits.images);
  root.array(
      "journal", [&](JsonReader& row) { images.journal.push_back(read_entry(row, limits)); }, true,
      limits.journal_records);
  if (root.error()) return *root.error();
  if (auto checked = check(images); !checked) {
    base::Error error = checked.error();
    error.place.file = file;
    return error;
  }
  return images;
}

base::Digest code_sha256(const Images& images) {
  base::Sha256 hash;
  hash.update_field("wago code 1");
  for (const Image& image : images.images) {
    hash.update_field(spelling(image.kind));
    if (image.kind == ImageKind::Adapter) {
      hash.update_field(image.name);
      hash.update(image.sha256);
      continue;
    }
    hash.update_u64(image.functions.size());
    for (const Function& function : image.functions) {
      hash.update_u64(function.index);
      hash.update(function.sha256);
    }
  }
  return hash.finish();
}

}  // namespace wago::capture
