// Running a workload in turns of a fixed length, for figures that hold two sides against each other.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "capture/workload.h"
#include "harness/bench/figures.h"
#include "harness/bench/ratio.h"
#include "harness/invoker.h"
#include "harness/subject.h"

namespace wago::harness::bench {

// Both sides share one CPU, so that what disturbs one disturbs the other, and neither has a second one for
// its helpers. For the rest of the process.
void pin_to_one_cpu();

// Runs so many iterations and answers the CPU nanoseconds they took: on a busy machine wall time says who was
// waiting.
using RunIterations = std::function<base::Result<double>(uint64_t)>;

constexpr double kTurnNs = 15e6;

// Both sides in turns of `turn_ns`, nanoseconds per iteration: a over b.
base::Result<Spread> ratio_of_turns(size_t pairs, const RunIterations& a, const RunIterations& b,
                                    double turn_ns = kTurnNs);

// A workload compiled, instantiated and initialised in this process, in prepared mode; every result is
// compared.
class PreparedWorkload {
 public:
  static base::Result<std::unique_ptr<PreparedWorkload>> create(capture::Workload workload,
                                                                const RecordSettings& settings = {});
  const Subject& subject() const { return *subject_; }
  base::Result<double> run(uint64_t iterations);

 private:
  PreparedWorkload() = default;
  std::unique_ptr<Subject> subject_;
  std::optional<Invoker> invoker_;
};

// The workloads of all these catalogs, in order.
base::Result<std::vector<capture::Workload>> workloads_of(const std::vector<std::string>& catalogs);

// A wanted trap measures how traps are raised, which is not execution of code.
bool executes_code(const capture::Workload& workload);

// Collects ratios into their geometric mean.
class GeometricMean {
 public:
  void add(double ratio);
  double value() const;
  size_t count() const { return logs_.size(); }
  // "0.86 [0.8, 0.92] over 34 workloads": two standard errors of the workloads' logarithms on either side.
  std::string text(const char* format = "%.3g") const;

 private:
  std::vector<double> logs_;
};

// A workload in a prepared state of its own.
base::Result<RunIterations> prepared(capture::Workload workload, const RecordSettings& settings = {});

// The two sides of a comparison.
struct TwoWays {
  RunIterations numerator, denominator;
};
base::Result<TwoWays> two_ways(base::Result<RunIterations> numerator,
                               base::Result<RunIterations> denominator);
using Prepare = std::function<base::Result<TwoWays>(const capture::Workload&)>;

// Every workload of the catalogs that executes code, in two ways, as figures "<workload> <what>"; their
// geometric mean is added to `mean`.
base::Result<std::vector<Figure>> figures_of_two_ways(const FigureOptions& options, const std::string& what,
                                                      const Prepare& prepare, GeometricMean& mean,
                                                      double turn_ns = kTurnNs);

}  // namespace wago::harness::bench
