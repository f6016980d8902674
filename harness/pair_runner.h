// Measures pairs: a fresh process of each side, alive at the same time on the same CPU, taking turns by
// passing a token through pipes - or, where an iteration is long, running at once and leaving the turns to
// the kernel. Each is run from a fresh copy of its program (see copy_program). Both have everything alike
// that is not what is compared: CPU, code offset, addresses, size of the environment, number of turns and of
// iterations in each.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "base/result.h"
#include "capture/experiment.h"
#include "capture/workload.h"
#include "harness/measure.h"
#include "harness/signal_watch.h"
#include "harness/worker_process.h"

namespace wago::harness {

// A turn is at least this long, so that reading the clocks is little of it.
inline constexpr uint64_t kTurnNs = kBatchNs;
// Iterations longer than this are not worth a token.
inline constexpr uint64_t kSlicedIterationNs = 10'000'000;
// Thread-CPU time of each side in a pair.
inline constexpr uint64_t kTimedNs = 120'000'000;
// Fewer turns have no median to speak of.
inline constexpr uint64_t kMinTurns = 3;

struct PairSide {
  std::string program;
  capture::Workload workload;  // as this side runs it
  uint64_t slowdown_ppm = 0;
  uint32_t code_shift = 0;  // see Setting
};

// How turns are taken, from how long an iteration takes.
struct TurnPlan {
  bool sliced = false;
  uint64_t iterations = 1;     // of a turn
  uint64_t turns = kMinTurns;  // measured
  uint64_t unmeasured = 1;     // before them
  bool operator==(const TurnPlan&) const = default;
};
TurnPlan plan_turns(uint64_t iteration_ns, uint64_t max_iterations_per_turn, uint64_t timed_ns = kTimedNs);

// What is drawn or counted for one pair.
struct PairDraw {
  uint32_t code_offset = 0;  // of a side that is not shifted
  uint32_t padding_bytes = 0;
  uint32_t cpu = 0;
  capture::ExperimentSide first = capture::ExperimentSide::Baseline;
  capture::ExperimentSide loaded_first = capture::ExperimentSide::Baseline;
  std::optional<capture::Addresses> addresses;  // only where both programs can be told
};

// Which side spoiled a pair, and how.
struct PairFailure {
  capture::ExperimentSide side = capture::ExperimentSide::Baseline;
  SideFailure failure;
};

// What is learned of a side when it is first seen.
struct SideSurvey {
  HelloAnswer hello;
  LoadAnswer loaded;
  uint64_t iteration_ns = 0;
};

class PairRunner {
 public:
  PairRunner(SignalWatch& signals, uint64_t answer_timeout_ns)
      : signals_(signals), answer_timeout_ns_(answer_timeout_ns) {}

  // Errors: no process could be started or bound.
  using Surveyed = std::variant<SideSurvey, SideFailure, base::Error>;
  Surveyed survey(const PairSide& side, uint32_t cpu);
  // Only who the program is. One that answers, but not from a copy, has all programs run where they are from
  // then on: whatever else the two ways differ in is no difference between the sides.
  using Greeted = std::variant<HelloAnswer, SideFailure, base::Error>;
  Greeted greet(const std::string& program, uint32_t cpu);
  // Why programs are run where they are; empty: they are not.
  const std::string& why_in_place() const { return why_in_place_; }

  // `expected`: what survey() saw; a side that is another program or module by now has failed. Of the pair,
  // `workload` and `round` are the caller's.
  using Measured = std::variant<capture::Pair, PairFailure, base::Error>;
  Measured measure(const std::array<PairSide, 2>& sides, const TurnPlan& plan, const PairDraw& draw,
                   const std::array<const SideSurvey*, 2>& expected);

 private:
  using Workers = std::array<std::optional<WorkerProcess>, 2>;
  base::Result<WorkerProcess> start_worker(WorkerStart start);
  base::Result<void> start(const std::array<PairSide, 2>& sides, const PairDraw& draw, Workers& workers);
  // `expected`: null while it is surveyed itself.
  static std::optional<SideFailure> make_ready(WorkerProcess& worker, const PairSide& side,
                                               capture::ExperimentSide which, const PairDraw& draw,
                                               const SideSurvey* expected, SideSurvey& seen);
  std::optional<PairFailure> take_turns(Workers& workers, const TurnPlan& plan, const PairDraw& draw,
                                        uint64_t iteration_ns, capture::Pair& pair);
  capture::ExperimentSide first_to_speak(const Workers& workers, uint64_t deadline_ns) const;
  PairFailure who_was_silent(Workers& workers, const PairFailure& silent);

  SignalWatch& signals_;
  const uint64_t answer_timeout_ns_;
  std::string why_in_place_;
};

}  // namespace wago::harness
