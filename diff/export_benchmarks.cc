#include <cstdio>
#include <ctime>

#include "base/json.h"
#include "base/text.h"
#include "base/vocabulary.h"
#include "diff/export.h"

namespace wago::diff {

namespace {

using base::Json;
using capture::Manifest;

// Per iteration.
struct Times {
  double wall_ns = 0;
  double cpu_ns = 0;  // of the batches whose CPU time was kept; 0: of none
  double bytes_per_second = 0;
  double items_per_second = 0;
};

Times times_of(const Evidence& evidence) {
  const Manifest& manifest = evidence.manifest;
  const auto iterations = static_cast<double>(manifest.completed_iterations);
  Times times;
  times.wall_ns = static_cast<double>(manifest.execution_duration_ns) / iterations;
  uint64_t cpu_ns = 0, counted = 0;
  for (const capture::IterationBatch& batch : evidence.iterations) {
    if (batch.cpu_ns == 0) continue;
    cpu_ns += batch.cpu_ns;
    counted += batch.iterations;
  }
  if (counted > 0) times.cpu_ns = static_cast<double>(cpu_ns) / static_cast<double>(counted);
  times.bytes_per_second = static_cast<double>(manifest.bytes_per_iteration) * 1e9 / times.wall_ns;
  times.items_per_second = static_cast<double>(manifest.items_per_iteration) * 1e9 / times.wall_ns;
  return times;
}

// A word without what ends one in these formats.
std::string word(std::string_view text) {
  std::string result;
  for (const char c : base::printable(text)) result += static_cast<uint8_t>(c) <= ' ' ? '_' : c;
  return result.empty() ? "_" : result;
}

// What follows "Benchmark" must not be a lower-case letter.
std::string go_name(std::string_view workload) {
  std::string name = word(workload);
  if (name[0] >= 'a' && name[0] <= 'z') {
    name[0] = static_cast<char>(name[0] - 'a' + 'A');
  } else if (static_cast<uint8_t>(name[0]) >= 0x80) {
    name.insert(0, "_");
  }
  return "Benchmark" + name;
}

std::string number(double value) {
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%.10g", value);
  return buffer;
}

std::string variant(const Manifest& manifest) {
  return "/phase=" + std::string(base::spelling(manifest.capture_phase)) +
         "/mode=" + std::string(base::spelling(manifest.invocation_mode));
}

std::string date_of(const Manifest& manifest) {
  const capture::PhaseRecord* phase = manifest.measured_phase();
  return base::utc_text(phase ? phase->start_unix_ns : 0, "%Y-%m-%dT%H:%M:%S+00:00");
}

}  // namespace

std::string to_benchfmt(const Evidence& evidence) {
  const Manifest& manifest = evidence.manifest;
  const Times times = times_of(evidence);
  std::string text =
      "goos: linux\ngoarch: amd64\npkg: " + word(manifest.module_name) +
      "\ncpu: " + base::printable(manifest.cpu_model) + "\nwago-revision: " + word(manifest.revision) +
      "\nwago-backend: " + std::string(base::spelling(manifest.backend)) +
      "\nwago-bounds: " + std::string(base::spelling(manifest.effective_settings.engine.bounds)) +
      "\nwago-level: " + std::to_string(manifest.effective_settings.engine.level) +
      "\nwago-interruptible: " + (manifest.effective_settings.engine.interruptible ? "yes" : "no") + "\n";
  text += go_name(manifest.workload) + variant(manifest) + " " +
          std::to_string(manifest.completed_iterations) + " " + number(times.wall_ns) + " ns/op";
  if (times.cpu_ns > 0) text += " " + number(times.cpu_ns) + " cpu-ns/op";
  if (times.bytes_per_second > 0) text += " " + number(times.bytes_per_second / 1e6) + " MB/s";
  if (times.items_per_second > 0) text += " " + number(times.items_per_second) + " items/s";
  return text + "\n";
}

std::string to_google_benchmark(const Evidence& evidence) {
  const Manifest& manifest = evidence.manifest;
  const Times times = times_of(evidence);
  const std::string name = word(manifest.workload) + variant(manifest);
  Json benchmark = Json::object({{"name", name},
                                 {"family_index", 0},
                                 {"per_family_instance_index", 0},
                                 {"run_name", name},
                                 {"run_type", "iteration"},
                                 {"repetitions", 1},
                                 {"repetition_index", 0},
                                 {"threads", 1},
                                 {"iterations", manifest.completed_iterations},
                                 {"real_time", times.wall_ns},
                                 {"cpu_time", times.cpu_ns},
                                 {"time_unit", "ns"}});
  if (times.bytes_per_second > 0) benchmark.set("bytes_per_second", times.bytes_per_second);
  if (times.items_per_second > 0) benchmark.set("items_per_second", times.items_per_second);
  Json context = Json::object({{"date", date_of(manifest)},
                               {"host_name", ""},
                               {"executable", "wago-profile"},
                               {"num_cpus", manifest.logical_cpus},
                               {"mhz_per_cpu", 0},
                               {"cpu_scaling_enabled", false},
                               {"caches", Json::array()},
                               {"load_avg", Json::array()},
                               {"library_build_type", "release"},
                               {"cpu_model", manifest.cpu_model},
                               {"revision", manifest.revision},
                               {"backend", base::spelling(manifest.backend)},
                               {"bounds", base::spelling(manifest.effective_settings.engine.bounds)},
                               {"level", manifest.effective_settings.engine.level},
                               {"interruptible", manifest.effective_settings.engine.interruptible}});
  std::vector<Json> benchmarks;
  benchmarks.push_back(std::move(benchmark));
  return Json::object({{"context", std::move(context)}, {"benchmarks", Json::array(std::move(benchmarks))}})
             .dump(2) +
         "\n";
}

}  // namespace wago::diff
