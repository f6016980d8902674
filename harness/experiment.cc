#include "harness/experiment.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <tuple>
#include <utility>

#include "base/clock.h"
#include "base/duration.h"
#include "base/files.h"
#include "base/plural.h"
#include "base/text.h"
#include "harness/experiment_captures.h"
#include "harness/experiment_sides.h"
#include "harness/experiment_store.h"
#include "harness/machine.h"
#include "harness/pair_runner.h"

namespace wago::harness {

namespace {

using base::Error;
using base::Result;
using capture::Experiment;
using capture::ExperimentSide;
using capture::ExperimentWorkload;
using capture::index_of;
using capture::kExperimentSides;
using capture::Pair;
using capture::WorkloadState;

constexpr size_t kSmallSuite = 10;           // of it two workloads are controls, of others three
constexpr uint32_t kMaxPaddingBytes = 4096;  // where the stack begins, relative to its page
constexpr uint32_t kOffsetBytes = 16;
// After so many pairs of a workload every code offset has had either side in front; then it is drawn anew.
constexpr uint64_t kBalancedPairs = 8;
// A pair's timed work on both sides, and starting, compiling and warming up as much again.
constexpr uint64_t kExpectedPairNs = 4 * kTimedNs;
// How a remark of a self-test begins.
constexpr const char* kInjectedIntoControls = "self-test: controls are slowed down by ";
// And that of one that had no time to finish, which is said anew each time.
constexpr const char* kBudget = "the budget of ";

// Random numbers that depend on what they are for and not on what was drawn before: an experiment that is
// continued draws on.
uint64_t draw(uint64_t seed, uint64_t purpose, uint64_t number) {
  uint64_t x = seed + purpose * 0x9e3779b97f4a7c15u;
  for (uint64_t add : {uint64_t{0}, number, uint64_t{1}}) {
    // The finalizer of splitmix64.
    x += add * 0x9e3779b97f4a7c15u + 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    x ^= x >> 31;
  }
  return x;
}
enum Purpose : uint64_t {
  kForControls = 1,
  kForOrder,
  kForPadding,
  kForCpu,
  kForFirst,
  kForRounds,
  kForStack,
  kForCode,
  kForOtherCode,
  kForMemory
};

template <class T>
void shuffle(std::vector<T>& items, uint64_t seed) {
  for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[draw(seed, kForRounds, i) % i]);
}

// Who begins, and who is loaded first, of the pairs of one workload in the order measured. Drawn, but so that
// four pairs have each of both as often for each side, together too, and eight pairs have them at each code
// offset: either moves some workloads by more than a percent, which chance alone would leave in the estimate.
struct Order {
  ExperimentSide first, loaded_first;
};
Order order_of(uint64_t pair, uint64_t drawn) {
  const uint64_t place = pair % capture::kCodeOffsets, block = pair / capture::kCodeOffsets;
  const uint64_t first = place + block + drawn;
  const uint64_t loaded_first = (place + 1) / 2 + block + (drawn >> 1);
  return {kExperimentSides[first % 2], kExperimentSides[loaded_first % 2]};
}

// With as many bits as the kernel draws, in areas of the address space where it puts nothing itself, not even
// under a sanitizer.
// `same_code`: code has one address on both sides, where branch predictors make the same of both. Other code
// there would spoil what they have learned of the first, and not alike on both sides.
capture::Addresses draw_addresses(uint64_t seed, uint64_t pair, bool same_code) {
  constexpr uint64_t kTiB = uint64_t{1} << 40, kPageBytes = 4096;
  auto page = [&](Purpose purpose, uint64_t area) {
    return area + draw(seed, purpose, pair) % (kTiB / kPageBytes) * kPageBytes;
  };
  // A stack begins anywhere in its page.
  const uint64_t in_page = draw(seed, kForStack, pair) >> 32 & (kPageBytes - 16);
  const uint64_t code = page(kForCode, 24 * kTiB);
  return {.stack = page(kForStack, 20 * kTiB) + in_page,
          .memory = page(kForMemory, 32 * kTiB),
          .code = {code, same_code ? code : page(kForOtherCode, 24 * kTiB)}};
}

// A side that is slowed down measures between its turns how fast its loop is. The other one must do so as
// well, or that would be a difference between them: it is slowed down by next to nothing.
void make_alike(std::array<PairSide, 2>& sides) {
  if (sides[0].slowdown_ppm == sides[1].slowdown_ppm) return;
  for (PairSide& side : sides) side.slowdown_ppm = std::max<uint64_t>(side.slowdown_ppm, 1);
}

class Experimenter {
 public:
  Experimenter(const ExperimentRequest& request, StoppingRule& rule)
      : request_(request), rule_(rule), runner_(signals_, request.answer_timeout_ns) {}

