// The main() of a Google Benchmark executable over catalogs. wago_add_benchmark() writes programs that call
// it.
#pragma once

#include <string>
#include <vector>

namespace wago::harness {

// Google Benchmark's own flags, and --wago_catalog=FILE and --wago_phase=PHASE, each again for more, which
// replace `catalogs` and `phases` (compile, reload, instantiate, execute; none: all). Answers 0; 1 when an
// entry failed; 2 when used wrongly.
int benchmark_main(int argc, char** argv, std::vector<std::string> catalogs, std::vector<std::string> phases);

}  // namespace wago::harness
