#include "harness/collector_program.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/clock.h"
#include "base/duration.h"
#include "base/files.h"
#include "base/text.h"
#include "capture/schema.h"

namespace wago::harness {

namespace {

using base::failed;
using base::Fd;
using base::Process;
using base::Result;
using base::unmeasurable;

constexpr int kTickMs = 50;
constexpr int kVersionMs = 20'000;
constexpr uint64_t kMaxLogBytes = uint64_t{16} << 20;
constexpr const char* kParanoidFile = "/proc/sys/kernel/perf_event_paranoid";

std::string first_line_of(const char* file) {
  auto bytes = base::system_files().read(file, 4096);
  if (!bytes) return "";
  const std::string text(bytes->begin(), bytes->end());
  return text.substr(0, text.find('\n'));
}

Result<std::string> find(const CollectorKind& kind) {
  if (auto found = base::find_program(kind.name)) return *found;
  return unmeasurable(std::string(kind.name) + " is not installed, or not in PATH " + kind.missing);
}

}  // namespace

Result<std::string> CollectorProgram::version(const CollectorKind& kind, std::string_view prefix) {
  auto program = find(kind);
  if (!program) return program.error();
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return failed(std::string("cannot make a pipe: ") + std::strerror(errno));
  const Fd read_end(ends[0]);
  Fd write_end(ends[1]);
  auto process = Process::spawn(
      {.program = *program, .argv = {kind.name, "--version"}, .descriptors = {{write_end.get(), 1}}});
  if (!process) return unmeasurable(process.error().message);
  write_end.reset();
  const auto ended = process->wait(kVersionMs);
  char text[256];
  const ssize_t got = ended && ended->ok() ? ::read(read_end.get(), text, sizeof text) : 0;
  std::string line(text, static_cast<size_t>(std::max<ssize_t>(got, 0)));
  line.resize(std::min(line.find('\n'), line.size()));
  if (line.starts_with(prefix)) line.erase(0, prefix.size());
  if (line.empty()) {
    return unmeasurable(
        std::string("says nothing to --version, so it is no ") + kind.name + " that works " + kind.missing,
        {.file = *program});
  }
  return base::printable(line);
}

CollectorProgram::CollectorProgram(const CollectorKind& kind, CollectorSettings settings)
    : kind_(kind), settings_(std::move(settings)) {
  // perf fills its folder of build ids only where that is named from the root.
  std::error_code error;
  const auto absolute = std::filesystem::absolute(settings_.directory, error);
  if (!error) settings_.directory = absolute.string();
}

std::string CollectorProgram::path(const std::string& name) const {
  return base::join_path(settings_.directory, name);
}

uint64_t CollectorProgram::size_of(const std::string& file) const {
  struct stat status;
  return ::stat(path(file).c_str(), &status) == 0 ? static_cast<uint64_t>(status.st_size) : 0;
}

std::string CollectorProgram::log_tail() const {
  auto bytes = base::system_files().read(path(kCollectorLogFile), kMaxLogBytes);
  if (!bytes) return "";
  constexpr size_t kLongestLine = 4096;
  const std::string text(bytes->begin(), bytes->end());
  std::string said;
  for (size_t begin = 0; begin < text.size() && said.size() < 300;) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, std::min(end - begin, kLongestLine));
    const size_t from = line.find_first_not_of(" \t");
    const bool chatter = !kind_.chatter.empty() && line.starts_with(kind_.chatter);
    if (from != std::string_view::npos && !chatter) {
      said += (said.empty() ? "" : " ") + base::printable(line.substr(from));
    }
    begin = end + 1;
  }
  // Captures keep it, and are handed on.
  const std::string here = settings_.directory + "/";
  for (size_t at = 0; (at = said.find(here, at)) != std::string::npos;) said.erase(at, here.size());
  return said.substr(0, 400);
}