  ExperimentOutcome run() {
    ExperimentOutcome outcome;
    outcome.error = work();
    outcome.interrupted_by = interrupted_by_;
    if (store_) {
      outcome.created = true;
      outcome.continued = continued_;
      outcome.pairs = store_->pairs().size();
      outcome.new_pairs = outcome.pairs - pairs_before_;
    }
    outcome.experiment = std::move(experiment_);
    return outcome;
  }

 private:
  std::optional<Error> work() {
    if (request_.workloads.empty()) return base::usage_error("there is no workload to measure");
    auto cpus = allowed_cpus(request_.cpu);
    if (!cpus) return cpus.error();
    cpus_ = std::move(*cpus);
    // Before anything is measured: it may not be ours to write into.
    if (base::system_files().exists(request_.out)) {
      auto store = ExperimentStore::open(request_.out);
      if (!store) return store.error();
      store_.emplace(std::move(*store));
      continued_ = true;
      pairs_before_ = store_->pairs().size();
      elapsed_before_ns_ = store_->experiment().elapsed_ns;
    }
    if (auto error = greet_sides()) return error;
    if (auto error = survey_workloads()) return error;
    if (auto error = continued_ ? resume() : begin()) return error;
    for (const std::string& sentence : remarks_) {
      note(sentence);
      add_diagnostic(sentence);
    }
    std::optional<Error> error = record_captures();
    if (!error) error = measure_rounds();
    experiment_.complete = !error;
    if (auto stored = keep(); !stored && !error) return stored.error();
    return error;
  }

  uint64_t elapsed_ns() const { return elapsed_before_ns_ + (base::monotonic_ns() - begun_ns_); }

  void tell(const std::string& doing) const {
    if (!request_.on_progress) return;
    request_.on_progress({.doing = doing,
                          .pairs = store_ ? store_->pairs().size() : 0,
                          .wanted_pairs = wanted_pairs_,
                          .elapsed_ns = elapsed_ns(),
                          .budget_ns = request_.budget_ns});
  }
  void note(const std::string& sentence) const {
    if (request_.on_note) request_.on_note(sentence);
  }

  std::optional<Error> interrupted() {
    if (int signal = signals_.take()) interrupted_by_ = signal;
    if (!interrupted_by_) return std::nullopt;
    return base::failed("interrupted by " + base::signal_name(interrupted_by_));
  }

  Result<void> keep() {
    experiment_.elapsed_ns = elapsed_ns();
    experiment_.budget_ns = request_.budget_ns;
    experiment_.pairs = store_->pairs().size();
    return store_->update(experiment_);
  }

  std::optional<Error> greet_sides() {
    bool runs_in_place = false;
    for (ExperimentSide side : kExperimentSides) {
      const SideRequest& wanted = request_.sides[index_of(side)];
      auto hello = greet(runner_, wanted, side, cpus_[0]);
      if (!hello) {
        if (auto error = interrupted()) return error;
        return hello.error();
      }
      if (!runs_in_place && !runner_.why_in_place().empty()) {
        remarks_.push_back(in_place_remark(wanted, side, runner_.why_in_place()));
        runs_in_place = true;
      }
      if (hello->protocol < kPlacingWorkerProtocol) {
        remarks_.push_back(not_placed_remark(side, hello->protocol));
        placed_ = false;
      }
      experiment_.sides[index_of(side)] = record_of(wanted, *hello);
      backends_[index_of(side)] = std::move(hello->worker.backends);
    }
    return std::nullopt;
  }

  std::optional<Error> survey_workloads() {
    for (const capture::Workload& declared : request_.workloads) {
      if (auto error = interrupted()) return error;
      tell("looking at " + declared.id);
      std::array<PairSide, 2> sides;
      for (ExperimentSide side : kExperimentSides) {
        const SideRequest& wanted = request_.sides[index_of(side)];
        sides[index_of(side)] = {wanted.program, workload_of(declared, wanted), wanted.slowdown_ppm,
                                 wanted.setting.code_shift};
      }
      make_alike(sides);
      ExperimentWorkload workload;
      workload.id = declared.id;
      workload.catalog = request_.catalog;
      workload.labels = declared.labels;
      std::array<SideSurvey, 2> surveys;
      if (auto error = survey(sides, workload, surveys)) return error;
      experiment_.workloads.push_back(std::move(workload));
      same_code_.push_back(surveys[0].loaded.code_sha256 == surveys[1].loaded.code_sha256 &&
                           sides[0].code_shift == sides[1].code_shift);
      sides_.push_back(std::move(sides));
      surveys_.push_back(std::move(surveys));
    }
    return std::nullopt;
  }

