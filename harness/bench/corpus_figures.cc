#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/clock.h"
#include "capture/catalog.h"
#include "harness/bench/figures.h"
#include "harness/bench/node_side.h"
#include "harness/invoker.h"
#include "harness/subject.h"

namespace wago::harness::bench {

namespace {

// Both sides share one CPU, so that what disturbs one disturbs the other, and neither has a second one for
// its helpers.
void pin_to_one_cpu() {
  cpu_set_t all, one;
  if (::sched_getaffinity(0, sizeof all, &all) != 0) return;
  CPU_ZERO(&one);
  for (int cpu = CPU_SETSIZE - 1; cpu >= 0; --cpu) {
    if (!CPU_ISSET(cpu, &all)) continue;
    CPU_SET(cpu, &one);
    ::sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

// CPU time on both sides: on a busy machine wall time says who was waiting.
constexpr double kTurnNs = 15e6;

// Iterations that make a turn, by doubling.
uint64_t calibrate(const std::function<base::Result<double>(uint64_t)>& run,
                   std::optional<base::Error>& error) {
  for (uint64_t count = 1;; count *= 2) {
    auto took = run(count);
    if (!took) {
      error = took.error();
      return 1;
    }
    if (*took >= kTurnNs / 4 || count > (uint64_t{1} << 40)) {
      return std::max<uint64_t>(1, static_cast<uint64_t>(static_cast<double>(count) * kTurnNs / *took));
    }
  }
}

base::Result<Spread> compare(const capture::Workload& declared, NodeSide& node, size_t pairs) {
  capture::Workload workload = declared;
  workload.mode = base::Mode::Prepared;
  auto subject = Subject::load(workload);
  if (!subject) return subject.error();
  auto made = (*subject)->instantiate((*subject)->reference());
  if (auto* failure = std::get_if<RunFailure>(&made)) return failure->error;
  const auto& instance = std::get<wago::Instance>(made);
  if (auto failure = (*subject)->initialize(instance)) return failure->error;
  auto invoker = Invoker::create((*subject)->workload(), instance);
  if (!invoker) return invoker.error();
  if (auto loaded = node.load(**subject); !loaded) return loaded.error();

  std::optional<base::Error> error;
  auto run_ours = [&](uint64_t count) -> base::Result<double> {
    uint64_t before = base::thread_cpu_ns();
    if (auto failure = invoker->run(count)) return failure->error;
    return static_cast<double>(base::thread_cpu_ns() - before);
  };
  auto run_theirs = [&](uint64_t count) { return node.run(count); };
  uint64_t ours = calibrate(run_ours, error), theirs = calibrate(run_theirs, error);
  if (error) return *error;
  auto turn = [&](const auto& run, uint64_t count) {
    auto took = run(count);
    if (!took) error = took.error();
    return took ? *took / static_cast<double>(count) : 1.0;
  };
  Paired paired = measure_pairs(
      pairs, 2, [&] { return turn(run_ours, ours); }, [&] { return turn(run_theirs, theirs); });
  if (error) return *error;
  return paired.ratio;
}

}  // namespace

base::Result<std::vector<Figure>> corpus_figures(const FigureOptions& options) {
  auto version = NodeSide::version(options.node);
  if (!version) {
    return std::vector<Figure>{
        {"execution against node", "skipped: there is no " + options.node + " here", "", true}};
  }
  pin_to_one_cpu();
  auto node = NodeSide::start(options.node, options.node_script);
  if (!node) return node.error();
  std::vector<Figure> figures;
  double log_sum = 0;
  size_t count = 0;
  for (const std::string& file : options.catalogs) {
    auto catalog = capture::read_catalog(file);
    if (!catalog) return catalog.error();
    for (const capture::Workload& workload : catalog->workloads) {
      auto ratio = compare(workload, *node, options.quick ? 5 : 30);
      if (!ratio) {
        figures.push_back({workload.id + " / node", ratio.error().to_string(), "", false});
        continue;
      }
      // A wanted trap measures how traps are raised, which is not execution of code.
      bool counted = std::none_of(workload.calls.begin(), workload.calls.end(),
                                  [](const capture::Call& call) { return call.want_trap.has_value(); });
      figures.push_back(
          {workload.id + " / node" + (counted ? "" : " (traps: not in the mean)"), to_string(*ratio), ""});
      if (!counted) continue;
      log_sum += std::log(ratio->median);
      ++count;
    }
  }
  double mean = count ? std::exp(log_sum / static_cast<double>(count)) : 0;
  char text[64];
  std::snprintf(text, sizeof text, "%.3g over %zu workloads", mean, count);
  figures.push_back({"geometric mean against V8's optimising tier, node " + *version, text, "<= 1.6",
                     count > 0 && mean <= 1.6});
  return figures;
}

}  // namespace wago::harness::bench
