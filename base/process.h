// Child processes under supervision.
//
// A child is started in a process group of its own, so that a terminal's Ctrl-C reaches only the parent and
// that all it may start can be killed at once; it dies with the thread that started it (PR_SET_PDEATHSIG), so
// the caller keeps that thread alive. Nothing but the descriptors named is inherited.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace wago::base {

// Owns one descriptor.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() { reset(); }
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }
  void reset();

 private:
  int fd_ = -1;
};

// How a process ended.
struct Ended {
  int exit_code = 0;
  int signal = 0;  // 0: it exited
  bool ok() const { return exit_code == 0 && signal == 0; }
};
// "exited with code 3", "died of signal 9 (SIGKILL)"
std::string to_string(const Ended& ended);
// "SIGKILL", or "signal 64" where it has no name.
std::string signal_name(int signal);

// `name` itself when it has a slash, else where PATH finds it; nothing: nowhere.
std::optional<std::string> find_program(const std::string& name);

struct SpawnOptions {
  std::string program;                           // path; "/proc/self/exe" is this program
  std::vector<std::string> argv;                 // argv[0] included
  std::vector<std::pair<int, int>> descriptors;  // ours -> the child's; 0, 1 and 2 are inherited unless named
  bool first_to_be_killed = false;               // when the machine runs out of memory
  std::vector<std::string> more_environment;     // NAME=VALUE, besides what is inherited
  int program_fd = -1;  // an ELF file that is run in place of the one at `program`, which errors still name
};

class Process {
 public:
  static Result<Process> spawn(const SpawnOptions& options);
  ~Process();  // kills the group and reaps
  Process(Process&& other) noexcept;
  Process& operator=(Process&&) = delete;

  pid_t pid() const { return pid_; }
  // Readable when the process has ended (a pidfd), for poll().
  int ended_fd() const { return pidfd_.get(); }
  // Nothing: still running after `timeout_ms` (0: only looks, -1: waits for ever).
  std::optional<Ended> wait(int timeout_ms);
  // SIGKILL to all of the group.
  void kill_group();
  // Bytes of physical memory, 0 when that is not known.
  uint64_t resident_bytes() const;

 private:
  Process(pid_t pid, Fd pidfd) : pid_(pid), pidfd_(std::move(pidfd)) {}
  pid_t pid_ = -1;
  Fd pidfd_;
  std::optional<Ended> ended_;
};

// Physical memory of the machine, or of the control group this process is in when that is less.
uint64_t memory_bytes();

}  // namespace wago::base
