#include <memory>

#include "harness/bench/figures.h"
#include "harness/bench/turns.h"

namespace wago::harness::bench {

namespace {

base::Result<Spread> compare(const capture::Workload& workload, size_t pairs) {
  auto without = PreparedWorkload::create(workload);
  if (!without) return without.error();
  auto with = PreparedWorkload::create(workload, {.counted = true});
  if (!with) return with.error();
  return ratio_of_turns(
      pairs, [&](uint64_t count) { return (*with)->run(count); },
      [&](uint64_t count) { return (*without)->run(count); });
}

}  // namespace

base::Result<std::vector<Figure>> counted_figures(const FigureOptions& options) {
  pin_to_one_cpu();
  auto workloads = workloads_of(options.catalogs);
  if (!workloads) return workloads.error();
  std::vector<Figure> figures;
  GeometricMean mean;
  for (const capture::Workload& workload : *workloads) {
    if (!executes_code(workload)) continue;
    auto ratio = compare(workload, options.quick ? 3 : 20);
    if (!ratio) {
      figures.push_back({workload.id + " counted / not", ratio.error().to_string(), "", false});
      continue;
    }
    figures.push_back({workload.id + " counted / not", to_string(*ratio), ""});
    mean.add(ratio->median);
  }
  figures.push_back({"geometric mean of code that counts / not", mean.text(), "<= 2", mean.value() <= 2});
  return figures;
}

}  // namespace wago::harness::bench
