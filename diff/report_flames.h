// Flame graph differences of a report's workloads, from the samples of both sides that `profile explain`
// leaves in the experiment. They say where the time went, and decide nothing: the sides were not sampled
// together.
#pragma once

#include <string>

#include "base/files.h"
#include "diff/flame_graph.h"

namespace wago::diff {

struct Evidence;
struct Report;

// Of captures with samples, which may be compared.
FlameGraph flame_difference(const Evidence& baseline, const Evidence& candidate, std::string title);

// Of every workload that was sampled. What cannot be read, or is not of this experiment, is left out and
// becomes a remark.
void add_flame_graphs(Report& report, base::Files& files = base::system_files());

}  // namespace wago::diff
