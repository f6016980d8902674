// The conversation with `perf record --control`: a command, a newline, and perf's "ack" when it has been
// carried out. Recorder and recording process share one end of a socket and speak one after the other: the
// recorder while perf starts and ends, the recording process at the edges of the measured phase.
#pragma once

#include <functional>
#include <string>

#include "base/process.h"
#include "base/result.h"

namespace wago::harness {

class PerfControl {
 public:
  explicit PerfControl(base::Fd socket) : socket_(std::move(socket)) {}

  // "enable", "disable", "ping", "stop". Errors (Failed): perf is gone, says something else, or says nothing
  // for `timeout_ms`; and what `meanwhile`, if there is one, refuses: it is asked several times a second.
  base::Result<void> command(const std::string& word, int timeout_ms,
                             const std::function<base::Result<void>()>& meanwhile = {});
  int fd() const { return socket_.get(); }

 private:
  base::Fd socket_;
};

// What perf may take to switch its events: it looks between two turns of its own.
constexpr int kPerfAnswerMs = 20'000;

}  // namespace wago::harness
