// The parent's side of a recording: it starts the child, watches it, and is the only one to say `complete`.
#include "harness/recorder.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/abilities.h"
#include "base/clock.h"
#include "base/duration.h"
#include "base/files.h"
#include "base/plural.h"
#include "base/process.h"
#include "base/text.h"
#include "capture/capture.h"
#include "capture/export_pprof.h"
#include "capture/iterations.h"
#include "harness/channel.h"
#include "harness/machine.h"
#include "harness/perf_collector.h"
#include "harness/perf_map.h"
#include "harness/progress.h"
#include "harness/record_protocol.h"
#include "harness/samply_collector.h"
#include "harness/signal_watch.h"
#include "harness/stored_sentence.h"
#include "harness/subject.h"

namespace wago::harness {

namespace {

constexpr int kTickMs = 100;
// The share of the machine's memory a guest's process may take.
constexpr uint64_t kMemoryQuarters = 3;

// The page by which the child tells how far it is.
class SharedProgress {
 public:
  static base::Result<SharedProgress> create() {
    base::Fd fd(::memfd_create("wago-progress", MFD_CLOEXEC));
    if (!fd.ok() || ::ftruncate(fd.get(), sizeof(ProgressPage)) != 0) return failure();
    void* at = ::mmap(nullptr, sizeof(ProgressPage), PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
    if (at == MAP_FAILED) return failure();
    return SharedProgress(std::move(fd), new (at) ProgressPage);
  }
  ~SharedProgress() {
    if (page_) ::munmap(page_, sizeof(ProgressPage));
  }
  SharedProgress(SharedProgress&& other) noexcept
      : fd_(std::move(other.fd_)), page_(std::exchange(other.page_, nullptr)) {}
  int fd() const { return fd_.get(); }

  Progress read() const {
    Progress progress;
    auto phases = static_cast<uint8_t>(base::spellings<base::Phase>().size());
    uint8_t phase = page_->phase.load(std::memory_order_relaxed);
    progress.phase = static_cast<base::Phase>(phase < phases ? phase : 0);
    progress.warming_up = page_->warming_up.load(std::memory_order_relaxed) != 0;
    progress.iterations = page_->iterations.load(std::memory_order_relaxed);
    progress.elapsed_ns = page_->elapsed_ns.load(std::memory_order_relaxed);
    return progress;
  }

 private:
  static base::Error failure() {
    return base::failed(std::string("cannot make a page of shared memory: ") + std::strerror(errno));
  }
  SharedProgress(base::Fd fd, ProgressPage* page) : fd_(std::move(fd)), page_(page) {}
  base::Fd fd_;
  ProgressPage* page_;
};

std::string where(const Progress& progress) {
  std::string text = "during phase " + std::string(base::spelling(progress.phase));
  if (progress.warming_up) text += " (warm-up)";
  if (progress.iterations) text += " after " + base::plural(progress.iterations, "iteration");
  return text;
}

Failure same(std::string sentence) {
  return {base::failed(sentence), sentence};
}

constexpr const char* kMoreTime = "; --collection-timeout (TIMEOUT in CMake) allows more";

// 0: by iterations.
uint64_t wanted_duration_ns(const capture::Workload& workload) {
  return workload.iterations ? 0 : workload.duration_ns.value_or(capture::kDefaultDurationNs);
}

uint64_t timeout_of(const RecordRequest& request) {
  return request.collection_timeout_ns ? *request.collection_timeout_ns
                                       : default_timeout_ns(request.workload);
}

// 0: the backend does not sample.
uint64_t sampling_rate_hz(const RecordRequest& request) {
  return base::samples(request.workload.backend) ? request.rate_hz : 0;
}

std::optional<base::Error> refuse_stack_bytes(const RecordRequest& request) {
  const uint32_t bytes = request.settings.stack_bytes;
  if (bytes == 0) return std::nullopt;
  if (request.workload.backend != base::Backend::Perf) {
    return base::usage_error("raw stacks (--stack-bytes) are for backend perf");
  }
  if (bytes < kMinStackBytes || bytes > kMaxStackBytes || bytes % 8 != 0) {
    return base::usage_error("raw stacks (--stack-bytes) have " + std::to_string(kMinStackBytes) + " to " +
                             std::to_string(kMaxStackBytes) + " bytes, a multiple of 8");
  }
  if (request.settings.unwind_maps) return std::nullopt;
  return base::usage_error("raw stacks (--stack-bytes) need --unwind-maps");
}

// What can be refused without looking at the module.
std::optional<base::Error> refuse(const RecordRequest& request) {
  if (auto checked = capture::check(request.workload); !checked) return checked.error();
  if (auto lacking = unsupported(request.workload)) return lacking;
  if (request.workload.backend == base::Backend::Count && request.settings.reload_artifact) {
    return base::usage_error(
        "backend count does not go with --reload-artifact: code that counts is compiled, not loaded");
  }
  if (request.settings.code_offset % 16 != 0 || request.settings.code_offset > 48) {
    return base::usage_error("a code offset is 0, 16, 32 or 48 bytes");
  }
  if (request.rate_hz < 1 || request.rate_hz > kMaxRateHz) {
    return base::usage_error("a sampling rate is 1 to " + std::to_string(kMaxRateHz) + " Hz");
  }
  if (auto refused = refuse_stack_bytes(request)) return refused;
  if (request.remove_map && request.workload.backend != base::Backend::PerfMap) {
    return base::usage_error("removing the map (--remove-map) is for backend perf-map");
  }
  if (request.settings.timeline &&
      (request.settings.max_spans < 1 || request.settings.max_spans > kMaxSpans)) {
    return base::usage_error("a timeline holds 1 to " + std::to_string(kMaxSpans) + " spans");
  }
  // What cannot end in time need not begin.
  const uint64_t duration_ns = wanted_duration_ns(request.workload);
  const uint64_t timeout_ns = timeout_of(request);
  if (duration_ns > 0 && duration_ns >= timeout_ns) {
    return base::usage_error("measuring for " + base::format_duration(duration_ns) +
                             " does not fit into the collection timeout of " +
                             base::format_duration(timeout_ns) + kMoreTime);
  }
  if (request.out.empty()) return base::usage_error("name the directory to record into");
  if (base::system_files().exists(request.out)) {
    return base::usage_error("exists already and is never replaced; name another directory or remove it",
                             {.file = request.out});
  }
  return std::nullopt;
}

capture::Manifest first_manifest(const RecordRequest& request, const Ready& ready) {
  const capture::Workload& workload = request.workload;
  const base::BuildInfo& build = base::build_info();
  capture::Manifest m;
  m.program_version = build.version;
  m.revision = build.revision;
  m.dirty = build.dirty;
  m.runner_id = runner_id();
  if (build.dirty == base::Dirty::Unknown) {
    m.diagnostics.push_back(
        "the revision of the recording program is unknown: it was not built in its repository");
  }
  m.workload = workload.id;
  m.catalog = request.catalog;
  m.module_name = base::printable(base::base_name(workload.module_path));
  m.module_bytes = ready.module_bytes;
  m.code_section_bytes = ready.code_section_bytes;
  m.module_sha256 = ready.module_sha256;
  m.contract_sha256 = base::to_hex(capture::contract_sha256(workload));
  m.calls_per_iteration = workload.calls.size();
  m.items_per_iteration = workload.items_per_iteration;
  m.bytes_per_iteration = workload.bytes_per_iteration;
  m.labels = workload.labels;
  m.target = machine().target;
  m.cpu_model = machine().cpu_model;
  m.os_version = machine().os_version;
  m.logical_cpus = machine().logical_cpus;
  m.backend = workload.backend;
  m.collector_version = "wago " + build.version;
  m.requested_rate_hz = sampling_rate_hz(request);
  m.capture_phase = workload.phase;
  m.invocation_mode = workload.mode;
  m.effective_settings.engine = workload.engine;
  m.effective_settings.spill_everything = request.settings.spill_everything;
  m.effective_settings.code_offset = request.settings.code_offset;
  m.effective_settings.reload_artifact = request.settings.reload_artifact;
  m.effective_settings.source_maps = request.settings.source_maps;
  m.effective_settings.unwind_maps = request.settings.unwind_maps;
  m.effective_settings.include_code = request.settings.include_code;
  m.effective_settings.counters = request.settings.counters;
  m.effective_settings.stack_bytes = request.settings.stack_bytes;
  m.effective_settings.timeline = request.settings.timeline;
  m.effective_settings.max_spans = request.settings.timeline ? request.settings.max_spans : 0;
  m.effective_settings.guest_stack_bytes = ready.guest_stack_bytes;
  m.requested_iterations = workload.iterations.value_or(0);
  m.requested_duration_ns = wanted_duration_ns(workload);
  m.warmup_iterations = workload.warmup;
  return m;
}

class Recording {
 public:
  Recording(const RecordRequest& request, SharedProgress progress)
      : request_(request), progress_(std::move(progress)), timeout_ns_(timeout_of(request)) {
    memory_limit_ =
        request.memory_limit_bytes ? request.memory_limit_bytes : base::memory_bytes() / 4 * kMemoryQuarters;
  }

