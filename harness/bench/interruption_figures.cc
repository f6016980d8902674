#include "harness/bench/figures.h"
#include "harness/bench/turns.h"

namespace wago::harness::bench {

base::Result<std::vector<Figure>> interruption_figures(const FigureOptions& options) {
  auto prepare = [](const capture::Workload& workload) {
    capture::Workload interruptible = workload;
    interruptible.engine.interruptible = true;
    return two_ways(prepared(interruptible), prepared(workload));
  };
  GeometricMean mean;
  auto figures = figures_of_two_ways(options, "interruptible / not", prepare, mean);
  if (!figures) return figures;
  figures->push_back({"geometric mean of interruptible code / not", mean.text(), ""});
  return figures;
}

}  // namespace wago::harness::bench
