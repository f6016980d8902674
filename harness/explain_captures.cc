#include "harness/explain_captures.h"

#include <fcntl.h>
#include <stdio.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "base/files.h"
#include "base/text.h"
#include "harness/experiment_captures.h"
#include "harness/experiment_sides.h"
#include "harness/experiment_store.h"
#include "harness/pair_runner.h"

namespace wago::harness {

namespace {

using base::Error;
using base::Result;
using capture::ExperimentSide;
using capture::ExplainPart;
using capture::index_of;
using capture::kExperimentSides;

constexpr const char* kBusy =
    "another process records explanations into it; wait for it or name another with --out";

// A new capture in the place of an older one, if there is one, in a single step.
Result<void> publish(const std::string& from, const std::string& to) {
  const bool replaces = base::system_files().exists(to);
  const unsigned how = replaces ? RENAME_EXCHANGE : RENAME_NOREPLACE;
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), how) != 0) {
    return base::failed(std::string("cannot be put into its place: ") + std::strerror(errno), {.file = from});
  }
  return replaces ? remove_capture(from) : Result<void>();
}

// Of a recording that was ended: processes of it may die a moment later.
void clear_away(const std::string& path) {
  constexpr int kAttempts = 100;
  for (int i = 0; i < kAttempts && !remove_capture(path); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

class Explainer {
 public:
  explicit Explainer(const ExplainRequest& request)
      : request_(request), runner_(signals_, request.answer_timeout_ns) {}

  ExplainOutcome run() {
    outcome_.error = work();
    return std::move(outcome_);
  }

 private:
  std::optional<Error> work() {
    if (auto error = meet_sides()) return error;
    base::Files& files = base::system_files();
    if (!files.is_directory(request_.out)) {
      if (auto made = files.create_directory(request_.out); !made) return made.error();
    }
    auto lock = lock_directory(request_.out, kBusy);
    if (!lock) return lock.error();
    if (auto error = record_exact()) return error;
    return both_have("pprof") ? record_sampled() : std::nullopt;
  }

  void tell(const std::string& doing) const {
    if (request_.on_progress) request_.on_progress(doing);
  }

  std::optional<Error> interrupted() {
    if (int signal = signals_.take()) outcome_.interrupted_by = signal;
    if (!outcome_.interrupted_by) return std::nullopt;
    return base::failed("interrupted by " + base::signal_name(outcome_.interrupted_by));
  }

  // Who is there, and whether that is what was measured.
  std::optional<Error> meet_sides() {
    auto cpus = allowed_cpus({});
    if (!cpus) return cpus.error();
    const capture::ExperimentWorkload& recorded = request_.experiment.workloads[request_.number];
    capture::ExperimentWorkload now = recorded;
    Differences differences;
    for (ExperimentSide side : kExperimentSides) {
      const size_t i = index_of(side);
      tell("looking at " + name_of(side));
      auto hello = greet(runner_, request_.sides[i], side, cpus->front());
      if (auto error = interrupted()) return error;
      if (!hello) return hello.error();
      capture::SideRecord record = record_of(request_.sides[i], *hello);
      record.protocol = request_.experiment.sides[i].protocol;  // captures need none
      differences.look(request_.experiment.sides[i], record, side);
      backends_[i] = std::move(hello->worker.backends);
    }
    // Another program's answers would only say the same again.
    if (auto error = refusal(differences)) return error;
    for (ExperimentSide side : kExperimentSides) {
      if (auto error = survey(side, cpus->front(), now)) return error;
    }
    // What failed may have no contract and no code.
    if (recorded.state == capture::WorkloadState::Measured) differences.look(recorded, now);
    return refusal(differences);
  }

  std::optional<Error> survey(ExperimentSide side, uint32_t cpu, capture::ExperimentWorkload& now) {
    const size_t i = index_of(side);
    sides_[i] = {request_.sides[i].program, workload_of(request_.workload, request_.sides[i]), 0};
    auto surveyed = runner_.survey(sides_[i], cpu);
    if (auto error = interrupted()) return error;
    if (auto* error = std::get_if<Error>(&surveyed)) return *error;
    if (auto* failure = std::get_if<SideFailure>(&surveyed)) {
      Error error = failure->error;
      error.message = name_of(side) + ": " + error.message;
      return error;
    }
    const SideSurvey& seen = std::get<SideSurvey>(surveyed);
    now.contract_sha256 = seen.loaded.contract_sha256;
    now.module_sha256[i] = seen.loaded.module_sha256;
    now.code_sha256[i] = seen.loaded.code_sha256;
    iteration_ns_ = std::max(iteration_ns_, seen.iteration_ns);
    return std::nullopt;
  }

  std::optional<Error> refusal(const Differences& differences) const {
    return differences.error(request_.path, "this is not what was measured",
                             "name the programs, modules and catalog of the experiment");
  }

  // Both, or what they have could not be compared.
  bool both_have(const std::string& backend) {
    bool all = true;
    for (ExperimentSide side : kExperimentSides) {
      const std::vector<std::string>& known = backends_[index_of(side)];
      if (std::find(known.begin(), known.end(), backend) != known.end()) continue;
      outcome_.remarks.push_back(name_of(side) + "'s program has no backend " + backend);
      all = false;
    }
    return all;
  }

  std::optional<Error> record_exact() {
    std::vector<std::string> flags =
        lane_flags(both_have("count") ? backends_[0] : std::vector<std::string>());
    flags.push_back("--source-maps");
    for (ExperimentSide side : kExperimentSides) {
      tell("counting " + name_of(side));
      if (auto error = record(side, ExplainPart::Exact, flags, 0)) return error;
    }
    return std::nullopt;
  }

  std::optional<Error> record_sampled() {
    const std::vector<std::string> flags = {"--backend",     "pprof",
                                            "--rate",        std::to_string(request_.rate_hz),
                                            "--duration",    std::to_string(request_.duration_ns) + "ns",
                                            "--source-maps", "--include-code"};
    for (ExperimentSide side : kExperimentSides) {
      tell("sampling " + name_of(side));
      auto error = record(side, ExplainPart::Sampled, flags, request_.duration_ns);
      if (!error) continue;
      if (error->kind != base::ErrorKind::Unmeasurable) return error;
      outcome_.remarks.push_back("no samples: " + error->message);
      break;
    }
    return std::nullopt;
  }

  std::optional<Error> record(ExperimentSide side, ExplainPart part, const std::vector<std::string>& flags,
                              uint64_t duration_ns) {
    const std::string out =
        base::join_path(request_.out, capture::explain_capture(request_.workload.id, side, part));
    const std::string beside = out + ".unfinished";
    if (auto removed = remove_capture(beside); !removed) return removed.error();
    const uint64_t allowed_ns =
        capture_timeout_ns(request_.answer_timeout_ns, iteration_ns_) + 2 * duration_ns;
    // Pairs are of iterations, whatever else the workload is declared for.
    PairSide recorded = sides_[index_of(side)];
    recorded.workload.phase = base::Phase::Execute;
    if (auto none = record_capture(recorded, request_.catalog, flags, beside, allowed_ns, signals_)) {
      clear_away(beside);
      if (auto error = interrupted()) return error;
      const std::string sentence = name_of(side) + ": " + none->sentence;
      return none->unmeasurable ? base::unmeasurable(sentence) : base::failed(sentence);
    }
    auto published = publish(beside, out);
    return published ? std::nullopt : std::optional(published.error());
  }

  const ExplainRequest& request_;
  SignalWatch signals_;
  PairRunner runner_;
  std::array<std::vector<std::string>, 2> backends_;
  std::array<PairSide, 2> sides_;
  uint64_t iteration_ns_ = 0;
  ExplainOutcome outcome_;
};

}  // namespace

ExplainOutcome record_for_explanation(const ExplainRequest& request) {
  return Explainer(request).run();
}

}  // namespace wago::harness