  RecordOutcome run() {
    RecordOutcome outcome;
    std::optional<Failure> failure = supervise();
    // Before anything is published: nothing may still be writing into the directory.
    perf_.reset();
    samply_.reset();
    const pid_t child = child_ ? child_->pid() : 0;
    child_.reset();
    if (request_.remove_map && child > 0) ::unlink(perf_map_path(child).c_str());
    if (failure) {
      outcome.error = failure->error;
      // One of a catalog's many.
      if (created_ && !request_.catalog.empty()) {
        outcome.error->message = "workload " + request_.workload.id + ": " + outcome.error->message;
      }
      outcome.trap = std::move(failure->trap);
      if (writer_) {
        manifest_.diagnostics.push_back(failure->stored);
        // The capture is unfinished with or without the sentence.
        (void)writer_->update(manifest_);
      }
    }
    outcome.interrupted_by = interrupted_by_;
    outcome.created = created_;
    outcome.left = writer_ ? writer_->in_place() : created_;
    outcome.manifest = std::move(manifest_);
    return outcome;
  }

 private:
  std::optional<Failure> supervise() {
    if (auto failure = start()) return failure;
    Ready ready;
    if (auto failure = load(ready)) return failure;
    if (auto failure = create(ready)) return failure;
    if (auto failure = start_collector(ready)) return failure;
    if (request_.on_begin) request_.on_begin();
    channel_->send(to_json(Go{request_.out, writer_->directory_id()}));
    Done done;
    if (auto failure = expect("done", done, read_done)) return failure;
    return finish(std::move(done));
  }

