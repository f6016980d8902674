#include <algorithm>

#include "base/json.h"
#include "diff/call_tree.h"
#include "diff/export.h"
#include "diff/hot_spots.h"

namespace wago::diff {

namespace {

using base::Json;
using capture::kNone;

constexpr uint64_t kMaxEntries = 100'000'000;

// The first line that is known of a function.
SourcePlace place_of(const Evidence& evidence, const Locations& locations, const Label& label) {
  if (label.image == kNone) return {};
  const auto& ranges = evidence.images.images[label.image].metadata.source_ranges;
  auto at =
      std::lower_bound(ranges.begin(), ranges.end(), label.function,
                       [](const capture::SourceRange& range, uint32_t f) { return range.function < f; });
  for (; at != ranges.end() && at->function == label.function; ++at) {
    if (at->frame == kNone) continue;
    const auto chain = locations.source(label.image, {label.function, at->wasm_pc});
    return chain.empty() ? SourcePlace{} : chain.back();
  }
  return {};
}

Json frames_of(const Evidence& evidence, const CallTree& tree) {
  const Locations locations(evidence);
  Json frames = Json::array();
  for (const Label& label : tree.labels) {
    Json frame = Json::object({{"name", label.name}});
    const SourcePlace place = place_of(evidence, locations, label);
    if (!place.file.empty()) {
      frame.set("file", place.file);
      if (place.line > 0) frame.set("line", place.line);
    } else if (label.image == kNone && !label.detail.empty()) {
      frame.set("file", label.detail);
    }
    frames.push(std::move(frame));
  }
  return frames;
}

void append_stack(const CallTree& tree, uint32_t node, std::string& text) {
  std::vector<uint32_t> labels;
  for (; tree.nodes[node].label != kNone; node = tree.nodes[node].parent)
    labels.push_back(tree.nodes[node].label);
  text += "[";
  for (size_t i = labels.size(); i-- > 0;) text += std::to_string(labels[i]) + (i == 0 ? "" : ",");
  text += "]";
}

std::string unit_of(const std::string& unit) {
  return unit == "nanoseconds" ? unit : "none";
}

// Written by hand: a tree of JSON values would take many times the text.
std::string thread_profile(const Evidence& evidence, const CallTree& tree, const std::vector<uint32_t>& nodes,
                           uint32_t thread) {
  const capture::Samples& samples = *evidence.samples;
  std::string stacks, weights;
  uint64_t sum = 0;
  for (const capture::Sample& sample : samples.samples) {
    if (sample.thread != thread) continue;
    if (!weights.empty()) {
      stacks += ",";
      weights += ",";
    }
    append_stack(tree, nodes[sample.stack], stacks);
    weights += std::to_string(sample.weight);
    sum += sample.weight;
  }
  if (weights.empty()) return {};
  const std::string name =
      samples.threads[thread].name + " (" + std::to_string(samples.threads[thread].id) + ")";
  return "{\"type\":\"sampled\",\"name\":" + Json(name).dump() + ",\"unit\":\"" + unit_of(samples.unit) +
         "\",\"startValue\":0,\"endValue\":" + std::to_string(sum) + ",\"samples\":[" + stacks +
         "],\"weights\":[" + weights + "]}";
}

}  // namespace

base::Result<std::string> to_speedscope(const Evidence& evidence) {
  if (auto sampled = expect_samples(evidence); !sampled) return sampled.error();
  const capture::Samples& samples = *evidence.samples;
  std::vector<uint32_t> nodes;
  const CallTree tree = call_tree(evidence, &nodes);
  uint64_t entries = 0;
  for (const capture::Sample& sample : samples.samples) entries += tree.nodes[nodes[sample.stack]].depth;
  if (entries > kMaxEntries) {
    return base::usage_error(
        "its stacks have more than " + std::to_string(kMaxEntries) +
            " frames in all, which no browser shows: export --format folded, or record less",
        {.file = evidence.path});
  }
  std::string text =
      "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"WagoProfile " +
      Json(evidence.manifest.program_version).dump().substr(1);
  text += ",\"name\":" + Json(evidence.manifest.workload).dump() +
          ",\"activeProfileIndex\":0,\"shared\":{\"frames\":" + frames_of(evidence, tree).dump() +
          "},\"profiles\":[";
  bool first = true;
  for (uint32_t thread = 0; thread < samples.threads.size(); ++thread) {
    std::string profile = thread_profile(evidence, tree, nodes, thread);
    if (profile.empty()) continue;
    text += (first ? "\n" : ",\n") + profile;
    first = false;
  }
  return text + "\n]}\n";
}

}  // namespace wago::diff
