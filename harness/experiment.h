// Runs experiments: both sides of every workload measured together, in pairs, until a rule is content, the
// budget is spent, or someone interrupts. docs/experiments.md says what is done and why; pair_runner.h
// measures one pair, experiment_store.h keeps them.
//
// An experiment that was interrupted is continued by the same request. What would make its pairs mean
// something else is compared with what was recorded and refused by name; budget and rule may be others.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/vocabulary.h"
#include "capture/experiment.h"
#include "capture/workload.h"
#include "harness/pair_runner.h"

namespace wago::harness {

// What a rule wants of one workload.
struct Demand {
  uint64_t pairs = 0;  // in all; no more than there are: it is settled, or given up
  double urgency = 0;  // whose turn it is when the budget does not suffice for all: the highest
};

// Decides when enough has been measured. It sees everything that was recorded and is asked before every
// round; so it should want the pairs up to its next look, and look again when they are there.
class StoppingRule {
 public:
  virtual ~StoppingRule() = default;
  // One a workload, in their order. Workloads that failed get no pairs, whatever it says.
  virtual std::vector<Demand> demands(const capture::Experiment& experiment,
                                      std::span<const capture::Pair> pairs) = 0;
  // What would hold with all demands met, as a clause: for who is told that the budget did not reach.
  virtual std::string goal() const { return "every workload was settled"; }
};

// So many pairs of every workload.
class FixedPairs : public StoppingRule {
 public:
  explicit FixedPairs(uint64_t pairs) : pairs_(pairs) {}
  std::vector<Demand> demands(const capture::Experiment& experiment,
                              std::span<const capture::Pair> pairs) override;
  std::string goal() const override;

 private:
  uint64_t pairs_;
};

// What is set on one side alone.
struct Setting {
  std::string text;  // as it was given; empty: nothing is
  std::optional<base::Bounds> bounds;
  std::optional<int> level;
  std::optional<bool> interruptible;
  uint32_t code_shift = 0;  // bytes by which code lies further in its first cache line: 0, 16, 32 or 48
};

struct SideRequest {
  std::string program;  // path of a wago-profile
  std::string modules;  // directory that has the modules by their file names; empty: they are where declared
  Setting setting;
  uint64_t slowdown_ppm = 0;  // injected, for self-tests
};

struct ExperimentProgress {
  std::string doing;  // "measuring fib"
  uint64_t pairs = 0;
  uint64_t wanted_pairs = 0;  // as far as the rule has said by now
  uint64_t elapsed_ns = 0;
  uint64_t budget_ns = 0;
};

struct ExperimentRequest {
  std::vector<capture::Workload> workloads;
  std::string catalog;  // its name
  std::array<SideRequest, 2> sides;
  std::string out;
  uint64_t budget_ns = 0;        // 0: the rule alone decides
  std::optional<uint64_t> seed;  // nothing: drawn, or that of the experiment that is continued
  std::optional<uint32_t> cpu;   // nothing: drawn for each pair among those allowed
  uint64_t answer_timeout_ns = 60'000'000'000;
  uint64_t control_slowdown_ppm = 0;  // injected into the second side of controls, for self-tests
  uint64_t timed_ns = kTimedNs;       // of each side in a pair; less is for tests
  bool record_captures = true;        // for the exact lanes
  std::function<void(const ExperimentProgress&)> on_progress;  // before every pair; may be empty
  std::function<void(const std::string&)> on_note;             // a sentence; may be empty
};

struct ExperimentOutcome {
  // Nothing: it is complete. Otherwise one sentence; what was recorded stays.
  std::optional<base::Error> error;
  int interrupted_by = 0;  // SIGINT, SIGTERM or SIGHUP, when that is why
  bool created = false;    // `out` is there, and an experiment
  bool continued = false;
  uint64_t pairs = 0;      // recorded in all
  uint64_t new_pairs = 0;  // by this run
  capture::Experiment experiment;
};

// Blocks. One at a time in a process; SIGINT, SIGTERM and SIGHUP are caught while it lasts, unless they are
// ignored.
ExperimentOutcome run_experiment(const ExperimentRequest& request, StoppingRule& rule);

}  // namespace wago::harness
