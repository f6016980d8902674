#include "harness/pair_runner.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/clock.h"
#include "capture/catalog.h"
#include "harness/program_copy.h"

namespace wago::harness {

namespace {

using base::Json;
using capture::ExperimentSide;
using capture::index_of;
using Kind = SideFailure::Kind;

constexpr uint64_t kEstimateNs = 20'000'000;
constexpr uint64_t kMaxTurns = 100'000;
// The share of turns that is taken before any is kept.
constexpr uint64_t kUnmeasuredShare = 10;
// Of the time the turns themselves should take, before a side counts as silent: the machine may be busy.
constexpr uint64_t kPatience = 20;
// For a side that lost its partner to say so.
constexpr uint64_t kLastWordNs = 5'000'000'000;

constexpr ExperimentSide other(ExperimentSide side) {
  return side == ExperimentSide::Baseline ? ExperimentSide::Candidate : ExperimentSide::Baseline;
}

// Which of two processes is loaded first makes a difference of more than a percent to some workloads where
// the kernel chooses their addresses.
constexpr std::array<ExperimentSide, 2> loading_order(const PairDraw& draw) {
  return {draw.loaded_first, other(draw.loaded_first)};
}

struct TokenPipe {
  base::Fd read, write;
};

base::Result<TokenPipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return base::failed(std::string("cannot make a pipe: ") + std::strerror(errno));
  }
  return TokenPipe{base::Fd(ends[0]), base::Fd(ends[1])};
}

constexpr uint32_t kCacheLineBytes = 64;

LoadRequest load_request(const PairSide& side, uint32_t code_offset) {
  return {.catalog = capture::to_catalog_text("experiment", {side.workload}),
          .module = side.workload.module_path,
          .code_offset = (code_offset + side.code_shift) % kCacheLineBytes,
          .slowdown_ppm = side.slowdown_ppm};
}

SideFailure replaced(const char* what) {
  return {Kind::Broken,
          base::failed(std::string("its ") + what + " was replaced while the experiment went on")};
}

PairRunner::Greeted hello_of(base::Result<WorkerProcess> worker) {
  if (!worker) return worker.error();
  HelloAnswer hello;
  if (auto failure = worker->hello(hello)) return *failure;
  return hello;
}

// Of a worker that was started from a copy; empty: nothing that another start would change.
std::string why_not_from_copy(const PairRunner::Greeted& greeted) {
  if (auto* error = std::get_if<base::Error>(&greeted)) {
    // Behind the path, which is not kept.
    return error->kind == base::ErrorKind::Usage ? error->message.substr(error->message.rfind(": ") + 2) : "";
  }
  auto* failure = std::get_if<SideFailure>(&greeted);
  return failure && failure->kind == Kind::Broken ? failure->stored : "";
}

}  // namespace

TurnPlan plan_turns(uint64_t iteration_ns, uint64_t max_iterations_per_turn, uint64_t timed_ns) {
  iteration_ns = std::max<uint64_t>(iteration_ns, 1);
  TurnPlan plan;
  plan.sliced = iteration_ns > kSlicedIterationNs;
  const uint64_t wanted = (kTurnNs + iteration_ns - 1) / iteration_ns;
  plan.iterations = std::clamp<uint64_t>(wanted, 1, std::max<uint64_t>(max_iterations_per_turn, 1));
  plan.turns = std::clamp<uint64_t>(timed_ns / (plan.iterations * iteration_ns), kMinTurns, kMaxTurns);
  plan.unmeasured = plan.sliced ? 0 : std::max<uint64_t>(plan.turns / kUnmeasuredShare, 1);
  return plan;
}

std::optional<SideFailure> PairRunner::make_ready(WorkerProcess& worker, const PairSide& side,
                                                  ExperimentSide which, const PairDraw& draw,
                                                  const SideSurvey* expected, SideSurvey& seen) {
  if (auto failure = worker.hello(seen.hello)) return failure;
  if (expected && seen.hello.worker.runner_id != expected->hello.worker.runner_id) return replaced("program");
  if (draw.addresses) {
    const auto& [stack, memory, code] = *draw.addresses;
    if (auto failure = worker.place({.stack = stack, .code = code[index_of(which)], .memory = memory})) {
      return failure;
    }
  }
  if (auto failure = worker.load(load_request(side, draw.code_offset), seen.loaded)) return failure;
  if (expected && seen.loaded.module_sha256 != expected->loaded.module_sha256) return replaced("module");
  return worker.warm_up(side.workload.warmup);
}