  std::optional<Error> survey(const std::array<PairSide, 2>& sides, ExperimentWorkload& workload,
                              std::array<SideSurvey, 2>& surveys) {
    for (ExperimentSide side : kExperimentSides) {
      const size_t i = index_of(side);
      auto surveyed = runner_.survey(sides[i], cpus_[0]);
      if (auto* error = std::get_if<Error>(&surveyed)) return *error;
      if (auto* failure = std::get_if<SideFailure>(&surveyed)) {
        if (auto error = interrupted()) return error;
        fail(workload, {side, std::move(*failure)});
        return std::nullopt;
      }
      surveys[i] = std::get<SideSurvey>(std::move(surveyed));
      workload.module_sha256[i] = surveys[i].loaded.module_sha256;
      workload.code_sha256[i] = surveys[i].loaded.code_sha256;
    }
    if (surveys[0].loaded.contract_sha256 != surveys[1].loaded.contract_sha256) {
      return base::usage_error("workload " + workload.id +
                               " computes something else on one side: the two programs do not agree in its "
                               "contract, so they cannot be compared");
    }
    workload.contract_sha256 = surveys[0].loaded.contract_sha256;
    workload.calls_per_iteration = surveys[0].loaded.calls_per_iteration;
    workload.iteration_ns = surveys[0].iteration_ns;
    return std::nullopt;
  }

  void fail(ExperimentWorkload& workload, const PairFailure& failure) const {
    if (workload.state == WorkloadState::Failed) return;
    workload.state = WorkloadState::Failed;
    workload.diagnostic = name_of(failure.side) + ": " + failure.failure.stored;
    note("workload " + workload.id + " failed: " + name_of(failure.side) + ": " +
         failure.failure.error.message);
  }

  // The same workload with the baseline on both sides.
  void add_control(size_t number) {
    ExperimentWorkload control = experiment_.workloads[number];
    control.control = true;
    control.module_sha256[1] = control.module_sha256[0];
    control.code_sha256[1] = control.code_sha256[0];
    experiment_.workloads.push_back(std::move(control));
    const PairSide baseline = sides_[number][0];
    std::array<PairSide, 2> sides = {baseline, baseline};
    sides[0].slowdown_ppm = 0;
    sides[1].slowdown_ppm = request_.control_slowdown_ppm;
    make_alike(sides);
    sides_.push_back(std::move(sides));
    const SideSurvey survey = surveys_[number][0];
    surveys_.push_back({survey, survey});
    // Measured as the workload is that it stands for.
    same_code_.push_back(same_code_[number]);
  }

  std::optional<Error> begin() {
    experiment_.target = machine().target;
    experiment_.cpu_model = machine().cpu_model;
    experiment_.os_version = machine().os_version;
    experiment_.logical_cpus = machine().logical_cpus;
    experiment_.start_unix_ns = base::unix_ns();
    experiment_.seed =
        request_.seed ? *request_.seed : (uint64_t{std::random_device()()} << 32 | std::random_device()());
    std::vector<size_t> candidates;
    for (size_t i = 0; i < experiment_.workloads.size(); ++i) {
      if (experiment_.workloads[i].state == WorkloadState::Measured) candidates.push_back(i);
    }
    shuffle(candidates, draw(experiment_.seed, kForControls, 0));
    candidates.resize(
        std::min<size_t>(candidates.size(), experiment_.workloads.size() > kSmallSuite ? 3 : 2));
    std::sort(candidates.begin(), candidates.end());
    for (size_t number : candidates) add_control(number);
    if (request_.control_slowdown_ppm) add_diagnostic(injected_into_controls());
    experiment_.elapsed_ns = elapsed_ns();
    experiment_.budget_ns = request_.budget_ns;
    auto store = ExperimentStore::create(request_.out, experiment_);
    if (!store) return store.error();
    store_.emplace(std::move(*store));
    return std::nullopt;
  }

