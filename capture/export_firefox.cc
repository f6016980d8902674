#include "capture/export_firefox.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "base/json.h"

namespace wago::capture {

namespace {

using base::Json;

constexpr uint64_t kProcessedVersion = 47;
constexpr uint64_t kGeckoVersion = 28;  // which the processed one grew from
constexpr uint64_t kLibrary = 1;        // kind of a resource
constexpr double kNsPerMs = 1e6;

struct Category {
  const char* name;
  const char* color;  // of those that the profiler knows
};
// In the order of Side. The last is grey, as the loader wants one to be.
constexpr std::array<Category, 5> kCategories = {
    {{"Guest", "blue"}, {"Runtime", "orange"}, {"Host", "green"}, {"Kernel", "brown"}, {"Other", "grey"}}};

// A table as an object of columns and a length.
class Table {
 public:
  explicit Table(std::initializer_list<const char*> columns) : names_(columns), columns_(columns.size()) {}
  uint64_t add(std::initializer_list<Json> row) {
    auto column = columns_.begin();
    for (const Json& value : row) (column++)->push_back(value);
    return rows_++;
  }
  Json json() {
    Json table;
    for (size_t i = 0; i < names_.size(); ++i) table.append(names_[i], Json::array(std::move(columns_[i])));
    table.append("length", rows_);
    return table;
  }

 private:
  std::vector<const char*> names_;
  std::vector<std::vector<Json>> columns_;
  uint64_t rows_ = 0;
};

// What the document's threads share.
class Libraries {
 public:
  uint64_t number(const std::string& name) {
    auto [at, added] = numbers_.try_emplace(name, libs_.size());
    if (!added) return at->second;
    libs_.push_back(Json::object({{"arch", "x86_64"},
                                  {"name", name},
                                  {"path", name},
                                  {"debugName", name},
                                  {"debugPath", name},
                                  {"breakpadId", std::string(33, '0')},
                                  {"codeId", nullptr}}));
    return at->second;
  }
  Json json() { return Json::array(std::move(libs_)); }

 private:
  std::map<std::string, uint64_t> numbers_;
  std::vector<Json> libs_;
};

class ThreadWriter {
 public:
  ThreadWriter(const Samples& samples, ExportLines& lines, Libraries& libraries)
      : samples_(samples), lines_(lines), libraries_(libraries) {}

  void add(const Sample& sample, double time_ms) {
    const uint64_t stack = stack_of(sample.stack, false);
    samples_table_.add({stack, time_ms, static_cast<double>(sample.weight) / kNsPerMs,
                        static_cast<double>(sample.weight) / 1e3});
  }

  Json json(const SampledThread& thread, bool is_main, uint64_t process, double end_ms) {
    Json samples = samples_table_.json();
    samples.append("weightType", samples_.unit == "nanoseconds" ? "tracing-ms" : "samples");
    Json result;
    result.append("processType", "default");
    result.append("processStartupTime", 0);
    result.append("processShutdownTime", end_ms);
    result.append("registerTime", 0);
    result.append("unregisterTime", nullptr);
    result.append("pausedRanges", Json::array());
    result.append("name", thread.name);
    result.append("isMainThread", is_main);
    result.append("pid", std::to_string(process));
    result.append("tid", thread.id);
    result.append("samples", std::move(samples));
    result.append("markers", Table({"data", "name", "startTime", "endTime", "phase", "category"}).json());
    result.append("stackTable", stacks_.json());
    result.append("frameTable", frames_.json());
    result.append("funcTable", functions_.json());
    result.append("resourceTable", resources_.json());
    result.append("nativeSymbols", Table({"libIndex", "address", "name", "functionSize"}).json());
    result.append("stringArray", Json::array(std::move(strings_)));
    return result;
  }

 private:
  uint64_t string(const std::string& text) {
    auto [at, added] = string_numbers_.try_emplace(text, strings_.size());
    if (added) strings_.push_back(text);
    return at->second;
  }

  // Of a stack of ours, from the root on; one of theirs has a frame for every line.
  uint64_t stack_of(uint32_t stack, bool caller) {
    std::vector<std::pair<uint32_t, bool>> missing;
    Json prefix;
    for (uint32_t at = stack; at != kNone; at = samples_.stacks[at].caller) {
      auto known = stack_numbers_.find({at, caller});
      if (known != stack_numbers_.end()) {
        prefix = Json(known->second);
        break;
      }
      missing.emplace_back(at, caller);
      caller = true;
    }
    for (auto at = missing.rbegin(); at != missing.rend(); ++at) {
      const ExportFrame& frame = lines_.of(samples_.stacks[at->first].frame, at->second);
      for (size_t i = frame.lines.size(); i > 0; --i) {
        const uint64_t depth = frame.lines.size() - i;
        const auto category = static_cast<uint64_t>(frame.side);
        prefix = Json(stacks_.add({frame_of(frame, frame.lines[i - 1], depth), prefix, category, 0}));
      }
      stack_numbers_.emplace(*at, *prefix.to_u64());
    }
    return *prefix.to_u64();
  }