PairRunner::Greeted PairRunner::greet(const std::string& program, uint32_t cpu) {
  const WorkerStart start{.program = program, .cpu = cpu, .answer_timeout_ns = answer_timeout_ns_};
  std::string why_not;
  if (why_in_place_.empty()) {
    if (auto copy = copy_program(program)) {
      WorkerStart from_copy = start;
      from_copy.copy = copy->get();
      from_copy.quiet = true;  // or it would say twice what is wrong with it anyway
      Greeted greeted = hello_of(WorkerProcess::start(from_copy, signals_));
      why_not = why_not_from_copy(greeted);
      if (why_not.empty()) return greeted;
    } else {
      why_not = copy.error().message;
    }
  }
  Greeted greeted = hello_of(WorkerProcess::start(start, signals_));
  if (!why_not.empty() && std::holds_alternative<HelloAnswer>(greeted)) why_in_place_ = why_not;
  return greeted;
}

base::Result<WorkerProcess> PairRunner::start_worker(WorkerStart start) {
  if (!why_in_place_.empty()) return WorkerProcess::start(start, signals_);
  auto copy = copy_program(start.program);
  if (!copy) return base::usage_error("cannot run " + start.program + ": " + copy.error().message);
  start.copy = copy->get();
  return WorkerProcess::start(start, signals_);
}

PairRunner::Surveyed PairRunner::survey(const PairSide& side, uint32_t cpu) {
  auto worker = start_worker({.program = side.program, .cpu = cpu, .answer_timeout_ns = answer_timeout_ns_});
  if (!worker) return worker.error();
  SideSurvey survey;
  if (auto failure = make_ready(*worker, side, ExperimentSide::Baseline, {}, nullptr, survey))
    return *failure;
  EstimateAnswer estimate;
  if (auto failure = worker->estimate(kEstimateNs, estimate)) return *failure;
  survey.iteration_ns = estimate.iteration_ns;
  return survey;
}

base::Result<void> PairRunner::start(const std::array<PairSide, 2>& sides, const PairDraw& draw,
                                     Workers& workers) {
  // Each is written by one side and read by the other; ours are closed, so that the end of one is seen.
  auto to_candidate = make_pipe(), to_baseline = make_pipe();
  if (!to_candidate) return to_candidate.error();
  if (!to_baseline) return to_baseline.error();
  for (ExperimentSide side : loading_order(draw)) {
    const bool baseline = side == ExperimentSide::Baseline;
    auto worker = start_worker({.program = sides[index_of(side)].program,
                                .cpu = draw.cpu,
                                .padding_bytes = draw.padding_bytes,
                                .token_in = baseline ? to_baseline->read.get() : to_candidate->read.get(),
                                .token_out = baseline ? to_candidate->write.get() : to_baseline->write.get(),
                                .answer_timeout_ns = answer_timeout_ns_});
    if (!worker) return worker.error();
    workers[index_of(side)].emplace(std::move(*worker));
  }
  return {};
}

PairRunner::Measured PairRunner::measure(const std::array<PairSide, 2>& sides, const TurnPlan& plan,
                                         const PairDraw& draw,
                                         const std::array<const SideSurvey*, 2>& expected) {
  Workers workers;
  if (auto started = start(sides, draw, workers); !started) return started.error();
  for (ExperimentSide side : loading_order(draw)) {
    const size_t i = index_of(side);
    SideSurvey seen;
    auto failure = make_ready(*workers[i], sides[i], side, draw, expected[i], seen);
    if (failure) return PairFailure{side, std::move(*failure)};
  }
  capture::Pair pair;
  pair.code_offset = draw.code_offset;
  pair.first = draw.first;
  pair.loaded_first = draw.loaded_first;
  pair.padding_bytes = draw.padding_bytes;
  pair.addresses = draw.addresses;
  pair.cpu = draw.cpu;
  pair.iterations_per_turn = plan.iterations;
  pair.sliced = plan.sliced;
  const uint64_t iteration_ns = std::max(expected[0]->iteration_ns, expected[1]->iteration_ns);
  if (auto failure = take_turns(workers, plan, draw, iteration_ns, pair)) return *failure;
  return pair;
}

