// make_captures DIR [--samples N]
//
// Writes captures whose every number is known into DIR, for sessions of the commands that read captures:
// mix.wagoprof (diff/test_evidence.h draws it); mix_changed.wagoprof, where `hot` costs twice as much and
// `inner` is gone; counted.wagoprof and counted_more.wagoprof, whose loop went round once more, and
// counted_other.wagoprof, whose code is another as well. With nights/1.wagoexp to 6.wagoexp: version r0
// against r1 to r6, where `fib` costs 3 % more from r3 on; nights/confirm.wagoexp: r2 against r3;
// nights/unfinished.wagoexp, which is not. explained.wagoexp: `mix` against `mix_changed`, both sampled, and
// `quiet`, which was not; settings.wagoexp: `mix` at level 1 against level 0, both counted, which executes
// more of another code; noisy.wagoexp, whose controls teach a floor. With --samples one capture,
// large.wagoprof, of N samples in 200 functions on stacks that are 20 deep.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/sha256.h"
#include "capture/capture.h"
#include "capture/experiment.h"
#include "capture/images.h"
#include "diff/test_evidence.h"

namespace wago::ctest {
namespace {

namespace fs = std::filesystem;
using diff::Evidence;

void expect(const base::Result<void>& done) {
  if (done) return;
  std::fprintf(stderr, "make_captures: %s\n", done.error().to_string().c_str());
  std::exit(1);
}

// What a manifest must say of the rest for readers to believe it.
void agree(Evidence& evidence) {
  capture::Manifest& manifest = evidence.manifest;
  manifest.module_sha256 = base::to_hex(diff::digest_of(manifest.module_name));
  manifest.contract_sha256 = base::to_hex(diff::digest_of("contract"));
  manifest.code_sha256 = base::to_hex(capture::code_sha256(evidence.images));
  manifest.module_bytes = manifest.phases[0].completed_work = 1000;
  manifest.requested_iterations = manifest.completed_iterations = 100;
  manifest.phases[1].completed_work = manifest.completed_invocations = 100;
  manifest.execution_cpu_ns = 90'000;
  for (uint32_t i = 0; i < evidence.images.images.size(); ++i) {
    evidence.images.journal.push_back({capture::JournalAction::Load, i, 1, 0});
  }
}

void write(Evidence evidence, const fs::path& path) {
  agree(evidence);
  std::error_code ignored;
  fs::remove_all(path, ignored);
  capture::Manifest unfinished = evidence.manifest;
  unfinished.complete = false;
  auto writer = capture::CaptureWriter::create(path.string(), unfinished);
  if (!writer) expect(writer.error());
  auto put = [&](const char* name, const std::string& text) {
    expect(writer->write(name, base::as_bytes(text)));
  };
  put(capture::kImagesFile, capture::to_json_text(evidence.images));
  expect(writer->write(capture::kIterationsFile, capture::encode_iterations(evidence.iterations)));
  if (evidence.samples) put(capture::kSamplesFile, capture::to_json_text(*evidence.samples));
  if (evidence.counts) put(capture::kCountsFile, capture::to_json_text(*evidence.counts));
  if (evidence.code) expect(writer->write(capture::kCodeFile, *evidence.code));
  expect(writer->finish(evidence.manifest));
}

Evidence changed() {
  Evidence evidence = diff::mix_evidence();
  capture::Image& module = evidence.images.images[0];
  module.functions[1].sha256 = diff::digest_of("hot, changed");
  module.sha256 = diff::digest_of("changed");
  for (capture::Position& position : module.metadata.positions) position.inline_site = capture::kNone;
  for (capture::Sample& sample : evidence.samples->samples) sample.weight *= 2;
  return evidence;
}

// `main` ran a hundred times and `hot` with it, whose loop was entered `loop` times.
Evidence counted(uint64_t loop) {
  Evidence evidence = diff::mix_evidence();
  evidence.samples.reset();
  evidence.manifest.backend = base::Backend::Count;
  evidence.manifest.event = "block entries";
  evidence.manifest.requested_rate_hz = 0;
  evidence.counts = capture::Counts{};
  evidence.counts->entered = {{100, 100, loop, 100, 0}, {}};
  return evidence;
}

constexpr double kQuiet = 1e-3;

// Baseline and candidate are revisions.
capture::Experiment experiment_of(const std::string& baseline, const std::string& candidate,
                                  std::vector<capture::ExperimentWorkload> workloads) {
  capture::Experiment experiment{.complete = true,
                                 .target = "x86_64-linux",
                                 .cpu_model = "Test CPU",
                                 .os_version = "Linux 6.1",
                                 .logical_cpus = 2,
                                 .workloads = std::move(workloads)};
  const std::string* revisions[] = {&baseline, &candidate};
  for (size_t i = 0; i < 2; ++i) {
    experiment.sides[i] = {.program = "wago-profile",
                           .program_version = "1.0",
                           .revision = *revisions[i],
                           .dirty = base::Dirty::Clean,
                           .runner_id = "id of " + *revisions[i]};
  }
  return experiment;
}

// Twelve pairs of each workload, whose candidates take so much longer, give or take `spread`.
void write(const capture::Experiment& experiment, const std::vector<double>& changes, double spread,
           const fs::path& path) {
  capture::PairLines lines(experiment);
  std::string pairs;
  const auto workloads = static_cast<uint32_t>(changes.size());
  for (uint32_t i = 0; i < 12 * workloads; ++i) {
    const uint32_t workload = i % workloads;
    const double noise = spread * (static_cast<double>(i * 7 % 12) - 5.5) / 5.5;
    const auto candidate_ns = static_cast<uint64_t>(std::lround(1e6 * (1 + noise + changes[workload])));
    pairs += lines.next({.workload = workload,
                         .round = i / workloads,
                         .code_offset = i / workloads % 4 * 16,
                         .turns = {{{{.cpu_ns = 1'000'000}}, {{.cpu_ns = candidate_ns}}}}});
  }
  base::Files& files = base::system_files();
  std::error_code ignored;
  fs::remove_all(path, ignored);
  expect(files.create_directory(path.string()));
  expect(files.create((path / capture::kExperimentFile).string(), base::as_bytes(to_json_text(experiment))));
  expect(files.create((path / capture::kPairsFile).string(), base::as_bytes(pairs)));
}

// One night's experiment of `fib` and `sieve`, of which only `fib` has changed.
void write_night(const fs::path& path, uint64_t hour, const std::string& baseline,
                 const std::string& candidate, double change, bool complete = true) {
  capture::Experiment experiment = experiment_of(
      baseline, candidate,
      {{.id = "fib", .catalog = "bundled", .labels = {"short"}}, {.id = "sieve", .catalog = "bundled"}});
  experiment.complete = complete;
  experiment.start_unix_ns = (1'767'225'600 + 3600 * hour) * 1'000'000'000;
  for (capture::ExperimentWorkload& workload : experiment.workloads)
    workload.contract_sha256 = base::to_hex(diff::digest_of(workload.id));
  write(experiment, {change, 0}, kQuiet, path);
}

// Twenty controls that moved by 0.1 %, 0.2 % and so on, none of them for sure.
void write_noisy(const fs::path& path) {
  std::vector<capture::ExperimentWorkload> workloads = {{.id = "fib", .catalog = "bundled"}};
  std::vector<double> changes = {0};
  for (int i = 1; i <= 20; ++i) {
    workloads.push_back({.id = "control" + std::to_string(i), .catalog = "bundled", .control = true});
    changes.push_back(1e-3 * i);
  }
  write(experiment_of("r0", "r1", std::move(workloads)), changes, 0.05, path);
}

void write_explained(const fs::path& path) {
  write(
      experiment_of("r0", "r1", {{.id = "mix", .catalog = "bundled"}, {.id = "quiet", .catalog = "bundled"}}),
      {1, 0}, kQuiet, path);
  const fs::path directory = path / capture::kExplainDirectory;
  fs::create_directory(directory);
  auto capture_of = [&](capture::ExperimentSide side) {
    return directory / capture::explain_capture("mix", side, capture::ExplainPart::Sampled);
  };
  write(diff::mix_evidence(), capture_of(capture::ExperimentSide::Baseline));
  write(changed(), capture_of(capture::ExperimentSide::Candidate));
}

// The captures of an experiment are those of its pairs.
void write_settings(const fs::path& path) {
  const std::array<std::string, 2> names = {"captures/mix.baseline.wagoprof",
                                            "captures/mix.candidate.wagoprof"};
  std::array<Evidence, 2> sides = {counted(5'000), counted(6'000)};
  sides[1].manifest.effective_settings.engine.level = 0;
  sides[1].images.images[0].functions[1].sha256.fill(1);
  capture::ExperimentWorkload workload{.id = "mix", .catalog = "bundled", .captures = names};
  for (size_t i = 0; i < sides.size(); ++i) {
    Evidence agreed = sides[i];
    agree(agreed);
    workload.contract_sha256 = agreed.manifest.contract_sha256;
    workload.module_sha256[i] = agreed.manifest.module_sha256;
    workload.code_sha256[i] = agreed.manifest.code_sha256;
  }
  capture::Experiment experiment = experiment_of("r0", "r0", {workload});
  experiment.sides[1].setting = "--level 0";
  write(experiment, {0.05}, kQuiet, path);
  fs::create_directory(path / "captures");
  for (size_t i = 0; i < sides.size(); ++i) write(sides[i], path / names[i]);
}

void write_nights(const fs::path& directory) {
  fs::create_directories(directory);
  for (uint64_t night = 1; night <= 6; ++night) {
    const double wobble = 1e-4 * static_cast<double>(night % 3);
    write_night(directory / (std::to_string(night) + ".wagoexp"), night, "r0", "r" + std::to_string(night),
                wobble + (night >= 3 ? 0.03 : 0));
  }
  write_night(directory / "confirm.wagoexp", 7, "r2", "r3", 0.03);
  write_night(directory / "unfinished.wagoexp", 8, "r6", "r7", 0, false);
}

Evidence large(uint64_t count) {
  constexpr uint32_t kFunctions = 200;
  constexpr uint32_t kDepth = 20;
  Evidence evidence = diff::mix_evidence();
  capture::Image& module = evidence.images.images[0];
  module = {};
  module.name = "large.wasm";
  module.size = 64 * kFunctions;
  for (uint32_t i = 0; i < kFunctions; ++i) {
    module.functions.push_back(diff::test_function(i, "function_" + std::to_string(i), std::to_string(i)));
    module.regions.push_back({capture::RegionKind::Body, 64 * i, 64, i});
    for (uint32_t k = 0; k < 16; ++k)
      module.metadata.positions.push_back({64 * i + 4 * k, 2 * k, capture::kNone});
  }
  evidence.code.reset();
  capture::Samples& samples = *evidence.samples;
  samples = {};
  samples.period_ns = 1'000'000;
  samples.threads = {{1, "recorder"}};
  capture::StackTable table(samples);
  uint64_t random = 1;
  auto below = [&](uint64_t bound) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>((random >> 33) % bound);
  };
  for (uint64_t i = 0; i < count; ++i) {
    std::vector<capture::Frame> root_first;
    uint32_t function = 0;
    for (uint32_t depth = 0; depth < kDepth; ++depth) {
      root_first.push_back({capture::Side::Guest, 0,
                            64 * function + 4 * (depth + 1 == kDepth ? below(16) : 3), capture::kNone});
      function = (2 * function + 1 + (below(8) == 0 ? 1 : 0)) % kFunctions;
    }
    samples.samples.push_back({1'000'000 * i, 1'000'000, 0, table.stack(root_first)});
  }
  return evidence;
}

}  // namespace
}  // namespace wago::ctest

int main(int argc, char** argv) {
  using namespace wago::ctest;
  if (argc != 2 && !(argc == 4 && std::string(argv[2]) == "--samples")) {
    std::fprintf(stderr, "usage: make_captures DIR [--samples N]\n");
    return 2;
  }
  const fs::path directory = argv[1];
  fs::create_directories(directory);
  if (argc == 4) {
    write(large(std::strtoull(argv[3], nullptr, 10)), directory / "large.wagoprof");
    return 0;
  }
  write(wago::diff::mix_evidence(), directory / "mix.wagoprof");
  write(changed(), directory / "mix_changed.wagoprof");
  write(counted(5'000), directory / "counted.wagoprof");
  write(counted(5'001), directory / "counted_more.wagoprof");
  Evidence other = counted(5'001);
  other.images.images[0].functions[1].sha256.fill(1);
  write(other, directory / "counted_other.wagoprof");
  write_nights(directory / "nights");
  write_explained(directory / "explained.wagoexp");
  write_settings(directory / "settings.wagoexp");
  write_noisy(directory / "noisy.wagoexp");
  return 0;
}
