#include "harness/bench/turns.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <numeric>
#include <utility>

#include "base/clock.h"
#include "capture/catalog.h"

namespace wago::harness::bench {

namespace {

// Of a quick run: enough to see that it works.
constexpr size_t kQuickWorkloads = 5;

// Iterations that make a turn, by doubling.
uint64_t calibrate(const RunIterations& run, double turn_ns, std::optional<base::Error>& error) {
  for (uint64_t count = 1;; count *= 2) {
    auto took = run(count);
    if (!took) {
      error = took.error();
      return 1;
    }
    if (*took >= turn_ns / 4 || count > (uint64_t{1} << 40)) {
      return std::max<uint64_t>(1, static_cast<uint64_t>(static_cast<double>(count) * turn_ns / *took));
    }
  }
}

}  // namespace

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

base::Result<Spread> ratio_of_turns(size_t pairs, const RunIterations& a, const RunIterations& b,
                                    double turn_ns) {
  std::optional<base::Error> error;
  const uint64_t a_count = calibrate(a, turn_ns, error), b_count = calibrate(b, turn_ns, error);
  if (error) return *error;
  auto turn = [&](const RunIterations& run, uint64_t count) {
    auto took = run(count);
    if (!took) error = took.error();
    return took ? *took / static_cast<double>(count) : 1.0;
  };
  Paired paired = measure_pairs(
      pairs, 2, [&] { return turn(a, a_count); }, [&] { return turn(b, b_count); });
  if (error) return *error;
  return paired.ratio;
}

base::Result<std::unique_ptr<PreparedWorkload>> PreparedWorkload::create(capture::Workload workload,
                                                                         const RecordSettings& settings) {
  workload.mode = base::Mode::Prepared;
  std::unique_ptr<PreparedWorkload> prepared(new PreparedWorkload);
  auto subject = Subject::load(workload, settings);
  if (!subject) return subject.error();
  prepared->subject_ = *std::move(subject);
  auto made = prepared->subject_->instantiate(prepared->subject_->reference());
  if (auto* failure = std::get_if<RunFailure>(&made)) return failure->error;
  const auto& instance = std::get<wago::Instance>(made);
  if (auto failure = prepared->subject_->initialize(instance)) return failure->error;
  auto invoker = Invoker::create(prepared->subject_->workload(), instance);
  if (!invoker) return invoker.error();
  prepared->invoker_ = *std::move(invoker);
  return prepared;
}

base::Result<double> PreparedWorkload::run(uint64_t iterations) {
  const uint64_t before = base::thread_cpu_ns();
  if (auto failure = invoker_->run(iterations)) return failure->error;
  return static_cast<double>(base::thread_cpu_ns() - before);
}

base::Result<std::vector<capture::Workload>> workloads_of(const std::vector<std::string>& catalogs) {
  std::vector<capture::Workload> workloads;
  for (const std::string& file : catalogs) {
    auto catalog = capture::read_catalog(file);
    if (!catalog) return catalog.error();
    std::move(catalog->workloads.begin(), catalog->workloads.end(), std::back_inserter(workloads));
  }
  return workloads;
}

bool executes_code(const capture::Workload& workload) {
  return std::none_of(workload.calls.begin(), workload.calls.end(),
                      [](const capture::Call& call) { return call.want_trap.has_value(); });
}

void GeometricMean::add(double ratio) {
  logs_.push_back(std::log(ratio));
}

double GeometricMean::value() const {
  if (logs_.empty()) return 0;
  return std::exp(std::accumulate(logs_.begin(), logs_.end(), 0.0) / static_cast<double>(logs_.size()));
}

std::string GeometricMean::text(const char* format) const {
  auto number = [&](double value) {
    char text[64];
    std::snprintf(text, sizeof text, format, value);
    return std::string(text);
  };
  std::string bounds;
  const auto count = static_cast<double>(logs_.size());
  if (logs_.size() > 1) {
    double squares = 0;
    for (const double log : logs_) squares += std::pow(log - std::log(value()), 2);
    const double reach = std::exp(2 * std::sqrt(squares / (count - 1) / count));
    bounds = " [" + number(value() / reach) + ", " + number(value() * reach) + "]";
  }
  return number(value()) + bounds + " over " + std::to_string(logs_.size()) + " workloads";
}

base::Result<RunIterations> prepared(capture::Workload workload, const RecordSettings& settings) {
  auto made = PreparedWorkload::create(std::move(workload), settings);
  if (!made) return made.error();
  return RunIterations([it = std::shared_ptr<PreparedWorkload>(*std::move(made))](uint64_t iterations) {
    return it->run(iterations);
  });
}

base::Result<TwoWays> two_ways(base::Result<RunIterations> numerator,
                               base::Result<RunIterations> denominator) {
  if (!numerator) return numerator.error();
  if (!denominator) return denominator.error();
  return TwoWays{*std::move(numerator), *std::move(denominator)};
}

base::Result<std::vector<Figure>> figures_of_two_ways(const FigureOptions& options, const std::string& what,
                                                      const Prepare& prepare, GeometricMean& mean,
                                                      double turn_ns) {
  pin_to_one_cpu();
  auto workloads = workloads_of(options.catalogs);
  if (!workloads) return workloads.error();
  auto compare = [&](const capture::Workload& workload) -> base::Result<Spread> {
    auto ways = prepare(workload);
    if (!ways) return ways.error();
    return ratio_of_turns(options.quick ? 3 : 20, ways->numerator, ways->denominator, turn_ns);
  };
  std::vector<Figure> figures;
  for (const capture::Workload& workload : *workloads) {
    if (!executes_code(workload)) continue;
    if (options.quick && figures.size() == kQuickWorkloads) break;
    const std::string name = workload.id + " " + what;
    auto ratio = compare(workload);
    if (!ratio) {
      figures.push_back({name, ratio.error().to_string(), "", false});
      continue;
    }
    figures.push_back({name, to_string(*ratio), ""});
    mean.add(ratio->median);
  }
  return figures;
}

}  // namespace wago::harness::bench
