#include <memory>

#include "harness/bench/figures.h"
#include "harness/bench/node_side.h"
#include "harness/bench/turns.h"

namespace wago::harness::bench {

namespace {

base::Result<Spread> compare(const capture::Workload& declared, NodeSide& node, size_t pairs) {
  auto ours = PreparedWorkload::create(declared);
  if (!ours) return ours.error();
  if (auto loaded = node.load((*ours)->subject()); !loaded) return loaded.error();
  return ratio_of_turns(
      pairs, [&](uint64_t count) { return (*ours)->run(count); },
      [&](uint64_t count) { return node.run(count); });
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
  auto workloads = workloads_of(options.catalogs);
  if (!workloads) return workloads.error();
  std::vector<Figure> figures;
  GeometricMean mean;
  for (const capture::Workload& workload : *workloads) {
    auto ratio = compare(workload, *node, options.quick ? 5 : 30);
    if (!ratio) {
      figures.push_back({workload.id + " / node", ratio.error().to_string(), "", false});
      continue;
    }
    const bool counted = executes_code(workload);
    figures.push_back(
        {workload.id + " / node" + (counted ? "" : " (traps: not in the mean)"), to_string(*ratio), ""});
    if (counted) mean.add(ratio->median);
  }
  figures.push_back({"geometric mean against V8's optimising tier, node " + *version, mean.text(), "<= 1.6",
                     mean.count() > 0 && mean.value() <= 1.6});
  return figures;
}

}  // namespace wago::harness::bench
