#include "harness/worker_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/clock.h"
#include "base/duration.h"
#include "base/text.h"

namespace wago::harness {

namespace {

using Kind = SideFailure::Kind;

// A program that has said its last word ends soon after.
constexpr int kLastWordsMs = 2000;

SideFailure broken(std::string sentence) {
  return {Kind::Broken, base::failed(std::move(sentence))};
}

SideFailure nonsense(const base::Error& error) {
  const std::string& member = error.place.json_path;
  return broken("its worker answered with nonsense: " + (member.empty() ? "" : member + " ") + error.message);
}

base::Result<void> bind_to(pid_t pid, uint32_t cpu) {
  const std::string where = "the processes cannot be bound to CPU " + std::to_string(cpu);
  if (cpu >= CPU_SETSIZE) return base::unmeasurable(where + ": there is no such CPU");
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (::sched_setaffinity(pid, sizeof set, &set) == 0) return {};
  return base::unmeasurable(where + ": " + std::strerror(errno));
}

template <class Answer>
std::optional<SideFailure> take(base::Result<Answer> read, Answer& answer) {
  if (!read) return nonsense(read.error());
  answer = std::move(*read);
  return {};
}

}  // namespace

base::Result<WorkerProcess> WorkerProcess::start(const WorkerStart& start, SignalWatch& signals) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return base::failed(std::string("cannot make a socket: ") + std::strerror(errno));
  }
  base::Fd ours(ends[0]), theirs(ends[1]);
  base::SpawnOptions options;
  options.program = start.program;
  options.program_fd = start.copy;
  options.argv = {start.program, "profile", "worker"};
  options.descriptors = {{theirs.get(), 0}, {theirs.get(), 1}};
  if (start.token_in >= 0) {
    options.descriptors.emplace_back(start.token_in, kTokenIn);
    options.descriptors.emplace_back(start.token_out, kTokenOut);
  }
  base::Fd nowhere;
  if (start.quiet) nowhere = base::Fd(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  if (nowhere.ok()) options.descriptors.emplace_back(nowhere.get(), 2);
  options.first_to_be_killed = true;
  // Where the stack begins depends on it.
  options.more_environment = {"WAGO_PADDING=" + std::string(start.padding_bytes, 'x')};
  auto process = base::Process::spawn(options);
  if (!process) return base::usage_error(process.error().message);
  if (auto bound = bind_to(process->pid(), start.cpu); !bound) return bound.error();
  return WorkerProcess(std::move(*process), std::move(ours), start.answer_timeout_ns, signals);
}

std::optional<SideFailure> WorkerProcess::ask(const base::Json& request) {
  const std::string text = request.dump() + "\n";
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t sent = ::send(socket_.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return ended();
    rest.remove_prefix(static_cast<size_t>(sent));
  }
  return {};
}

SideFailure WorkerProcess::ended() {
  auto how = process_.wait(kLastWordsMs);
  if (!how) return broken("its worker stopped talking");
  std::string sentence = "its worker " + base::to_string(*how);
  if (how->signal == SIGKILL) sentence += "; the machine may have run out of memory";
  return broken(std::move(sentence));
}

std::optional<SideFailure> WorkerProcess::await_line(std::string& line, uint64_t deadline_ns) {
  std::vector<char> chunk(65536);
  size_t searched = 0;
  while (true) {
    const size_t end = pending_.find('\n', searched);
    if (end != std::string::npos) {
      line = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      return {};
    }
    searched = pending_.size();
    if (searched > kMaxWorkerLine) return broken("its worker sent a line that does not end");
    const uint64_t now_ns = base::monotonic_ns();
    if (now_ns >= deadline_ns) {
      return SideFailure{Kind::Silent, base::failed("its worker did not answer in time (" +
                                                    base::format_duration(timeout_ns_) + " allowed)")};
    }
    std::array<pollfd, 2> wait_for = {pollfd{socket_.get(), POLLIN, 0}, pollfd{signals_->fd(), POLLIN, 0}};
    const uint64_t wait_ms = std::min<uint64_t>((deadline_ns - now_ns) / 1'000'000 + 1, 60'000);
    ::poll(wait_for.data(), wait_for.size(), static_cast<int>(wait_ms));
    // Left in the pipe: whoever started all this takes it.
    if (wait_for[1].revents != 0) return SideFailure{Kind::Interrupted, base::failed("interrupted")};
    if (wait_for[0].revents == 0) continue;
    const ssize_t got = ::recv(socket_.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return ended();
    pending_.append(chunk.data(), static_cast<size_t>(got));
  }
}

std::optional<SideFailure> WorkerProcess::await(const char* name, base::Json& answer, uint64_t deadline_ns) {
  std::string line;
  if (auto failure = await_line(line, deadline_ns)) return failure;
  auto json = base::parse_json(line, "answer", {.string_bytes = kMaxWorkerLine});
  if (!json) return nonsense(json.error());
  if (message_name(*json) == "error") {
    auto error = read_worker_error(*json);
    if (!error) return nonsense(error.error());
    error->error.message = base::printable(error->error.message);
    return SideFailure{error->partner_lost ? Kind::PartnerLost : Kind::Said, error->error,
                       base::printable(error->stored)};
  }
  if (message_name(*json) != name) {
    return broken("its worker answered with nonsense: " + std::string(name) + " was expected");
  }
  answer = std::move(*json);
  return {};
}

uint64_t WorkerProcess::deadline(uint64_t extra_ns) const {
  return base::monotonic_ns() + std::min(timeout_ns_, UINT64_MAX / 4) + std::min(extra_ns, UINT64_MAX / 4);
}

std::optional<SideFailure> WorkerProcess::hello(HelloAnswer& answer) {
  base::Json json;
  if (auto failure = ask(to_json(HelloRequest{}))) return failure;
  if (auto failure = await("hello", json, deadline())) return failure;
  if (auto failure = take(read_hello_answer(json), answer)) return failure;
  if (answer.protocol < kOldestWorkerProtocol || answer.protocol > kNewestWorkerProtocol) {
    return broken("its worker chose version " + std::to_string(answer.protocol) +
                  " of the worker protocol, which was not offered");
  }
  return {};
}

std::optional<SideFailure> WorkerProcess::place(const PlaceRequest& request) {
  base::Json json;
  if (auto failure = ask(to_json(request))) return failure;
  return await("placed", json, deadline());
}

std::optional<SideFailure> WorkerProcess::load(const LoadRequest& request, LoadAnswer& answer) {
  base::Json json;
  if (auto failure = ask(to_json(request))) return failure;
  if (auto failure = await("loaded", json, deadline())) return failure;
  return take(read_load_answer(json), answer);
}

std::optional<SideFailure> WorkerProcess::warm_up(uint64_t iterations) {
  base::Json json;
  if (auto failure = ask(to_json(WarmUpRequest{iterations}))) return failure;
  return await("warmed", json, deadline());
}

std::optional<SideFailure> WorkerProcess::estimate(uint64_t duration_ns, EstimateAnswer& answer) {
  base::Json json;
  if (auto failure = ask(to_json(EstimateRequest{duration_ns}))) return failure;
  if (auto failure = await("estimated", json, deadline(duration_ns))) return failure;
  return take(read_estimate_answer(json), answer);
}

std::optional<SideFailure> WorkerProcess::samples(SamplesAnswer& answer, uint64_t deadline_ns) {
  base::Json json;
  if (auto failure = await("samples", json, deadline_ns)) return failure;
  return take(read_samples_answer(json), answer);
}

}  // namespace wago::harness
