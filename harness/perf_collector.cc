#include "harness/perf_collector.h"

#include <elf.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/clock.h"
#include "base/duration.h"
#include "base/files.h"
#include "base/text.h"
#include "capture/schema.h"
#include "harness/jitdump.h"
#include "harness/perf_script.h"

namespace wago::harness {

namespace {

using base::failed;
using base::Fd;
using base::Process;
using base::Result;
using base::unmeasurable;

constexpr int kTickMs = 50;
// perf looks through /proc for what is mapped before it listens.
constexpr int kStartMs = 60'000;
constexpr uint64_t kMaxScriptBytes = uint64_t{8} << 30;
constexpr uint64_t kMaxLogBytes = uint64_t{16} << 20;
constexpr int kPerfControlFd = 3;
constexpr const char* kParanoidFile = "/proc/sys/kernel/perf_event_paranoid";

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

std::string first_line_of(const char* file) {
  auto bytes = base::system_files().read(file, 4096);
  if (!bytes) return "";
  const std::string text(bytes->begin(), bytes->end());
  return text.substr(0, text.find('\n'));
}

uint64_t size_of(const std::string& path) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0 ? static_cast<uint64_t>(status.st_size) : 0;
}

Result<std::string> perf_program() {
  if (auto found = base::find_program("perf")) return *found;
  return unmeasurable(
      "perf is not installed, or not in PATH (Debian has it in linux-perf); backend pprof needs no program");
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
  auto program = perf_program();
  if (!program) return program.error();
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return failed(std::string("cannot make a pipe: ") + std::strerror(errno));
  const Fd read_end(ends[0]);
  Fd write_end(ends[1]);
  auto process = Process::spawn(
      {.program = *program, .argv = {"perf", "--version"}, .descriptors = {{write_end.get(), 1}}});
  if (!process) return unmeasurable(process.error().message);
  write_end.reset();
  const auto ended = process->wait(kPerfAnswerMs);
  char text[256];
  const ssize_t got = ended && ended->ok() ? ::read(read_end.get(), text, sizeof text) : 0;
  std::string line(text, static_cast<size_t>(std::max<ssize_t>(got, 0)));
  line.resize(std::min(line.find('\n'), line.size()));
  if (line.starts_with("perf version ")) line.erase(0, 13);
  if (line.empty())
    return unmeasurable("perf --version says nothing; is " + base::display(*program) + " perf?");
  return base::printable(line);
}

std::string PerfCollector::path(const std::string& name) const {
  return base::join_path(settings_.directory, name);
}

// Of perf's last words those that say something.
std::string PerfCollector::log_tail() const {
  auto bytes = base::system_files().read(path(kPerfLogFile), kMaxLogBytes);
  if (!bytes) return "";
  const std::string text(bytes->begin(), bytes->end());
  std::string said;
  for (size_t begin = 0; begin < text.size() && said.size() < 300;) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    const size_t from = line.find_first_not_of(" \t");
    if (from != std::string_view::npos && !line.starts_with("[ perf record: Woken")) {
      said += (said.empty() ? "" : " ") + base::printable(line.substr(from));
    }
    begin = end + 1;
  }
  return said.substr(0, 400);
}

base::Error PerfCollector::refusal(const std::string& what) const {
  const std::string said = log_tail();
  std::string sentence = what;
  if (!said.empty()) sentence += ": " + said;
  const std::string paranoid = first_line_of(kParanoidFile);
  const bool permission = said.find("ermission") != std::string::npos ||
                          said.find("paranoid") != std::string::npos ||
                          said.find("not permitted") != std::string::npos;
  if (permission && !paranoid.empty()) {
    sentence += "; kernel.perf_event_paranoid is " + paranoid +
                ", and `sudo sysctl kernel.perf_event_paranoid=2` would allow it";
  }
  return unmeasurable(sentence);
}

// Its errors, and its output unless that goes elsewhere, are added to the log.
Result<Process> PerfCollector::spawn(const std::vector<std::string>& arguments, int output,
                                     const Fd* control) const {
  auto program = perf_program();
  if (!program) return program.error();
  const std::string log = path(kPerfLogFile);
  const Fd log_fd(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  const Fd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!log_fd.ok() || !nothing.ok())
    return failed(std::string("cannot open: ") + std::strerror(errno), {.file = log});
  base::SpawnOptions options;
  // What users have configured for themselves would change what is measured.
  options.program = "/usr/bin/env";
  options.argv = {"env",    "LC_ALL=C",      "PERF_CONFIG=/dev/null",
                  *program, "--buildid-dir", path(kPerfBuildIdFolder)};
  options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
  options.descriptors = {{nothing.get(), 0}, {output < 0 ? log_fd.get() : output, 1}, {log_fd.get(), 2}};
  if (control) options.descriptors.emplace_back(control->get(), kPerfControlFd);
  return Process::spawn(options);
}