  std::optional<Failure> start() {
    auto pair = Channel::make_pair();
    if (!pair) return same(pair.error().message);
    channel_.emplace(std::move(pair->first));
    base::SpawnOptions options;
    options.program = "/proc/self/exe";
    options.argv = {"wago-profile", kChildArgument};
    options.descriptors = {{pair->second.fd(), kChildSocket}, {progress_.fd(), kChildProgress}};
    options.first_to_be_killed = true;
    if (with_perf()) {
      int ends[2];
      if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        return same(std::string("cannot make a socket: ") + std::strerror(errno));
      }
      to_perf_ = base::Fd(ends[0]);
      from_perf_ = base::Fd(ends[1]);
      options.descriptors.emplace_back(to_perf_.get(), kChildPerf);
    }
    auto child = base::Process::spawn(options);
    if (!child) return same(child.error().message);
    child_.emplace(std::move(*child));
    return {};
  }

  std::optional<Failure> load(Ready& ready) {
    channel_->send(to_json(Request{request_.workload, request_.settings, sampling_rate_hz(request_)}));
    return expect("ready", ready, read_ready);
  }

  std::optional<Failure> create(const Ready& ready) {
    manifest_ = first_manifest(request_, ready);
    auto writer = capture::CaptureWriter::create(request_.out, manifest_);
    created_ = writer.ok() || writer.error().kind == base::ErrorKind::Failed;
    if (!writer) return Failure{writer.error(), ""};
    writer_.emplace(std::move(*writer));
    return {};
  }

  bool with_perf() const { return request_.workload.backend == base::Backend::Perf; }

  std::optional<Failure> start_collector(const Ready& ready) {
    if (with_perf()) return start_perf();
    return request_.workload.backend == base::Backend::Samply ? start_samply(ready) : std::nullopt;
  }

  CollectorSettings collector_settings() {
    CollectorSettings settings;
    settings.directory = request_.out;
    settings.pid = child_->pid();
    settings.rate_hz = request_.rate_hz;
    settings.conversion_timeout_ns = request_.conversion_timeout_ns;
    settings.look_after = [this]() -> std::optional<base::Error> {
      if (int signal = signals_.take()) interrupted_by_ = signal;
      if (interrupted_by_ == 0) return std::nullopt;
      return base::failed("interrupted by " + base::signal_name(interrupted_by_));
    };
    return settings;
  }

  // samply takes executable memory that it finds for a file without a name, and code in it for that file's:
  // it must be there before there is any, so that the module is loaded once more in a new process.
  std::optional<Failure> start_samply(const Ready& ready) {
    auto version = samply_version();
    if (!version) return as_failure(version.error());
    manifest_.collector_version = "samply " + *version;
    manifest_.phase_isolation = "process";
    child_.reset();
    if (auto failure = start()) return failure;
    auto samply = SamplyCollector::start(collector_settings());
    if (!samply) return as_failure(samply.error());
    samply_ = *std::move(samply);
    Ready again;
    if (auto failure = load(again)) return failure;
    if (again.module_sha256 == ready.module_sha256) return {};
    return same("the module was replaced by another while it was recorded");
  }

