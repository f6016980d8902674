#include "harness/perf_control.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

#include "base/clock.h"
#include "base/duration.h"
#include "base/text.h"

namespace wago::harness {

base::Result<void> PerfControl::command(const std::string& word, int timeout_ms,
                                        const std::function<base::Result<void>()>& meanwhile) {
  constexpr uint64_t kAskMs = 200;
  const std::string line = word + "\n";
  const uint64_t deadline_ns = base::monotonic_ns() + static_cast<uint64_t>(timeout_ms) * 1'000'000;
  if (::send(socket_.get(), line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT) !=
      static_cast<ssize_t>(line.size())) {
    return base::failed("perf is gone: it could not be told to " + word);
  }
  std::string answer;
  while (true) {
    const uint64_t now_ns = base::monotonic_ns();
    if (now_ns >= deadline_ns) {
      return base::failed("perf did not acknowledge " + word + " in " +
                          base::format_duration(static_cast<uint64_t>(timeout_ms) * 1'000'000));
    }
    pollfd wait_for{socket_.get(), POLLIN, 0};
    const uint64_t left_ms = (deadline_ns - now_ns) / 1'000'000 + 1;
    ::poll(&wait_for, 1, static_cast<int>(meanwhile ? std::min(left_ms, kAskMs) : left_ms));
    if (meanwhile) {
      if (auto asked = meanwhile(); !asked) return asked;
    }
    char byte = 0;
    const ssize_t got = ::recv(socket_.get(), &byte, 1, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (got <= 0) return base::failed("perf ended before it acknowledged " + word);
    // Some versions end their answer with a NUL behind the newline: it comes before the next answer, or
    // never.
    if (byte == '\0') continue;
    if (byte != '\n' && answer.size() < 16) {
      answer += byte;
      continue;
    }
    if (answer == "ack" && byte == '\n') return {};
    return base::failed("perf answered " + base::display(answer) + " to " + word + " instead of ack");
  }
}

}  // namespace wago::harness
