#include "harness/worker.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include "base/text.h"
#include "capture/catalog.h"
#include "harness/code_images.h"
#include "harness/machine.h"
#include "harness/phases.h"
#include "harness/placed_thread.h"
#include "harness/stored_sentence.h"
#include "runtime/regions.h"

namespace wago::harness {

namespace {

using base::Json;
using base::usage_error;

Json refusal(const base::Error& error) {
  return to_json(WorkerError{error, stored_sentence(error)});
}

// The guest went wrong.
Json refusal(const RunFailure& failure) {
  return to_json(WorkerError{failure.error, failure.stored});
}

Json partner_lost() {
  const auto error = base::failed("the token did not come back: the other side is gone");
  return to_json(WorkerError{error, error.message, true});
}

std::string versions(uint64_t oldest, uint64_t newest) {
  if (oldest == newest) return "version " + std::to_string(oldest);
  return "versions " + std::to_string(oldest) + " to " + std::to_string(newest);
}

uint32_t switches(long after, long before) {
  return static_cast<uint32_t>(std::max(0L, after - before));
}

bool write_all(int fd, std::string_view rest) {
  while (!rest.empty()) {
    const ssize_t written = ::write(fd, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    rest.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace

WorkerIdentity own_identity() {
  const base::BuildInfo& build = base::build_info();
  WorkerIdentity identity = {.program_version = build.version,
                             .revision = build.revision,
                             .dirty = build.dirty,
                             .runner_id = runner_id(),
                             .target = machine().target,
                             .sanitized = build.sanitized,
                             .backends = {}};
  for (std::string_view backend : base::spellings<base::Backend>()) identity.backends.emplace_back(backend);
  return identity;
}

Json Worker::answer(std::string_view line) {
  auto request = base::parse_json(line, "worker message", {.string_bytes = kMaxWorkerLine});
  if (!request) return refusal(request.error());
  return answer(*request);
}

Json Worker::answer(const Json& request) {
  struct Request {
    std::string_view name;
    Json (Worker::*answer)(const Json&);
    bool needs_workload = false;
    uint64_t since = kOldestWorkerProtocol;
  };
  static constexpr std::array<Request, 8> kRequests = {{
      {"hello", &Worker::hello},
      {"place", &Worker::place, false, kPlacingWorkerProtocol},
      {"load", &Worker::load},
      {"warm-up", &Worker::warm_up, true},
      {"estimate", &Worker::estimate, true},
      {"alternate", &Worker::alternate, true},
      {"free", &Worker::run_freely, true},
      {"close", &Worker::close},
  }};
  const std::string name = message_name(request);
  std::vector<std::string_view> names;
  for (const Request& known : kRequests) {
    if (protocol_ != 0 && known.since > protocol_) continue;
    names.push_back(known.name);
    if (name != known.name) continue;
    if (protocol_ == 0 && known.name != "hello") {
      return refusal(usage_error("hello must come first, not " + name));
    }
    if (known.needs_workload && !work_) return refusal(usage_error("load must come before " + name));
    return (this->*known.answer)(request);
  }
  return refusal(usage_error("message: " + base::not_among(name, names)));
}

Json Worker::hello(const Json& request) {
  auto wanted = read_hello_request(request);
  if (!wanted) return refusal(wanted.error());
  const uint64_t protocol = std::min(wanted->newest, kNewestWorkerProtocol);
  if (protocol < std::max(wanted->oldest, kOldestWorkerProtocol)) {
    const bool old = wanted->newest < kOldestWorkerProtocol;
    return refusal(usage_error("this runner (wago " + identity_.program_version + ") speaks " +
                               versions(kOldestWorkerProtocol, kNewestWorkerProtocol) +
                               " of the worker protocol and the experiment " +
                               versions(wanted->oldest, wanted->newest) + ": use a newer " +
                               (old ? "wago-profile for the experiment" : "runner")));
  }
  protocol_ = protocol;
  return to_json(HelloAnswer{protocol, identity_});
}

Json Worker::place(const Json& request) {
  if (work_) return refusal(usage_error("place must come before load"));
  if (stack_address_ != 0) return refusal(usage_error("this worker was placed already"));
  auto wanted = read_place_request(request);
  if (!wanted) return refusal(wanted.error());
  runtime::place_region(runtime::Region::Code, wanted->code);
  runtime::place_region(runtime::Region::Memory, wanted->memory);
  stack_address_ = wanted->stack;
  return plain_message("placed");
}

Json Worker::load(const Json& request) {
  if (work_) return refusal(usage_error("a workload is loaded already, and a worker takes one"));
  auto wanted = read_load_request(request);
  if (!wanted) return refusal(wanted.error());
  auto catalog = capture::parse_catalog(wanted->catalog, "catalog");
  if (!catalog) return refusal(catalog.error());
  if (catalog->workloads.size() != 1) {
    return refusal(usage_error("the catalog must declare one workload, not " +
                               std::to_string(catalog->workloads.size())));
  }
  capture::Workload& workload = catalog->workloads[0];
  workload.module_path = wanted->module;
  if (auto lacking = unsupported(workload)) return refusal(*lacking);
  auto subject = Subject::load(workload, {.code_offset = wanted->code_offset});
  if (!subject) return refusal(subject.error());
  auto code = describe_code(**subject, base::monotonic_ns());
  if (!code) return refusal(code.error());
  auto work = make_work(**subject, clock_);
  if (auto* failure = std::get_if<RunFailure>(&work)) return refusal(*failure);

  subject_ = std::move(*subject);
  work_ = std::get<std::unique_ptr<Work>>(std::move(work));
  slowdown_.emplace(wanted->slowdown_ppm, clock_);
  LoadAnswer loaded;
  loaded.module_sha256 = base::to_hex(subject_->module_sha256());
  loaded.code_sha256 = base::to_hex(capture::code_sha256(code->images));
  loaded.contract_sha256 = base::to_hex(capture::contract_sha256(workload));
  loaded.calls_per_iteration = workload.calls.size();
  loaded.max_iterations_per_turn = work_->max_batch();
  return to_json(loaded);
}

RunStatus Worker::take_turn(uint64_t iterations, bool verify, capture::Turn& turn) {
  if (auto failure = work_->prepare(iterations, verify)) return failure;
  rusage before, after;
  ::getrusage(RUSAGE_THREAD, &before);
  turn.start_ns = clock_.monotonic_ns();
  // The innermost, since it is what is compared.
  const uint64_t cpu_before_ns = clock_.thread_cpu_ns();
  RunStatus status = work_->run(iterations);
  slowdown_->spend(iterations);
  turn.cpu_ns = clock_.thread_cpu_ns() - cpu_before_ns;
  turn.wall_ns = clock_.monotonic_ns() - turn.start_ns;
  ::getrusage(RUSAGE_THREAD, &after);
  turn.voluntary_switches = switches(after.ru_nvcsw, before.ru_nvcsw);
  turn.involuntary_switches = switches(after.ru_nivcsw, before.ru_nivcsw);
  if (status) return status;
  // Not before the turn, where it would warm up what the other side finds cold.
  slowdown_->learn(turn.cpu_ns, iterations);
  return work_->finish(iterations, verify);
}

Json Worker::warm_up(const Json& request) {
  auto wanted = read_warm_up_request(request);
  if (!wanted) return refusal(wanted.error());
  capture::Turn turn;
  for (uint64_t i = 0; i < wanted->iterations; ++i) {
    if (auto failure = take_turn(1, true, turn)) return refusal(*failure);
  }
  work_->begin_measured();
  return plain_message("warmed");
}

Json Worker::estimate(const Json& request) {
  auto wanted = read_estimate_request(request);
  if (!wanted) return refusal(wanted.error());
  uint64_t iterations = 0, cpu_ns = 0, count = 1;
  while (iterations == 0 || cpu_ns < wanted->duration_ns) {
    capture::Turn turn;
    if (auto failure = take_turn(count, false, turn)) return refusal(*failure);
    // The clock's own time would be most of a short turn's.
    const bool short_turn = turn.cpu_ns < kBatchNs && count < work_->max_batch();
    iterations = short_turn ? count : iterations + count;
    cpu_ns = short_turn ? turn.cpu_ns : cpu_ns + turn.cpu_ns;
    if (short_turn) count = std::min(count * 2, work_->max_batch());
  }
  return to_json(EstimateAnswer{std::max<uint64_t>(cpu_ns / iterations, 1)});
}

Json Worker::give_up(const RunFailure& failure) {
  ::close(pipes_.out);
  return refusal(failure);
}

bool Worker::pass_token() const {
  return write_all(pipes_.out, "t");
}

bool Worker::await_token() const {
  char token;
  ssize_t got;
  do {
    got = ::read(pipes_.in, &token, 1);
  } while (got < 0 && errno == EINTR);
  return got == 1;
}

Json Worker::alternate(const Json& request) {
  auto wanted = read_alternate_request(request);
  if (!wanted) return refusal(wanted.error());
  SamplesAnswer samples;
  samples.turns.resize(wanted->turns);
  // Who does not start lets the other one begin, once ready.
  if (!wanted->starts && !pass_token()) return partner_lost();
  for (uint64_t i = 0; i < wanted->turns; ++i) {
    if (!await_token()) return partner_lost();
    const bool last = i + 1 == wanted->turns;
    if (auto failure = take_turn(wanted->iterations, last, samples.turns[i])) {
      return give_up(*failure);
    }
    const bool awaited = wanted->starts || !last;
    if (awaited && !pass_token()) return partner_lost();
  }
  return to_json(samples);
}

Json Worker::run_freely(const Json& request) {
  auto wanted = read_free_request(request);
  if (!wanted) return refusal(wanted.error());
  SamplesAnswer samples;
  samples.turns.resize(wanted->turns);
  // Both begin together.
  if (!pass_token() || !await_token()) return partner_lost();
  for (uint64_t i = 0; i < wanted->turns; ++i) {
    const bool last = i + 1 == wanted->turns;
    if (auto failure = take_turn(wanted->iterations, last, samples.turns[i])) {
      return give_up(*failure);
    }
  }
  return to_json(samples);
}

Json Worker::close(const Json& request) {
  if (auto read = read_plain_message(request); !read) return refusal(read.error());
  closed_ = true;
  return plain_message("closed");
}

namespace {

class Conversation {
 public:
  Conversation(Worker& worker, int in, int out) : worker_(worker), in_(in), out_(out) {}

  // Until its end, whose exit code is returned, or until the worker is told where to have its stack.
  std::optional<int> go_on() {
    const uint64_t stack_address = worker_.stack_address();
    while (!worker_.closed() && worker_.stack_address() == stack_address) {
      const size_t end = pending_.find('\n', searched_);
      if (end == std::string::npos) {
        searched_ = pending_.size();
        if (searched_ > kMaxWorkerLine) {
          const auto error =
              usage_error("a line is longer than " + std::to_string(kMaxWorkerLine) + " bytes");
          write_all(out_, refusal(error).dump() + "\n");
          return 2;
        }
        const ssize_t got = ::read(in_, chunk_.data(), chunk_.size());
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return 0;
        pending_.append(chunk_.data(), static_cast<size_t>(got));
        continue;
      }
      const Json answer = worker_.answer(std::string_view(pending_).substr(0, end));
      pending_.erase(0, end + 1);
      searched_ = 0;
      if (!write_all(out_, answer.dump() + "\n")) return 1;
    }
    return worker_.closed() ? std::optional(0) : std::nullopt;
  }

 private:
  Worker& worker_;
  const int in_, out_;
  std::string pending_;
  size_t searched_ = 0;  // of it, where there is no end of a line
  std::vector<char> chunk_ = std::vector<char>(65536);
};

}  // namespace

int serve(Worker& worker, int in, int out) {
  ::signal(SIGPIPE, SIG_IGN);
  Conversation conversation(worker, in, out);
  std::optional<int> code = conversation.go_on();
  if (code) return *code;
  if (!run_on_stack_at(worker.stack_address(), [&] { code = conversation.go_on(); })) {
    code = conversation.go_on();
  }
  return code.value_or(1);
}

}  // namespace wago::harness