  // Goes on with what was recorded, where that is what the request would record.
  std::optional<Error> resume() {
    const Experiment recorded = store_->experiment();
    Differences differences;
    for (ExperimentSide side : kExperimentSides) {
      differences.look(recorded.sides[index_of(side)], experiment_.sides[index_of(side)], side);
    }
    differences.look("the processor", recorded.cpu_model, machine().cpu_model);
    differences.look("the kernel", recorded.os_version, machine().os_version);
    differences.look("the number of CPUs", recorded.logical_cpus, machine().logical_cpus);
    if (request_.seed) differences.look("the seed", recorded.seed, *request_.seed);
    std::string injected_then;
    for (const std::string& sentence : recorded.diagnostics) {
      if (sentence.starts_with(kInjectedIntoControls)) injected_then = sentence;
    }
    differences.look("the slowdown of controls", injected_then,
                     request_.control_slowdown_ppm ? injected_into_controls() : "");
    const size_t declared = request_.workloads.size();
    size_t measured = 0;
    for (const ExperimentWorkload& workload : recorded.workloads) measured += workload.control ? 0 : 1;
    differences.look("the number of workloads", measured, declared);
    for (size_t i = 0; i < std::min(measured, declared); ++i) {
      compare(recorded.workloads[i], experiment_.workloads[i], differences);
    }
    if (auto error = differences.error(request_.out, "the experiment cannot be continued",
                                       "name another directory for a new one")) {
      return error;
    }

    for (size_t i = 0; i < recorded.workloads.size(); ++i) {
      if (recorded.workloads[i].control == (i >= declared)) continue;
      return base::usage_error("its controls are not behind its workloads: the file was changed",
                               {.file = request_.out});
    }
    for (size_t i = declared; i < recorded.workloads.size(); ++i) {
      auto same = [&](const ExperimentWorkload& workload) { return workload.id == recorded.workloads[i].id; };
      auto first = experiment_.workloads.begin();
      auto last = first + static_cast<ptrdiff_t>(declared);
      auto found = std::find_if(first, last, same);
      if (found == last) {
        return base::usage_error("control " + base::printable(recorded.workloads[i].id) +
                                     " is no workload of the experiment: the file was changed",
                                 {.file = request_.out});
      }
      add_control(static_cast<size_t>(found - first));
    }
    // What failed by now stays failed, whenever that was.
    const std::vector<ExperimentWorkload> now = std::move(experiment_.workloads);
    experiment_ = recorded;
    for (size_t i = 0; i < now.size(); ++i) {
      if (now[i].state != WorkloadState::Failed) continue;
      experiment_.workloads[i].state = WorkloadState::Failed;
      if (experiment_.workloads[i].diagnostic.empty())
        experiment_.workloads[i].diagnostic = now[i].diagnostic;
    }
    experiment_.complete = false;
    std::erase_if(experiment_.diagnostics,
                  [](const std::string& sentence) { return sentence.starts_with(kBudget); });
    say_what_is_gone();
    return std::nullopt;
  }

  // Nobody else notices once as many are said to be there as there are.
  void say_what_is_gone() {
    const uint64_t gone = store_->lost_pairs();
    if (gone == 0) return;
    const std::string sentence = base::plural(gone, "measured pair") + (gone == 1 ? " is" : " are") +
                                 " gone: " + capture::kPairsFile + " was cut off";
    add_diagnostic(sentence);
    if (request_.budget_ns == 0) return note(sentence);
    note(sentence + "; the time they took counts, which leaves " +
         base::format_measured_ns(static_cast<double>(budget_left_ns())) + " of the budget of " +
         base::format_duration(request_.budget_ns) + ": a greater --budget measures them again");
  }

  static void compare(const ExperimentWorkload& recorded, const ExperimentWorkload& now,
                      Differences& differences) {
    differences.look("a workload", recorded.id, now.id);
    if (recorded.id != now.id) return;
    if (recorded.state == WorkloadState::Failed || now.state == WorkloadState::Failed) return;
    differences.look(recorded, now);
  }

