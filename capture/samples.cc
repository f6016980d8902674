#include "capture/samples.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "base/json.h"
#include "capture/rows.h"

namespace wago::capture {

namespace {

using base::Json;
using base::JsonReader;

constexpr std::array<std::string_view, 2> kUnits = {"nanoseconds", "cycles"};
constexpr std::array<std::string_view, 5> kSides = {"guest", "helper", "host", "kernel", "unknown"};
constexpr std::array<std::string_view, 2> kThreadColumns = {"id", "name"};
constexpr std::array<std::string_view, 2> kSymbolColumns = {"name", "binary"};
constexpr std::array<std::string_view, 4> kFrameColumns = {"side", "image", "offset", "symbol"};
constexpr std::array<std::string_view, 2> kStackColumns = {"frame", "caller"};
constexpr std::array<std::string_view, 4> kSampleColumns = {"monotonic_ns", "weight", "thread", "stack"};

// Strings of a table's rows, each once.
class Texts {
 public:
  uint32_t number(const std::string& text) {
    auto [at, added] = numbers_.emplace(text, static_cast<uint32_t>(texts_.size()));
    if (added) texts_.push_back(text);
    return at->second;
  }
  const std::vector<std::string>& all() const { return texts_; }

 private:
  std::map<std::string, uint32_t> numbers_;
  std::vector<std::string> texts_;
};

std::string problem_of(const Samples& samples, const Images& images) {
  for (size_t i = 0; i < samples.frames.size(); ++i) {
    const Frame& frame = samples.frames[i];
    const bool of_code = frame.image != kNone;
    if (of_code && (frame.image >= images.images.size() || frame.offset >= images.images[frame.image].size)) {
      return "frame " + std::to_string(i) + " lies in no image";
    }
    if (of_code == (frame.symbol != kNone) || (!of_code && frame.symbol >= samples.symbols.size())) {
      return "frame " + std::to_string(i) +
             " must have an image or a symbol, one of them and one that is there";
    }
    if (frame.side == Side::Guest && !of_code) {
      return "frame " + std::to_string(i) + " is the guest's and in no image";
    }
  }
  for (size_t i = 0; i < samples.stacks.size(); ++i) {
    const Stack& stack = samples.stacks[i];
    if (stack.frame >= samples.frames.size() || (stack.caller != kNone && stack.caller >= i)) {
      return "stack " + std::to_string(i) + " names a frame that is not there or a caller after it";
    }
  }
  if (samples.truncated_stacks > samples.samples.size()) {
    return "has more stacks without their roots than samples";
  }
  uint64_t now = 0;
  uint64_t sum = 0;
  for (size_t i = 0; i < samples.samples.size(); ++i) {
    const Sample& sample = samples.samples[i];
    if (sample.stack >= samples.stacks.size() || sample.thread >= samples.threads.size()) {
      return "sample " + std::to_string(i) + " names a stack or a thread that is not there";
    }
    if (sample.monotonic_ns < now) return "the times of samples fall";
    now = sample.monotonic_ns;
    if (__builtin_add_overflow(sum, sample.weight, &sum)) return "the weights exceed 64 bits";
  }
  return {};
}

}  // namespace

std::string_view spelling(Side side) {
  return kSides.at(static_cast<size_t>(side));
}

struct StackTable::Maps {
  std::map<std::pair<std::string, std::string>, uint32_t, std::less<>> symbols;
  std::map<std::tuple<Side, uint32_t, uint32_t, uint32_t>, uint32_t> frames;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> stacks;  // by frame and caller
};

StackTable::StackTable(Samples& samples) : samples_(samples), maps_(std::make_unique<Maps>()) {}
StackTable::~StackTable() = default;

uint32_t StackTable::symbol(std::string_view name, std::string_view binary) {
  const auto next = static_cast<uint32_t>(samples_.symbols.size());
  const Symbol symbol = {within_limit(name), within_limit(binary)};
  auto [at, added] = maps_->symbols.emplace(std::pair(symbol.name, symbol.binary), next);
  if (added) samples_.symbols.push_back(symbol);
  return at->second;
}

uint32_t StackTable::stack(std::span<const Frame> root_first) {
  uint32_t caller = kNone;
  for (const Frame& frame : root_first) {
    auto [known, is_new] =
        maps_->frames.emplace(std::tuple(frame.side, frame.image, frame.offset, frame.symbol),
                              static_cast<uint32_t>(samples_.frames.size()));
    if (is_new) samples_.frames.push_back(frame);
    auto [at, added] = maps_->stacks.emplace(std::pair(known->second, caller),
                                             static_cast<uint32_t>(samples_.stacks.size()));
    if (added) samples_.stacks.push_back({known->second, caller});
    caller = at->second;
  }
  return caller;
}

uint64_t total_weight(const Samples& samples) {
  uint64_t sum = 0;
  for (const Sample& sample : samples.samples) sum += sample.weight;
  return sum;
}

std::vector<Frame> frames_of(const Samples& samples, uint32_t stack) {
  std::vector<Frame> frames;
  for (; stack != kNone; stack = samples.stacks[stack].caller) {
    frames.push_back(samples.frames[samples.stacks[stack].frame]);
  }
  return frames;
}

std::string to_json_text(const Samples& samples) {
  Texts texts;
  Json json;
  json.append("version", kVersion);
  json.append("unit", samples.unit);
  json.append("period_ns", samples.period_ns);
  json.append("truncated_stacks", samples.truncated_stacks);
  json.append("sides", words_table(kSides));
  json.append("threads", ColumnsOf<SampledThread>(samples.threads)
                             .add("id", [](const auto& it) { return it.id; })
                             .add("name", [&](const auto& it) { return texts.number(it.name); })
                             .json());
  json.append("symbols", ColumnsOf<Symbol>(samples.symbols)
                             .add("name", [&](const auto& it) { return texts.number(it.name); })
                             .add("binary", [&](const auto& it) { return texts.number(it.binary); })
                             .json());
  json.append("frames", ColumnsOf<Frame>(samples.frames)
                            .add("side", [](const auto& it) { return static_cast<uint32_t>(it.side); })
                            .add("image", [](const auto& it) { return it.image; })
                            .add("offset", [](const auto& it) { return it.offset; })
                            .add("symbol", [](const auto& it) { return it.symbol; })
                            .json());
  json.append("stacks", ColumnsOf<Stack>(samples.stacks)
                            .add("frame", [](const auto& it) { return it.frame; })
                            .add("caller", [](const auto& it) { return it.caller; })
                            .json());
  json.append("samples", ColumnsOf<Sample>(samples.samples)
                             .add("monotonic_ns", [](const auto& it) { return it.monotonic_ns; })
                             .add("weight", [](const auto& it) { return it.weight; })
                             .add("thread", [](const auto& it) { return it.thread; })
                             .add("stack", [](const auto& it) { return it.stack; })
                             .json());
  json.append("texts", text_table(texts.all()));
  return json.dump() + "\n";
}

base::Result<Samples> parse_samples(std::string_view text, const std::string& file, const Images& images,
                                    const Limits& limits) {
  auto json = base::parse_json(text, file,
                               {.bytes = limits.decoded_bytes,
                                .depth = limits.json_depth,
                                .values = 4 * (limits.samples + limits.stack_nodes)});
  if (!json) return json.error();
  JsonReader root(*json, file);
  const uint64_t version = root.u64("version");
  if (root.error()) return *root.error();
  if (auto known = check_version(version, file); !known) return known.error();
  Samples samples;
  samples.unit = kUnits.at(root.word("unit", kUnits));
  samples.period_ns = root.u64("period_ns");
  samples.truncated_stacks = root.u64("truncated_stacks");
  expect_words(root, "sides", kSides);
  const std::vector<std::string> texts =
      read_text_table(root, "texts", limits, limits.symbols + limits.threads, "symbols");
  const auto last_text = static_cast<uint32_t>(texts.size()) - 1;
  auto text_at = [&](Columns& columns, size_t row, size_t column) -> std::string {
    const uint32_t number = columns.u32(row, column, last_text);
    return number < texts.size() ? texts[number] : std::string();
  };

  Columns threads(root, "threads", kThreadColumns, limits.threads, "threads");
  for (size_t i = 0; i < threads.rows(); ++i) {
    samples.threads.push_back({threads.u64(i, 0), text_at(threads, i, 1)});
  }
  Columns symbols(root, "symbols", kSymbolColumns, limits.symbols, "symbols");
  for (size_t i = 0; i < symbols.rows(); ++i) {
    samples.symbols.push_back({text_at(symbols, i, 0), text_at(symbols, i, 1)});
  }
  Columns frames(root, "frames", kFrameColumns, limits.stack_nodes, "stack_nodes");
  for (size_t i = 0; i < frames.rows(); ++i) {
    samples.frames.push_back({static_cast<Side>(frames.u32(i, 0, kSides.size() - 1)),
                              frames.u32_or_absent(i, 1), frames.u32(i, 2), frames.u32_or_absent(i, 3)});
  }
  Columns stacks(root, "stacks", kStackColumns, limits.stack_nodes, "stack_nodes");
  for (size_t i = 0; i < stacks.rows(); ++i) {
    samples.stacks.push_back({stacks.u32(i, 0), stacks.u32_or_absent(i, 1)});
  }
  Columns rows(root, "samples", kSampleColumns, limits.samples, "samples");
  samples.samples.reserve(rows.rows());
  for (size_t i = 0; i < rows.rows(); ++i) {
    samples.samples.push_back({rows.u64(i, 0), rows.u64(i, 1), rows.u32(i, 2), rows.u32(i, 3)});
  }
  if (root.error()) return *root.error();
  if (std::string problem = problem_of(samples, images); !problem.empty()) {
    return base::usage_error(problem, {.file = file});
  }
  return samples;
}

}  // namespace wago::capture