  std::optional<Failure> start_perf() {
    auto version = perf_version();
    if (!version) return as_failure(version.error());
    manifest_.collector_version = "perf " + *version;
    PerfSettings settings{collector_settings(), request_.settings.stack_bytes};
    auto perf = PerfCollector::start(std::move(settings), std::move(to_perf_), std::move(from_perf_));
    if (!perf) return as_failure(perf.error());
    perf_ = *std::move(perf);
    manifest_.event = perf_->event();
    return {};
  }

  static Failure as_failure(const base::Error& error) { return {error, stored_sentence(error)}; }

  // Nothing is complete before the collector's part is.
  std::optional<Failure> convert(uint64_t start_monotonic_ns) {
    manifest_.collector_pending = true;
    if (auto updated = writer_->update(manifest_); !updated) return as_failure(updated.error());
    auto failure = perf_ ? convert_perf(start_monotonic_ns) : adopt_samply();
    manifest_.collector_pending = failure.has_value();
    return failure;
  }

  std::optional<Failure> adopt_samply() {
    auto said = samply_->finish();
    if (!said) return as_failure(said.error());
    for (std::string& sentence : *said) manifest_.diagnostics.push_back(std::move(sentence));
    return adopt({kSamplyFile, kCollectorLogFile});
  }

  std::optional<Failure> adopt(const std::vector<std::string>& files) {
    for (const std::string& file : files) {
      auto adopted = writer_->adopt(file, capture::Limits().file_bytes);
      if (!adopted) return as_failure(adopted.error());
    }
    return {};
  }

  std::optional<Failure> convert_perf(uint64_t start_monotonic_ns) {
    auto failed = as_failure;
    if (auto stopped = perf_->stop(); !stopped) return failed(stopped.error());
    const capture::Limits limits;
    auto text =
        base::system_files().read(base::join_path(request_.out, capture::kImagesFile), limits.decoded_bytes);
    if (!text) return failed(text.error());
    auto images = capture::parse_images(base::as_text(*text), capture::kImagesFile, limits);
    if (!images) return failed(images.error());
    auto timed = base::system_files().read(base::join_path(request_.out, capture::kIterationsFile),
                                           limits.decoded_bytes);
    if (!timed) return failed(timed.error());
    auto batches = capture::decode_iterations(*timed, capture::kIterationsFile, limits);
    if (!batches) return failed(batches.error());
    auto samples = perf_->convert(*images, TimedWindows(*batches, start_monotonic_ns));
    if (!samples) return failed(samples.error());
    if (samples->samples.empty()) {
      manifest_.diagnostics.push_back("perf took no samples: the measured phase was short for " +
                                      std::to_string(request_.rate_hz) + " Hz");
    }
    if (request_.settings.stack_bytes) {
      manifest_.diagnostics.push_back(
          "perf.data holds raw stacks, and with them whatever the guest and the recorder "
          "kept there: think before you hand the capture on");
    }
    auto written = writer_->write(capture::kSamplesFile, base::as_bytes(to_json_text(*samples)));
    if (written) {
      written = writer_->write(kPerfPprofFile, to_pprof(export_context(manifest_), *images, *samples));
    }
    if (!written) return failed(written.error());
    return adopt({kPerfDataFile, kPerfJitFile, kCollectorLogFile});
  }

  std::optional<Failure> finish(Done done) {
    // The last word was said; what is left of the process is its exit.
    child_->wait(kTickMs);
    if (auto failure = adopt(done.files)) return failure;
    manifest_.phases = std::move(done.phases);
    manifest_.completed_iterations = done.iterations;
    manifest_.completed_invocations = done.invocations;
    manifest_.execution_duration_ns = done.wall_ns;
    manifest_.execution_cpu_ns = done.cpu_ns;
    manifest_.code_sha256 = done.code_sha256;
    if (!perf_) manifest_.event = std::move(done.event);
    if (!done.collector_version.empty()) manifest_.collector_version = std::move(done.collector_version);
    for (std::string& sentence : done.diagnostics) manifest_.diagnostics.push_back(std::move(sentence));
    manifest_.losses = done.losses;
    if (done.losses.journal_records > 0) {
      return same("the code journal lost " + std::to_string(done.losses.journal_records) +
                  " records: more code came and went than it holds; record for a shorter time");
    }
    if (perf_ || samply_) {
      if (auto failure = convert(done.start_monotonic_ns)) return failure;
    }
    auto finished = writer_->finish(manifest_);
    if (!finished) return as_failure(finished.error());
    manifest_.complete = true;
    return {};
  }

