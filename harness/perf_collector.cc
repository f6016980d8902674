#include "harness/perf_collector.h"

#include <elf.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/duration.h"
#include "base/files.h"
#include "capture/schema.h"
#include "harness/perf_data.h"
#include "harness/perf_script.h"

namespace wago::harness {

namespace {

using base::failed;
using base::Fd;
using base::Process;
using base::Result;

constexpr int kTickMs = 50;
// perf looks through /proc for what is mapped before it listens.
constexpr int kStartMs = 60'000;
constexpr uint64_t kMaxScriptBytes = uint64_t{8} << 30;
constexpr int kPerfControlFd = 3;
// Measured with perf 6.1 on a machine that was busy otherwise: 2 to 5 ms.
constexpr uint64_t kConversionNsPerFunction = 2'000'000;
constexpr CollectorKind kPerf = {
    .name = "perf",
    .missing = "(Debian has it in linux-perf); backend pprof needs no program",
    .chatter = "[ perf record: ",
    .paranoid = 2,
};

// Whether this processor counts cycles for us.
bool counts_cycles() {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.config = PERF_COUNT_HW_CPU_CYCLES;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  attributes.disabled = 1;
  return Fd(static_cast<int>(::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC)))
      .ok();
}

Result<std::vector<uint64_t>> jitdump_addresses_of(const std::string& file) {
  auto dump = base::system_files().read(file, capture::Limits().file_bytes);
  if (!dump) return dump.error();
  return jitdump_addresses(base::as_text(*dump));
}

// Where perf puts code in the files that it makes: their entry point.
Result<uint32_t> text_offset_of(const std::string& file) {
  Elf64_Ehdr header{};
  const Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd.ok() || ::read(fd.get(), &header, sizeof header) != sizeof header) {
    return failed("perf inject made no file of the first function", {.file = file});
  }
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_entry > 4096) {
    return failed("is no file that perf inject makes", {.file = file});
  }
  return static_cast<uint32_t>(header.e_entry);
}

}  // namespace

Result<std::string> perf_version() {
  return CollectorProgram::version(kPerf, "perf version ");
}

PerfCollector::PerfCollector(PerfSettings settings, Fd ours)
    : stack_bytes_(settings.stack_bytes), program_(kPerf, std::move(settings)), control_(std::move(ours)) {}

// What users have configured for themselves would change what is measured.
Result<Process> PerfCollector::spawn(const std::vector<std::string>& arguments,
                                     std::vector<std::pair<int, int>> descriptors) const {
  std::vector<std::string> all = {"--buildid-dir", program_.path(kPerfBuildIdFolder)};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return program_.spawn({"PERF_CONFIG=/dev/null"}, all, std::move(descriptors));
}

Result<std::unique_ptr<PerfCollector>> PerfCollector::start(PerfSettings settings, Fd ours, Fd its) {
  std::unique_ptr<PerfCollector> collector(new PerfCollector(std::move(settings), std::move(ours)));
  const CollectorProgram& program = collector->program_;
  const CollectorSettings& set = program.settings();
  const bool cycles = counts_cycles();
  collector->event_ = cycles ? "cycles:u" : "cpu-clock:u";
  collector->unit_ = cycles ? "cycles" : "nanoseconds";
  const std::string number = std::to_string(kPerfControlFd);
  std::vector<std::string> arguments = {
      "record",       "-N",
      "-o",           program.path(kPerfDataFile),
      "-p",           std::to_string(set.pid),
      "-D",           "-1",
      "--control",    "fd:" + number + "," + number,
      "--clockid",    "mono",
      "-e",           collector->event_,
      "-F",           std::to_string(set.rate_hz),
      "--call-graph", collector->stack_bytes_ ? "dwarf," + std::to_string(collector->stack_bytes_) : "fp"};
  auto process = collector->spawn(arguments, {{its.get(), kPerfControlFd}});
  if (!process) return process.error();
  collector->record_.emplace(std::move(*process));
  its.reset();  // so that we notice when perf is gone
  auto log_in_bounds = [&program]() { return program.log_in_bounds("it"); };
  if (auto listens = collector->control_.command("ping", kStartMs, log_in_bounds); !listens) {
    const auto ended = collector->record_->wait(kTickMs * 20);
    if (ended) return program.failed_to_start("perf record", *ended);
    collector->record_->kill_group();
    return failed("perf record started and does not listen: " + listens.error().message +
                  "; backend pprof needs no perf");
  }
  return collector;
}

std::optional<base::Error> PerfCollector::ended() {
  return program_.ended(*record_, "perf record");
}

Result<void> PerfCollector::stop() {
  program_.begin_conversion();
  // Where the recording process has ended already, so may perf have.
  (void)control_.command("stop", kPerfAnswerMs);
  if (auto waited = program_.wait_for(*record_, "perf record", kPerfDataFile); !waited) return waited;
  if (program_.size_of(kPerfDataFile) == 0)
    return failed("perf record wrote nothing: " + program_.log_tail());
  return {};
}

Result<void> PerfCollector::inject() {
  auto process =
      spawn({"inject", "--jit", "-i", program_.path(kPerfDataFile), "-o", program_.path(kPerfJitFile)});
  if (!process) return process.error();
  return program_.wait_for(*process, "perf inject", kPerfJitFile);
}

