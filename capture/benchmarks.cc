#include "capture/benchmarks.h"

#include <array>
#include <charconv>
#include <cstdio>
#include <map>
#include <optional>
#include <span>

#include "base/check.h"
#include "base/json.h"
#include "base/plural.h"
#include "base/text.h"

namespace wago::capture {

namespace {

using base::Error;
using base::Json;
using base::JsonReader;
using base::Result;

// Longer than any measurement, and far from where doubles end.
constexpr double kMaxNs = 1e18;
constexpr double kSecondNs = 1e9;
constexpr const char* kOnlyAggregates = "only aggregates of it were kept";

// Whether a measured time makes sense.
bool is_time(double ns) {
  return ns >= 0 && ns <= kMaxNs;  // neither holds for what is no number
}

// How a run came to have no time.
enum class Unmeasured : uint8_t { Failed, Skipped };
constexpr std::array<std::string_view, 2> kUnmeasured = {"failed", "skipped"};

// Collects runs by name, within the limits.
class Collector {
 public:
  Collector(BenchmarkTool tool, const BenchmarkLimits& limits) : limits_(limits) { found_.tool = tool; }

  // The benchmark of this name; an error where that is too long, or one too many.
  Result<BenchmarkRuns*> of(const std::string& name) {
    auto known = numbers_.find(name);
    if (known != numbers_.end()) return &found_.benchmarks[known->second];
    if (name.size() > limits_.name_bytes) {
      return base::usage_error("a name is longer than " + std::to_string(limits_.name_bytes) + " bytes");
    }
    if (found_.benchmarks.size() >= limits_.benchmarks) {
      return base::usage_error("has more than " + std::to_string(limits_.benchmarks) + " benchmarks");
    }
    numbers_.emplace(name, found_.benchmarks.size());
    found_.benchmarks.push_back({.name = name, .wall_ns = {}, .cpu_ns = {}, .failure = {}});
    left_out_.emplace_back();
    return &found_.benchmarks.back();
  }

  std::optional<Error> add(const std::string& name, double wall_ns, std::optional<double> cpu_ns) {
    auto runs = of(name);
    if (!runs) return runs.error();
    if (++runs_ > limits_.runs) {
      return base::usage_error("has more than " + std::to_string(limits_.runs) + " runs");
    }
    (*runs)->wall_ns.push_back(wall_ns);
    if (cpu_ns) (*runs)->cpu_ns.push_back(*cpu_ns);
    return std::nullopt;
  }

  // A run that is no measurement.
  std::optional<Error> leave_out(const std::string& name, Unmeasured how, const std::string& why) {
    auto runs = of(name);
    if (!runs) return runs.error();
    Group& group =
        left_out_[static_cast<size_t>(*runs - found_.benchmarks.data())].at(static_cast<size_t>(how));
    if (++group.runs == 1) group.why = why;
    return std::nullopt;
  }

  uint64_t runs() const { return runs_; }

  Benchmarks take() {
    for (size_t i = 0; i < found_.benchmarks.size(); ++i) {
      BenchmarkRuns& runs = found_.benchmarks[i];
      runs.failure = sentence_of(left_out_[i], runs.wall_ns.size());
      if (runs.cpu_ns.size() != runs.wall_ns.size()) runs.cpu_ns.clear();
      if (runs.wall_ns.empty() && runs.failure.empty()) runs.failure = kOnlyAggregates;
    }
    return std::move(found_);
  }

 private:
  struct Group {
    uint64_t runs = 0;
    std::string why;  // of the first
  };
  using LeftOut = std::array<Group, kUnmeasured.size()>;

  // "2 of 5 runs failed (no file), 1 skipped (no AVX)"; empty: all were measured.
  static std::string sentence_of(const LeftOut& left_out, uint64_t measured) {
    uint64_t all = measured;
    for (const Group& group : left_out) all += group.runs;
    std::string text;
    for (size_t how = 0; how < left_out.size(); ++how) {
      const Group& group = left_out[how];
      if (group.runs == 0) continue;
      text += (text.empty() ? "" : ", ") + std::to_string(group.runs) +
              (text.empty() ? " of " + base::plural(all, "run") : "") + " " + std::string(kUnmeasured[how]) +
              (group.why.empty() ? "" : " (" + group.why + ")");
    }
    return text;
  }

