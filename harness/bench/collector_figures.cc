// What collectors cost what they look at, and whether they tell the truth about it.

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string_view>

#include "base/files.h"
#include "base/testing/scratch_folder.h"
#include "capture/capture.h"
#include "harness/bench/figures.h"
#include "harness/bench/turns.h"
#include "harness/publish_code.h"
#include "harness/recorder.h"
#include "harness/sampler.h"

namespace wago::harness::bench {

namespace {

// (module
//   (type $work (func (param i32 i32) (result i32)))
//   (table funcref (elem $more $less))
//   (func $more (type $work)
//     (loop $again
//       (local.set 1 (i32.add (i32.mul (local.get 1) (i32.const 1664525)) (i32.const 1013904223)))
//       (br_if $again (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))
//     (local.get 1))
//   (func $less (type $work) ... the same ...)
//   (func (export "run") (param $n i32) (param $first i32) (result i32)
//     (call_indirect (type $work)
//       (i32.mul (local.get $n) (i32.const 3))
//       (call_indirect (type $work) (i32.mul (local.get $n) (i32.const 7)) (i32.const 1) (local.get $first))
//       (i32.add (local.get $first) (i32.const 1)))))
//
// Of its loops' rounds 7 of 10 are those of $more; through a table, so that neither is inlined.
constexpr std::string_view kSevenToThree(
    "\x00\x61\x73\x6d\x01\x00\x00\x00\x01\x07\x01\x60\x02\x7f\x7f\x01\x7f\x03\x04\x03\x00\x00\x00\x04"
    "\x05\x01\x70\x01\x02\x02\x07\x07\x01\x03\x72\x75\x6e\x00\x02\x09\x08\x01\x00\x41\x00\x0b\x02\x00"
    "\x01\x0a\x61\x03\x21\x00\x03\x40\x20\x01\x41\x8d\xcc\xe5\x00\x6c\x41\xdf\xe6\xbb\xe3\x03\x6a\x21"
    "\x01\x20\x00\x41\x01\x6b\x22\x00\x0d\x00\x0b\x20\x01\x0b\x21\x00\x03\x40\x20\x01\x41\x8d\xcc\xe5"
    "\x00\x6c\x41\xdf\xe6\xbb\xe3\x03\x6a\x21\x01\x20\x00\x41\x01\x6b\x22\x00\x0d\x00\x0b\x20\x01\x0b"
    "\x1b\x00\x20\x00\x41\x03\x6c\x20\x00\x41\x07\x6c\x41\x01\x20\x01\x11\x00\x00\x20\x01\x41\x01\x6a"
    "\x11\x00\x00\x0b\x00\x30\x04\x6e\x61\x6d\x65\x01\x0d\x02\x00\x04\x6d\x6f\x72\x65\x01\x04\x6c\x65"
    "\x73\x73\x02\x11\x03\x00\x00\x01\x00\x02\x02\x00\x01\x6e\x01\x05\x66\x69\x72\x73\x74\x04\x07\x01"
    "\x00\x04\x77\x6f\x72\x6b",
    198);
constexpr uint32_t kMore = 0, kLess = 1;  // their indices
constexpr double kWantedShare = 0.7;
constexpr uint32_t kTimes = 20'000;  // $n

// The loops' value after all rounds.
uint32_t value_after(uint32_t rounds) {
  uint32_t value = 1;
  for (uint32_t i = 0; i < rounds; ++i) value = value * 1664525 + 1013904223;
  return value;
}

std::string percent(double share, const char* format = "%.2f %%") {
  char text[40];
  std::snprintf(text, sizeof text, format, 100 * share);
  return text;
}

// ---- What sampling costs what is sampled ----

// Sampled while it runs. Only the iterations are timed: switching the sampler on and off, which a recording
// does once, is not.
RunIterations sampled(const RunIterations& run, const SamplerSettings& settings) {
  return [run, settings](uint64_t iterations) -> base::Result<double> {
    auto sampler = Sampler::create(settings);
    if (!sampler) return sampler.error();
    if (auto begun = (*sampler)->begin_phase(); !begun) return begun.error();
    auto took = run(iterations);
    if (auto ended = (*sampler)->end_phase(); !ended) return ended.error();
    return took;
  };
}

// No room for a single sample: the signal comes and nothing is looked at.
SamplerSettings signals_alone(uint64_t rate_hz) {
  return {.period_ns = period_ns_of(rate_hz), .bytes_per_thread = 4096};
}

// The same prepared state on both sides.
base::Result<Figure> sampling_figure(const FigureOptions& options, const SamplerSettings& settings,
                                     const std::string& what, double turn_ns, std::optional<double> wanted) {
  auto prepare = [&](const capture::Workload& workload) -> base::Result<TwoWays> {
    auto run = prepared(workload);
    if (!run) return run.error();
    return TwoWays{sampled(*run, settings), *run};
  };
  GeometricMean mean;
  auto figures = figures_of_two_ways(options, what, prepare, mean, turn_ns);
  if (!figures) return figures.error();
  return Figure{"geometric mean of execution " + what + " / without", mean.text("%.4f"),
                wanted ? "<= " + std::to_string(*wanted).substr(0, 5) : "",
                !wanted || mean.value() <= *wanted};
}

// ---- What files for collectors outside cost ----

// Code of the numerator was published while it was made.
base::Result<Figure> publishing_figure(const FigureOptions& options, CodeFile kind, const std::string& what,
                                       double wanted) {
  const base::testing::ScratchFolder scratch;
  auto prepare = [&](const capture::Workload& workload) -> base::Result<TwoWays> {
    const std::string file =
        kind == CodeFile::PerfMap ? scratch.file(workload.id + ".map") : scratch.file(workload.id);
    std::error_code ignored;
    if (kind == CodeFile::JitDump) std::filesystem::create_directory(file, ignored);
    auto published = publish_code(kind, file);
    if (!published) return published.error();
    auto numerator = prepared(workload, {.source_maps = kind == CodeFile::JitDump});
    if (auto closed = (*published)->close(); !closed) return closed.error();
    return two_ways(std::move(numerator), prepared(workload));
  };
  GeometricMean mean;
  auto figures = figures_of_two_ways(options, what, prepare, mean);
  if (!figures) return figures.error();
  return Figure{"geometric mean of execution " + what + " / without", mean.text("%.4f"),
                "<= " + std::to_string(wanted).substr(0, 5), mean.value() <= wanted};
}

// ---- Whether samples tell the truth ----

capture::Workload seven_to_three(const std::string& module, base::Backend backend, uint64_t duration_ns) {
  capture::Workload workload;
  workload.id = "shares";
  workload.module_path = module;
  workload.calls = {{"run", {kTimes, 0}, {value_after(10 * kTimes)}, {}}};
  workload.backend = backend;
  workload.duration_ns = duration_ns;
  return workload;
}

struct Attribution {
  double share = 0;     // of the time in the two functions, that of $more
  double known = 0;     // of all samples, those whose code has a name
  double complete = 0;  // those whose stack reaches its root
  size_t samples = 0;
};

Attribution attribution_of(const capture::Contents& contents) {
  const capture::Samples& samples = *contents.samples;
  double more = 0, less = 0, known = 0;
  auto holds = [](const capture::Function& function, uint32_t offset) {
    return offset - function.begin < function.size;
  };
  for (const capture::Sample& sample : samples.samples) {
    const capture::Frame& leaf = samples.frames[samples.stacks[sample.stack].frame];
    known += leaf.side != capture::Side::Unknown;
    if (leaf.side != capture::Side::Guest) continue;
    const std::vector<capture::Function>& functions = contents.images.images[leaf.image].functions;
    if (holds(functions[kMore], leaf.offset)) more += static_cast<double>(sample.weight);
    if (holds(functions[kLess], leaf.offset)) less += static_cast<double>(sample.weight);
  }
  const auto count = static_cast<double>(samples.samples.size());
  return {more / (more + less), known / count, 1 - static_cast<double>(samples.truncated_stacks) / count,
          samples.samples.size()};
}

base::Result<std::vector<Figure>> attribution_figures(const FigureOptions& options, base::Backend backend) {
  const base::testing::ScratchFolder scratch;
  const std::string module = scratch.file("shares.wasm"), name(base::spelling(backend));
  if (auto made = base::system_files().create(module, base::as_bytes(kSevenToThree)); !made)
    return made.error();
  RecordRequest request;
  request.workload = seven_to_three(module, backend, options.quick ? 500'000'000 : 10'000'000'000);
  request.out = scratch.file("shares.wagoprof");
  request.rate_hz = 999;
  const RecordOutcome outcome = record(request);
  if (outcome.error && outcome.error->kind == base::ErrorKind::Unmeasurable) {
    return std::vector<Figure>{{"shares by " + name, "skipped: " + outcome.error->to_string(), "", true}};
  }
  if (outcome.error) return *outcome.error;
  auto capture = capture::Capture::open(request.out);
  if (!capture) return capture.error();
  auto contents = capture->contents();
  if (!contents) return contents.error();
  if (contents->samples->samples.empty()) return base::failed("no samples were taken by " + name);
  const Attribution seen = attribution_of(*contents);
  const std::string n = " n=" + std::to_string(seen.samples);
  return std::vector<Figure>{
      {name + " at 999 Hz: share of a function that does 70 % of the work", percent(seen.share) + n,
       "70 % +- 2", std::abs(seen.share - kWantedShare) <= 0.02},
      {name + ": samples in code with a name", percent(seen.known) + n, ">= 99 %", seen.known >= 0.99},
      {name + ": stacks complete to the root", percent(seen.complete) + n, ">= 99.9 %",
       seen.complete >= 0.999}};
}

}  // namespace

base::Result<std::vector<Figure>> collector_figures(const FigureOptions& options) {
  std::vector<Figure> figures;
  // Before anything binds this process to one CPU, which children inherit.
  for (base::Backend backend : {base::Backend::Pprof, base::Backend::Guest, base::Backend::Perf}) {
    auto found = attribution_figures(options, backend);
    if (!found) return found.error();
    figures.insert(figures.end(), found->begin(), found->end());
  }
  // A turn holds whole periods of the clock, of 999 Hz nearly 15.
  constexpr double kFiveTicksNs = 51e6;
  const base::Result<Figure> costs[] = {
      sampling_figure(options, {.period_ns = period_ns_of(99)}, "sampled at 99 Hz (pprof, guest)",
                      kFiveTicksNs, 1.005),
      sampling_figure(options, signals_alone(99), "with the signals of 99 Hz alone", kFiveTicksNs, {}),
      sampling_figure(options, {.period_ns = period_ns_of(999)}, "sampled at 999 Hz (pprof, guest)", kTurnNs,
                      1.02),
      sampling_figure(options, signals_alone(999), "with the signals of 999 Hz alone", kTurnNs, {}),
      publishing_figure(options, CodeFile::PerfMap, "with a perf map", 1.003),
      publishing_figure(options, CodeFile::JitDump, "with a jitdump and source maps", 1.005)};
  for (const base::Result<Figure>& cost : costs) {
    if (!cost) return cost.error();
    figures.push_back(*cost);
  }
  return figures;
}

}  // namespace wago::harness::bench
