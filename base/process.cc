#include "base/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/files.h"

namespace wago::base {

namespace {

Error system_failure(const char* what) {
  return failed(std::string(what) + ": " + std::strerror(errno));
}

// Everything below runs between fork and exec, where only async-signal-safe calls are allowed.
struct Exec {
  const char* program;
  int program_fd;
  char* const* argv;
  char* const* environment;
  const std::vector<std::pair<int, int>>* descriptors;
  int report;  // errno goes here when exec fails
  pid_t parent;
  bool first_to_be_killed;
};

[[noreturn]] void give_up(const Exec& exec) {
  int reason = errno;
  [[maybe_unused]] ssize_t written = ::write(exec.report, &reason, sizeof reason);
  ::_exit(127);
}

void prefer_as_victim() {
  int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  [[maybe_unused]] ssize_t written = ::write(file, "1000", 4);
  ::close(file);
}

[[noreturn]] void run_child(Exec exec) {
  ::setpgid(0, 0);
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) give_up(exec);
  // The parent may have died before the line above.
  if (::getppid() != exec.parent) ::_exit(127);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (int signal : {SIGINT, SIGTERM, SIGQUIT, SIGPIPE, SIGHUP}) ::signal(signal, SIG_DFL);
  if (exec.first_to_be_killed) prefer_as_victim();
  // First out of the way of every target number, then to where they belong.
  int high = exec.report;
  for (auto [from, to] : *exec.descriptors) high = std::max({high, from, to});
  exec.report = ::fcntl(exec.report, F_DUPFD_CLOEXEC, high + 1);
  if (exec.program_fd >= 0) {
    exec.program_fd = ::fcntl(exec.program_fd, F_DUPFD_CLOEXEC, high + 1);
    if (exec.program_fd < 0) give_up(exec);
  }
  int moved[16];
  size_t count = std::min<size_t>(exec.descriptors->size(), 16);
  for (size_t i = 0; i < count; ++i) {
    moved[i] = ::fcntl((*exec.descriptors)[i].first, F_DUPFD_CLOEXEC, high + 1);
    if (moved[i] < 0) give_up(exec);
  }
  for (size_t i = 0; i < count; ++i) {
    if (::dup2(moved[i], (*exec.descriptors)[i].second) < 0) give_up(exec);
  }
  // Descriptors that a caller forgot to mark must not reach the guest's process: all but the named ones close
  // on exec.
  ::syscall(SYS_close_range, 3u, ~0u, 4u /* CLOSE_RANGE_CLOEXEC */);
  for (size_t i = 0; i < count; ++i) {
    if (::fcntl((*exec.descriptors)[i].second, F_SETFD, 0) != 0) give_up(exec);
  }
  if (exec.program_fd >= 0) {
    ::fexecve(exec.program_fd, exec.argv, exec.environment);
  } else {
    ::execve(exec.program, exec.argv, exec.environment);
  }
  give_up(exec);
}

}  // namespace

void Fd::reset() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name ? "SIG" + std::string(name) : "signal " + std::to_string(signal);
}

std::string to_string(const Ended& ended) {
  if (ended.signal)
    return "died of signal " + std::to_string(ended.signal) + " (" + signal_name(ended.signal) + ")";
  return "exited with code " + std::to_string(ended.exit_code);
}

std::optional<std::string> find_program(const std::string& name) {
  auto runs = [](const std::string& path) { return ::access(path.c_str(), X_OK) == 0; };
  if (name.find('/') != std::string::npos) return runs(name) ? std::optional(name) : std::nullopt;
  const char* variable = std::getenv("PATH");
  std::string_view rest = variable ? variable : "/usr/local/bin:/usr/bin:/bin";
  while (true) {
    size_t colon = rest.find(':');
    std::string path = join_path(colon == 0 ? "." : rest.substr(0, colon), name);
    if (runs(path) && !system_files().is_directory(path)) return path;
    if (colon == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(colon + 1);
  }
}

Result<Process> Process::spawn(const SpawnOptions& options) {
  std::vector<char*> argv;
  for (const std::string& argument : options.argv) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  std::vector<char*> environment;
  for (char** variable = environ; *variable; ++variable) environment.push_back(*variable);
  for (const std::string& variable : options.more_environment) {
    environment.push_back(const_cast<char*>(variable.c_str()));
  }
  environment.push_back(nullptr);
  int pipe_ends[2];
  if (::pipe2(pipe_ends, O_CLOEXEC) != 0) return system_failure("cannot start a process");
  Fd report_read(pipe_ends[0]), report_write(pipe_ends[1]);
  Exec exec{options.program.c_str(), options.program_fd, argv.data(), environment.data(),
            &options.descriptors,    report_write.get(), ::getpid(),  options.first_to_be_killed};
  pid_t pid = ::fork();
  if (pid < 0) return system_failure("cannot start a process");
  if (pid == 0) run_child(exec);
  // In both, so that neither has to wait for the other.
  ::setpgid(pid, pid);
  report_write.reset();
  Process process(pid, Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))));
  int reason = 0;
  ssize_t got;
  do {
    got = ::read(report_read.get(), &reason, sizeof reason);
  } while (got < 0 && errno == EINTR);
  if (got == sizeof reason) {
    errno = reason;
    return system_failure(("cannot run " + options.program).c_str());
  }
  if (!process.pidfd_.ok()) return system_failure("cannot watch a process");
  return process;
}

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), pidfd_(std::move(other.pidfd_)), ended_(other.ended_) {}

Process::~Process() {
  if (pid_ <= 0) return;
  kill_group();
  if (!ended_) wait(-1);
}

void Process::kill_group() {
  ::kill(-pid_, SIGKILL);
  if (!ended_) ::kill(pid_, SIGKILL);
}

std::optional<Ended> Process::wait(int timeout_ms) {
  if (ended_) return ended_;
  if (pidfd_.ok()) {
    pollfd poll_one{pidfd_.get(), POLLIN, 0};
    if (::poll(&poll_one, 1, timeout_ms) <= 0) return std::nullopt;
  }
  int status = 0;
  pid_t got;
  do {
    got = ::waitpid(pid_, &status, 0);
  } while (got < 0 && errno == EINTR);
  // Someone else has reaped it; how it ended is lost.
  if (got < 0) return ended_ = Ended{-1, 0};
  ended_ = WIFSIGNALED(status) ? Ended{0, WTERMSIG(status)} : Ended{WEXITSTATUS(status), 0};
  return ended_;
}

uint64_t Process::resident_bytes() const {
  auto text = system_files().read("/proc/" + std::to_string(pid_) + "/statm", 4096);
  if (!text) return 0;
  unsigned long long size = 0, resident = 0;
  std::string copy(as_text(*text));
  if (std::sscanf(copy.c_str(), "%llu %llu", &size, &resident) != 2) return 0;
  return resident * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

uint64_t memory_bytes() {
  uint64_t machine =
      static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  // Version 2 of control groups, then version 1; "max" and absence are no limit.
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    auto text = system_files().read(path, 4096);
    if (!text) continue;
    std::string copy(as_text(*text));
    unsigned long long limit = 0;
    if (std::sscanf(copy.c_str(), "%llu", &limit) == 1 && limit > 0)
      return std::min<uint64_t>(machine, limit);
  }
  return machine;
}

}  // namespace wago::base
