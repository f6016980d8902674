#include "harness/bench/figures.h"
#include "harness/bench/turns.h"

namespace wago::harness::bench {

base::Result<std::vector<Figure>> counted_figures(const FigureOptions& options) {
  auto prepare = [](const capture::Workload& workload) {
    return two_ways(prepared(workload, {.counted = true}), prepared(workload));
  };
  GeometricMean mean;
  auto figures = figures_of_two_ways(options, "counted / not", prepare, mean);
  if (!figures) return figures;
  figures->push_back({"geometric mean of code that counts / not", mean.text(), "<= 2", mean.value() <= 2});
  return figures;
}

}  // namespace wago::harness::bench