Result<capture::Samples> PerfCollector::convert(const capture::Images& images, const TimedWindows& windows) {
  auto converted = [&]() -> Result<capture::Samples> {
    if (auto fits = check_size(); !fits) return fits.error();
    if (auto injected = inject(); !injected) return injected.error();
    return read_script(images, windows);
  }();
  if (!converted) discard_conversion();
  return converted;
}

std::string PerfCollector::dump_name() const {
  return "jit-" + std::to_string(program_.settings().pid) + ".dump";
}

// What cannot end in time need not begin.
Result<void> PerfCollector::check_size() const {
  auto functions = jitdump_addresses_of(program_.path(dump_name()));
  if (!functions) return functions.error();
  const uint64_t needed_ns = functions->size() * kConversionNsPerFunction;
  const uint64_t allowed_ns = program_.settings().conversion_timeout_ns;
  if (needed_ns <= allowed_ns) return {};
  return failed("perf makes a file of each of the " + std::to_string(functions->size()) +
                " functions, for which the conversion timeout of " + base::format_duration(allowed_ns) +
                " is too short: --conversion-timeout " +
                base::format_duration((needed_ns / 1'000'000'000 + 1) * 1'000'000'000) +
                " allows it, and backend pprof makes none");
}

void PerfCollector::discard_conversion() const {
  namespace fs = std::filesystem;
  const std::string made = "jitted-" + std::to_string(program_.settings().pid) + "-";
  std::error_code error;
  std::vector<fs::path> gone = {program_.path(kPerfJitFile), program_.path(kPerfBuildIdFolder)};
  for (fs::directory_iterator at(program_.settings().directory, error), end; !error && at != end;
       at.increment(error)) {
    if (at->path().filename().string().starts_with(made)) gone.push_back(at->path());
  }
  for (const fs::path& path : gone) fs::remove_all(path, error);
}

Result<capture::Samples> PerfCollector::read_script(const capture::Images& images,
                                                    const TimedWindows& windows) {
  const pid_t pid = program_.settings().pid;
  auto functions = jitdump_addresses_of(program_.path(dump_name()));
  if (!functions) return functions.error();
  const auto recorded = count_perf_samples(program_.path(kPerfDataFile));
  if (!recorded) return recorded.error();
  PerfScriptSettings script;
  script.pid = pid;
  script.rate_hz = program_.settings().rate_hz;
  script.raw_stacks = stack_bytes_ > 0;
  script.unit = unit_;
  script.windows = windows;
  script.addresses = *std::move(functions);
  auto offset = text_offset_of(program_.path("jitted-" + std::to_string(pid) + "-0.so"));
  if (!offset) return offset.error();
  script.text_offset = *offset;
  PerfScript parser(std::move(script), images);

  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return failed(std::string("cannot make a pipe: ") + std::strerror(errno));
  const Fd read_end(ends[0]);
  Fd write_end(ends[1]);
  std::vector<std::string> arguments = {"script",
                                        "-i",
                                        program_.path(kPerfJitFile),
                                        "--ns",
                                        "--no-inline",
                                        "--no-demangle",
                                        "--show-lost-events",
                                        "-F",
                                        kPerfScriptFields};
  // Raw stacks are unwound as far as they go; the kernel has cut the others already.
  if (stack_bytes_) arguments.insert(arguments.end(), {"--max-stack", "8192"});
  auto process = spawn(arguments, {{write_end.get(), 1}});
  if (!process) return process.error();
  write_end.reset();

  uint64_t bytes = 0;
  bool open = true;
  std::vector<char> buffer(1 << 16);
  auto read_some = [&]() -> Result<void> {
    for (int turn = 0; open && turn < 64; ++turn) {
      pollfd ready{read_end.get(), POLLIN, 0};
      if (::poll(&ready, 1, kTickMs) <= 0) return {};
      const ssize_t got = ::read(read_end.get(), buffer.data(), buffer.size());
      if (got <= 0) {
        open = false;
        break;
      }
      bytes += static_cast<uint64_t>(got);
      if (bytes > kMaxScriptBytes) return failed("perf script prints more than 8 GiB");
      if (auto fed = parser.feed(std::string_view(buffer.data(), static_cast<size_t>(got))); !fed) return fed;
    }
    return {};
  };
  if (auto waited = program_.wait_for(*process, "perf script", "", read_some); !waited) {
    return waited.error();
  }
  while (open) {
    if (auto rest = read_some(); !rest) return rest.error();
    if (program_.is_late()) return failed("perf script has ended, but its output does not");
  }
  if (auto finished = parser.finish(); !finished) return finished.error();
  if (const uint64_t lost = parser.lost()) {
    return failed("perf lost " + std::to_string(lost) +
                  " events, so that what is left is no fair sample; a lower --rate" +
                  (stack_bytes_ ? " or fewer --stack-bytes" : "") + " may help");
  }
  capture::Samples samples = parser.take();
  if (const uint64_t printed = parser.samples_read(); printed != *recorded) {
    const std::string said = program_.log_tail();
    return failed("perf script printed " + (printed ? std::to_string(printed) : "none") + " of the " +
                  std::to_string(*recorded) + " samples that perf record took" +
                  (said.empty() ? "" : ": " + said) + "; " + kPerfDataFile +
                  " is kept, for a perf of another version to read, and backend pprof needs no perf");
  }
  return samples;
}

}  // namespace wago::harness
