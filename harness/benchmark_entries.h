// Google Benchmark entries over catalogs: "<catalog>/<workload>/<phase>" for compile, reload, instantiate and
// execute, with bytes and items per second, every result checked. Only users of WagoProfile::benchmark link
// Google Benchmark.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/vocabulary.h"
#include "capture/workload.h"

namespace wago::harness {

// The phases that have entries.
inline constexpr base::Phase kBenchmarkPhases[] = {base::Phase::Compile, base::Phase::Reload,
                                                   base::Phase::Instantiate, base::Phase::Execute};

// One entry a workload and phase. Modules are read when an entry first runs; what is wrong with a catalog,
// and a workload whose settings this build lacks, is told here.
base::Result<void> register_benchmarks(const std::string& catalog_file,
                                       const std::vector<base::Phase>& phases = {std::begin(kBenchmarkPhases),
                                                                                 std::end(kBenchmarkPhases)});

// Whether any entry that was run failed; Google Benchmark itself does not tell.
bool any_benchmark_failed();

}  // namespace wago::harness