  std::optional<Error> record_captures() {
    if (!request_.record_captures) return std::nullopt;
    bool changed = false;
    for (size_t i = 0; i < experiment_.workloads.size(); ++i) {
      ExperimentWorkload& workload = experiment_.workloads[i];
      if (workload.control || workload.state == WorkloadState::Failed) continue;
      for (ExperimentSide side : kExperimentSides) {
        std::string& path = workload.captures[index_of(side)];
        if (!path.empty()) continue;
        if (auto error = interrupted()) return error;
        tell("recording " + workload.id);
        auto room = store_->make_room_for_capture(workload.id, side);
        if (!room) return room.error();
        const uint64_t allowed_ns = capture_timeout_ns(request_.answer_timeout_ns, workload.iteration_ns);
        auto why_not =
            record_capture(sides_[i][index_of(side)], request_.catalog, lane_flags(backends_[index_of(side)]),
                           base::join_path(request_.out, *room), allowed_ns, signals_);
        changed = true;
        if (!why_not) {
          path = *room;
          continue;
        }
        if (auto error = interrupted()) return error;
        add_diagnostic("no capture of " + workload.id + " by " + name_of(side) + ": " + why_not->sentence);
      }
    }
    if (!changed) return std::nullopt;
    auto kept = keep();
    return kept ? std::nullopt : std::optional(kept.error());
  }

  std::string injected_into_controls() const {
    return kInjectedIntoControls + std::to_string(request_.control_slowdown_ppm) + " ppm";
  }

  void add_diagnostic(const std::string& sentence) {
    std::vector<std::string>& all = experiment_.diagnostics;
    if (std::find(all.begin(), all.end(), sentence) == all.end()) all.push_back(sentence);
  }

  // Pairs of each workload so far.
  std::vector<uint64_t> count_pairs() const {
    std::vector<uint64_t> counts(experiment_.workloads.size());
    for (const Pair& pair : store_->pairs()) ++counts[pair.workload];
    return counts;
  }

  // The workloads that get a pair in this round, as far as the budget will reach: controls, without which
  // nothing may be said, then the most urgent, and of those the nearest to being settled.
  std::vector<size_t> choose(const std::vector<Demand>& demands, const std::vector<uint64_t>& counts) {
    struct Wish {
      bool control;
      double urgency;
      uint64_t missing;
      uint64_t lot;
      size_t workload;
    };
    std::vector<Wish> wishes;
    wanted_pairs_ = 0;
    for (size_t i = 0; i < demands.size(); ++i) {
      const bool failed = experiment_.workloads[i].state == WorkloadState::Failed;
      wanted_pairs_ += failed ? counts[i] : std::max(demands[i].pairs, counts[i]);
      if (failed || demands[i].pairs <= counts[i]) continue;
      wishes.push_back({experiment_.workloads[i].control, demands[i].urgency, demands[i].pairs - counts[i],
                        draw(experiment_.seed, kForOrder, i), i});
    }
    std::sort(wishes.begin(), wishes.end(), [](const Wish& a, const Wish& b) {
      return std::tuple(b.control, b.urgency, a.missing, a.lot) <
             std::tuple(a.control, a.urgency, b.missing, b.lot);
    });
    const uint64_t left_ns = budget_left_ns();
    std::vector<size_t> chosen;
    uint64_t cost_ns = 0;
    for (const Wish& wish : wishes) {
      const uint64_t pair_ns = pair_cost_ns(wish.workload);
      const uint64_t all_ns = pair_ns * wish.missing;
      // At least one, if only a pair of it: the budget is there to be used.
      const bool fits = chosen.empty() ? pair_ns <= left_ns : cost_ns + all_ns <= left_ns;
      if (!fits) continue;
      cost_ns += all_ns;
      chosen.push_back(wish.workload);
    }
    unsettled_ = !wishes.empty();
    return chosen;
  }

  uint64_t budget_left_ns() const {
    if (request_.budget_ns == 0) return std::numeric_limits<uint64_t>::max();
    return request_.budget_ns - std::min(request_.budget_ns, elapsed_ns());
  }

  uint64_t pair_cost_ns(size_t workload) const {
    auto known = pair_costs_.find(workload);
    if (known != pair_costs_.end()) return known->second;
    const uint64_t iteration_ns = std::min(experiment_.workloads[workload].iteration_ns, UINT64_MAX / 1024);
    return std::max(kExpectedPairNs, iteration_ns * 4 * kMinTurns);
  }

