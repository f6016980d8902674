// Interruption as something to poll for.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/check.h"
#include "base/process.h"

namespace wago::harness {

// SIGINT, SIGTERM and SIGHUP become a byte in a pipe while this lives, unless they are ignored (nohup). A
// file that grows beyond its limit is an error and no death (SIGXFSZ), here and in children, which inherit
// that. One at a time in a process.
class SignalWatch {
 public:
  SignalWatch() {
    int ends[2];
    WAGO_CHECK(::pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
    read_ = base::Fd(ends[0]);
    write_ = base::Fd(ends[1]);
    target_ = write_.get();
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    ::sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < kSignals.size(); ++i) {
      ::sigaction(kSignals[i], &action, &previous_[i]);
      if (previous_[i].sa_handler == SIG_IGN) ::sigaction(kSignals[i], &previous_[i], nullptr);
    }
    action.sa_handler = SIG_IGN;
    ::sigaction(SIGXFSZ, &action, &previous_file_size_);
  }
  ~SignalWatch() {
    ::sigaction(SIGXFSZ, &previous_file_size_, nullptr);
    for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &previous_[i], nullptr);
    target_ = -1;
  }
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  int fd() const { return read_.get(); }
  // 0: none came.
  int take() {
    unsigned char signal = 0;
    return ::read(read_.get(), &signal, 1) == 1 ? signal : 0;
  }

 private:
  static constexpr std::array<int, 3> kSignals = {SIGINT, SIGTERM, SIGHUP};
  static void on_signal(int signal) {
    int saved = errno;
    auto byte = static_cast<unsigned char>(signal);
    [[maybe_unused]] ssize_t written = ::write(target_, &byte, 1);
    errno = saved;
  }
  static inline volatile sig_atomic_t target_ = -1;
  base::Fd read_, write_;
  std::array<struct sigaction, kSignals.size()> previous_{};
  struct sigaction previous_file_size_ {};
};

}  // namespace wago::harness
