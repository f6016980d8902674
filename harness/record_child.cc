// The child's side of a recording: one workload, measured and written, told in four messages.
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstring>
#include <new>

#include "base/abilities.h"
#include "base/build_info.h"
#include "base/clock.h"
#include "base/files.h"
#include "capture/capture.h"
#include "capture/export_firefox.h"
#include "capture/export_pprof.h"
#include "harness/block_counter.h"
#include "harness/channel.h"
#include "harness/code_images.h"
#include "harness/hardware_counters.h"
#include "harness/jitdump.h"
#include "harness/machine.h"
#include "harness/perf_phase.h"
#include "harness/phases.h"
#include "harness/publish_code.h"
#include "harness/record_protocol.h"
#include "harness/recorder.h"
#include "harness/sampled_stacks.h"
#include "harness/samply_phase.h"
#include "harness/stored_sentence.h"
#include "harness/timeline.h"
#include "runtime/abi.h"

namespace wago::harness {

namespace {

using base::Result;

ProgressPage* map_progress(int fd) {
  struct stat status;
  if (::fstat(fd, &status) != 0 || status.st_size < static_cast<off_t>(sizeof(ProgressPage))) return nullptr;
  void* at = ::mmap(nullptr, sizeof(ProgressPage), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return at == MAP_FAILED ? nullptr : static_cast<ProgressPage*>(at);
}

Failure as_failure(const base::Error& error) {
  return {error, stored_sentence(error)};
}

// What the program itself may need of the stack besides a guest.
constexpr uint64_t kOwnStackBytes = uint64_t{1} << 20;

// A guest with less stack than the contract says would be another measurement.
std::optional<Failure> check_stack() {
  rlimit limit;
  constexpr uint64_t kWanted = runtime::kGuestStackBytes + kOwnStackBytes;
  if (::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kWanted) return {};
  return as_failure(base::unmeasurable("the stack limit of " + std::to_string(limit.rlim_cur >> 10) +
                                       " KiB (ulimit -s) is below the " + std::to_string(kWanted >> 10) +
                                       " KiB that a recording needs"));
}

// Which the child itself does.
bool samples_in_process(base::Backend backend) {
  return backend == base::Backend::Pprof || backend == base::Backend::Guest;
}

class Child {
 public:
  Child(Channel& channel, ProgressPage& progress, const HostSetup& host)
      : channel_(channel), progress_(progress), host_(host) {}

  // Nothing: done, and said so.
  std::optional<Failure> work() {
    if (auto failure = check_stack()) return failure;
    if (auto failure = load()) return failure;
    Ready ready;
    ready.module_bytes = subject_->bytes().size();
    ready.code_section_bytes = subject_->code_bytes();
    ready.guest_stack_bytes = runtime::kGuestStackBytes;
    ready.module_sha256 = base::to_hex(subject_->module_sha256());
    channel_.send(to_json(ready));
    auto message = channel_.receive();
    if (!message) return as_failure(message.error());
    auto go = read_go(*message);
    if (!go) return as_failure(go.error());
    if (auto failure = enter(*go)) return failure;

    const base::Backend backend = subject_->workload().backend;
    if (perf_) {
      if (auto opened = perf_->open(go->directory); !opened) return as_failure(opened.error());
    } else if (backend == base::Backend::Samply) {
      auto samply = SamplyPhase::open(go->directory);
      if (!samply) return as_failure(samply.error());
      samply_ = *std::move(samply);
    } else if (samples_in_process(backend)) {
      auto sampler = Sampler::create({.period_ns = period_ns_of(rate_hz_)});
      if (!sampler) return as_failure(sampler.error());
      sampler_ = std::move(*sampler);
    }
    if (subject_->settings().counted) counter_.emplace();
    if (subject_->settings().counters) hardware_.emplace(collector());
    Recorded recorded;
    if (auto failure = record_phases(*subject_, base::system_clock(), progress_, recorded,
                                     hardware_ ? &*hardware_ : collector())) {
      if (failure->error.place.file.empty()) failure->error.place.file = subject_->workload().module_path;
      return Failure{failure->error, failure->stored, failure->trap};
    }
    return write(recorded);
  }

 private:
  // Before anything is compiled.
  std::optional<Failure> follow_code(base::Backend backend) {
    if (backend == base::Backend::Perf) {
      perf_.emplace(base::Fd(kChildPerf));
      journal_.emplace(JournalLimits(), &perf_->publisher());
    } else if (samples_in_process(backend)) {
      journal_.emplace();
    } else if (backend == base::Backend::PerfMap) {
      auto map = publish_code(CodeFile::PerfMap);
      if (!map) return as_failure(map.error());
      map_ = *std::move(map);
    }
    return {};
  }

  std::optional<Failure> load() {
    progress_.enter(base::Phase::Compile);
    auto message = channel_.receive();
    if (!message) return as_failure(message.error());
    auto request = read_request(*message);
    if (!request) return as_failure(request.error());
    rate_hz_ = request->rate_hz;
    if (auto failure = follow_code(request->workload.backend)) return failure;
    request->settings.counted = request->workload.backend == base::Backend::Count;
    if (request->settings.timeline) timeline_.emplace(request->settings.max_spans);
    auto subject = Subject::load(request->workload, request->settings, base::system_files(), host_);
    if (!subject) return as_failure(subject.error());
    subject_ = std::move(*subject);
    loaded_ns_ = base::monotonic_ns();
    return {};
  }

  // The recorder holds the directory that it created, so no other can have its number.
  std::optional<Failure> enter(const Go& go) {
    auto directory = base::system_files().open_directory(go.directory);
    if (!directory) return as_failure(directory.error());
    if ((*directory)->id() != go.id) {
      return as_failure(base::failed("was replaced by another directory", {.file = go.directory}));
    }
    directory_ = std::move(*directory);
    return {};
  }

  Result<void> write_file(const char* name, std::span<const uint8_t> bytes) {
    done_.files.emplace_back(name);
    return directory_->create(name, bytes);
  }

  Collector* collector() {
    if (perf_) return &*perf_;
    if (samply_) return samply_.get();
    if (counter_) return &*counter_;
    return sampler_.get();
  }

  Result<void> write_counts(const DescribedCode& code) {
    done_.event = "executions";
    done_.diagnostics.push_back(
        "times are of code that counts its blocks, which is slower; counts are of the code without counters");
    return write_file(capture::kCountsFile, base::as_bytes(to_json_text(counter_->counts(code.images))));
  }

  Result<void> write_counters(uint64_t iterations) {
    done_.diagnostics.push_back(hardware_->sentence(iterations));
    return write_file(capture::kCountersFile, base::as_bytes(hardware_->to_json_text(iterations)));
  }

  Result<void> write_samples(const DescribedCode& code, const Recorded& recorded) {
    const TimedWindows windows(recorded.loop.batches, recorded.loop.start_monotonic_ns);
    const capture::Samples samples = describe_samples(*sampler_, *journal_, code, windows);
    done_.event = sampled_event(*sampler_);
    done_.losses.samples = sampler_->lost_samples();
    done_.diagnostics = sampling_diagnostics(*sampler_, samples);
    if (auto written = write_file(capture::kSamplesFile, base::as_bytes(to_json_text(samples))); !written) {
      return written;
    }
    const capture::ExportContext context = export_context(recorded);
    if (subject_->workload().backend == base::Backend::Pprof) {
      return write_file(capture::kPprofFile, to_pprof(context, code.images, samples));
    }
    return write_file(capture::kFirefoxFile, base::as_bytes(to_firefox(context, code.images, samples)));
  }

  capture::ExportContext export_context(const Recorded& recorded) const {
    capture::ExportContext context;
    context.workload = subject_->workload().id;
    context.program = "wago " + base::build_info().version;
    context.event = done_.event;
    context.start_unix_ns = recorded.loop.start_unix_ns;
    context.duration_ns = recorded.loop.elapsed_ns;
    context.start_monotonic_ns = recorded.loop.start_monotonic_ns;
    context.logical_cpus = machine().logical_cpus;
    context.source_maps = subject_->settings().source_maps;
    return context;
  }

  Result<void> close_code_files() {
    if (perf_) {
      done_.files.push_back(jitdump_name());
      return perf_->close();
    }
    if (samply_) {
      done_.files.push_back(jitdump_name());
      return samply_->close();
    }
    if (!map_) return {};
    done_.diagnostics.push_back("names for a perf that was started outside: " + map_->path());
    return map_->close();
  }

  std::optional<Failure> write(Recorded& recorded) {
    if (journal_) {
      journal_->stop();
      done_.losses.journal_records = journal_->lost_records();
    }
    if (auto closed = close_code_files(); !closed) return as_failure(closed.error());
    auto code = describe_code(*subject_, loaded_ns_, journal_ ? &*journal_ : nullptr);
    if (!code) return as_failure(code.error());
    auto written = write_file(capture::kImagesFile, base::as_bytes(to_json_text(code->images)));
    if (written && subject_->settings().include_code) {
      written = write_file(capture::kCodeFile, code_bytes(*code));
    }
    if (written && sampler_) written = write_samples(*code, recorded);
    if (written && counter_) written = write_counts(*code);
    if (written && hardware_) written = write_counters(recorded.loop.iterations);
    if (written && timeline_) {
      const capture::Spans spans = timeline_->spans();
      done_.losses.spans = spans.lost;
      written = write_file(capture::kSpansFile, base::as_bytes(to_json_text(spans)));
    }
    if (!written) return as_failure(written.error());
    written = write_file(capture::kIterationsFile, capture::encode_iterations(recorded.loop.batches));
    if (!written) return as_failure(written.error());
    done_.phases = std::move(recorded.phases);
    done_.iterations = recorded.loop.iterations;
    done_.invocations = recorded.invocations;
    done_.wall_ns = recorded.loop.wall_ns;
    done_.cpu_ns = recorded.loop.cpu_ns;
    done_.start_monotonic_ns = recorded.loop.start_monotonic_ns;
    done_.code_sha256 = base::to_hex(capture::code_sha256(code->images));
    channel_.send(to_json(done_));
    return {};
  }

  Channel& channel_;
  ProgressPage& progress_;
  const HostSetup& host_;
  std::optional<Timeline> timeline_;  // before the engine that it watches
  std::unique_ptr<Subject> subject_;
  uint64_t loaded_ns_ = 0;
  uint64_t rate_hz_ = 0;
  std::optional<PerfPhase> perf_;
  std::optional<HardwareCounters> hardware_;
  std::unique_ptr<SamplyPhase> samply_;
  std::unique_ptr<PublishedCodeFile> map_;  // of backend perf-map
  std::optional<CodeJournal> journal_;      // of backends that sample
  std::unique_ptr<Sampler> sampler_;
  std::optional<BlockCounter> counter_;  // of backend count
  std::unique_ptr<base::Directory> directory_;
  Done done_;
};

}  // namespace

std::optional<int> record_child_main(int argc, char** argv, const HostSetup& host) {
  if (argc < 2 || std::strcmp(argv[1], kChildArgument) != 0) return std::nullopt;
  ProgressPage* progress = map_progress(kChildProgress);
  struct stat status;
  if (!progress || ::fstat(kChildSocket, &status) != 0 || !S_ISSOCK(status.st_mode)) {
    std::fprintf(stderr, "%s: this is how the recorder starts itself; it is of no use by hand\n",
                 kChildArgument);
    return 2;
  }
  Channel channel{base::Fd(kChildSocket)};
  std::optional<Failure> failure;
  try {
    failure = Child(channel, *progress, host).work();
  } catch (const std::bad_alloc&) {
    failure = as_failure(base::failed("the recording process ran out of memory"));
  }
  if (!failure) return 0;
  channel.send(to_json(*failure));
  return 1;
}

}  // namespace wago::harness