base::Error CollectorProgram::refusal(const std::string& what) const {
  const std::string said = log_tail();
  std::string sentence = what;
  if (!said.empty()) sentence += ": " + said;
  const std::string paranoid = first_line_of(kParanoidFile);
  const bool permission = said.find("ermission") != std::string::npos ||
                          said.find("paranoid") != std::string::npos ||
                          said.find("not permitted") != std::string::npos;
  if (permission && !paranoid.empty()) {
    sentence += "; kernel.perf_event_paranoid is " + paranoid;
    sentence += std::atoi(paranoid.c_str()) > kind_.paranoid
                    ? ", and `sudo sysctl kernel.perf_event_paranoid=" + std::to_string(kind_.paranoid) +
                          "` would allow it"
                    : ", which allows it: a container or sandbox here may refuse perf events to all";
  }
  return unmeasurable(sentence);
}

base::Error CollectorProgram::failed_to_start(const std::string& what, const base::Ended& ended) const {
  const std::string sentence = what + " " + base::to_string(ended);
  return ended.signal ? failed(sentence) : refusal(sentence);
}

Result<void> CollectorProgram::log_in_bounds(const std::string& what) const {
  if (size_of(kCollectorLogFile) > kMaxLogBytes) return failed(what + " floods its log");
  return {};
}

Result<Process> CollectorProgram::spawn(const std::vector<std::string>& environment,
                                        const std::vector<std::string>& arguments,
                                        std::vector<std::pair<int, int>> descriptors) const {
  auto program = find(kind_);
  if (!program) return program.error();
  const std::string log = path(kCollectorLogFile);
  const Fd log_fd(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  const Fd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!log_fd.ok() || !nothing.ok())
    return failed(std::string("cannot open: ") + std::strerror(errno), {.file = log});
  base::SpawnOptions options;
  options.program = "/usr/bin/env";
  options.argv = {"env", "LC_ALL=C"};
  options.argv.insert(options.argv.end(), environment.begin(), environment.end());
  options.argv.push_back(*program);
  options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
  const bool has_output =
      std::any_of(descriptors.begin(), descriptors.end(), [](const auto& pair) { return pair.second == 1; });
  descriptors.emplace_back(nothing.get(), 0);
  if (!has_output) descriptors.emplace_back(log_fd.get(), 1);
  descriptors.emplace_back(log_fd.get(), 2);
  options.descriptors = std::move(descriptors);
  return Process::spawn(options);
}

std::optional<base::Error> CollectorProgram::ended(Process& process, const std::string& what) const {
  const auto how = process.wait(0);
  if (!how) {
    auto bounded = log_in_bounds(what);
    return bounded ? std::nullopt : std::optional(bounded.error());
  }
  const std::string said = log_tail();
  return failed(what + " " + base::to_string(*how) + " while the workload ran" +
                (said.empty() ? "" : ": " + said));
}

void CollectorProgram::begin_conversion() {
  deadline_ns_ = base::monotonic_ns() + settings_.conversion_timeout_ns;
}

bool CollectorProgram::is_late() const {
  return base::monotonic_ns() > deadline_ns_;
}

Result<void> CollectorProgram::wait_for(Process& process, const std::string& what, const std::string& file,
                                        const std::function<Result<void>()>& work) const {
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
    if (is_late()) {
      return give_up(failed(what + " took longer than the conversion timeout of " +
                            base::format_duration(settings_.conversion_timeout_ns) +
                            "; --conversion-timeout allows more"));
    }
    if (!file.empty() && size_of(file) > limit) {
      return give_up(
          failed(what + " writes more than the " + std::to_string(limit >> 20) +
                 " MiB that a file of a capture may have: record for a shorter time or with a lower --rate"));
    }
    if (auto bounded = log_in_bounds(what); !bounded) return give_up(bounded.error());
    if (auto stopped = settings_.look_after()) return give_up(*stopped);
  }
}

}  // namespace wago::harness