std::optional<PairFailure> PairRunner::take_turns(Workers& workers, const TurnPlan& plan,
                                                  const PairDraw& draw, uint64_t iteration_ns,
                                                  capture::Pair& pair) {
  const uint64_t turns = plan.turns + plan.unmeasured;
  // Who starts is asked last: by then the other one is ready.
  for (ExperimentSide side : {other(draw.first), draw.first}) {
    const Json request = plan.sliced ? to_json(FreeRequest{turns, plan.iterations})
                                     : to_json(AlternateRequest{turns, plan.iterations, side == draw.first});
    if (auto failure = workers[index_of(side)]->ask(request)) return PairFailure{side, std::move(*failure)};
  }
  const uint64_t turn_ns = std::min(iteration_ns, UINT64_MAX / 4 / plan.iterations) * plan.iterations;
  const uint64_t patience_ns =
      turn_ns > UINT64_MAX / 4 / turns / kPatience ? UINT64_MAX / 4 : turn_ns * turns * kPatience;
  const uint64_t deadline_ns =
      base::monotonic_ns() + std::min(answer_timeout_ns_ + patience_ns, UINT64_MAX / 2);
  // A side that goes wrong may leave the other one waiting.
  const ExperimentSide first = first_to_speak(workers, deadline_ns);
  std::optional<PairFailure> lost;
  for (ExperimentSide side : {first, other(first)}) {
    SamplesAnswer samples;
    auto failure = workers[index_of(side)]->samples(samples, deadline_ns);
    if (!failure && samples.turns.size() != turns) {
      failure = SideFailure{Kind::Broken, base::failed("its worker took another number of turns")};
    }
    if (!failure) {
      samples.turns.erase(samples.turns.begin(),
                          samples.turns.begin() + static_cast<ptrdiff_t>(plan.unmeasured));
      pair.turns[index_of(side)] = std::move(samples.turns);
      continue;
    }
    PairFailure spoiled{side, std::move(*failure)};
    if (spoiled.failure.kind == Kind::Silent) return who_was_silent(workers, spoiled);
    if (spoiled.failure.kind != Kind::PartnerLost) return spoiled;
    // The reason is what the other one says.
    lost = std::move(spoiled);
  }
  return lost;
}

// Nobody: the baseline, whose silence is then looked into.
ExperimentSide PairRunner::first_to_speak(const Workers& workers, uint64_t deadline_ns) const {
  for (uint64_t now_ns; (now_ns = base::monotonic_ns()) < deadline_ns;) {
    std::array<pollfd, 3> wait_for = {pollfd{workers[0]->fd(), POLLIN, 0},
                                      pollfd{workers[1]->fd(), POLLIN, 0}, pollfd{signals_.fd(), POLLIN, 0}};
    const uint64_t wait_ms = std::min<uint64_t>((deadline_ns - now_ns) / 1'000'000 + 1, 60'000);
    if (::poll(wait_for.data(), wait_for.size(), static_cast<int>(wait_ms)) <= 0) continue;
    return wait_for[1].revents != 0 ? ExperimentSide::Candidate : ExperimentSide::Baseline;
  }
  return ExperimentSide::Baseline;
}

// The one that is silent may be waiting for a token that the other one holds. Without the other one it would
// say so.
PairFailure PairRunner::who_was_silent(Workers& workers, const PairFailure& silent) {
  const ExperimentSide partner = other(silent.side);
  workers[index_of(partner)]->kill();
  SamplesAnswer samples;
  auto failure = workers[index_of(silent.side)]->samples(
      samples, base::monotonic_ns() + std::min(answer_timeout_ns_, kLastWordNs));
  if (failure && failure->kind == Kind::Interrupted) return {silent.side, std::move(*failure)};
  const bool waited = !failure || failure->kind == Kind::PartnerLost;
  return {waited ? partner : silent.side, silent.failure};
}

}  // namespace wago::harness