  const BenchmarkLimits& limits_;
  Benchmarks found_;
  std::vector<LeftOut> left_out_;  // by benchmark
  std::map<std::string, size_t, std::less<>> numbers_;
  uint64_t runs_ = 0;
};

std::string number_text(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

// A member that is a time of a unit; 0 and an error where it is none.
double time_of(JsonReader& reader, std::string_view key, double unit_ns) {
  const double value = reader.number(key);
  const double ns = value * unit_ns;
  if (reader.failed() || is_time(ns)) return ns;
  reader.fail("is " + number_text(value) + ", which is no measured time", key);
  return 0;
}

void add_google(JsonReader& entry, Collector& collector) {
  static constexpr std::array<std::string_view, 4> kUnits = {"ns", "us", "ms", "s"};
  static constexpr std::array kUnitNs = {1.0, 1e3, 1e6, kSecondNs};
  static constexpr std::array<std::string_view, 2> kTypes = {"iteration", "aggregate"};
  const std::string own_name = entry.string("name");
  const std::string name = entry.optional_string("run_name").value_or(own_name);
  const bool aggregate = entry.optional_word("run_type", kTypes).value_or(0) == 1;
  const bool failed = entry.optional_boolean("error_occurred").value_or(false);
  const bool skipped = entry.optional_boolean("skipped").value_or(false);
  if (entry.failed()) return;
  if (failed || skipped) {
    const std::string why =
        entry.optional_string(failed ? "error_message" : "skip_message").value_or(std::string());
    if (auto error = collector.leave_out(name, failed ? Unmeasured::Failed : Unmeasured::Skipped, why))
      entry.fail(*error);
    return;
  }
  // What is fitted over several benchmarks (complexity) is named after none of them.
  const bool fitted = !entry.raw("real_time") && (aggregate || entry.raw("big_o") || entry.raw("rms"));
  if (fitted) return;
  if (aggregate) {
    if (auto runs = collector.of(name); !runs) entry.fail(runs.error());
    return;
  }
  const double unit_ns = kUnitNs[entry.optional_word("time_unit", kUnits).value_or(0)];
  const double wall_ns = time_of(entry, "real_time", unit_ns);
  const double cpu_ns = time_of(entry, "cpu_time", unit_ns);
  if (entry.failed()) return;
  if (auto error = collector.add(name, wall_ns, cpu_ns)) entry.fail(*error);
}

// "sort (size=10, threads=2)": a command may be given a name, and then its parameters alone tell results
// apart.
std::string hyperfine_name(JsonReader& entry) {
  const std::string command = entry.string("command");
  const Json* parameters = entry.raw("parameters");
  if (!parameters) return command;
  if (!parameters->is_object()) entry.fail("must be an object", "parameters");
  std::map<std::string, std::string> sorted;
  if (parameters->is_object()) {
    for (const auto& [parameter, value] : parameters->members())
      sorted[parameter] = value.is_string() ? value.as_string() : value.dump();
  }
  std::string text;
  for (const auto& [parameter, value] : sorted) text += (text.empty() ? "" : ", ") + parameter + "=" + value;
  return text.empty() ? command : command + " (" + text + ")";
}

// One for each run: a number, or null for a run that died of a signal. Files of old versions have none.
std::span<const Json> hyperfine_exit_codes(JsonReader& entry, size_t runs) {
  const Json* codes = entry.raw("exit_codes");
  if (!codes) return {};
  if (!codes->is_array() || codes->items().size() != runs) {
    entry.fail("must be an array of " + std::to_string(runs) + ", as `times` is", "exit_codes");
    return {};
  }
  for (const Json& code : codes->items()) {
    if (!code.is_integer() && !code.is_null())
      entry.fail("must hold whole numbers and null only", "exit_codes");
  }
  return codes->items();
}

// Runs that failed took the time of something else: they are left out, and it is said.
void add_hyperfine(JsonReader& entry, Collector& collector) {
  const std::string name = hyperfine_name(entry);
  const Json* times = entry.raw("times");
  if (entry.failed()) return;
  if (!times || !times->is_array() || times->items().empty()) {
    return entry.fail("the times of single runs are missing: export them with hyperfine --export-json",
                      "times");
  }
  const size_t runs = times->items().size();
  const std::span<const Json> codes = hyperfine_exit_codes(entry, runs);
  if (entry.failed()) return;
  for (size_t i = 0; i < runs; ++i) {
    const std::string place = "times[" + std::to_string(i) + "]";
    if (!codes.empty() && codes[i] != Json(0)) {
      const std::string how = codes[i].is_null() ? "died of a signal" : "exit code " + codes[i].dump();
      if (auto error = collector.leave_out(name, Unmeasured::Failed, how)) return entry.fail(*error, place);
      continue;
    }
    const Json& time = times->items()[i];
    const double ns = time.is_number() ? time.as_double() * kSecondNs : -1;
    if (!is_time(ns)) return entry.fail("is no measured time in seconds", place);
    if (auto error = collector.add(name, ns, std::nullopt)) return entry.fail(*error, place);
  }
}

Result<Benchmarks> parse_json_results(std::string_view text, const std::string& file,
                                      const BenchmarkLimits& limits) {
  auto json = base::parse_json(text, file, {.bytes = limits.bytes});
  if (!json) return json.error();
  JsonReader reader(*json, file);
  const bool google = json->find("benchmarks") != nullptr;
  if (!google && !json->find("results")) {
    return base::usage_error(
        "is JSON, but neither of Google Benchmark (\"benchmarks\") nor of hyperfine (\"results\")",
        {.file = file});
  }
  Collector collector(google ? BenchmarkTool::GoogleBenchmark : BenchmarkTool::Hyperfine, limits);
  reader.array(google ? "benchmarks" : "results",
               [&](JsonReader& entry) { (google ? add_google : add_hyperfine)(entry, collector); });
  if (reader.failed()) return *reader.error();
  Benchmarks found = collector.take();
  if (found.benchmarks.empty()) return base::usage_error("holds no result", {.file = file});
  if (collector.runs() == 0) {
    return base::usage_error(
        "holds no run of " + base::display(found.benchmarks[0].name) + ": " +
            base::printable(found.benchmarks[0].failure) +
            (found.benchmarks[0].failure == kOnlyAggregates ? "; leave out --benchmark_report_aggregates_only"
                                                            : ""),
        {.file = file});
  }
  return found;
}

// Of Go's text, where words end at spaces of any kind.
std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view kSpaces = " \t\r\v\f";
  std::vector<std::string_view> words;
  for (size_t begin = line.find_first_not_of(kSpaces); begin < line.size();) {
    const size_t end = std::min(line.find_first_of(kSpaces, begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(kSpaces, end);
  }
  return words;
}

template <class Number>
std::optional<Number> whole(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// A line that begins like a result and has a number of iterations is one; all others are what a test printed.
bool is_go_result(std::span<const std::string_view> words) {
  constexpr std::string_view kBegin = "Benchmark";
  if (words.size() < 2 || !words[0].starts_with(kBegin)) return false;
  const std::string_view rest = words[0].substr(kBegin.size());
  if (!rest.empty() && rest[0] >= 'a' && rest[0] <= 'z') return false;
  return whole<uint64_t>(words[1]).has_value();
}

// The times among a result's pairs of value and unit.
struct GoTimes {
  std::optional<double> wall_ns, cpu_ns;
};

Result<GoTimes> go_times(std::span<const std::string_view> words) {
  struct Unit {
    std::string_view spelling;
    double ns;
    bool cpu;
  };
  static constexpr std::array kUnits = {Unit{"ns/op", 1, false}, Unit{"sec/op", kSecondNs, false},
                                        Unit{"cpu-ns/op", 1, true}, Unit{"cpu-sec/op", kSecondNs, true}};
  if (words.size() < 4 || words.size() % 2 != 0) {
    return base::usage_error("a result is a name, iterations, and pairs of a value and its unit");
  }
  GoTimes times;
  for (size_t i = 2; i < words.size(); i += 2) {
    const auto value = whole<double>(words[i]);
    if (!value) return base::usage_error(base::display(words[i]) + " is not a number");
    for (const Unit& unit : kUnits) {
      if (words[i + 1] != unit.spelling) continue;
      const double ns = *value * unit.ns;
      if (!is_time(ns)) return base::usage_error(base::display(words[i]) + " is no measured time");
      (unit.cpu ? times.cpu_ns : times.wall_ns) = ns;
    }
  }
  return times;
}

Result<Benchmarks> parse_go_results(std::string_view text, const std::string& file,
                                    const BenchmarkLimits& limits) {
  Collector collector(BenchmarkTool::Go, limits);
  std::string package;
  bool any = false;
  uint64_t number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    ++number;
    const std::vector<std::string_view> words = words_of(line);
    if (line.starts_with("pkg:")) package = words.size() > 1 ? std::string(words[1]) + "." : "";
    if (!is_go_result(words)) continue;
    any = true;
    auto times = go_times(words);
    std::optional<Error> error;
    if (!times) {
      error = times.error();
    } else if (times->wall_ns) {
      error = collector.add(package + std::string(words[0]), *times->wall_ns, times->cpu_ns);
    }
    if (error) {
      error->place = {.file = file, .section = "line " + std::to_string(number)};
      return *error;
    }
  }
  if (!any) {
    return base::usage_error(
        "is no result of a benchmark that is known here: Google Benchmark's and hyperfine's JSON and Go's "
        "benchmark text are",
        {.file = file});
  }
  if (collector.runs() == 0) {
    return base::usage_error("has no times: of Go's units ns/op and sec/op are read", {.file = file});
  }
  return collector.take();
}

}  // namespace

std::string_view name_of(BenchmarkTool tool) {
  switch (tool) {
    case BenchmarkTool::GoogleBenchmark:
      return "Google Benchmark";
    case BenchmarkTool::Go:
      return "Go";
    case BenchmarkTool::Hyperfine:
      return "hyperfine";
  }
  WAGO_UNREACHABLE("benchmark tool");
}

Result<Benchmarks> parse_benchmarks(std::string_view text, const std::string& file,
                                    const BenchmarkLimits& limits) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return base::usage_error("is empty", {.file = file});
  return text[first] == '{' ? parse_json_results(text, file, limits) : parse_go_results(text, file, limits);
}

Result<Benchmarks> read_benchmarks(const std::string& path, base::Files& files,
                                   const BenchmarkLimits& limits) {
  auto raw = files.read(path, limits.bytes);
  if (!raw) return raw.error();
  auto bytes = base::inflate_if_gzip(std::move(*raw), limits.bytes, path);
  if (!bytes) return bytes.error();
  return parse_benchmarks(base::as_text(*bytes), path, limits);
}

}  // namespace wago::capture