  std::optional<Error> measure_rounds() {
    uint32_t round = 0;
    for (const Pair& pair : store_->pairs()) round = std::max(round, pair.round + 1);
    while (true) {
      const std::vector<uint64_t> counts = count_pairs();
      const std::vector<Demand> demands = rule_.demands(experiment_, store_->pairs());
      WAGO_CHECK(demands.size() == experiment_.workloads.size());
      std::vector<size_t> chosen = choose(demands, counts);
      if (chosen.empty()) break;
      // So that a bad minute is spread over the suite.
      shuffle(chosen, draw(experiment_.seed, kForRounds, round));
      for (size_t workload : chosen) {
        if (auto error = interrupted()) return error;
        if (auto error = measure_pair(workload, round, counts[workload])) return error;
      }
      if (auto kept = keep(); !kept) return kept.error();
      ++round;
    }
    if (unsettled_) {
      const std::string sentence =
          kBudget + base::format_duration(request_.budget_ns) + " was spent before " + rule_.goal();
      note(sentence);
      add_diagnostic(sentence);
    }
    return std::nullopt;
  }

  std::optional<Error> measure_pair(size_t number, uint32_t round, uint64_t pairs_before) {
    ExperimentWorkload& workload = experiment_.workloads[number];
    tell("measuring " + workload.id);
    const uint64_t seed = draw(experiment_.seed, kForOrder, number + 1);
    PairDraw drawn;
    drawn.code_offset = static_cast<uint32_t>(pairs_before % capture::kCodeOffsets) * kOffsetBytes;
    drawn.padding_bytes = static_cast<uint32_t>(draw(seed, kForPadding, pairs_before) % kMaxPaddingBytes);
    drawn.cpu = cpus_[draw(seed, kForCpu, pairs_before) % cpus_.size()];
    if (placed_) drawn.addresses = draw_addresses(seed, pairs_before, same_code_[number]);
    const Order order = order_of(pairs_before, draw(seed, kForFirst, pairs_before / kBalancedPairs));
    drawn.first = order.first;
    drawn.loaded_first = order.loaded_first;
    const std::array<SideSurvey, 2>& surveys = surveys_[number];
    // As recorded, so that turns are alike in all pairs, whenever they were measured.
    const uint64_t max_iterations =
        std::min(surveys[0].loaded.max_iterations_per_turn, surveys[1].loaded.max_iterations_per_turn);
    const TurnPlan plan = plan_turns(workload.iteration_ns, max_iterations, request_.timed_ns);
    const uint64_t before_ns = base::monotonic_ns();
    auto measured = runner_.measure(sides_[number], plan, drawn, {&surveys[0], &surveys[1]});
    if (auto* error = std::get_if<Error>(&measured)) return *error;
    if (auto* failure = std::get_if<PairFailure>(&measured)) {
      if (auto error = interrupted()) return error;
      fail(workload, *failure);
      auto kept = keep();
      return kept ? std::nullopt : std::optional(kept.error());
    }
    Pair pair = std::get<Pair>(std::move(measured));
    pair.workload = static_cast<uint32_t>(number);
    pair.round = round;
    pair_costs_[number] = base::monotonic_ns() - before_ns;
    auto appended = store_->append(std::move(pair));
    return appended ? std::nullopt : std::optional(appended.error());
  }

  const ExperimentRequest& request_;
  StoppingRule& rule_;
  SignalWatch signals_;
  PairRunner runner_;
  const uint64_t begun_ns_ = base::monotonic_ns();
  uint64_t elapsed_before_ns_ = 0;
  uint64_t pairs_before_ = 0;
  bool continued_ = false;
  bool unsettled_ = false;
  bool placed_ = true;  // both sides are told where to have what
  int interrupted_by_ = 0;
  std::vector<std::string> remarks_;  // on the two programs
  uint64_t wanted_pairs_ = 0;
  std::vector<uint32_t> cpus_;
  std::array<std::vector<std::string>, 2> backends_;
  std::optional<ExperimentStore> store_;
  Experiment experiment_;
  // By workload of the experiment, controls included.
  std::vector<std::array<PairSide, 2>> sides_;
  std::vector<std::array<SideSurvey, 2>> surveys_;
  std::vector<bool> same_code_;
  std::map<size_t, uint64_t> pair_costs_;  // of the latest pair
};

}  // namespace

std::vector<Demand> FixedPairs::demands(const Experiment& experiment, std::span<const Pair>) {
  return std::vector<Demand>(experiment.workloads.size(), Demand{.pairs = pairs_});
}

std::string FixedPairs::goal() const {
  return "every workload had its " + base::plural(pairs_, "pair");
}

ExperimentOutcome run_experiment(const ExperimentRequest& request, StoppingRule& rule) {
  return Experimenter(request, rule).run();
}

}  // namespace wago::harness
