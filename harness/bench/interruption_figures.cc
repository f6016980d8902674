#include "harness/bench/figures.h"
#include "harness/bench/turns.h"

namespace wago::harness::bench {

base::Result<std::vector<Figure>> interruption_figures(const FigureOptions& options) {
  auto prepare = [](bool interruptible) {
    return [interruptible](capture::Workload workload) {
      workload.engine.interruptible = interruptible;
      return PreparedWorkload::create(std::move(workload));
    };
  };
  GeometricMean mean;
  auto figures = figures_of_two_ways(options, "interruptible / not", prepare(true), prepare(false), mean);
  if (!figures) return figures;
  figures->push_back({"geometric mean of interruptible code / not", mean.text(), ""});
  return figures;
}

}  // namespace wago::harness::bench