Result<std::unique_ptr<PerfCollector>> PerfCollector::start(PerfSettings settings, Fd ours, Fd its) {
  // perf fills its folder of build ids only where that is named from the root.
  std::error_code error;
  const auto absolute = std::filesystem::absolute(settings.directory, error);
  if (!error) settings.directory = absolute.string();
  std::unique_ptr<PerfCollector> collector(new PerfCollector(std::move(settings), std::move(ours)));
  const PerfSettings& set = collector->settings_;
  const bool cycles = counts_cycles();
  collector->event_ = cycles ? "cycles:u" : "cpu-clock:u";
  collector->unit_ = cycles ? "cycles" : "nanoseconds";
  const std::string number = std::to_string(kPerfControlFd);
  std::vector<std::string> arguments = {
      "record",       "-N",
      "-o",           collector->path(kPerfDataFile),
      "-p",           std::to_string(set.pid),
      "-D",           "-1",
      "--control",    "fd:" + number + "," + number,
      "--clockid",    "mono",
      "-e",           collector->event_,
      "-F",           std::to_string(set.rate_hz),
      "--call-graph", set.stack_bytes ? "dwarf," + std::to_string(set.stack_bytes) : "fp"};
  auto process = collector->spawn(arguments, -1, &its);
  if (!process) return process.error();
  collector->record_.emplace(std::move(*process));
  its.reset();  // so that we notice when perf is gone
  auto log_in_bounds = [&]() -> Result<void> {
    if (size_of(collector->path(kPerfLogFile)) > kMaxLogBytes) return failed("it floods its log");
    return {};
  };
  if (auto listens = collector->control_.command("ping", kStartMs, log_in_bounds); !listens) {
    const auto ended = collector->record_->wait(kTickMs * 20);
    if (ended && ended->signal) return failed("perf record " + base::to_string(*ended));
    if (ended) return collector->refusal("perf record " + base::to_string(*ended));
    collector->record_->kill_group();
    return failed("perf record started and does not listen: " + listens.error().message);
  }
  return collector;
}

std::optional<base::Error> PerfCollector::ended() {
  const auto how = record_->wait(0);
  if (!how) {
    if (size_of(path(kPerfLogFile)) > kMaxLogBytes) return failed("perf record floods its log");
    return std::nullopt;
  }
  const std::string said = log_tail();
  return failed("perf record " + base::to_string(*how) + " while the workload ran" +
                (said.empty() ? "" : ": " + said));
}

Result<void> PerfCollector::stop() {
  deadline_ns_ = base::monotonic_ns() + settings_.conversion_timeout_ns;
  // Where the recording process has ended already, so may perf have.
  (void)control_.command("stop", kPerfAnswerMs);
  if (auto waited = wait_for(*record_, "perf record", kPerfDataFile, {}); !waited) return waited;
  if (size_of(path(kPerfDataFile)) == 0) return failed("perf record wrote nothing: " + log_tail());
  return {};
}

// Until it has ended well; `work`, if there is any, is what to do meanwhile, again and again.
Result<void> PerfCollector::wait_for(Process& process, const std::string& what, const std::string& file,
                                     const std::function<Result<void>()>& work) {
  const uint64_t limit = capture::Limits().file_bytes;
  auto give_up = [&](base::Error error) {
    process.kill_group();
    return error;
  };
  while (true) {
    const auto ended = process.wait(work ? 0 : kTickMs);
    if (work) {
      if (auto worked = work(); !worked) return give_up(worked.error());
    }
    if (ended) {
      if (ended->ok()) return {};
      const std::string said = log_tail();
      return failed(what + " " + base::to_string(*ended) + (said.empty() ? "" : ": " + said));
    }
    if (base::monotonic_ns() > deadline_ns_) {
      return give_up(failed(what + " took longer than the conversion timeout of " +
                            base::format_duration(settings_.conversion_timeout_ns) +
                            "; --conversion-timeout allows more"));
    }
    if (!file.empty() && size_of(path(file)) > limit) {
      return give_up(
          failed(what + " writes more than the " + std::to_string(limit >> 20) +
                 " MiB that a file of a capture may have: record for a shorter time or with a lower --rate"));
    }
    if (size_of(path(kPerfLogFile)) > kMaxLogBytes) return give_up(failed(what + " floods its log"));
    if (auto stopped = settings_.look_after()) return give_up(*stopped);
  }
}

Result<void> PerfCollector::inject() {
  auto process = spawn({"inject", "--jit", "-i", path(kPerfDataFile), "-o", path(kPerfJitFile)}, -1, nullptr);
  if (!process) return process.error();
  return wait_for(*process, "perf inject", kPerfJitFile, {});
}

Result<capture::Samples> PerfCollector::convert(const capture::Images& images) {
  if (auto injected = inject(); !injected) return injected.error();
  return read_script(images);
}

Result<capture::Samples> PerfCollector::read_script(const capture::Images& images) {
  const std::string dump_name = "jit-" + std::to_string(settings_.pid) + ".dump";
  auto dump = base::system_files().read(path(dump_name), capture::Limits().file_bytes);
  if (!dump) return dump.error();
  PerfScriptSettings script;
  script.pid = settings_.pid;
  script.rate_hz = settings_.rate_hz;
  script.raw_stacks = settings_.stack_bytes > 0;
  script.unit = unit_;
  script.addresses =
      jitdump_addresses(std::string_view(reinterpret_cast<const char*>(dump->data()), dump->size()));
  auto offset = text_offset_of(path("jitted-" + std::to_string(settings_.pid) + "-0.so"));
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
                                        path(kPerfJitFile),
                                        "--ns",
                                        "--no-inline",
                                        "--no-demangle",
                                        "--show-lost-events",
                                        "-F",
                                        kPerfScriptFields};
  // Raw stacks are unwound as far as they go; the kernel has cut the others already.
  if (settings_.stack_bytes) arguments.insert(arguments.end(), {"--max-stack", "8192"});
  auto process = spawn(arguments, write_end.get(), nullptr);
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
  if (auto waited = wait_for(*process, "perf script", "", read_some); !waited) return waited.error();
  while (open) {
    if (auto rest = read_some(); !rest) return rest.error();
    if (base::monotonic_ns() > deadline_ns_) return failed("perf script has ended, but its output does not");
  }
  if (auto finished = parser.finish(); !finished) return finished.error();
  if (const uint64_t lost = parser.lost()) {
    return failed("perf lost " + std::to_string(lost) +
                  " events, so that what is left is no fair sample; a lower --rate" +
                  (settings_.stack_bytes ? " or fewer --stack-bytes" : "") + " may help");
  }
  return parser.take();
}

}  // namespace wago::harness