  uint64_t frame_of(const ExportFrame& frame, const ExportLine& line, uint64_t depth) {
    const uint64_t function = function_of(frame, line);
    const Json address = frame.is_wasm ? Json(frame.address) : Json(-1);
    auto [at, added] =
        frame_numbers_.try_emplace({function, address.to_i64().value_or(-1), depth, line.line}, 0);
    if (!added) return at->second;
    const Json shown_line = line.line > 0 ? Json(line.line) : Json();
    at->second = frames_.add({address, depth, static_cast<uint64_t>(frame.side), 0, function, nullptr,
                              nullptr, nullptr, shown_line, nullptr});
    return at->second;
  }

  uint64_t function_of(const ExportFrame& frame, const ExportLine& line) {
    const int64_t resource = frame.binary.empty() ? -1 : static_cast<int64_t>(resource_of(frame.binary));
    auto [at, added] = function_numbers_.try_emplace({line.name, line.file, resource}, 0);
    if (!added) return at->second;
    const Json file = line.file.empty() ? Json() : Json(string(line.file));
    at->second = functions_.add({string(line.name), false, false, resource, file, nullptr, nullptr});
    return at->second;
  }

  uint64_t resource_of(const std::string& binary) {
    auto [at, added] = resource_numbers_.try_emplace(binary, 0);
    if (added) at->second = resources_.add({libraries_.number(binary), string(binary), nullptr, kLibrary});
    return at->second;
  }

  const Samples& samples_;
  ExportLines& lines_;
  Libraries& libraries_;
  Table samples_table_{"stack", "time", "weight", "threadCPUDelta"};
  Table stacks_{"frame", "prefix", "category", "subcategory"};
  Table frames_{"address",      "inlineDepth",   "category",       "subcategory", "func",
                "nativeSymbol", "innerWindowID", "implementation", "line",        "column"};
  Table functions_{"name", "isJS", "relevantForJS", "resource", "fileName", "lineNumber", "columnNumber"};
  Table resources_{"lib", "name", "host", "type"};
  std::vector<Json> strings_;
  std::map<std::string, uint64_t> string_numbers_;
  std::map<std::pair<uint32_t, bool>, uint64_t> stack_numbers_;
  std::map<std::tuple<uint64_t, int64_t, uint64_t, uint32_t>, uint64_t> frame_numbers_;
  std::map<std::tuple<std::string, std::string, int64_t>, uint64_t> function_numbers_;
  std::map<std::string, uint64_t> resource_numbers_;
};

Json meta(const ExportContext& context, const Samples& samples, double end_ms) {
  Json categories = Json::array();
  for (const Category& category : kCategories) {
    categories.push(Json::object({{"name", category.name},
                                  {"color", category.color},
                                  {"subcategories", Json::array({Json("Other")})}}));
  }
  Json meta;
  meta.append("interval", static_cast<double>(samples.period_ns) / kNsPerMs);
  meta.append("startTime", static_cast<double>(context.start_unix_ns) / kNsPerMs);
  meta.append("endTime", static_cast<double>(context.start_unix_ns) / kNsPerMs + end_ms);
  meta.append("processType", 0);
  meta.append("product", context.workload + " (" + context.program + ")");
  meta.append("stackwalk", 1);
  meta.append("version", kGeckoVersion);
  meta.append("preprocessedProfileVersion", kProcessedVersion);
  meta.append("symbolicated", true);
  meta.append("categories", std::move(categories));
  meta.append("markerSchema", Json::array());
  meta.append("sampleUnits", Json::object({{"time", "ms"}, {"eventDelay", "ms"}, {"threadCPUDelta", "µs"}}));
  meta.append("platform", "Linux");
  meta.append("oscpu", "Linux x86_64");
  meta.append("logicalCPUs", context.logical_cpus);
  return meta;
}

}  // namespace

std::string to_firefox(const ExportContext& context, const Images& images, const Samples& samples) {
  ExportLines lines(images, samples, context.source_maps);
  Libraries libraries;
  std::vector<ThreadWriter> threads;
  threads.reserve(samples.threads.size());
  for (size_t i = 0; i < samples.threads.size(); ++i) threads.emplace_back(samples, lines, libraries);
  uint64_t start_ns = context.start_monotonic_ns;
  if (start_ns == 0 && !samples.samples.empty()) start_ns = samples.samples.front().monotonic_ns;
  double end_ms = static_cast<double>(context.duration_ns) / kNsPerMs;
  for (const Sample& sample : samples.samples) {
    const double time_ms =
        static_cast<double>(sample.monotonic_ns - std::min(start_ns, sample.monotonic_ns)) / kNsPerMs;
    end_ms = std::max(end_ms, time_ms);
    threads[sample.thread].add(sample, time_ms);
  }
  const uint64_t process = samples.threads.empty() ? 0 : samples.threads[0].id;
  Json list = Json::array();
  for (size_t i = 0; i < threads.size(); ++i) {
    list.push(threads[i].json(samples.threads[i], i == 0, process, end_ms));
  }
  Json document;
  document.append("meta", meta(context, samples, end_ms));
  document.append("libs", libraries.json());
  document.append("pages", Json::array());
  document.append("counters", Json::array());
  document.append("threads", std::move(list));
  return document.dump() + "\n";
}

}  // namespace wago::capture