  // Waits for one message under all limits; anything else the child says or does is a failure.
  template <class Message>
  std::optional<Failure> expect(const char* kind, Message& result,
                                base::Result<Message> (*read)(const base::Json&)) {
    base::Json message;
    if (auto failure = await(message)) return failure;
    if (message_kind(message) == "failure") {
      auto told = read_failure(message);
      return told ? *told : same("the recording process sent nonsense: " + told.error().message);
    }
    if (message_kind(message) != kind) return same("the recording process sent nonsense");
    auto value = read(message);
    if (!value) return same("the recording process sent nonsense: " + value.error().message);
    result = std::move(*value);
    return {};
  }

  std::optional<Failure> await(base::Json& message) {
    bool open = true;
    while (true) {
      auto next = channel_->next();
      if (!next) return same("the recording process sent nonsense: " + next.error().message);
      if (*next) {
        message = std::move(**next);
        return {};
      }
      if (!open) return died();
      std::array<pollfd, 2> wait_for = {pollfd{channel_->fd(), POLLIN, 0}, pollfd{signals_.fd(), POLLIN, 0}};
      ::poll(wait_for.data(), wait_for.size(), kTickMs);
      if (auto failure = look_after()) return failure;
      open = channel_->fill();
    }
  }

  // Signals, limits, progress.
  std::optional<Failure> look_after() {
    if (int signal = signals_.take()) {
      interrupted_by_ = signal;
      return same("interrupted by " + base::signal_name(signal));
    }
    Progress progress = progress_.read();
    if (base::monotonic_ns() - begun_ns_ > timeout_ns_) {
      return same("the recording took longer than the collection timeout of " +
                  base::format_duration(timeout_ns_) + ", " + where(progress) + kMoreTime);
    }
    if (uint64_t resident = child_->resident_bytes(); resident > memory_limit_) {
      return same("the guest's process took more than the memory limit of " +
                  std::to_string(memory_limit_ >> 20) + " MiB, " + where(progress));
    }
    if (perf_ || samply_) {
      const auto gone = perf_ ? perf_->ended() : samply_->ended();
      // It ends with the process that it looks at.
      if (gone && !child_->wait(0)) return same(gone->message);
    }
    if (request_.on_progress) {
      progress.wanted_iterations = manifest_.requested_iterations;
      progress.wanted_duration_ns = manifest_.requested_duration_ns;
      request_.on_progress(progress);
    }
    return {};
  }

  Failure died() {
    auto ended = child_->wait(1000);
    if (!ended) return same("the recording process fell silent " + where(progress_.read()));
    std::string text = "the recording process " + base::to_string(*ended) + " " + where(progress_.read());
    if (ended->signal == SIGKILL) text += "; the machine may have run out of memory";
    return same(text);
  }

  const RecordRequest& request_;
  SignalWatch signals_;
  SharedProgress progress_;
  const uint64_t begun_ns_ = base::monotonic_ns();
  const uint64_t timeout_ns_;
  uint64_t memory_limit_ = 0;
  std::optional<Channel> channel_;
  std::optional<base::Process> child_;
  base::Fd to_perf_, from_perf_;  // until perf is started
  std::unique_ptr<PerfCollector> perf_;
  std::unique_ptr<SamplyCollector> samply_;
  std::optional<capture::CaptureWriter> writer_;
  capture::Manifest manifest_;
  int interrupted_by_ = 0;
  bool created_ = false;
};

}  // namespace

uint64_t default_timeout_ns(const capture::Workload& workload) {
  const uint64_t duration_ns = wanted_duration_ns(workload);
  return duration_ns + std::min(kCollectionAllowanceNs, UINT64_MAX - duration_ns);
}

RecordOutcome record(const RecordRequest& asked) {
  RecordRequest request = asked;
  // Its files are made of the code.
  if (request.workload.backend == base::Backend::Perf) request.settings.include_code = true;
  RecordOutcome outcome;
  if (auto refused = refuse(request)) {
    outcome.error = std::move(refused);
    return outcome;
  }
  auto progress = SharedProgress::create();
  if (!progress) {
    outcome.error = progress.error();
    return outcome;
  }
  return Recording(request, std::move(*progress)).run();
}

}  // namespace wago::harness
